"""The normal law, one number at a time."""

from __future__ import annotations

from math import erfc, exp, log, nan, pi, sqrt
from typing import Any


def normal_tail(distance: float) -> float:
    """Return the share of a normal law that lies more than so many deviations above its mean."""
    return 0.5 * erfc(distance / sqrt(2))


def less_than_root(t: Any) -> Any:
    """Return about how much less than t = sqrt(-2 log tail) a quantile is, of numbers or arrays.

    Abramowitz and Stegun 1964, 26.2.23.
    """
    above = 2.515517 + t * (0.802853 + t * 0.010328)
    return above / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)))


def normal_quantile(level: float) -> float:
    """Return how many deviations above its mean a normal law has a share below it.

    Near it is by a rational function, then by Halley's steps.
    """
    if not 0 < level < 1 or level == 1 / 2:
        return 0.0 if level == 1 / 2 else nan
    tail = min(level, 1 - level)
    t = sqrt(-2 * log(tail))
    found: float = t - less_than_root(t)
    for _ in range(2):
        step = (normal_tail(found) - tail) * sqrt(2 * pi) * exp(min(found * found / 2, 700))
        found += step / (1 - found * step / 2)
    return found if level > tail else -found
