"""Whether an answer rests on numbers that are not known: a forecast may, alone."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from qps.compiler.lower.load_graph import LoadGraph
from qps.solver.answers.solution import Solution


def rests_on(graphs: Iterable[LoadGraph], names: Collection[str]) -> bool:
    """Return whether the graph of any mode rests on one of some numbers, by their names."""
    return any(
        not graph.assumptions.keys().isdisjoint(names) or not graph.basis.decided.isdisjoint(names)
        for graph in graphs
    )


def graphs_of(solution: Solution) -> list[LoadGraph]:
    """Return the graphs of all modes of a solution."""
    return [one.graph for one in (solution, *solution.others)]
