"""Bisection in floats."""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt


def halfway(low: float, high: float) -> float:
    """Return where to cut a stretch in two: one of several octaves at its geometric middle."""
    return sqrt(low) * sqrt(high) if low > 0 and high > 4 * low else low + (high - low) / 2


def bisected(is_behind: Callable[[float], bool], low: float, high: float) -> float:
    """Return where something begins to hold between a float at which it does not and one at which.

    It is the next float at which it holds, where it holds from there on.
    """
    while True:
        middle = low + (high - low) / 2
        if not low < middle < high:
            return high
        if is_behind(middle):
            high = middle
        else:
            low = middle
