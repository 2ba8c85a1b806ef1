"""How fast the tail of a wait falls; `fluid_decay_arrays` has it for many."""

from __future__ import annotations

from math import expm1, log

_SMALL = 0.5
_STEPS = 60
_NEXT_IS_EXACT = 1e-7
# of log((e^y - 1)/y) - y/2, in y^2, y^4, …
SERIES = (1 / 24, -1 / 2880, 1 / 181440, -1 / 9676800, 1 / 479001600, -691 / 15692092416000)


def log_growth(load: float, variation: float = 0.0) -> float:
    """Return y = log M(z) at the root z > 0 of load (M(z) - 1) = z, for a load between 0 and 1.

    M is the moment generating function of a service of mean 1 and squared variation v, gamma or,
    where v = 0, always the same. z is (1 - exp(-v y))/v, and y itself for v = 0.
    """
    goal = -log(load)
    y = 2 * goal / (1 + variation)
    for _ in range(_STEPS):
        value = _over(y) + variation * y - _over(variation * y) - goal
        slope = _over_slope(y) + variation * (1 - _over_slope(variation * y))
        before, y = y, y - value / slope
        if abs(y - before) <= _NEXT_IS_EXACT * y:
            break
    return y


def _over(y: float) -> float:
    """Return log((e^y - 1)/y), to all digits where y is small."""
    if y >= _SMALL:
        return y + log(-expm1(-y) / y)
    series = 0.0
    for coefficient in reversed(SERIES):
        series = (series + coefficient) * y * y
    return series + y / 2


def _over_slope(y: float) -> float:
    if y >= _SMALL:
        return -1 / expm1(-y) - 1 / y
    series = 0.0
    for k in range(len(SERIES), 0, -1):
        series = series * y * y + 2 * k * SERIES[k - 1]
    return series * y + 0.5
