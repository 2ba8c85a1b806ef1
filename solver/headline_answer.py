"""The answer at the headline: all values at its population and its confidence."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet

from msgspec.structs import replace

from qps.compiler.quantities.certainty import EXACT
from qps.solver.answer import Answer
from qps.solver.answers.answer_parts import (
    NextLimit,
    Reading,
    RequirementAnswer,
    RequirementThere,
)
from qps.solver.answers.closed_answers import closed_solutions
from qps.solver.answers.graph_solution import resource_at, value_at
from qps.solver.answers.knees import elastic_solutions
from qps.solver.answers.requirement_readings import behind_quality
from qps.solver.answers.solution import QUALITY, CapacityVerdict, ResourceSolution, Solution
from qps.solver.complete_answer import measures_at, traffic_of


def headline_answer(answer: Answer, solution: Solution) -> Answer:
    """Return an answer with the values that it has at the capacity that can be relied on.

    Utilizations and requirements are at its confidence; all else is with nominal inputs. It is the
    same answer where that is the capacity that was computed, except that model errors lower limits.
    """
    beside, graph = answer.at_reliable, solution.graph
    if beside is None:
        return answer
    at, limited_by = beside.population, beside.limited_by
    limits = replace(answer, at=at).reliable_limits
    allowed_for = () if answer.reliable is None else answer.reliable.allowed_for
    exact = {one.name for one in allowed_for}
    if beside.confidence is None and at == answer.at:
        return _with_limits(answer, limits, exact, beside.next_limit)
    loads = {one.name: one.value for one in beside.utilizations}
    resources = tuple(
        replace(_resource(solution, one, at), utilization_at_limit=loads[one.name])
        for one in solution.resources
    )
    values = {one.name: one.value for one in beside.requirements}
    requirements = tuple(
        _at_headline(one, values[one.name], limits.get(one.name), is_covered=one.name in exact)
        if one.name in values
        else one
        for one in answer.requirements
    )
    by_name = {one.name: one for one in requirements}
    is_quality = limited_by == QUALITY
    quality = answer.quality
    if graph.quality_value is not None:
        met = limits.get(QUALITY, quality.met_up_to)
        value = value_at(graph, graph.quality_value, at)
        quality = replace(quality, at_limit=value, met_up_to=met)
    behind = behind_quality(solution, answer.requirements, at) if is_quality else ()
    return replace(
        answer,
        verdict=CapacityVerdict.RANGE if limited_by is None else CapacityVerdict.LIMITED,
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
        next_limit=beside.next_limit,
    )


def _resource(solution: Solution, one: ResourceSolution, at: int) -> ResourceSolution:
    return resource_at(solution.graph, one.name, one.saturation, at)


def _at_headline(
    one: RequirementAnswer, value: float, met_up_to: int | None, *, is_covered: bool
) -> RequirementAnswer:
    """Return a requirement with its value; its limit is exact where its model error is covered."""
    if one.confidence is not None:
        return one
    now = Reading(value=value, excess=value - one.limit, known=one.now.known)
    shown = replace(one, now=now, beyond=None)
    return shown if met_up_to is None else _met_up_to(shown, met_up_to, is_covered=is_covered)


def _with_limits(
    answer: Answer, limits: Mapping[str, int], exact: AbstractSet[str], following: NextLimit | None
) -> Answer:
    """Return an answer whose limits are met up to where the headline can be relied on."""
    if not limits:
        return answer
    requirements = tuple(
        _met_up_to(one, limits[one.name], is_covered=one.name in exact)
        if one.name in limits and one.confidence is None
        else one
        for one in answer.requirements
    )
    by_name = {one.name: one for one in requirements}
    met = limits.get(QUALITY, answer.quality.met_up_to)
    return replace(
        answer,
        requirements=requirements,
        limiting=None if answer.limiting is None else by_name[answer.limiting.name],
        quality=replace(answer.quality, met_up_to=met),
        next_limit=following,
    )


def _met_up_to(one: RequirementAnswer, met_up_to: int, *, is_covered: bool) -> RequirementAnswer:
    known = EXACT if is_covered else one.met_up_to_known
    return replace(one, met_up_to=met_up_to, met_up_to_known=known)
