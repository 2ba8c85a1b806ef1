"""Closed networks with calls made together on arrays: row by row, equal networks once."""

from __future__ import annotations

from numpy.typing import ArrayLike

from qps.engine.numerics.array_blocks import Array, in_blocks, row_by_row
from qps.engine.queueing_networks import fork_join_mva


def forked_rate(*operands: ArrayLike) -> Array:
    """Return how many cycles all customers together end in a time."""
    return in_blocks(row_by_row(fork_join_mva.forked_rate), *operands)


def forked_time(*operands: ArrayLike) -> Array:
    """Return how long a cycle is at a station, or how long calls take that are made together."""
    return in_blocks(row_by_row(fork_join_mva.forked_time), *operands)


def forked_wait(*operands: ArrayLike) -> Array:
    """Return the mean wait of an open visit at a station, in mean service times."""
    return in_blocks(row_by_row(fork_join_mva.forked_wait), *operands)
