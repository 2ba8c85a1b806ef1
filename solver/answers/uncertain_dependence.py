"""Whether a solution rests on numbers that are not known: a forecast may, alone."""

from __future__ import annotations

from collections.abc import Collection

from qps.solver.answers.solution import Solution


def rests_on(solution: Solution, names: Collection[str]) -> bool:
    """Return whether the graph of any mode rests on one of some numbers, by their names."""
    return any(
        not one.graph.assumptions.keys().isdisjoint(names)
        or not one.graph.basis.decided.isdisjoint(names)
        for one in (solution, *solution.others)
    )
