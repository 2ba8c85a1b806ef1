"""Where a falling function vanishes, one number at a time; `array_blocks` has it for many."""

from __future__ import annotations

from collections.abc import Callable
from math import nan

_MOST_STEPS = 120
_ENOUGH = 2e-15
_NEXT_IS_EXACT = 1e-9


def falling_root(
    function: Callable[[float], tuple[float, float]],
    low: float,
    high: float,
    start: float,
    guess: float = _NEXT_IS_EXACT,
) -> float:
    """Return where a falling function vanishes, by Newton's steps, halved where they leave.

    `function` gives value and slope; a step that leaves the bracket is replaced by half of it. From
    so `guess`, as a part of the point, a step is exact.
    """
    point = start
    for _ in range(_MOST_STEPS):
        value, slope = function(point)
        if value == 0:
            return point
        if value > 0:
            low = point
        else:
            high = point
        after = point - value / slope if slope else nan
        is_inside = low <= after <= high
        if not is_inside:
            after = (low + high) / 2
        # Newton's step from nearby is exact; a halved one is when nothing is left to halve.
        # A point that stays, as one beyond all floats does, would stay in each step from there.
        is_near = abs(after - point) <= guess * after if is_inside else high - low <= _ENOUGH * high
        if is_near or after == point:
            return after
        point = after
    return point


def rising_root(function: Callable[[float], float], low: float, high: float) -> float:
    """Return where a rising function vanishes that is below zero at one end and not at the other.

    By false position, the end that stays counting half (the Illinois method; Dowell and Jarratt
    1971).
    """
    below, above = function(low), function(high)
    point, stayed = high, 0
    for _ in range(_MOST_STEPS):
        last, point = point, high - above * (high - low) / (above - below)
        value = function(point) if low < point < high else 0.0
        if value == 0 or abs(point - last) <= _ENOUGH / 10 * high:
            break
        if value > 0:
            high, above, below, stayed = point, value, below / 2 if stayed > 0 else below, 1
        else:
            low, below, above, stayed = point, value, above / 2 if stayed < 0 else above, -1
    return min(max(point, low), high)
