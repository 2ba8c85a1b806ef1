"""The complete answer of a solution: all that is worked out of its load graph for who reads it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration, in_force
from qps.compiler.configure.fold import Folder
from qps.compiler.diagnostics.diagnostic import Diagnostic, Sink
from qps.compiler.ir.measure_names import is_utilization, resource_in, timed_streams
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.lower.requirements.serial_losses import known_at, quality_known_at
from qps.engine.expressions.formulas import ONE
from qps.solver.answer import Answer
from qps.solver.answers.answer_certainty import answer_known, largest_known
from qps.solver.answers.answer_parts import (
    MONTH,
    Advice,
    AtReliableCapacity,
    LinkTraffic,
    Margin,
    MeasureAnswer,
    QualityAnswer,
    Reading,
    ReliableCapacity,
    RequirementAnswer,
)
from qps.solver.answers.class_mixes import class_mixes
from qps.solver.answers.elastic_saturation import saturated_by_elastic
from qps.solver.answers.graph_criteria import rests_on_users
from qps.solver.answers.graph_solution import value_at
from qps.solver.answers.headroom import more_users, next_limit
from qps.solver.answers.requirement_readings import behind_quality, reading_at, requirement_answers
from qps.solver.answers.solution import (
    QUALITY,
    CapacityVerdict,
    ConfigurationResult,
    ResourceSolution,
    Sensitivity,
    Solution,
)
from qps.solver.answers.sparse_fits import counted_as_known
from qps.solver.incidents.timeouts_by_chance import report_timeouts, timeouts_by_chance
from qps.solver.throttled_holds import report_throttled_holds, throttled_holds
from qps.solver.uncertainty.interval_result import Uncertainty

_BYTE = 8
_HOUR = 3600.0


def complete_answer(
    model: ir.Model,
    configuration: Configuration,
    solution: Solution,
    *,
    settings: tuple[str, ...] = (),
    spec_warnings: tuple[Diagnostic, ...] = (),
    uncertainty: Uncertainty | None = None,
    reliable: ReliableCapacity | None = None,
    at_reliable: AtReliableCapacity | None = None,
    advice: tuple[Advice, ...] = (),
) -> Answer:
    """Return the complete answer of a solution; `spec_warnings` are those of the spec itself."""
    graph, at = solution.graph, solution.at
    requirements = requirement_answers(solution)
    there = at if solution.capacity is None else at + 1
    is_quality = solution.limited_by == QUALITY
    outcome: dict[str, Any] = {
        name: getattr(solution, name) for name in ConfigurationResult.__struct_fields__
    }
    outcome["warnings"] += _warnings_at_capacity(model, configuration, solution, reliable)
    limiting = _limiting(requirements, solution.limited_by)
    return Answer(
        **outcome,
        file=model.file,
        model=model.name,
        scenario=configuration.scenario,
        settings=settings,
        case=graph.stated.case.value if graph.stated.varied else None,
        mode=graph.mode,
        population=str(graph.population),
        low=graph.low,
        high=graph.high,
        known=answer_known(solution),
        limiting=limiting,
        limit_there=_limit_there(solution, limiting, there),
        rests_on_users=rests_on_users(graph),
        traffic=traffic_of(solution.resources),
        saturated_by_elastic=saturated_by_elastic(solution),
        requirements=requirements,
        has_quality_requirements=graph.quality is not None,
        quality=_quality(solution),
        behind_quality=behind_quality(solution, requirements, at) if is_quality else (),
        behind_quality_there=behind_quality(solution, requirements, there) if is_quality else (),
        latency_there=_latency_there(solution),
        measures=measures_at(graph, at),
        next_limit=next_limit(solution),
        more_users=more_users(solution, requirements),
        margins=(*_margins(solution), *_idle_margins(model, configuration, graph)),
        reference_ratings=_reference_ratings(graph, solution.sensitivity),
        mixes=class_mixes(graph, at),
        unpriced=graph.stated.unpriced,
        assumptions=graph.assumptions,
        counted_as_known=counted_as_known(model, graph),
        spec_warnings=spec_warnings,
        uncertainty=uncertainty,
        reliable=reliable,
        at_reliable=at_reliable,
        advice=advice,
    )


def _warnings_at_capacity(
    model: ir.Model,
    configuration: Configuration,
    solution: Solution,
    reliable: ReliableCapacity | None,
) -> tuple[Diagnostic, ...]:
    """Return warnings of what happens at capacity: retries that overload, throttled locks."""
    at = solution.capacity if reliable is None else reliable.capacity
    if at is None:
        return ()
    graph, sink = solution.graph, Sink()
    report_timeouts(timeouts_by_chance(model, configuration, graph, at), graph, at, sink)
    held = throttled_holds(graph, graph.criteria, at)
    report_throttled_holds(held, f"{graph.population} = {at:,}", sink)
    return tuple(sink.found)


def measures_at(graph: LoadGraph, at: int) -> tuple[MeasureAnswer, ...]:
    """Return the measures that the spec defines, at a population."""
    return tuple(
        MeasureAnswer(
            name=name,
            value=value_at(graph, one.value, at),
            dimension=one.dimension,
            doc=one.doc,
            known=known_at(graph, one, at),
            percentile_of=one.percentile_of,
        )
        for name, one in graph.measures.items()
    )


def _limiting(
    requirements: Sequence[RequirementAnswer], name: str | None
) -> RequirementAnswer | None:
    """Return the requirement of a name that fails first."""
    named = [one for one in requirements if one.name == name]
    return min(named, key=lambda one: one.met_up_to or 0, default=None)


def _limit_there(
    solution: Solution, limiting: RequirementAnswer | None, there: int
) -> Reading | None:
    """Return what limits at a population where it fails: a requirement, quality or a resource."""
    graph, name = solution.graph, solution.limited_by
    if limiting is not None:
        return limiting.now if there == solution.at else limiting.beyond
    if name == QUALITY and graph.quality_value is not None:
        return reading_at(graph, there, graph.quality_value, ONE, quality_known_at(graph, there))
    found = graph.resources.get(resource_in(name or ""))
    if found is None:
        return None
    return reading_at(graph, there, found.load, found.target, found.known)


def _latency_there(solution: Solution) -> tuple[tuple[str, float], ...]:
    """Return the stages of the one latency that a requirement limits where no one is supported."""
    graph, name = solution.graph, solution.limited_by
    if solution.verdict is not CapacityVerdict.NOWHERE or name is None:
        return ()
    found = [graph.streams[one] for one in timed_streams(name) if one in graph.streams]
    if len(found) != 1:
        return ()
    parts: dict[str, float] = {}
    for part in found[0].latency:
        parts[part.stage] = parts.get(part.stage, 0.0) + value_at(graph, part.value, graph.low)
    return tuple(sorted(parts.items(), key=lambda pair: -pair[1]))


def traffic_of(resources: Sequence[ResourceSolution]) -> tuple[LinkTraffic, ...]:
    """Return what links and interfaces carry, the most first."""
    found = [
        LinkTraffic(
            resource=one.name,
            bit_per_s=rate,
            byte_per_hour=rate * _HOUR / _BYTE,
            byte_per_month=rate * MONTH / _BYTE,
            count=one.count,
            known=one.known,
        )
        for one in resources
        if (rate := one.throughput) is not None
    ]
    return tuple(sorted(found, key=lambda one: -one.bit_per_s))


def _quality(solution: Solution) -> QualityAnswer:
    graph = solution.graph
    failures = [failure for failure in solution.failures if failure.criterion.name == QUALITY]
    return QualityAnswer(
        metric=graph.metric.value,
        at_limit=solution.quality_at_limit,
        met_up_to=solution.quality_met_up_to,
        known=quality_known_at(graph, solution.at),
        met_up_to_known=largest_known(failures, graph.low),
    )


def _margins(solution: Solution) -> Iterator[Margin]:
    """Yield the loads that are planned with: targets, and requirements that they stay below 1."""
    graph = solution.graph
    planned = {name: graph.number(value) for name, value in graph.stated.targets.stated.items()}
    for criterion in graph.criteria:
        if criterion.span is not None and criterion.at_most and is_utilization(criterion.name):
            limit = graph.number(criterion.limit)
            planned[criterion.name] = min(limit, planned.get(criterion.name, limit))
    yield from (Margin(name, value) for name, value in planned.items() if value < 1)


def _idle_margins(
    model: ir.Model, configuration: Configuration, graph: LoadGraph
) -> Iterator[Margin]:
    """Yield the targets of what nothing loads in this configuration."""
    loaded = [(name, graph.network.place_of(name)) for name in graph.resources]
    links = configuration.links
    folder = Folder(configuration=in_force(configuration), population=Fraction(graph.low))
    for target in model.targets:
        ranks = [target.rank(name, place, is_link=place in links) for name, place in loaded]
        if not any(map(any, ranks)):
            value = folder.fold(target.value.expr)
            if value is not None and value < 1:
                yield Margin(target.full_name, float(value), loaded=False)


def _reference_ratings(graph: LoadGraph, sensitivity: tuple[Sensitivity, ...]) -> frozenset[str]:
    """Return which numbers are ratings of machines that service demands were measured on."""
    known = graph.assumptions
    capacities = {one.dimension for one in known.values() if one.is_capacity}
    shown = (known[item.parameter] for item in sensitivity)
    return frozenset(
        one.name
        for one in shown
        if not one.is_capacity
        and one.dimension in capacities
        and one.name.split(".")[1:] == [one.dimension.single_base]
    )
