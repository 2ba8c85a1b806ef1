"""Closed networks with speeds and pools on arrays, of one class or of several that share them.

Row by row, equal networks once.
"""

from __future__ import annotations

from numpy.typing import ArrayLike

from qps.engine.numerics.array_blocks import Array, in_blocks, row_by_row
from qps.engine.queueing_networks import (
    load_dependent_mva,
    multiclass_load_dependent_numbers,
)


def nested_rate(*operands: ArrayLike) -> Array:
    """Return how many cycles all customers together end in a time."""
    return in_blocks(row_by_row(load_dependent_mva.nested_rate), *operands)


def nested_time(*operands: ArrayLike) -> Array:
    """Return how long a cycle is at a station, or waits for a pool."""
    return in_blocks(row_by_row(load_dependent_mva.nested_time), *operands)


def nested_wait(*operands: ArrayLike) -> Array:
    """Return the mean wait of an open visit at a station, in mean service times."""
    return in_blocks(row_by_row(load_dependent_mva.nested_wait), *operands)


def shared_rate(*operands: ArrayLike) -> Array:
    """Return how many cycles all customers of one class end in a time."""
    return in_blocks(row_by_row(multiclass_load_dependent_numbers.shared_rate), *operands)


def shared_time(*operands: ArrayLike) -> Array:
    """Return how long a cycle of a class is at a place, or waits for a pool."""
    return in_blocks(row_by_row(multiclass_load_dependent_numbers.shared_time), *operands)


def shared_wait(*operands: ArrayLike) -> Array:
    """Return the mean wait of an open visit at a station, in mean service times."""
    return in_blocks(row_by_row(multiclass_load_dependent_numbers.shared_wait), *operands)
