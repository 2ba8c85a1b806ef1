"""Bounds of one network of which only the customers move, by its values with each number of them.

One recursion gives all of these (`load_dependent_mva.every_rate`), and between whole numbers values
are on lines. So over a range of customers a value is between the least and the greatest of those of
its whole numbers and both ends, and its slope between those of the lines: no bounds are tighter.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qps.engine.evaluators.multiclass_bounds import FLOAT_ERROR
from qps.engine.evaluators.row_bounds import Bounds, span
from qps.engine.queueing_networks import load_dependent_mva

_MOST_CUSTOMERS = 1 << 15
_FEW, _FEW_CUSTOMERS = 4, 256
"""So few rows with more customers are sooner solved by themselves."""
_Array = NDArray[np.float64]


def nested_rate(customers: Bounds, *others: Bounds) -> Bounds | None:
    """Return between which rates those of rows lie; None where more moves than customers."""
    return _between(_every_rate, customers, others)


def nested_time(which: Bounds, customers: Bounds, *others: Bounds) -> Bounds | None:
    """Return the same of times at a place."""
    return _between(_every_time, customers, (which, *others))


def _between(
    values: Callable[[int, tuple[float, ...]], _Array], customers: Bounds, others: Sequence[Bounds]
) -> Bounds | None:
    low, high = np.broadcast_arrays(*(np.asarray(end, float) for end in _ends(customers)))
    most = float(np.max(high)) if high.size else np.inf
    if not (1 <= most <= _MOST_CUSTOMERS and np.all((low >= 0) & (low <= high))):
        return None
    if low.size <= _FEW and most > _FEW_CUSTOMERS:
        return None
    numbers = tuple(number for one in others if (number := _number(one)) is not None)
    if len(numbers) < len(others):
        return None
    table = values((1 << int(np.ceil(most)).bit_length()) - 1, numbers)
    if not table.size:
        return None
    return _from_table(table, low, high, customers)


def _ends(one: Bounds) -> tuple[Any, Any]:
    return one.low, one.high


def _number(one: Bounds) -> float | None:
    """Return what an operand is in all rows; None where it is not one number."""
    low, high = (np.asarray(end, float) for end in _ends(one))
    first = float(low.flat[0])
    return first if np.all(low == first) and np.all(high == first) else None


@lru_cache(maxsize=32)
def _every_rate(most: int, others: tuple[float, ...]) -> _Array:
    return np.array(load_dependent_mva.every_rate(most, *others))


@lru_cache(maxsize=32)
def _every_time(most: int, others: tuple[float, ...]) -> _Array:
    which, *numbers = others
    return np.array(load_dependent_mva.every_time(int(which), most, *numbers))


def _from_table(table: _Array, low: _Array, high: _Array, customers: Bounds) -> Bounds:
    """Return bounds of what is on lines between the values of a table."""
    at_ends = [np.interp(end, np.arange(table.size), table) for end in (low, high)]
    first, last = np.floor(low).astype(int), np.ceil(high).astype(int)
    last = np.maximum(last, first + 1)  # of one number the slope behind it
    inside = np.ceil(low).astype(int), np.floor(high).astype(int) + 1
    has_inside = inside[0] < inside[1]
    least, most = np.minimum(*at_ends), np.maximum(*at_ends)
    among = _extremes(table, inside[0], np.maximum(inside[1], inside[0] + 1))
    least = np.where(has_inside, np.minimum(least, among[0]), least)
    most = np.where(has_inside, np.maximum(most, among[1]), most)
    off = 2 * FLOAT_ERROR * np.maximum(np.abs(least), np.abs(most))
    slow, steep = _extremes(np.diff(table), first, last)
    slopes = span(customers.slope_low, customers.slope_high, slow - off, steep + off)
    return Bounds(least - FLOAT_ERROR * np.abs(least), most + FLOAT_ERROR * np.abs(most), *slopes)


def _extremes(values: _Array, first: Any, end: Any) -> tuple[_Array, _Array]:
    """Return the least and the greatest of the values from `first` to before `end`, of each row."""
    values = np.append(values, values[-1])  # so that the last end is a place of it
    ends = np.stack((first.ravel(), end.ravel()), axis=1).ravel()
    ends = np.minimum(ends, values.size - 1)
    found = (extreme.reduceat(values, ends)[::2] for extreme in (np.minimum, np.maximum))
    least, most = (one.reshape(first.shape) for one in found)
    return least, most
