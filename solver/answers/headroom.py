"""What lies beyond the answer: the next limit, and what some more users would do to whom."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from qps.compiler import ir
from qps.compiler.lower.load_graph import Criterion, LoadGraph
from qps.compiler.lower.requirements.quality_axes import axes_of, joined_axes
from qps.compiler.lower.requirements.serial_losses import (
    InSeries,
    in_series_at,
    known_at,
    loss_known,
    quality_known_at,
)
from qps.compiler.lower.response_time.class_response import StreamMeasures
from qps.compiler.quantities.certainty import opposite, together
from qps.engine.expressions.formulas import ONE, Formula
from qps.solver.answers.answer_certainty import largest_known
from qps.solver.answers.answer_parts import (
    LoadThere,
    MoreUsers,
    NextLimit,
    RequirementAnswer,
    RequirementThere,
    StreamThere,
)
from qps.solver.answers.capacity import fails_at
from qps.solver.answers.graph_criteria import all_criteria, when_it_fails
from qps.solver.answers.graph_solution import limiting_of, value_at
from qps.solver.answers.requirement_readings import behind_quality, criterion_at, reading_at
from qps.solver.answers.saturation import saturation_table_of
from qps.solver.answers.solution import QUALITY, CapacityVerdict, FirstFailure, Solution

_FULL = 1 + 1e-9  # an elastic rate fills a resource up to 1


# -- the next limit ----------------------------------------------------------------------


def next_limit(solution: Solution) -> NextLimit | None:
    """Return what fails next, in any mode, were the requirement that limits the answer lifted.

    None where nothing limits it.
    """
    if solution.limited_by is None:
        return None
    lifted = next(f.criterion for f in solution.failures if f.criterion.name == solution.limited_by)
    found = [
        (at, criterion.span is None, number, criterion)
        for number, each in enumerate((solution, *solution.others))
        for criterion, at in _first_of(each, _without(each, lifted))
    ]
    if not found:
        return NextLimit(None, solution.graph.high, None)
    at, _, number, criterion = min(found, key=lambda one: one[:3])
    graph = (solution, *solution.others)[number].graph
    failure = FirstFailure(criterion, at, known_at(graph, criterion, at))
    known = largest_known([failure], graph.low)
    return NextLimit(criterion.name, None if at == graph.low else at - 1, graph.mode, known)


def _first_of(
    solution: Solution, failures: Sequence[tuple[Criterion, int | None]]
) -> list[tuple[Criterion, int]]:
    """Return the criterion that fails first, with where that is; nothing where none does.

    Of several it is that which would limit the answer; quality only where nothing else fails.
    """
    first = min((at for _, at in failures if at is not None), default=None)
    if first is None:
        return []
    failing = [criterion for criterion, at in failures if at == first]
    among = [criterion for criterion in failing if criterion.name != QUALITY] or failing
    saturations = {resource.name: resource.saturation for resource in solution.resources}
    saturation_table = saturation_table_of(solution.graph, saturations)
    number = limiting_of(among, [True] * len(among), saturation_table, solution.graph)
    return [(among[number], first)]


def _without(solution: Solution, lifted: Criterion) -> list[tuple[Criterion, int | None]]:
    """Return the criteria that remain without one, each with where it first fails.

    What is no requirement any more is no axis of quality either.
    """
    failures = [
        failure
        for failure in solution.failures
        if (failure.criterion.name, failure.criterion.at_most) != (lifted.name, lifted.at_most)
    ]
    found = [(failure.criterion, failure.first) for failure in failures]
    graph = solution.graph
    if lifted.axis is None or graph.metric is ir.Metric.FORMULA:
        return found
    found = [(criterion, at) for criterion, at in found if criterion.name != QUALITY]
    left = tuple(criterion for criterion, _ in found)
    axes = axes_of(left)
    joined = joined_axes(graph.metric, axes) if axes else None
    narrowed = graph.with_criteria(left, joined)
    quality = all_criteria(narrowed)[len(left) :]
    return [*found, *((one, when_it_fails(narrowed, one)) for one in quality)]


# -- more users --------------------------------------------------------------------------


def more_users(solution: Solution, requirements: Sequence[RequirementAnswer]) -> MoreUsers | None:
    """Return what happens with more users, in the mode that a solution is of.

    `requirements` are those of the solution, in its order. None where nothing limits the answer, or
    nothing is acceptable.
    """
    if solution.verdict is not CapacityVerdict.LIMITED:
        return None
    graph, now = solution.graph, solution.at
    wanted = -(-11 * now // 10)
    there = min(wanted, graph.high)
    failing = [
        RequirementThere(requirement, criterion_at(graph, item.criterion, there))
        for item, requirement in zip(solution.requirements, requirements, strict=True)
        if fails_at(graph, item.criterion, there)
    ]
    quality = None
    if graph.quality_value is not None:
        known = quality_known_at(graph, there)
        quality = reading_at(graph, there, graph.quality_value, ONE, known)
    fails_quality = graph.quality is not None and value_at(graph, graph.quality, there) > 1
    loads = [
        LoadThere(name, value_at(graph, r.load, there), value_at(graph, r.target, there))
        for name, r in graph.resources.items()
        if value_at(graph, r.fullness, there) > _FULL
    ]
    return MoreUsers(
        at=there,
        is_end_of_range=there < wanted,
        quality=quality,
        fails_quality=fails_quality,
        behind_quality=behind_quality(solution, requirements, there) if fails_quality else (),
        failing=tuple(failing),
        streams=_streams(graph, now, there),
        loads=tuple(sorted(loads, key=lambda one: -one.utilization / one.target)),
    )


def _both(graph: LoadGraph, expr: Formula, now: int, there: int) -> tuple[float, float]:
    return value_at(graph, expr, now), value_at(graph, expr, there)


def _streams(graph: LoadGraph, now: int, there: int) -> tuple[StreamThere, ...]:
    series = in_series_at(graph, there)
    return tuple(_stream(graph, s, now, there, series) for s in graph.streams.values())


def _stream(
    graph: LoadGraph, stream: StreamMeasures, now: int, there: int, series: InSeries
) -> StreamThere:
    def most(parts: Iterable[tuple[str, Formula]]) -> str:
        """Return the stage that grows most."""
        values = [(*_both(graph, value, now, there), stage) for stage, value in parts]
        return max(values, key=lambda one: one[1] - one[0], default=(0.0, 0.0, ""))[2]

    lost = loss_known(ir.MeasureKind.LOSS, stream, series)
    return StreamThere(
        name=stream.name,
        loss=_both(graph, stream.loss, now, there),
        lost_at=most((part.stage, part.value) for part in stream.losses),
        latency=_both(graph, stream.mean_latency, now, there),
        slower_at=most((part.stage, part.value) for part in (*stream.latency, *stream.endless)),
        rate=_both(graph, stream.rate, now, there),
        item=stream.item,
        loss_known=lost,
        latency_known=stream.latency_certainty,
        rate_known=together(opposite(lost), stream.rate_known),
    )
