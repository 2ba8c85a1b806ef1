"""Where something begins to fail, of a few rows each of which takes long: in few steps.

The point is looked for beside one that is known of the numbers as they are stated; between one that
holds and one that fails it is closed in on by false positions (M. Dowell and P. Jarratt 1971, A
modified regula falsi method for computing the root of an equation, BIT 11: what is kept twice is
halved), on the logarithm of the population.
"""

from __future__ import annotations

import numpy as np

from qps.solver.matrix.limits.failure_brackets import Excess
from qps.solver.matrix.limits.row_preparation import Floats, Rows

_FIRST_OFF = 0.1
"""How far off a place may be near which to look, unless that is reported."""
_LEAST_OFF = 1e-4
_MOST_STEPS = 60
_TURNS = 2
"""After so many steps a bracket is half as wide, or is halved."""
_RELATIVE_TOLERANCE = 1e-5
"""What is left of a bracket, as a part of the population, or of an excess as one of its limit."""


def crossings(
    rows: Rows,
    excess: Excess,
    low: float,
    high: float,
    start: float | Floats,
    off: float | Floats = _FIRST_OFF,
) -> Floats:
    """Return where some rows begin to fail between two populations, looked for beside others.

    `low` for those that fail there, infinite for those that do not up to `high`. What once fails is
    taken to stay failing. `start` is where to look first, of all rows or of each, and `off` how far
    off that may be, as a part of it.
    """
    at = np.full(rows.count, np.clip(start, low, high))
    value = excess(rows, at)
    holds, fails = np.where(value > 0, low, at), np.where(value > 0, at, high)
    at_holds, at_fails = np.where(value > 0, np.nan, value), np.where(value > 0, value, np.nan)
    found = np.full(rows.count, np.nan)
    left, step = np.arange(rows.count), np.full(rows.count, 1 + np.maximum(off, _LEAST_OFF))
    while left.size:  # outwards, by steps that grow
        is_up = np.isnan(at_fails[left])
        from_ = np.where(is_up, holds[left], fails[left])
        next_ = np.clip(np.where(is_up, from_ * step[left], from_ / step[left]), low, high)
        value = excess(rows.take(left), next_)
        is_failing = value > 0
        fails[left[is_failing]], at_fails[left[is_failing]] = next_[is_failing], value[is_failing]
        holds[left[~is_failing]], at_holds[left[~is_failing]] = (
            next_[~is_failing],
            value[~is_failing],
        )
        found[left[is_failing & (next_ <= low)]] = low
        found[left[~is_failing & (next_ >= high)]] = np.inf
        is_open = np.isnan(at_holds[left]) | np.isnan(at_fails[left])
        left, step = left[is_open & np.isnan(found[left])], step * step
    left = np.flatnonzero(np.isnan(found))
    bracket = (holds[left], fails[left]), (at_holds[left], at_fails[left])
    found[left] = _closed_in(rows.take(left), excess, *bracket)
    return found


def _closed_in(
    rows: Rows, excess: Excess, ends: tuple[Floats, Floats], values: tuple[Floats, Floats]
) -> Floats:
    """Return roots between points that hold and points that fail, both above zero."""
    low, high = np.log(ends[0]), np.log(ends[1])
    at_low, at_high = values
    found, left, before = (low + high) / 2, np.arange(rows.count), high - low
    was_failing, is_new = np.zeros(rows.count, dtype=bool), np.ones(rows.count, dtype=bool)
    for turn in range(_MOST_STEPS):
        if not left.size:
            break
        with np.errstate(all="ignore"):
            share = at_low[left] / (at_low[left] - at_high[left])
        if turn and turn % _TURNS == 0:  # at a jump, false positions creep
            is_creeping = high[left] - low[left] > before[left] / 2
            before[left] = high[left] - low[left]
            share = np.where(is_creeping, np.nan, share)
        share = np.where(np.isfinite(share) & np.isfinite(at_high[left]), share, 0.5)
        at = low[left] + np.clip(share, 0.01, 0.99) * (high[left] - low[left])
        value = excess(rows.take(left), np.exp(at))
        found[left] = at
        is_failing = value > 0
        # The end that is kept twice counts half from now on: it must not be kept for good.
        is_again = (was_failing[left] == is_failing) & ~is_new[left]
        part = np.where(is_again, 0.5, 1.0)
        was_failing[left], is_new[left] = is_failing, False
        at_high[left] = np.where(is_failing, value, part * at_high[left])
        at_low[left] = np.where(is_failing, part * at_low[left], value)
        high[left], low[left] = (
            np.where(is_failing, at, high[left]),
            np.where(is_failing, low[left], at),
        )
        is_done = (np.abs(value) <= _RELATIVE_TOLERANCE) | (
            high[left] - low[left] <= _RELATIVE_TOLERANCE
        )
        left = left[~is_done]
    return np.exp(found)
