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
from qps.compiler.quantities.certainty import Certainty, CertaintyKind
from qps.compiler.quantities.limit_use import limit_used
from qps.compiler.quantities.printed_capacity import printed_capacity
from qps.engine.expressions.formulas import UNDEFINED, Formula
from qps.solver.answers.answer_parts import (
    AtReliableCapacity,
    ValueAtCapacity,
)
from qps.solver.answers.graph_solution import costs_at, value_at
from qps.solver.answers.reliable_limits import ReliableAnswer, ReliableLimits
from qps.solver.answers.solution import QUALITY, Solution

_P99 = Fraction(99, 100)
_MOST_STREAMS = 2

ReadFormula = Callable[[LoadGraph, Configuration], Formula]


class GraphValue(Struct, frozen=True, kw_only=True):
    """A value that is read off a load graph; its limit, if it has one, does not depend on it.

    `criterion` is the name of the criterion that it has to meet, empty if there is none.
    """

    name: str
    criterion: str = ""
    of: ReadFormula
    limit: float | None
    at_most: bool = True
    known: Certainty


UnfavorableValues = Callable[[Sequence[GraphValue], Sequence[float], int], Sequence[float]]
"""Returns the unfavorable ends of values at a population, at the confidence of the capacity.

Of values with nominal inputs, which stand where a value has no samples.
"""


def values_at_capacity(
    configuration: Configuration,
    solution: Solution,
    answer: ReliableAnswer,
    unfavorable: UnfavorableValues | None,
) -> AtReliableCapacity | None:
    """Return what is shown next to a capacity; None where no population is supported.

    Without `unfavorable` values all inputs are certain.
    """
    graph, reliable = solution.graph, answer.capacity
    if reliable.capacity is None:
        return None
    at = printed_capacity(reliable.capacity, high=graph.high)
    limits = ReliableLimits(solution=solution, reliable=answer, population=at)
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
            met_up_to=limits.of(read.criterion),
            known=read.known,
        )
        for read, usual, value in zip(reads, nominal, values, strict=True)
    ]
    end = len(utilizations), len(utilizations) + len(requirements)
    limited_by = limits.limited_by
    return AtReliableCapacity(
        population=at,
        confidence=reliable.confidence,
        limited_by=limited_by,
        utilizations=tuple(found[: end[0]]),
        requirements=tuple(found[end[0] : end[1]]),
        percentiles=tuple(one for one in found[end[1] :] if isfinite(one.value) and one.value > 0),
        costs=costs_at(graph, at),
        next_limit=limits.next_limit(limited_by),
        quality_met_up_to=limits.of(QUALITY),
    )


# -- what is read ---------------------------------------------------------------------------


def _utilizations(graph: LoadGraph) -> Iterator[GraphValue]:
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
        yield GraphValue(
            name=name, criterion=utilization_of(name), of=load, limit=limit, known=found.known
        )


def _requirements(graph: LoadGraph, at: int) -> Iterator[GraphValue]:
    for one in graph.criteria:
        if one.span is None:
            continue

        def measure(graph: LoadGraph, _: Configuration, own: Criterion = one) -> Formula:
            # Those of a family stand at one place: a name distinguishes them.
            place = own.span, own.name
            alike = (one.value for one in graph.criteria if (one.span, one.name) == place)
            return next(alike, UNDEFINED)

        yield GraphValue(
            name=one.name,
            criterion=one.name,
            of=measure,
            limit=None if one.confidence is not None else graph.number(one.limit),
            at_most=one.at_most,
            known=known_at(graph, one, at),
        )


def _percentiles(graph: LoadGraph) -> Iterator[GraphValue]:
    """Yield the p99 of the streams whose latency is required, or else of the first if it waits."""
    stated = [one.name for one in graph.criteria if one.span is not None]
    named = dict.fromkeys(stream for name in stated for stream in timed_streams(name))
    streams = [name for name in named if name in graph.streams] or list(graph.streams)[:1]
    for name in streams[:_MOST_STREAMS]:
        with suppress(QpsError):  # it has no percentiles
            graph.streams[name].latency_quantile(_P99)
            known = graph.streams[name].quantile_certainty(_P99)
            if not named and known.kind is CertaintyKind.LOWER_BOUND:  # nothing requests it
                continue

            def latency(graph: LoadGraph, _: Configuration, name: str = name) -> Formula:
                stream = graph.streams.get(name)
                return UNDEFINED if stream is None else stream.latency_quantile(_P99)

            yield GraphValue(name=name, of=latency, limit=None, known=known)


# -- what it comes to -----------------------------------------------------------------------


def _values(
    graph: LoadGraph,
    configuration: Configuration,
    reads: Sequence[GraphValue],
    at: int,
    unfavorable: UnfavorableValues | None,
) -> tuple[list[float], Sequence[float]]:
    """Return values with nominal inputs, and their unfavorable ends."""
    nominal = [value_at(graph, read.of(graph, configuration), at) for read in reads]
    return nominal, nominal if unfavorable is None else unfavorable(reads, nominal, at)


def _used(read: GraphValue, value: float) -> float | None:
    if read.limit is None:
        return None
    used = limit_used(value, read.limit, at_most=read.at_most)
    return None if isnan(used) else used
