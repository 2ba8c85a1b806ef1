"""Modes: users work in several ways, each with needs of its own; the worst one counts.

Claypool 1997, chapter 9: one model for each set of requirements; the one with the poorest
quality is where the bottleneck is to be looked for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isnan
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration, in_each_mode, in_force
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.lower.lowering import lower
from qps.compiler.lower.requirements.serial_losses import quality_known_at
from qps.compiler.quantities.limit_use import limit_used, nearness
from qps.solver.answers.answer_certainty import answer_known
from qps.solver.answers.graph_criteria import all_criteria, first_unacceptable
from qps.solver.answers.graph_solution import (
    failures_at,
    limited_capacity,
    solved_limits,
    value_at,
    with_requirement_values,
)
from qps.solver.answers.limiting_factors import is_worse
from qps.solver.answers.solution import FirstFailure, ModeSolution, Solution


class WeakestModes(Struct, frozen=True, eq=False, kw_only=True):
    """The modes in which something fails at the `first` population of all; None for nowhere."""

    first: int | None
    graphs: tuple[LoadGraph, ...]


class WorstMode(Struct, frozen=True, eq=False, kw_only=True):
    """The answer of the worst mode, of which `graph` is, and what limits it.

    It is looked at `at` a population. Of all `graphs` the `failures` are what fails just beyond the
    capacity.
    """

    graphs: tuple[LoadGraph, ...]
    graph: LoadGraph
    capacity: int | None
    at: int
    limited_by: str | None
    failures: tuple[FirstFailure, ...]


def solve_model(model: ir.Model, configuration: Configuration) -> Solution:
    """Return the answers for the worst mode, and what the others come to.

    The worst mode is the one with the smallest largest acceptable population; of several, the
    one with the poorest quality there, and of these the one nearest to a limit.
    """
    solutions = [solved_limits(lower(model, mode)) for mode in in_each_mode(model, configuration)]
    if len(solutions) == 1:
        return with_requirement_values(solutions[0])
    worst = _worst([_Ranked(one.graph, one.at, _rank(one)) for one in solutions])
    return replace(
        with_requirement_values(solutions[worst]),
        modes=tuple(_summary(solution) for solution in solutions),
        others=tuple(one for at, one in enumerate(solutions) if at != worst),
    )


def weakest_modes(graphs: Sequence[LoadGraph]) -> WeakestModes:
    """Return the modes that fail first; all where none fails in the range of populations.

    What fails in a mode beyond the capacity of another one is not looked for.
    """
    first: int | None = None
    failing = list[LoadGraph]()
    for graph in graphs:
        found = first_unacceptable(graph, until=first)
        if found is not None and found != first:
            first, failing = found, []
        if found == first:
            failing.append(graph)
    return WeakestModes(first=first, graphs=tuple(failing))


def solve_worst_mode(graphs: Sequence[LoadGraph], weakest: WeakestModes) -> WorstMode:
    """Return the answer of the worst of all modes, of which some fail first."""
    first, rivals = weakest.first, weakest.graphs
    graph = rivals[_worst([_ranked(graph, first) for graph in rivals])]
    limited = limited_capacity(graph, first)
    return WorstMode(
        graphs=tuple(graphs),
        graph=graph,
        capacity=limited.capacity,
        at=limited.at,
        limited_by=limited.limited_by,
        failures=tuple(one for graph in graphs for one in failures_at(graph, first)),
    )


class _Ranked(NamedTuple):
    """A mode with its answer: the population at which it is looked at, and what ranks it."""

    graph: LoadGraph
    at: int
    rank: tuple[int, float]


def _worst(modes: Sequence[_Ranked]) -> int:
    """Return the number of the worst mode."""
    worst = modes[0].rank
    for one in modes[1:]:
        if is_worse(one.rank, worst):
            worst = one.rank
    alike = [number for number, one in enumerate(modes) if one.rank == worst]
    if len(alike) == 1:
        return alike[0]
    return max(alike, key=lambda number: nearness_at(modes[number].graph, modes[number].at))


def _ranked(graph: LoadGraph, first: int | None) -> _Ranked:
    """Return a mode by the first population at which anything fails, None for nowhere."""
    largest = graph.high if first is None else first - 1
    at = max(largest, graph.low)
    quality = None if graph.quality_value is None else value_at(graph, graph.quality_value, at)
    return _Ranked(graph, at, _ranking(0 if first == graph.low else largest, quality))


def _rank(solution: Solution) -> tuple[int, float]:
    return _ranking(solution.capacity or 0, solution.quality_at_limit)


def _ranking(capacity: int, quality: float | None) -> tuple[int, float]:
    return capacity, 0.0 if quality is None or isnan(quality) else quality


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
