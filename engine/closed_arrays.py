"""Closed queueing networks on arrays, as `closed_numbers` has them: many rows at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from qps.engine import closed_numbers
from qps.engine.arrays import Array, in_blocks


def closed_rate(customers: ArrayLike, think: ArrayLike, *stations: ArrayLike) -> Array:
    """Return how many cycles all customers together end in a time."""
    return in_blocks(_row_by_row(closed_numbers.closed_rate), customers, think, *stations)


def closed_wait(customers: ArrayLike, think: ArrayLike, *stations: ArrayLike) -> Array:
    """Return how long a cycle waits at the first station, without service, at all its copies."""
    return in_blocks(_row_by_row(closed_numbers.closed_wait), customers, think, *stations)


def mixed_wait(customers: ArrayLike, think: ArrayLike, *stations: ArrayLike) -> Array:
    """Return the mean wait of an open visit at the first station, in mean service times."""
    return in_blocks(_row_by_row(closed_numbers.mixed_wait), customers, think, *stations)


def _row_by_row(function: Any) -> Any:
    def found(*columns: Array) -> Array:
        rows = zip(*(column.tolist() for column in columns), strict=True)
        return np.array([function(*row) for row in rows])

    return found
