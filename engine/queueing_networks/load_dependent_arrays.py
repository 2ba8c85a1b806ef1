"""Closed networks with speeds and pools on arrays: row by row, equal networks once."""

from __future__ import annotations

from numpy.typing import ArrayLike

from qps.engine.numerics.array_blocks import Array, in_blocks, row_by_row
from qps.engine.queueing_networks import load_dependent_mva


def nested_rate(*operands: ArrayLike) -> Array:
    """Return how many cycles all customers together end in a time."""
    return in_blocks(row_by_row(load_dependent_mva.nested_rate), *operands)


def nested_time(*operands: ArrayLike) -> Array:
    """Return how long a cycle is at a station, or waits for a pool."""
    return in_blocks(row_by_row(load_dependent_mva.nested_time), *operands)


def nested_wait(*operands: ArrayLike) -> Array:
    """Return the mean wait of an open visit at a station, in mean service times."""
    return in_blocks(row_by_row(load_dependent_mva.nested_wait), *operands)
