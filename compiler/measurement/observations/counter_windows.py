"""Counters read on a grid of times, made rates over windows: the same windows for all of them.

What a counter has grown by between the two ends of a window, over its length, is averaged as all
the others are, so that a linear fit is not harmed. Windows do not overlap. One counts only where
each counter was there all the time and never fell.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from math import sqrt
from statistics import median

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

_Column = NDArray[np.float64]
Samples = Sequence[float | None]

_FEWEST_PAIRS = 30
_ALIKE = 0.5
"""Correlation from which two counters depend on each other."""
_BETTER = 0.1
"""By how much more alike they are when one is moved, before that is reported."""
_STRETCHES = 20
"""Of the loads, from the least to the highest: rows are taken from each as evenly as can be."""

RESET, GAP, FIRST, STILL = "reset", "gap", "first", "still"


class Windows(Struct, frozen=True, kw_only=True):
    """Windows that count: `places` from the first, and what each counter has grown by in them.

    `dropped` counts the others by why: a counter fell (`reset`), was not there all the time
    (`gap`), had only begun to be there (`first`), or none of the first has moved (`still`).
    """

    places: tuple[int, ...]
    growth: tuple[tuple[float, ...], ...]
    dropped: dict[str, int]

    @property
    def count(self) -> int:
        """All of them."""
        return len(self.places) + sum(self.dropped.values())


def windows(counters: Sequence[Sequence[Samples]], parts: int) -> Windows:
    """Return what counters have grown by in windows of so many parts of the grid.

    Each counter is the sum of some series; one of these that is not there at all in a window adds
    nothing. The first is that of the load.
    """
    points = len(counters[0][0])
    count = (points - 1) // parts
    growths = [
        [[_growth_in(series, i * parts, parts) for i in range(count)] for series in one]
        for one in counters
    ]
    places, growth, dropped = [], [], Counter[str]()
    for i in range(count):
        reasons = [reason for one in growths for reason in [_why_not(one, i)] if reason is not None]
        grown = tuple(
            sum(value for series in one for value in [series[i]] if isinstance(value, float))
            for one in growths
        )
        if reasons:
            dropped[min(reasons, key=(RESET, GAP, FIRST).index)] += 1
        elif grown[0] <= 0:
            dropped[STILL] += 1
        else:
            places.append(i)
            growth.append(grown)
    return Windows(places=tuple(places), growth=tuple(growth), dropped=dict(dropped))


def _growth_in(series: Samples, start: int, parts: int) -> float | str | None:
    """Return what a series grew by in a window; why that is not known; None where it is absent."""
    found = series[start : start + parts + 1]
    there = [value for value in found if value is not None]
    if not there:
        return None
    if len(there) < len(found):
        return GAP
    if any(after < before for before, after in pairwise(there)):
        return RESET
    return there[-1] - there[0]


def _why_not(one: Sequence[Sequence[float | str | None]], place: int) -> str | None:
    """Return why a window of a counter does not count, None where it does."""
    if all(series[place] is None for series in one):
        return GAP
    for series in one:
        value, before = series[place], series[place - 1] if place else 0.0
        if isinstance(value, str):
            return value
        if value is not None and (before is None or before == GAP):
            return FIRST
    return None


def spread_over(loads: Sequence[float], most: int) -> list[int]:
    """Return the places of at most so many rows, as evenly over the loads as can be, in order.

    Of a stretch of loads that has more than its part, rows are taken evenly over the time; what
    one has too few of goes to the others.

    >>> spread_over([1, 1, 1, 1, 1, 9], 3)
    [0, 4, 5]
    """
    if len(loads) <= most:
        return list(range(len(loads)))
    low, high = min(loads), max(loads)
    groups: dict[int, list[int]] = {}
    for place, load in enumerate(loads):
        part = 0 if high == low else int((load - low) / (high - low) * _STRETCHES)
        groups.setdefault(min(part, _STRETCHES - 1), []).append(place)
    chosen: list[int] = []
    left = most
    smallest_first = sorted(groups.values(), key=len)
    for done, group in enumerate(smallest_first):
        share = min(len(group), left // (len(groups) - done))
        chosen += _evenly(group, share)
        left -= share
    return sorted(chosen)


def _evenly(group: Sequence[int], count: int) -> list[int]:
    if count < 2:  # noqa: PLR2004 - a single one has no distance from another
        return [group[len(group) // 2]] * count
    last = len(group) - 1
    return [group[round(i * last / (count - 1))] for i in range(count)]


def steps(counter: Sequence[Samples]) -> list[float | None]:
    """Return what a counter grew by from each time of the grid to the next, None if not known."""
    found: list[float | None] = []
    for place in range(len(counter[0]) - 1):
        total, is_known = 0.0, False
        for series in counter:
            before, after = series[place], series[place + 1]
            if before is None and after is None:
                continue
            if before is None or after is None or after < before:
                is_known = False
                break
            total, is_known = total + after - before, True
        found.append(total if is_known else None)
    return found


def shift(load: Sequence[float | None], rate: Sequence[float | None], most: int) -> int:
    """Return by how many steps a rate comes after the load, 0 where nothing shows that it does.

    It is the shift, up to the most, with which the two are most alike (their correlation).
    """
    first, second = (np.array(column, dtype=float) for column in (load, rate))  # None is a nan
    found = {}
    for by in range(-most, most + 1):
        one, other = (first, second[by:]) if by >= 0 else (first[-by:], second)
        found[by] = _correlation(one, other)
    known = {by: value for by, value in found.items() if value is not None}
    if 0 not in known:
        return 0
    best = max(known, key=lambda by: (known[by], -abs(by)))
    return best if known[best] > max(_ALIKE, known[0] + _BETTER) else 0


def _correlation(one: _Column, other: _Column) -> float | None:
    """Return Pearson's correlation of two columns as far as both are known."""
    count = min(len(one), len(other))
    one, other = one[:count], other[:count]
    known = ~(np.isnan(one) | np.isnan(other))
    if np.count_nonzero(known) < _FEWEST_PAIRS:
        return None
    one, other = (column[known] - column[known].mean() for column in (one, other))
    squares = float(one @ one) * float(other @ other)
    return float(one @ other) / sqrt(squares) if squares > 0 else None


def readings(growing: Sequence[float | None], parts: int) -> float:
    """Return how often a counter moves in a window, of those in which it does: the median.

    That is how many readings there are, where a counter moves from each to the next.
    """
    found = []
    for start in range(0, len(growing) - parts + 1, parts):
        moves = sum(1 for value in growing[start : start + parts] if value)
        if moves:
            found.append(moves)
    return float(median(found)) if found else 0.0
