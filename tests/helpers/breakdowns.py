"""A number taken apart, as `qps explain` has it."""

from __future__ import annotations

from qps.compiler.lower.load_graph import LoadGraph
from qps.reports.text.explanations.explanation import Explanation, explanation_view
from qps.solver.breakdown.breakdown_types import SpreadOf
from qps.solver.breakdown.number_breakdown import number_apart


def explain(
    graph: LoadGraph,
    name: str,
    at: int,
    modes: tuple[str, ...] = (),
    spread_of: SpreadOf | None = None,
) -> Explanation:
    """Return what a name stands for, taken apart."""
    return explanation_view(number_apart(graph, name, at, modes, spread_of))
