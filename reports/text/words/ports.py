"""Ports of a switch are one line of a table, unless one of them matters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable
from typing import TypeVar

from qps.compiler.ir.measure_names import utilization_of
from qps.reports.text.words.certainty_marks import Ports, uniform_switches
from qps.reports.text.words.phrases import phrase
from qps.solver.answer import Answer
from qps.solver.answers.solution import ResourceSolution

R = TypeVar("R")


def with_ports_together(
    resources: Iterable[R], name_of: Callable[[R], str], answer: Answer
) -> list[tuple[R, str]]:
    """Return resources with what they are called; those of the ports of a switch are listed as one.

    That is the first one of them. A port that matters is listed by itself.
    """
    itself = {one.name for one in answer.resources if _matters(one, answer)}
    return by_their_switch(resources, name_of, answer.ports, itself)


def by_their_switch(
    resources: Iterable[R], name_of: Callable[[R], str], ports: Ports, itself: Collection[str]
) -> list[tuple[R, str]]:
    """Return the same of resources of which it is known which ones are listed by themselves."""
    listed = [(one, name_of(one)) for one in resources]
    switch = {name: ports.get(name) for _, name in listed}
    counts = Counter(link for link in switch.values() if link is not None)
    as_one = uniform_switches(counts)
    together = Counter(link for name, link in switch.items() if name not in itself)
    grouped: list[tuple[R, str]] = []
    gone: set[str] = set()
    for one, name in listed:
        link = switch[name]
        if link is None or link not in as_one or name in itself:
            grouped.append((one, name))
        elif link not in gone:
            gone.add(link)
            grouped.append((one, _busiest(name, together[link], counts[link])))
    return grouped


def _busiest(name: str, together: int, ports: int) -> str:
    if together == 1:
        return name
    key = "table.busiest" if together == ports else "table.busiest.others"
    return phrase(key, name=name, together=together)


def _matters(resource: ResourceSolution, answer: Answer) -> bool:
    """Return whether a resource saturates first, limits, is beyond its target or may be."""
    first = answer.bottleneck
    return (
        (first is not None and resource.name == first.resource)
        or answer.limited_by == utilization_of(resource.name)
        or resource.utilization_at_limit > resource.target
        or resource.saturation.not_below is not None
    )
