"""Where something begins and ceases to fail, by values that are tried: nothing is proved of others.

Between two neighbors that agree it is taken to be alike; between two that do not, the change is
closed in on. Values are spread unevenly, so that what jumps all the time shows as noise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from fractions import Fraction
from itertools import pairwise
from math import ceil, floor

VALUES = 64
"""So many values are tried evenly, and as many in even ratios where the range is wide."""
_MOST_CHANGES = 16
_WIDE = 4
_GOLDEN = 0.6180339887498949

Box = tuple[float, float]
Fails = Callable[[Fraction], bool]


class UndecidedSignError(Exception):
    """A value of which no digits determine whether something fails."""


def tried(fails: Fails, box: Box, *, is_whole: bool) -> tuple[int, list[Box]]:
    """Return how many values of a box were tried, and the neighbors between which it changes.

    Of what `is_whole` whole numbers are tried, and the neighbors follow each other. No values where
    these do not decide: where it changes so often that it is noise.
    """
    known: list[tuple[float, bool]] = []
    for at in sorted(set(_values(*box, is_whole=is_whole))):
        with suppress(UndecidedSignError):
            known.append((at, fails(Fraction(at))))
    changes = [(one, other) for (one, before), (other, after) in pairwise(known) if before != after]
    if len(known) <= 1 or len(changes) > _MOST_CHANGES:
        return 0, []
    return len(known), [_closed_in(fails, *each) for each in changes] if is_whole else changes


def _values(low: float, high: float, *, is_whole: bool) -> Iterator[float]:
    for at in (low, high, *_spread(low, high)):
        yield from {float(floor(at)), float(ceil(at))} if is_whole else {at}


def _spread(low: float, high: float) -> Iterator[float]:
    for number in range(VALUES):
        part = (number + number * number * _GOLDEN % 1) / VALUES
        yield low + (high - low) * part
        if low > 0 and high > _WIDE * low:
            yield low * (high / low) ** part


def _closed_in(fails: Fails, start: float, end: float) -> Box:
    """Return two whole numbers, one behind the other, between which it changes."""
    first, last = floor(start), ceil(end)
    there = fails(Fraction(last))
    while last - first > 1:
        middle = (first + last) // 2
        if fails(Fraction(middle)) is there:
            last = middle
        else:
            first = middle
    return first, last
