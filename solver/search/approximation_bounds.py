"""Bounds of what is an approximation itself: it is followed by its values, as nothing proves more.

In a box that is no wider than an octave a value is taken to lie about those at both ends of its
quarter, by no more than the ends of this one or of one beside it differ; and its slope about those
of both halves and of quarters, by no more than these differ. What turns or bends the other way
within a box shows there, or in one of its halves, whose points these are. Whatever rests on it is
labeled an approximation (`compiler/lower/closed_streams/closed_network_builder.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from math import isfinite

from qps.engine.numerics.sloped_intervals import SlopedInterval

Point = tuple[tuple[float, float], ...]
"""Values at a point of what is followed, each with what it can be off by roundings."""

_WIDEST = 0.5
_PARTS = 4


class Followed:
    """What is followed over one box, from its values at both ends and at the quarters."""

    def __init__(self, points: Sequence[Point], step: float) -> None:
        self._points = points
        self._step = step

    def bounds(self, place: int) -> SlopedInterval | None:
        """Return between which ends one of them is taken to lie; None where it has no value."""
        values = [point[place][0] for point in self._points]
        off = max(point[place][1] for point in self._points)
        if not all(map(isfinite, (*values, off))):
            return None
        first, _, middle, _, last = values
        half = 2 * self._step
        halves = (middle - first) / half, (last - middle) / half
        bend = abs(halves[1] - halves[0]) + 2 * off / half
        moves = [later - value for value, later in pairwise(values)]
        spreads = [max(map(abs, moves[max(at - 1, 0) : at + 2])) + off for at in range(_PARTS)]
        least = min(min(ends) - by for ends, by in zip(pairwise(values), spreads, strict=True))
        most = max(max(ends) + by for ends, by in zip(pairwise(values), spreads, strict=True))
        quarters = [move / self._step for move in moves]
        turn = (max(quarters) - min(quarters)) / 3
        return SlopedInterval(
            least,
            most,
            min(min(halves) - bend, min(quarters) - turn),
            max(max(halves) + bend, max(quarters) + turn),
        )


def followed(low: float, high: float, at: Callable[[float], Point]) -> Followed | None:
    """Return what is followed over a box; None over one so wide that few points say too little.

    `at` returns the values at a point.
    """
    width = high - low
    if not 0 < width <= _WIDEST * max(abs(low), abs(high)):
        return None
    points = [low, *(low + width * part / _PARTS for part in range(1, _PARTS)), high]
    if not all(one < later for one, later in pairwise(points)):
        return None
    return Followed([at(point) for point in points], width / _PARTS)


def narrowed(known: SlopedInterval, interval: SlopedInterval | None) -> SlopedInterval:
    """Return bounds that are proven, and those that are followed within them."""
    if interval is None:
        return known
    low, high = max(known.low, interval.low), min(known.high, interval.high)
    slow, steep = max(known.slow, interval.slow), min(known.steep, interval.steep)
    if low > high:
        low, high = known.low, known.high
    if slow > steep:
        slow, steep = known.slow, known.steep
    return SlopedInterval(low, high, slow, steep)
