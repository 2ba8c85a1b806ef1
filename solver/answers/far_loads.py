"""Costs that are used at loads far from those at which they were measured."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from math import isfinite

from msgspec import Struct

from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Sink
from qps.compiler.diagnostics.source import Span
from qps.compiler.lower.load_graph import LoadGraph

_FAR = 2.0
"""By how much a load may leave the range in which a cost was measured, before it is reported.

Work in batches makes an item cheaper as load rises: a Linux forwarder needs 840 ns a packet at low
load, 236 ns near saturation; so a load that is off by a factor of two may mean a third of the cost.
"""

AT_ANSWER = "at capacity"


class FarLoad(Struct, frozen=True, kw_only=True):
    """A cost that is used at a `load` far from those at which it was measured; `where` in words."""

    span: Span
    component: str
    resource: str
    load: float
    low: float
    high: float
    where: str

    @property
    def times(self) -> float:
        """By how much the load lies beyond."""
        return max(self.load / self.high, self.low / self.load)


def far_from_measured(
    graph: LoadGraph, loads: Mapping[str, float], where: str
) -> Iterator[FarLoad]:
    """Yield the costs that are used far from the load at which they were measured."""
    for found in graph.analysis.calibrations:
        load = loads[found.resource]
        if load > 0 and not found.low / _FAR <= load <= found.high * _FAR:
            yield FarLoad(
                span=found.span,
                component=found.component,
                resource=found.resource,
                load=load,
                low=found.low,
                high=found.high,
                where=where,
            )


def far_at(graph: LoadGraph, population: int, where: str) -> Iterator[FarLoad]:
    """Yield the costs that are used far from the load at which they were measured, at a number."""
    point = graph.at(population)
    used = {found.resource for found in graph.analysis.calibrations}
    loads = {name: definite(point.number(graph.resources[name].load)) for name in used}
    return far_from_measured(graph, loads, where)


def farthest_loads(found: Iterable[FarLoad]) -> tuple[FarLoad, ...]:
    """Return of each cost on a resource the load that is farthest from those measured."""
    farthest_by_place: dict[tuple[Span, str], FarLoad] = {}
    for one in found:
        key = one.span, one.resource
        if key not in farthest_by_place or one.times > farthest_by_place[key].times:
            farthest_by_place[key] = one
    return tuple(farthest_by_place.values())


def report_far(found: Iterable[FarLoad], sink: Sink) -> None:
    """Warn of costs that are used far from the load at which they were measured."""
    for one in found:
        is_above = one.load > one.high
        nearest = one.high if is_above else one.low
        is_answer = one.where == AT_ANSWER
        what = "capacity" if is_answer else "demand"
        sink.report(
            codes.FAR_FROM_MEASURED,
            one.span,
            f"`{one.component}` was measured at {nearest * 100:.3g} % utilization of "
            f"{one.resource}, but the utilization is {one.load * 100:.3g} % {one.where}",
            hint=f"measure near {one.load * 100:.3g} %; demand per item often falls under load "
            f"(batching), so the {what} may be "
            f"{'underestimated' if is_above is is_answer else 'overestimated'}",
        )


def definite(rate: float) -> float:
    """Return a rate, 0 where it has no definite value."""
    return rate if isfinite(rate) else 0.0
