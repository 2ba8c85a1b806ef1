"""Bounds of a value and of its slope, for many rows at once, and their products."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite
from operator import mul
from typing import Any, TypeAlias

import numpy as np

Bound: TypeAlias = Any
"""A number, or an array of one for each row."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """Bounds of a value, and of its slope in the population."""

    low: Bound
    high: Bound
    slope_low: Bound = 0.0
    slope_high: Bound = 0.0


def _times(one: Bound, other: Bound) -> Bound:
    """Return a product in which zero times infinity is zero: a slope of zero stays zero."""
    return np.where((one == 0) | (other == 0), 0.0, one * other)


def _infinite(value: Bound) -> bool:
    if isinstance(value, float):  # np.float64 too: most bounds are those of all rows
        return not isfinite(value)
    return not bool(np.isfinite(value).all())


def span(a: Bound, b: Bound, c: Bound, d: Bound) -> tuple[Bound, Bound]:
    """Return the least and the greatest product of two intervals, [a, b] and [c, d]."""
    low, high = _extremes(mul, a, b, c, d)
    return _extremes(_times, a, b, c, d) if _infinite(low + high) else (low, high)


def _extremes(
    times: Callable[[Bound, Bound], Bound], a: Bound, b: Bound, c: Bound, d: Bound
) -> tuple[Bound, Bound]:
    """Return the same by a product of numbers; many an interval is one number."""
    products = [
        times(one, other)
        for one in ((a,) if a is b else (a, b))
        for other in ((c,) if c is d else (c, d))
    ]
    low = high = products[0]
    for product in products[1:]:
        low, high = np.minimum(low, product), np.maximum(high, product)
    return low, high


def is_zero(one: Bounds) -> bool:
    """True where a slope is zero throughout, as that of all that has no population in it."""
    return isinstance(one.slope_low, float) and one.slope_low == 0.0 == one.slope_high
