"""Resources and the traffic of links, as tables: utilization, saturation point, consumers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from math import inf
from operator import attrgetter

from qps.compiler.ir.measure_names import is_utilization, resource_in
from qps.compiler.quantities.dimension import DATA_RATE, INFORMATION
from qps.reports.text.layout.table import Table
from qps.reports.text.words.labels import PLAIN, Labels
from qps.reports.text.words.phrases import phrase
from qps.reports.text.words.ports import with_ports_together
from qps.reports.text.words.quantities import (
    number,
    percent,
    quantity,
    undecided_point,
    utilization_text,
    whole_population,
)
from qps.solver.answer import Answer
from qps.solver.answers.solution import ResourceSolution
from qps.solver.search.method import SearchMethod

_DIGITS = 3
_SHOWN_SHARES = 4
_SMALL_SHARE = 0.005


def identifier_cells(name: str, labels: Labels) -> tuple[str, ...]:
    """Return the identifier that stands behind a row of words: no cell where all is plain."""
    return () if labels.is_plain else (name,)


_BAR = 8
"""Signs of a bar that shows a utilization of 100 %."""
_NONE = "–"


def resource_table(
    answer: Answer,
    labels: Labels = PLAIN,
    *,
    named: bool = False,
    bars: bool = False,
    shares: int = _SHOWN_SHARES,
) -> tuple[Table, list[ResourceSolution]]:
    """Return the resources, the first to saturate first, and of each row the resource.

    Where utilizations stand beside those with nominal inputs, what is used most comes first.

    `named` puts identifiers behind, `bars` a bar before each utilization; the largest `shares` of
    what loads a resource are shown. Beside a bar a utilization has one decimal.
    """
    is_planned = any(resource.target != 1 for resource in answer.resources)
    limits = _utilization_limits(answer)
    has_limits = is_planned or bool(limits)
    share_text = utilization_text if bars else partial(percent, digits=_DIGITS)
    nominal = _nominal(answer, share_text)
    ordered = _ordered(answer, limits, by_use=nominal is not None)
    resources = with_ports_together(ordered, attrgetter("name"), answer)
    giving = answer.saturated_by_elastic
    rows = []
    for resource, name in resources:
        limit = min(resource.target, limits.get(resource.name, 1.0))
        rows.append(
            (
                _named(resource.name, name, labels) + " (elastic)" * (resource.name in giving),
                *([_bar(resource.utilization_at_limit, limit, has_tick=has_limits)] * bars),
                share_text(resource.utilization_at_limit),
                *([percent(limit) if is_planned or limit < 1 else _NONE] * has_limits),
                _saturation(resource) if nominal is None else nominal[resource.name],
                _shares(resource, labels, shares),
                *(identifier_cells(resource.name, labels) if named else ()),
            )
        )
    at = f"{answer.at:,}"
    headings = (
        "Utilization",
        *([""] * bars),
        f"At {at}",
        *(["Target" if is_planned else "Limit"] * has_limits),
        phrase(_last_heading(is_planned=is_planned, is_nominal=nominal is not None)),
        phrase("resources.consumed_by"),
        *(identifier_cells("Name", labels) if named else ()),
    )
    first = 2 if bars else 1
    right = frozenset(range(first, first + 2 + has_limits))
    demand = first + 2 + has_limits
    long = frozenset([0, demand, demand + 1] if named else [0, demand])
    table = Table(headings, tuple(rows), right, firm=frozenset([1]), long=long)
    return table, [resource for resource, _ in resources]


def _ordered(
    answer: Answer, limits: Mapping[str, float], *, by_use: bool
) -> list[ResourceSolution]:
    """Return the resources, the first to saturate first, or by how much of a limit they use."""

    def place(one: ResourceSolution) -> tuple[float, float]:
        used = one.utilization_at_limit / min(one.target, limits.get(one.name, 1.0))
        saturated_at = inf if one.saturation.at is None else one.saturation.at
        return (0.0 if by_use else saturated_at), -used

    return sorted(answer.resources, key=place)


def _last_heading(*, is_planned: bool, is_nominal: bool) -> str:
    """Return the key of the heading above what stands beside utilization and target."""
    if is_nominal:
        return "table.nominal"
    return "table.reaches_target" if is_planned else "table.saturates"


def _nominal(answer: Answer, share_text: Callable[[float], str]) -> dict[str, str] | None:
    """Return utilizations with nominal inputs, of an answer that has them at a confidence."""
    beside = answer.at_reliable
    if beside is None or beside.confidence is None or answer.at != beside.population:
        return None
    return {one.name: share_text(one.nominal) for one in beside.utilizations}


def _utilization_limits(answer: Answer) -> dict[str, float]:
    """Return the lowest utilization that requirements allow each resource."""
    found: dict[str, float] = {}
    for one in answer.requirements:
        resource = resource_in(one.name)
        if is_utilization(one.name) and one.at_most:
            found[resource] = min(one.limit, found.get(resource, one.limit))
    return found


def _bar(load: float, target: float = 1.0, *, has_tick: bool = False) -> str:
    """Return a bar of a utilization, with a tick at its target where a target is below 100 %.

    >>> _bar(0.75), _bar(2.0), _bar(0.7, 0.75, has_tick=True), _bar(0.2, has_tick=True)
    ('██████░░', '████████', '██████|░░', '██░░░░░░|')
    """
    full = round(_BAR * min(1.0, max(0.0, load))) if load == load else 0  # noqa: PLR0124 - nan
    bar = "█" * full + "░" * (_BAR - full)
    if not has_tick:
        return bar
    tick = round(_BAR * target)
    return f"{bar[:tick]}|{bar[tick:]}" if tick > 0 else f"{bar} "


def _named(resource: str, name: str, labels: Labels) -> str:
    """Return what a resource is called, with what its name says of other ports."""
    return f"{labels.of(resource)}{name.removeprefix(resource)}"


_MOST_TRANSFERS = 6


def traffic_table(answer: Answer, labels: Labels = PLAIN, *, named: bool = False) -> Table:
    """Return what links and network cards carry, as rates and as volumes."""
    found = with_ports_together(answer.traffic, attrgetter("resource"), answer)
    shown = found[:_MOST_TRANSFERS]
    several = any(item.count != 1 for item, _ in shown)
    rows = tuple(
        (
            _named(item.resource, name, labels),
            quantity(item.bit_per_s, DATA_RATE, 3),
            quantity(item.byte_per_hour * 8, INFORMATION, 3),
            quantity(item.byte_per_month * 8, INFORMATION, 3),
            *(
                [phrase("resources.each_of", value=number(item.count)) if item.count != 1 else ""]
                * several
            ),
            *(identifier_cells(item.resource, labels) if named else ()),
        )
        for item, name in shown
    )
    headings = (
        *(
            "Traffic",
            f"At {answer.at:,}",
            phrase("resources.per_hour"),
            phrase("resources.per_month"),
        ),
        *([""] * several),
        *(identifier_cells("Name", labels) if named else ()),
    )
    return Table(headings, rows, frozenset([1, 2, 3]), long=frozenset([0, len(headings) - 1]))


def _saturation(resource: ResourceSolution) -> str:
    found = resource.saturation
    if found.not_below is not None:
        return undecided_point(found.at, found.not_below)
    if found.at is None:
        return phrase("table.never")
    at = whole_population(found.at)
    return phrase("table.at_start", low=at) if found.method is SearchMethod.AT_START else at


def _shares(resource: ResourceSolution, labels: Labels = PLAIN, most: int = _SHOWN_SHARES) -> str:
    large = [(by, share) for by, share in resource.shares.items() if share > _SMALL_SHARE]
    return ", ".join(f"{labels.of(by)} {percent(share, 2)}" for by, share in large[:most])
