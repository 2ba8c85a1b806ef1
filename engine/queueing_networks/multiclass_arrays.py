"""Closed networks of several classes on arrays: row by row, equal networks once."""

from __future__ import annotations

from numpy.typing import ArrayLike

from qps.engine.numerics.array_blocks import Array, in_blocks, row_by_row
from qps.engine.queueing_networks import multiclass_cycle_times, multiclass_mva


def class_rate(*operands: ArrayLike) -> Array:
    """Return how many cycles all customers of one class end in a time."""
    return in_blocks(row_by_row(multiclass_mva.class_rate), *operands)


def class_wait(*operands: ArrayLike) -> Array:
    """Return how long a cycle of one class waits at the first station, without service."""
    return in_blocks(row_by_row(multiclass_mva.class_wait), *operands)


def class_open_wait(*operands: ArrayLike) -> Array:
    """Return the mean wait of an open visit at the first station, in mean service times."""
    return in_blocks(row_by_row(multiclass_mva.class_open_wait), *operands)


def class_quantile(*operands: ArrayLike) -> Array:
    """Return what a share of the cycles of one class does not exceed at all stations."""
    return in_blocks(row_by_row(multiclass_cycle_times.class_quantile), *operands)
