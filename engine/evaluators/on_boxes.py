"""Bounds of operations over boxes, rounded outwards, where they are narrower than others.

As `on_bounds` has them, but what is rounded off is added to each, and slopes of one sign keep it:
a search that rests on them has proven what it finds. What has no function here has no other bounds:
nothing is imported by the name of an operation.
"""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from math import inf
from typing import Any

import numpy as np

from qps.engine.evaluators import on_bounds
from qps.engine.evaluators.row_bounds import Bounds

BASIC, LIBRARY = 1e-15, 1e-12
"""Parts of a value that may be rounded off: by sums, products and quotients; by functions of the
library."""
_LEAST, _LARGEST = 1e-300, float(np.finfo(float).max)


def total(*parts: Bounds) -> Bounds:
    """Return the bounds of a sum."""
    return reduce(_plus, parts)


def product(*parts: Bounds) -> Bounds:
    """Return the bounds of a product."""
    return reduce(_multiplied, parts)


def _plus(one: Bounds, other: Bounds) -> Bounds:
    slopes = _slopes_of_sum(one, other)
    # What floats make nothing of is nothing: they add those of any size as they are.
    own = around(on_bounds.total(one, other), BASIC, -_LEAST)
    return replace(own, slope_low=slopes[0], slope_high=slopes[1])


def _multiplied(one: Bounds, other: Bounds) -> Bounds:
    if _is_sign(one) or _is_sign(other):
        return on_bounds.product(one, other)
    if _is_still(one) and _is_still(other):
        return around(on_bounds.product(one, other), BASIC)
    still, held = Bounds(one.low, one.high), Bounds(other.low, other.high)
    own, more = on_bounds.product(still, other), on_bounds.product(one, held)
    slopes = _slopes_of_sum(own, more)
    return replace(around(own, BASIC), slope_low=slopes[0], slope_high=slopes[1])


def _is_still(one: Bounds) -> bool:
    """Return whether something has no population in it, so that it has no slope either."""
    return isinstance(one.slope_low, float) and one.slope_low == 0.0 == one.slope_high


def _is_sign(one: Bounds) -> bool:
    """Return whether something is 1 or -1: nothing is rounded off in products with it."""
    return _is_still(one) and isinstance(one.low, float) and one.low == one.high in (-1.0, 1.0)


def _slopes_of_sum(one: Bounds, other: Bounds) -> tuple[Any, Any]:
    """Return bounds of a sum of slopes: what is of one sign stays so, however it is rounded."""
    if _is_still(one) or _is_still(other):
        found = other if _is_still(one) else one
        return found.slope_low, found.slope_high
    ends = []
    for a, b, side in (
        (one.slope_low, other.slope_low, -BASIC),
        (one.slope_high, other.slope_high, BASIC),
    ):
        is_mixed = ((a > 0) & (b < 0)) | ((a < 0) & (b > 0))
        ends.append(np.where(is_mixed, a + b + side * (np.abs(a) + np.abs(b)), a + b))
    return ends[0], ends[1]


def ratio(above_line: Bounds, divisor: Bounds) -> Bounds:
    """Return the bounds of a quotient: anything where the divisor may vanish."""
    found = _multiplied(above_line, around(on_bounds.power(divisor, -1), BASIC))
    inside = (divisor.low <= 0) & (divisor.high >= 0)
    return Bounds(
        np.where(inside, -inf, found.low),
        np.where(inside, inf, found.high),
        np.where(inside, -inf, found.slope_low),
        np.where(inside, inf, found.slope_high),
    )


mean = ratio


def waiting(work: Bounds, load: Bounds) -> Bounds:
    """Return the bounds of work over what a load leaves, infinite where that is nothing."""
    own = around(on_bounds.waiting(work, load), BASIC * 4)
    sloped = ratio(work, _plus(Bounds(1.0, 1.0), on_bounds.negative(load)))
    is_short = load.high < 1
    return Bounds(
        own.low,
        own.high,
        np.where(is_short, sloped.slope_low, own.slope_low),
        np.where(is_short, sloped.slope_high, own.slope_high),
    )


def raised(base: Bounds, exponent: Bounds) -> Bounds:
    """Return the bounds of any power of something positive, as exp(y ln x)."""
    found = on_bounds.exponential(_multiplied(exponent, around(on_bounds.logarithm(base), LIBRARY)))
    return around(found, LIBRARY)


def around(own: Bounds, off: float, error: float = 0.0) -> Bounds:
    """Return wider bounds; what is beyond all floats lies beyond the largest of them."""
    room = error + _LEAST
    low, high = np.minimum(own.low, _LARGEST), np.maximum(own.high, -_LARGEST)
    low, high = low - (off * np.abs(low) + room), high + (off * np.abs(high) + room)
    return Bounds(low, high, own.slope_low, own.slope_high)
