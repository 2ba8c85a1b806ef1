"""How losses are known where saturated resources follow each other.

Each load counts what is offered, also what an earlier resource has lost: of resources in a row the
loss is an upper bound, and what arrives a lower bound; waits for them may be overestimated, or
as endless where they end. So are those of every other stream that meets what such a stream has
thinned: of waits alone, also where such a stream passes one overloaded resource.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from qps.compiler import ir
from qps.compiler.ir.parts import parts_of
from qps.compiler.lower.load_graph import Criterion, LoadGraph, NamedMeasure
from qps.compiler.lower.response_time.class_response import StreamMeasures
from qps.compiler.quantities.certainty import EXACT, Certainty, of_another, opposite, together
from qps.compiler.quantities.methods import known_by

InSeries = Mapping[str, tuple[str, ...]]
"""For each stream the resources that may lose less of it than is reported; none for most."""

_LOST = frozenset({ir.MeasureKind.LOSS, ir.MeasureKind.SATURATION_LOSS})
_ARRIVING = frozenset({ir.MeasureKind.RATE, ir.MeasureKind.THROUGHPUT})
_LATE = frozenset(
    {
        *(ir.MeasureKind.LATENCY, ir.MeasureKind.QUANTILE, ir.MeasureKind.TIME_SHARE),
        *(ir.MeasureKind.WAIT, ir.MeasureKind.WAIT_QUANTILE, ir.MeasureKind.QUEUE),
    }
)


def in_series(streams: Mapping[str, StreamMeasures], overloaded: frozenset[str]) -> InSeries:
    """Return which streams lose less than is reported where some resources are overloaded."""
    passed = {
        name: tuple(r for r in stream.saturating if r in overloaded)
        for name, stream in streams.items()
    }
    thinned = {r for resources in passed.values() if len(resources) > 1 for r in resources}
    met = {name: tuple(r for r in each if r in thinned) for name, each in passed.items()}
    return {name: resources for name, resources in met.items() if resources}


def in_series_anywhere(streams: Mapping[str, StreamMeasures]) -> InSeries:
    """Return the same where every resource is overloaded."""
    return in_series(streams, frozenset(r for s in streams.values() for r in s.saturating))


def in_series_at(graph: LoadGraph, population: int) -> InSeries:
    """Return the same at a population."""
    return in_series(graph.streams, _overloaded_at(graph, population))


def _overloaded_at(graph: LoadGraph, population: int) -> frozenset[str]:
    at = graph.at(population)
    # What has no definite value may be overloaded.
    return frozenset(n for n, r in graph.resources.items() if not at.number(r.load) <= 1)


def _are_thinned(
    waiting: Iterable[str], streams: Mapping[str, StreamMeasures], overloaded: frozenset[str]
) -> bool:
    """Return whether less comes to what some streams wait for than its load counts.

    Another stream loses some of it at an overloaded resource; they pass none themselves, which
    would be waited for without end. Calls return to where they were made, so no order of resources
    keeps one from that.
    """
    losing = [one for one in streams.values() if not overloaded.isdisjoint(one.saturating)]
    thinned = {name for one in losing for name in one.saturating} - overloaded
    passed = (streams[name].saturating for name in waiting if name in streams)
    return any(overloaded.isdisjoint(each) and not thinned.isdisjoint(each) for each in passed)


def loss_known(kind: ir.MeasureKind, stream: StreamMeasures, series: InSeries) -> Certainty:
    """Return how a share that a stream loses is known, or a rate of what arrives of it."""
    resources, late = series.get(stream.name, ()), stream.late_certainty
    if kind not in _LOST | _ARRIVING:
        return late if kind is ir.MeasureKind.VOLUNTARY_LOSS else EXACT
    lost = _of_offered(resources)
    if kind in _ARRIVING:
        return together(of_another(opposite(lost)), stream.arriving_known)
    if kind is ir.MeasureKind.SATURATION_LOSS:
        return together(lost, *(one.known for one in stream.losses if one.resource is not None))
    return together(lost, stream.lost_known)


def late_known(stream: StreamMeasures, series: InSeries) -> Certainty:
    """Return what loads that count too much do to a latency: its waits may be overestimated."""
    waits = stream.endless or any(part.queue is not None for part in stream.latency)
    return _of_offered(series.get(stream.name, ())) if waits else EXACT


def _of_offered(resources: tuple[str, ...]) -> Certainty:
    """Return how what rests on loads is known that count what has been lost elsewhere."""
    return known_by("loss-counted-twice", resources) if resources else EXACT


def rests_on_losses(expr: ir.Expr) -> bool:
    """Return whether an expression names what is lost, what arrives or how late it is."""
    parts = (part for part in parts_of(expr) if isinstance(part, ir.Measured))
    return any(part.kind in _LOST | _ARRIVING | _LATE for part in parts)


def waits_of(expr: ir.Expr) -> tuple[str, ...]:
    """Return the streams of which an expression names how late they are, and nothing that is lost.

    None where it names anything that is lost: that is known as the loads are.
    """
    parts = [part for part in parts_of(expr) if isinstance(part, ir.Measured)]
    if any(part.kind in _LOST | _ARRIVING for part in parts):
        return ()
    return tuple(dict.fromkeys(part.subject for part in parts if part.kind in _LATE))


def known_at(graph: LoadGraph, item: Criterion | NamedMeasure, population: int) -> Certainty:
    """Return how a criterion or a measure is known at a population."""
    if item.known == item.known_in_series:
        return item.known
    return known_where(item, graph.streams, _overloaded_at(graph, population))


def known_where(
    item: Criterion | NamedMeasure,
    streams: Mapping[str, StreamMeasures],
    overloaded: frozenset[str],
) -> Certainty:
    """Return how a criterion or a measure is known where some resources are overloaded."""
    if in_series(streams, overloaded) or _are_thinned(item.waits_of, streams, overloaded):
        return item.known_in_series
    return item.known


def quality_known_at(graph: LoadGraph, population: int) -> Certainty:
    """Return how quality is known at a population."""
    if (
        graph.analysis.criteria.quality_known == graph.analysis.criteria.quality_in_series
        or not in_series_at(graph, population)
    ):
        return graph.analysis.criteria.quality_known
    return graph.analysis.criteria.quality_in_series
