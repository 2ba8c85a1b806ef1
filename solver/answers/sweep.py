"""Loads and requirements over many populations at once, in arrays."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from qps.compiler.ir.measure_names import utilization_of
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.quantities.certainty import EXACT, Certainty
from qps.engine.execution.array_functions import array_function
from qps.engine.expressions.formulas import Formula


def sweep(graph: LoadGraph, populations: Iterable[float]) -> dict[str, np.ndarray]:
    """Return a column for the population, each load, each requirement and the quality."""
    at = np.asarray(list(populations), dtype=float)
    columns = _columns(graph)
    compiled = array_function(graph.population, list(columns.values()))
    table = {str(graph.population): at}
    for name, values in zip(columns, compiled(at), strict=True):
        table[name] = values.copy()
    return table


def _columns(graph: LoadGraph) -> dict[str, Formula]:
    loads = {utilization_of(name): r.load for name, r in graph.resources.items()}
    # Of a load that nobody states a limit of, its criterion leaves out users who slow down.
    columns = loads | {c.name: c.value for c in graph.criteria} | loads
    columns |= {m.name: m.value for m in graph.measures.values()}
    if graph.quality_value is not None:
        columns["quality"] = graph.quality_value
    return {name: graph.valued(formula) for name, formula in columns.items()}


def columns_known(graph: LoadGraph) -> dict[str, Certainty]:
    """Return how each column of a sweep is known, at every population."""
    found = {str(graph.population): EXACT}
    found |= {utilization_of(name): r.known for name, r in graph.resources.items()}
    found |= {c.name: c.known_in_series for c in graph.criteria if c.span is not None}
    found |= {m.name: m.known_in_series for m in graph.measures.values()}
    return (
        found
        if graph.quality is None
        else found | {"quality": graph.analysis.criteria.quality_in_series}
    )
