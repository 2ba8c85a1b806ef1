"""Requirements as an answer has them: typed numbers at a population, and how each is known."""

from __future__ import annotations

from collections.abc import Sequence
from math import isclose

from qps.compiler.lower.load_graph import Criterion, LoadGraph
from qps.compiler.lower.requirements.serial_losses import known_at
from qps.compiler.quantities.certainty import Certainty
from qps.engine.expressions.formulas import Formula
from qps.solver.answers.answer_certainty import limit_certainty
from qps.solver.answers.answer_parts import Reading, RequirementAnswer, RequirementThere
from qps.solver.answers.solution import CriterionSolution, Solution

_MOST_BEHIND_QUALITY = 2


def reading_at(
    graph: LoadGraph, at: int, value: Formula, limit: Formula, known: Certainty
) -> Reading:
    """Return what a formula comes to at a population, beside a limit that no population moves."""
    point, end = graph.at(at), graph.number(limit)
    found = point.number(value)
    excess = point.number(value - limit) if isclose(found, end) else found - end
    return Reading(value=found, excess=excess, known=known)


def criterion_at(graph: LoadGraph, criterion: Criterion, at: int) -> Reading:
    """Return what a requirement comes to at a population."""
    known = known_at(graph, criterion, at)
    return reading_at(graph, at, criterion.value, criterion.limit, known)


def requirement_answers(solution: Solution) -> tuple[RequirementAnswer, ...]:
    """Return the requirements of a solution, in its order."""
    return tuple(_requirement(solution, item) for item in solution.requirements)


def _requirement(solution: Solution, item: CriterionSolution) -> RequirementAnswer:
    graph, at, criterion = solution.graph, solution.at, item.criterion
    return RequirementAnswer(
        name=criterion.name,
        dimension=criterion.dimension,
        at_most=criterion.at_most,
        strict=criterion.strict,
        span=criterion.span,
        confidence=criterion.confidence,
        limit=graph.number(criterion.limit),
        met_up_to=item.met_up_to,
        met_up_to_known=limit_certainty(solution, criterion),
        now=criterion_at(graph, criterion, at),
        beyond=criterion_at(graph, criterion, at + 1) if at < graph.high else None,
    )


def behind_quality(
    solution: Solution, requirements: Sequence[RequirementAnswer], at: int
) -> tuple[RequirementThere, ...]:
    """Return the requirements that make quality what it is: the two nearest to their limits."""
    graph = solution.graph
    judged = [
        (graph.at(at).number(item.criterion.axis_value), item.criterion, requirement)
        for item, requirement in zip(solution.requirements, requirements, strict=True)
        if item.criterion.axis_value is not None
    ]
    judged.sort(key=lambda one: -one[0])
    return tuple(
        RequirementThere(requirement, criterion_at(graph, criterion, at))
        for share, criterion, requirement in judged[:_MOST_BEHIND_QUALITY]
        if share > 0
    )
