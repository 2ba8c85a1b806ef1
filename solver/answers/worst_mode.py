"""Modes: users work in several ways, each with needs of its own; the worst one counts.

Claypool 1997, chapter 9: one model for each set of requirements; the one with the poorest
quality is where the bottleneck is to be looked for.
"""

from __future__ import annotations

from math import isnan

from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration, in_each_mode
from qps.compiler.lower.lowering import lower
from qps.compiler.lower.requirements.serial_losses import quality_known_at
from qps.solver.answers.answer_certainty import answer_known
from qps.solver.answers.graph_solution import solve
from qps.solver.answers.limiting_factors import is_worse
from qps.solver.answers.solution import ModeSolution, Solution


def solve_model(model: ir.Model, configuration: Configuration) -> Solution:
    """Return the answers for the worst mode, and what the others come to.

    The worst mode is the one with the smallest largest acceptable population; of several, the
    one with the poorest quality there.
    """
    solutions = [solve(lower(model, mode)) for mode in in_each_mode(model, configuration)]
    if len(solutions) == 1:
        return solutions[0]
    worst = solutions[0]
    for solution in solutions[1:]:
        if is_worse(_rank(solution), _rank(worst)):
            worst = solution
    return replace(
        worst,
        modes=tuple(_summary(solution) for solution in solutions),
        others=tuple(solution for solution in solutions if solution is not worst),
    )


def _rank(solution: Solution) -> tuple[int, float]:
    quality = solution.quality_at_limit
    return solution.capacity or 0, 0.0 if quality is None or isnan(quality) else quality


def _summary(solution: Solution) -> ModeSolution:
    assert solution.graph.mode is not None
    return ModeSolution(
        mode=solution.graph.mode,
        capacity=solution.capacity,
        limited_by=solution.limited_by,
        quality_at_limit=solution.quality_at_limit,
        known=answer_known(solution),
        quality_known=quality_known_at(solution.graph, solution.at),
    )
