"""Backlogs of resources that are loaded to about their capacity, as a Brownian motion.

Work comes at random, and is done at a constant rate as long as there is any. At a load near 1 and
for long times against service times, what waits is a Brownian motion that is reflected at zero,
with the drift and the variance of the work (Newell, Applications of Queueing Theory, 1982, chapter
4; Harrison, Brownian Models of Performance and Control, 2013, sections 1.9 and 3.3). At exactly the
capacity, it grows like the square root of time: its mean at a time t is √(2 σ² t / π), that of its
largest value so far √(π σ² t / 2).
"""

from __future__ import annotations

import cmath
from functools import lru_cache
from math import erf, exp, pi, sqrt

from qps.engine.distributions.sum_numbers import DISCOUNT, weights

_WEIGHTS = weights(24, 12)
_STEP = 0.05
_BEYOND = 6.0
"""Standard deviations beyond its drift that the largest backlog does not exceed."""
_SMALL_DRIFT, _LARGE_DRIFT = 1e-4, 5.0
"""In standard deviations: below and above, a formula leaves out a part of less than 1e-4."""


def mean_backlog(drift: float, variance: float, time: float) -> float:
    """Return the mean backlog a time after there was none; drift and variance are per time."""
    scale = sqrt(variance * time)
    if scale == 0:
        return max(0.0, drift * time)
    return scale * _end(drift * time / scale)


def mean_largest_backlog(drift: float, variance: float, time: float) -> float:
    """Return the mean of the largest backlog within a time that begins without one."""
    scale = sqrt(variance * time)
    if scale == 0:
        return max(0.0, drift * time)
    return scale * _largest(drift * time / scale)


def _end(drift: float) -> float:
    """Return the mean at time 1 with variance 1: that of the largest value without reflection."""
    density = exp(-(drift**2) / 2) / sqrt(2 * pi)
    above = (1 + erf(drift / sqrt(2))) / 2
    if abs(drift) < _SMALL_DRIFT:
        return 2 * density + drift / 2
    return drift * above + density + (2 * above - 1) / (2 * drift)


@lru_cache(maxsize=1024)
def _largest(drift: float) -> float:
    """Return the mean of the largest value up to time 1 with variance 1."""
    if drift > _LARGE_DRIFT:
        return drift + 1 / drift
    steps = round((max(drift, 0.0) + _BEYOND) / _STEP)
    return _STEP * (0.5 + sum(_share_above(number * _STEP, drift) for number in range(1, steps)))


def _share_above(level: float, drift: float) -> float:
    """Return the probability that a level is reached by time 1, from its transform (Euler)."""
    total = 0.0
    for number, weight in enumerate(_WEIGHTS):
        s = complex(DISCOUNT / 2, number * pi)
        total += weight * (_reached(s, level, drift) / s).real
    return min(1.0, max(0.0, exp(DISCOUNT / 2) * total))


def _reached(s: complex, level: float, drift: float) -> complex:
    """Return the transform of the time until a level is reached."""
    root = cmath.sqrt(drift**2 + 2 * s)
    away = (root + drift) + (root - drift) * cmath.exp(-2 * root * level)
    return 2 * root * cmath.exp((drift - root) * level) / away
