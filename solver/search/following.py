"""Bounds of what is an approximation itself: it is followed by its values, as nothing proves more.

In a box that is no wider than an octave a value is taken to lie about those at both ends and in the
middle, by no more than these differ; and its slope about those of both halves, by no more than
these bend. What turns within a box shows there, or in one of its halves. Whatever rests on it is
told to be an approximation (`compiler/lower/closing.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isfinite

from qps.engine.intervals import Interval

Point = tuple[tuple[float, float], ...]
"""Values at a point of what is followed, each with what it can be off by roundings."""

_WIDEST = 0.5


class Followed:
    """What is followed over one box, from its values at three points."""

    def __init__(self, points: Sequence[Point], width: float) -> None:
        self._points = points
        self._half = width / 2

    def bounds(self, place: int) -> Interval | None:
        """Return between which ends one of them is taken to lie; None where it has no value."""
        (first, _), (middle, _), (last, _) = found = [point[place] for point in self._points]
        off = max(error for _, error in found)
        if not all(isfinite(value) for value in (first, middle, last, off)):
            return None
        room = max(first, middle, last) - min(first, middle, last) + off
        slopes = (middle - first) / self._half, (last - middle) / self._half
        bend = abs(slopes[1] - slopes[0]) + 2 * off / self._half
        return Interval(
            min(first, middle, last) - room,
            max(first, middle, last) + room,
            min(slopes) - bend,
            max(slopes) + bend,
        )


def followed(low: float, high: float, at: Callable[[float], Point]) -> Followed | None:
    """Return what is followed over a box; None over one so wide that three points tell too little.

    `at` tells the values at a point.
    """
    width = high - low
    if not 0 < width <= _WIDEST * max(abs(low), abs(high)):
        return None
    middle = low + width / 2
    if not low < middle < high:
        return None
    return Followed([at(low), at(middle), at(high)], width)


def narrowed(known: Interval, near: Interval | None) -> Interval:
    """Return bounds that are proven, and those that are followed within them."""
    if near is None:
        return known
    low, high = max(known.low, near.low), min(known.high, near.high)
    slow, steep = max(known.slow, near.slow), min(known.steep, near.steep)
    if low > high:
        low, high = known.low, known.high
    if slow > steep:
        slow, steep = known.slow, known.steep
    return Interval(low, high, slow, steep)
