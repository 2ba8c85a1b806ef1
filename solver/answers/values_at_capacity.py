"""Values shown next to the reliable capacity, at its population and its confidence."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from fractions import Fraction
from math import isfinite, isnan

from msgspec import Struct

from qps.compiler.configure.configuration import Configuration
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.ir.measure_names import (
    is_utilization,
    resource_in,
    timed_streams,
    utilization_of,
)
from qps.compiler.lower.load_graph import Criterion, LoadGraph
from qps.compiler.lower.requirements.serial_losses import known_at
from qps.compiler.quantities.certainty import Certainty, Kind
from qps.compiler.quantities.limit_use import limit_used
from qps.compiler.quantities.printed_capacity import printed_capacity
from qps.engine.expressions.formulas import UNDEFINED, Formula
from qps.solver.answers.answer_parts import (
    AtReliableCapacity,
    ReliableCapacity,
    ValueAtCapacity,
)
from qps.solver.answers.elastic_saturation import saturated_by_elastic
from qps.solver.answers.graph_solution import costs_at, value_at
from qps.solver.answers.solution import Solution

_P99 = Fraction(99, 100)
_MOST_STREAMS = 2
_FULL = 1 + 1e-9

ReadFormula = Callable[[LoadGraph, Configuration], Formula]


class Read(Struct, frozen=True, kw_only=True):
    """A value that is read off a load graph; its limit, if it has one, does not depend on it."""

    name: str
    of: ReadFormula
    limit: float | None
    at_most: bool = True
    known: Certainty


UnfavorableValues = Callable[[Sequence[Read], Sequence[float], int], Sequence[float]]
"""Returns the unfavorable ends of values at a population, at the confidence of the capacity.

Of values with nominal inputs, which stand where a value has no samples.
"""


def values_at_capacity(
    configuration: Configuration,
    solution: Solution,
    reliable: ReliableCapacity,
    unfavorable: UnfavorableValues | None,
) -> AtReliableCapacity | None:
    """Return what is shown next to a capacity; None where no population is supported.

    Without `unfavorable` values all inputs are certain.
    """
    graph, capacity = solution.graph, reliable.capacity
    if capacity is None:
        return None
    at = printed_capacity(capacity, high=graph.high)
    utilizations, requirements = list(_utilizations(graph)), list(_requirements(graph, at))
    percentiles = list(_percentiles(graph))
    reads = [*utilizations, *requirements, *percentiles]
    nominal, values = _values(graph, configuration, reads, at, unfavorable)
    found = [
        ValueAtCapacity(
            name=read.name,
            nominal=usual,
            value=value,
            used=_used(read, value),
            known=read.known,
        )
        for read, usual, value in zip(reads, nominal, values, strict=True)
    ]
    end = len(utilizations), len(utilizations) + len(requirements)
    return AtReliableCapacity(
        population=at,
        confidence=reliable.confidence,
        limited_by=_limited_by(
            configuration, solution, reliable, [*requirements, *utilizations], unfavorable
        ),
        utilizations=tuple(found[: end[0]]),
        requirements=tuple(found[end[0] : end[1]]),
        percentiles=tuple(one for one in found[end[1] :] if isfinite(one.value) and one.value > 0),
        costs=costs_at(graph, at),
    )


# -- what is read ---------------------------------------------------------------------------


def _utilizations(graph: LoadGraph) -> Iterator[Read]:
    """Yield the utilizations with their limits: targets, or what requirements allow below them."""
    allowed: dict[str, float] = {}
    for one in graph.criteria:
        if one.span is not None and one.at_most and is_utilization(one.name):
            resource, limit = resource_in(one.name), graph.number(one.limit)
            allowed[resource] = min(limit, allowed.get(resource, limit))
    for name, found in graph.resources.items():
        target = graph.number(found.target)

        def load(graph: LoadGraph, _: Configuration, name: str = name) -> Formula:
            return graph.resources[name].load if name in graph.resources else UNDEFINED

        limit = min(target, allowed.get(name, target))
        yield Read(name=name, of=load, limit=limit, known=found.known)


def _requirements(graph: LoadGraph, at: int) -> Iterator[Read]:
    for one in graph.criteria:
        if one.span is None:
            continue

        def measure(graph: LoadGraph, _: Configuration, own: Criterion = one) -> Formula:
            # Those of a family stand at one place: a name distinguishes them.
            place = own.span, own.name
            alike = (one.value for one in graph.criteria if (one.span, one.name) == place)
            return next(alike, UNDEFINED)

        yield Read(
            name=one.name,
            of=measure,
            limit=None if one.confidence is not None else graph.number(one.limit),
            at_most=one.at_most,
            known=known_at(graph, one, at),
        )


def _percentiles(graph: LoadGraph) -> Iterator[Read]:
    """Yield the p99 of the streams whose latency is required, or else of the first if it waits."""
    stated = [one.name for one in graph.criteria if one.span is not None]
    named = dict.fromkeys(stream for name in stated for stream in timed_streams(name))
    streams = [name for name in named if name in graph.streams] or list(graph.streams)[:1]
    for name in streams[:_MOST_STREAMS]:
        with suppress(QpsError):  # it has no percentiles
            graph.streams[name].latency_quantile(_P99)
            known = graph.streams[name].quantile_certainty(_P99)
            if not named and known.kind is Kind.LOWER_BOUND:  # nothing requests it
                continue

            def latency(graph: LoadGraph, _: Configuration, name: str = name) -> Formula:
                stream = graph.streams.get(name)
                return UNDEFINED if stream is None else stream.latency_quantile(_P99)

            yield Read(name=name, of=latency, limit=None, known=known)


# -- what it comes to -----------------------------------------------------------------------


def _values(
    graph: LoadGraph,
    configuration: Configuration,
    reads: Sequence[Read],
    at: int,
    unfavorable: UnfavorableValues | None,
) -> tuple[list[float], Sequence[float]]:
    """Return values with nominal inputs, and their unfavorable ends."""
    nominal = [value_at(graph, read.of(graph, configuration), at) for read in reads]
    return nominal, nominal if unfavorable is None else unfavorable(reads, nominal, at)


def _used(read: Read, value: float) -> float | None:
    if read.limit is None:
        return None
    used = limit_used(value, read.limit, at_most=read.at_most)
    return None if isnan(used) else used


def _limited_by(
    configuration: Configuration,
    solution: Solution,
    reliable: ReliableCapacity,
    reads: Sequence[Read],
    unfavorable: UnfavorableValues | None,
) -> str | None:
    """Return what fails with one user more than can be relied on: what uses most of its limit.

    Model errors that are allowed for count as used.
    """
    graph, capacity = solution.graph, reliable.capacity
    if capacity is None or (unfavorable is None and capacity == solution.capacity):
        return solution.limited_by
    if capacity == graph.high:
        return None
    errors = {one.name: one.error for one in reliable.allowed_for}
    filled = saturated_by_elastic(solution)
    judged = [read for read in reads if read.limit is not None and read.name not in filled]
    _, values = _values(graph, configuration, judged, capacity + 1, unfavorable)
    most, limited_by = _FULL, solution.limited_by
    for read, value in zip(judged, values, strict=True):
        name = utilization_of(read.name) if read.name in graph.resources else read.name
        error = errors.get(name, 0.0)
        used = (_used(read, value) or 0.0) * ((1 / (1 - error)) if read.at_most else 1 + error)
        if used > most:
            most, limited_by = used, name
    return limited_by
