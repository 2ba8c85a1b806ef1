"""Values at a population, at their unfavorable ends: what a share of samples is no worse than."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import inf

import numpy as np

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration
from qps.compiler.lower.certainty_requirements import as_stated
from qps.compiler.lower.load_graph import LoadGraph
from qps.solver.answers.values_at_capacity import GraphValue, UnfavorableValues
from qps.solver.matrix.limits.row_preparation import Floats
from qps.solver.matrix.matrix_compiler import compile_matrix
from qps.solver.uncertainty.capacity_interval import not_above_values, not_below_values
from qps.solver.uncertainty.interval_result import Sampling
from qps.solver.uncertainty.sample_draws import drawn_axis, uncertain_numbers
from qps.solver.uncertainty.sample_solver import as_matrix
from qps.solver.uncertainty.value_modes import LimitedTail, PointsByCost
from qps.solver.uncertainty.value_samples import value_solver
from qps.solver.uncertainty.value_spreads import in_mode_of


def values_at_confidence(
    model: ir.Model, configuration: Configuration, graph: LoadGraph, sampling: Sampling
) -> UnfavorableValues:
    """Return the solver of the unfavorable ends of values of a graph, in its mode."""
    stated, configured = in_mode_of(graph, as_stated(model, configuration), configuration)
    return partial(_unfavorable, stated, configured, sampling, {})


def _unfavorable(
    model: ir.Model,
    configuration: Configuration,
    sampling: Sampling,
    points: PointsByCost,
    reads: Sequence[GraphValue],
    nominal: Sequence[float],
    at: int,
) -> Sequence[float]:
    """Return what a share of the samples is not above, or not below where that is the worse side.

    A value that has no samples is that of nominal inputs; one without a limit that no surface
    estimates is infinite, which is not shown. Surfaces begin with the points of those that were
    fitted before.
    """
    numbers = uncertain_numbers(model, configuration)
    if not numbers or not reads:
        return nominal
    axis = drawn_axis(numbers, model, sampling.samples, sampling.seed)
    matrix = as_matrix(model, configuration, axis, at)
    compiled = compile_matrix(model, matrix, further=tuple(read.of for read in reads))
    tails = tuple(_tail(read, sampling.certainty) for read in reads)
    solver = value_solver(compiled, at, points, sampling.certainty, tails)
    (rows,) = solver.row_blocks(0, axis.count)
    first = len(rows.columns) - len(reads)
    columns = (column[rows.is_answered] for column in rows.columns[first:])
    ends = [
        _end(read, column, usual, sampling.certainty)
        for read, column, usual in zip(reads, columns, nominal, strict=True)
    ]
    for place in solver.unreliable:
        if place >= first and not reads[place - first].criterion:
            ends[place - first] = inf
    return ends


def _tail(read: GraphValue, certainty: float) -> LimitedTail | None:
    if read.limit is None:
        return None
    return LimitedTail(certainty if read.at_most else 1 - certainty, read.limit)


def _end(read: GraphValue, values: Floats, nominal: float, certainty: float) -> float:
    if np.isnan(values).all():
        return nominal
    worst = inf if read.at_most else -inf
    known = np.where(np.isnan(values), worst, values)
    find = not_above_values if read.at_most else not_below_values
    return find(known, certainty)
