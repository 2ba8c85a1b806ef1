"""Modes: users work in several ways, each with needs of its own; the worst one counts.

Claypool 1997, chapter 9: one model for each set of requirements; the one with the poorest
quality is where the bottleneck is to be looked for.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isnan

from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration, in_each_mode, in_force
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.lower.lowering import lower
from qps.compiler.lower.requirements.serial_losses import quality_known_at
from qps.compiler.quantities.limit_use import limit_used, nearness
from qps.solver.answers.answer_certainty import answer_known
from qps.solver.answers.graph_criteria import all_criteria
from qps.solver.answers.graph_solution import solve, value_at
from qps.solver.answers.limiting_factors import is_worse
from qps.solver.answers.solution import ModeSolution, Solution


def solve_model(model: ir.Model, configuration: Configuration) -> Solution:
    """Return the answers for the worst mode, and what the others come to.

    The worst mode is the one with the smallest largest acceptable population; of several, the
    one with the poorest quality there, and of these the one nearest to a limit.
    """
    solutions = [solve(lower(model, mode)) for mode in in_each_mode(model, configuration)]
    if len(solutions) == 1:
        return solutions[0]
    worst = solutions[0]
    for solution in solutions[1:]:
        if is_worse(_rank(solution), _rank(worst)):
            worst = solution
    alike = [one for one in solutions if _rank(one) == _rank(worst)]
    if len(alike) > 1:
        worst = max(alike, key=lambda one: nearness_at(one.graph, one.at))
    return replace(
        worst,
        modes=tuple(_summary(solution) for solution in solutions),
        others=tuple(solution for solution in solutions if solution is not worst),
    )


def _rank(solution: Solution) -> tuple[int, float]:
    quality = solution.quality_at_limit
    return solution.capacity or 0, 0.0 if quality is None or isnan(quality) else quality


def nearness_at(graph: LoadGraph, population: int) -> float:
    """Return how near a population comes to the nearest limit, 1 at it.

    It is infinite where a value is not known.
    """
    return nearness(
        limit_used(
            value_at(graph, one.value, population), graph.number(one.limit), at_most=one.at_most
        )
        for one in all_criteria(graph)
    )


def at_worst_moment(
    model: ir.Model,
    configuration: Configuration,
    population: int,
    lowered: Callable[[ir.Model, Configuration], LoadGraph] = lower,
) -> Configuration:
    """Return a configuration at the moment of its profiles that comes nearest to a limit.

    It is the configuration itself if a mode is chosen, or if only one moment may limit capacity.
    Moments are `lowered` by a function that may remember them.
    """
    if not model.worst_moments or configuration.mode is not None:
        return configuration
    moments = [
        in_force(replace(configuration, mode_changes=changes)) for changes in model.worst_moments
    ]
    return max(moments, key=lambda one: nearness_at(lowered(model, one), population))


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
