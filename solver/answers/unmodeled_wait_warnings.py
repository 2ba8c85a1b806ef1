"""Latencies that are required, and count no waiting at what is nearly full, with no word on it."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from qps.compiler import ir
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Sink
from qps.compiler.diagnostics.source import Span
from qps.compiler.lower.load_graph import Criterion, LoadGraph
from qps.compiler.lower.unmodeled_waits import UnmodeledQueue

_NOTICEABLE = 0.7
"""Above which load waiting is no small part of a latency any more.

At random a visit waits 2.3 service times there for one server, and ever longer from there on.
"""
_ROUNDING = 1e-9
_MOST_NAMED = 3


class UncountedWaits(Struct, frozen=True, kw_only=True):
    """Requirements at a population, and the resources that they count no wait at: fullest first."""

    requirements: tuple[str, ...]
    span: Span | None
    at: str
    resources: tuple[tuple[UnmodeledQueue, float], ...]

    @property
    def heaviest(self) -> float:
        """The highest of the loads."""
        return self.resources[0][1]


def uncounted_waits(
    graph: LoadGraph, criteria: Iterable[Criterion], population: int
) -> UncountedWaits | None:
    """Return which requirements count no waiting at what is nearly full, with no word on it."""
    there = graph.at(population)
    found: dict[str, tuple[UnmodeledQueue, float]] = {}
    doubtful = []
    for criterion in criteria:
        loads = [
            (one, there.number(graph.resources[one.resource].load))
            for one in criterion.unmodeled_queues
        ]
        full = [(one, load) for one, load in loads if load > _NOTICEABLE + _ROUNDING]
        if full:
            doubtful.append(criterion)
            found |= {one.resource: (one, load) for one, load in full}
    if not doubtful:
        return None
    return UncountedWaits(
        requirements=tuple(dict.fromkeys(one.name for one in doubtful)),
        span=doubtful[0].span,
        at=f"{graph.population} = {population:,}",
        resources=_busiest(found.values()),
    )


def _busiest(
    found: Iterable[tuple[UnmodeledQueue, float]],
) -> tuple[tuple[UnmodeledQueue, float], ...]:
    """Return the fullest first, of the ports of a link the fullest alone."""
    busiest: dict[str, tuple[UnmodeledQueue, float]] = {}
    for one, load in sorted(found, key=lambda each: -each[1]):
        busiest.setdefault(one.label, (one, load))
    return tuple(busiest.values())


def report_uncounted_waits(found: UncountedWaits, sink: Sink) -> None:
    """Warn of latencies that count no waiting where much of it would be."""
    (first, load), *others = found.resources
    loads = [f"{first.resource} is at {_percent(load)} utilization at {found.at}"]
    loads += [f"{one.resource} {_percent(load)}" for one, load in others[: _MOST_NAMED - 1]]
    more = len(others) - (_MOST_NAMED - 1)
    names = [f"`{name}`" for name in found.requirements[:_MOST_NAMED]]
    several = len(found.requirements) - _MOST_NAMED
    sink.report(
        codes.UNCOUNTED_WAITS,
        found.span,
        f"{_few(names, several)} {'exclude' if len(found.requirements) > 1 else 'excludes'} "
        f"queueing delay, though {_few(loads, more)}",
        hint=_help([one for one, _ in found.resources]),
    )


def _few(texts: list[str], more: int) -> str:
    if more > 0:
        return f"{', '.join(texts)} and {more} more"
    return " and ".join(filter(None, (", ".join(texts[:-1]), texts[-1])))


def _help(resources: list[UnmodeledQueue]) -> str:
    fitting: dict[str, ir.Discipline] = {}
    for one in resources:
        if one.discipline is None:
            continue
        first = fitting.setdefault(one.called, one.discipline)
        if first.traits.needs_cores:
            fitting[one.called] = one.discipline  # one server, where one of a name is
    none = ", ".join(f"{name} none" for name in dict.fromkeys(one.called for one in resources))
    silent = f"to exclude it on purpose: `queueing {none}`"
    if fitting:
        how = ", ".join(f"{name} {discipline.value}" for name, discipline in fitting.items())
        return f"add `queueing {how}`; {silent}"
    return (
        "add items to the stream, such as `traffic 80 packet/s, 1250 byte/packet`, and "
        f"their queueing; {silent}"
    )


def _percent(load: float) -> str:
    return f"{load * 100:.3g} %"
