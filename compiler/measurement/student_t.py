"""Student's t distribution: how wide an interval is that few measurements leave."""

from __future__ import annotations

from functools import cache
from math import atan, cos, pi, sin, sqrt
from statistics import NormalDist

_MANY = 200
"""Degrees of freedom from which on the expansion about the normal distribution is exact enough."""
_HALVINGS = 200


@cache
def student_quantile(level: float, freedom: int) -> float:
    """Return what a variable with Student's distribution stays below with a probability.

    >>> round(student_quantile(0.975, 2), 6), round(student_quantile(0.975, 1000), 6)
    (4.302653, 1.962339)
    """
    if level < 1 / 2:
        return -student_quantile(1 - level, freedom)
    if freedom > _MANY:
        return _expanded(level, freedom)
    low, high = 0.0, 1.0
    while _within(high, freedom) < 2 * level - 1:
        low, high = high, 2 * high
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if _within(middle, freedom) < 2 * level - 1 else (low, middle)
    return high


def _within(t: float, freedom: int) -> float:
    """Return the probability of a value between -t and t.

    A finite sum for whole degrees of freedom: M. Abramowitz and I. A. Stegun, Handbook of
    Mathematical Functions, 1964, 26.7.3 and 26.7.4.
    """
    angle = atan(t / sqrt(freedom))
    square = cos(angle) ** 2
    is_odd = freedom % 2
    term = cos(angle) if is_odd else 1.0
    total = 0.0
    for k in range(is_odd, freedom - 1, 2):
        total += term
        term *= square * (k + 1) / (k + 2)
    if is_odd:
        return 2 / pi * (angle + sin(angle) * total)
    return sin(angle) * total


def _expanded(level: float, freedom: int) -> float:
    """Return the quantile by its expansion (Abramowitz and Stegun, 26.7.5)."""
    x = NormalDist().inv_cdf(level)
    powers: list[float] = [x ** (2 * k + 1) for k in range(5)]
    terms = (
        (powers[1] + powers[0]) / 4,
        (5 * powers[2] + 16 * powers[1] + 3 * powers[0]) / 96,
        (3 * powers[3] + 19 * powers[2] + 17 * powers[1] - 15 * powers[0]) / 384,
        (79 * powers[4] + 776 * powers[3] + 1482 * powers[2] - 1920 * powers[1] - 945 * powers[0])
        / 92160,
    )
    return float(x + sum(term / freedom ** (k + 1) for k, term in enumerate(terms)))
