"""The answer at the headline: all values at its population and its confidence."""

from __future__ import annotations

from msgspec.structs import replace

from qps.compiler.ir.measure_names import resource_in
from qps.solver.answer import Answer
from qps.solver.answers.answer_parts import (
    AtReliableCapacity,
    NextLimit,
    Reading,
    RequirementAnswer,
    RequirementThere,
)
from qps.solver.answers.closed_answers import closed_solutions
from qps.solver.answers.graph_solution import resource_at, value_at
from qps.solver.answers.knees import elastic_solutions
from qps.solver.answers.requirement_readings import behind_quality
from qps.solver.answers.solution import QUALITY, ResourceSolution, Solution, Verdict
from qps.solver.complete_answer import measures_at, traffic_of


def headline_answer(answer: Answer, solution: Solution) -> Answer:
    """Return an answer with the values that it has at the capacity that can be relied on.

    Utilizations and requirements are at its confidence; all else is with nominal inputs. It is the
    same answer where that is the capacity that was computed.
    """
    beside, graph = answer.at_reliable, solution.graph
    if beside is None or (beside.confidence is None and beside.population == answer.at):
        return answer
    at, limited_by = beside.population, beside.limited_by
    loads = {one.name: one.value for one in beside.utilizations}
    resources = tuple(
        replace(_resource(solution, one, at), utilization_at_limit=loads[one.name])
        for one in solution.resources
    )
    values = {one.name: one.value for one in beside.requirements}
    requirements = tuple(
        _requirement(one, values[one.name]) if one.name in values else one
        for one in answer.requirements
    )
    by_name = {one.name: one for one in requirements}
    is_quality = limited_by == QUALITY
    quality = answer.quality
    if graph.quality_value is not None:
        quality = replace(quality, at_limit=value_at(graph, graph.quality_value, at))
    behind = behind_quality(solution, answer.requirements, at) if is_quality else ()
    return replace(
        answer,
        verdict=Verdict.RANGE if limited_by is None else Verdict.LIMITED,
        limited_by=limited_by,
        at=at,
        resources=resources,
        traffic=traffic_of(resources),
        requirements=requirements,
        limiting=by_name.get(limited_by or ""),
        limit_there=None,
        quality=quality,
        behind_quality=tuple(
            RequirementThere(by_name[one.requirement.name], by_name[one.requirement.name].now)
            for one in behind
        ),
        behind_quality_there=(),
        measures=measures_at(graph, at),
        elastic=elastic_solutions(graph, at),
        closed=closed_solutions(graph, at),
        costs=beside.costs,
        next_limit=_next_limit(answer, beside),
    )


def _resource(solution: Solution, one: ResourceSolution, at: int) -> ResourceSolution:
    return resource_at(solution.graph, one.name, one.saturation, at)


def _requirement(one: RequirementAnswer, value: float) -> RequirementAnswer:
    if one.confidence is not None:
        return one
    return replace(
        one, now=Reading(value=value, excess=value - one.limit, known=one.now.known), beyond=None
    )


def _next_limit(answer: Answer, reliable: AtReliableCapacity) -> NextLimit | None:
    """Return the next limit: where another one sets the headline, that of nominal inputs."""
    first = answer.limited_by
    if first is None or resource_in(first) == resource_in(reliable.limited_by or ""):
        return answer.next_limit
    return NextLimit(
        requirement=first, met_up_to=answer.capacity, mode=answer.mode, known=answer.known
    )
