"""How fast the tail of a wait falls, on arrays: the root that Kingman's and Cramér's bounds need.

Of service times of mean 1 and squared variation v, gamma or, where v = 0, all alike, M(z) is the
moment generating function; the tail falls like exp(-z t) with the root z > 0 of
load (M(z) - 1) = z. Told is y = log M(z), from which z = (1 - exp(-v y))/v; for v = 0 that is y.
"""

from __future__ import annotations

import numpy as np

from qps.engine.numerics.array_blocks import Array
from qps.engine.queueing.fluid_decay_numbers import SERIES

_SMALL = 0.5
_STEPS = 60
_NEXT_IS_EXACT = 1e-7


def log_growth(load: Array, variation: Array) -> Array:
    """Return y = log M(z), for loads between 0 and 1.

    log of M(z) - 1 over z is G(y) + v y - G(v y) with G(y) = log((e^y - 1)/y), from 0 on convex for
    v < 1, straight for v = 1 and concave beyond: from the root of its tangent at 0 Newton's steps
    go one way.
    """
    goal = -np.log(load)
    y = 2 * goal / (1 + variation)
    for _ in range(_STEPS):
        v_y = variation * y
        value = _over(y) + v_y - _over(v_y) - goal
        after = np.where(y > 0, y - value / _slope(y, variation), y)
        is_done = np.abs(after - y) <= _NEXT_IS_EXACT * np.abs(after)
        y = after
        if (is_done | np.isnan(y)).all():
            break
    return y


def log_growth_by_load(load: Array, variation: Array, growth: Array) -> Array:
    """Return the derivative of `log_growth` by the load."""
    return -1 / (load * _slope(growth, variation))


def decay(growth: Array, variation: Array) -> Array:
    """Return z for y = log M(z)."""
    v_y = variation * growth
    return np.where(v_y > 0, growth * (-np.expm1(-v_y) / v_y), growth)


def _over(y: Array) -> Array:
    """Return log((e^y - 1)/y), to all digits where y is small."""
    square = y * y
    series = np.zeros(y.shape)
    for coefficient in reversed(SERIES):
        series = (series + coefficient) * square
    return np.where(y < _SMALL, series + y / 2, y + np.log(-np.expm1(-y) / y))


def _slope(y: Array, variation: Array) -> Array:
    return _over_slope(y) + variation * (1 - _over_slope(variation * y))


def _over_slope(y: Array) -> Array:
    square = y * y
    series = np.zeros(y.shape)
    for k in range(len(SERIES), 0, -1):
        series = series * square + 2 * k * SERIES[k - 1]
    return np.where(y < _SMALL, series * y + 0.5, -1 / np.expm1(-y) - 1 / y)
