"""Bisection in floats, and false position where values say where to look."""

from __future__ import annotations

from collections.abc import Callable
from math import floor, inf, isfinite, log2, sqrt, ulp


def halfway(low: float, high: float) -> float:
    """Return where to cut a stretch in two: one of several octaves at its geometric middle."""
    return sqrt(low) * sqrt(high) if low > 0 and high > 4 * low else low + (high - low) / 2


def shared_cut(low: float, high: float) -> float:
    """Return where to cut a stretch so that others, with other ends, are cut at the same points.

    That is a power of two near its geometric middle, or what halves an octave, a half of one, ...
    """
    if not 0 < low < high:
        return low + (high - low) / 2
    power = 2.0 ** round(log2(low) / 2 + log2(high) / 2)
    for cut in (power, power * 2, power / 2):
        if low < cut < high:
            return cut
    step = 2.0 ** floor(log2(low))
    while True:
        step /= 2
        cut = (floor(low / step) + 1) * step
        if cut < high or step <= ulp(low):
            return cut


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


def first_above_zero(value: Callable[[float], float], low: float, high: float) -> float:
    """Return where a value begins to be above zero, as `bisected`; where there is none, it is.

    By false position, the end that stays counting half (the Illinois method; Dowell and Jarratt
    1971); it is halved where lines say little.
    """
    least, most = (_or_above(value(end)) for end in (low, high))
    stayed, widths = 0, [inf, inf, inf]
    while True:
        width = high - low
        middle = low + width / 2
        if not low < middle < high:
            return high
        least_step = 2 * ulp(max(abs(low), abs(high)))  # beyond the change, where a line ends at it
        if isfinite(most) and width <= widths[0] / 2 and width > 2 * least_step:
            point = low - least / (most - least) * width
            middle = min(max(point, low + least_step), high - least_step)
        widths = [*widths[1:], width]
        here = _or_above(value(middle))
        if here > 0:
            high, most = middle, here
            least, stayed = least / 2 if stayed > 0 else least, 1
        else:
            low, least = middle, here
            most, stayed = most / 2 if stayed < 0 else most, -1


def _or_above(value: float) -> float:
    return inf if value != value else value  # noqa: PLR0124 - not-a-number is not itself
