"""Where something begins to fail between a point at which it holds and one at which it fails.

For many rows at once, by Chandrupatla's method: by inverse quadratic interpolation where the last
three points say that it serves, else by halves (T. R. Chandrupatla 1997, A new hybrid
quadratic/bisection algorithm for finding the zero of a nonlinear function without using
derivatives, Advances in Engineering Software 28).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from qps.solver.matrix.prepared import Floats, Rows

Excess: TypeAlias = Callable[[Rows, Floats], Floats]
"""What is above zero where some rows fail, at a population of each; infinite without a value."""

_MOST_STEPS = 400
_NEAR_ENOUGH = 4e-16


def closed_in(
    rows: Rows,
    excess: Excess,
    ends: tuple[Floats, Floats],
    values: tuple[Floats, Floats],
    *,
    is_whole: bool,
) -> Floats:
    """Return the least points found to fail, between points that hold and points that fail.

    `values` are the excesses at these `ends`. Whole populations, or real ones to the last digits;
    infinite where it is not so.
    """
    found = np.full(rows.count, np.inf)
    where = np.arange(rows.count)
    before, newest = ends
    at_before, at_newest = values
    third, at_third = before, at_before
    is_open = (at_newest > 0) & ~(at_before > 0)
    least = np.ones(rows.count)
    with np.errstate(all="ignore"):
        share = np.where(np.isfinite(at_newest), at_newest / (at_newest - at_before), 0.5)
    for _ in range(_MOST_STEPS):
        low, high = _ends(newest, before, at_newest)
        is_done = high - low <= (1.0 if is_whole else _NEAR_ENOUGH * high)
        ended = is_open & is_done
        found[where[ended]] = high[ended]
        is_open &= ~is_done
        left = np.flatnonzero(is_open)
        if not left.size:
            return found
        if 2 * left.size <= is_open.size:
            rows, where, is_open, share = rows.take(left), where[left], is_open[left], share[left]
            least = least[left]
            newest, before, third = newest[left], before[left], third[left]
            at_newest, at_before, at_third = at_newest[left], at_before[left], at_third[left]
            low, high = low[left], high[left]
        # What stays on one side creeps: the least step is doubled until the other side is met.
        step = least * (1.0 if is_whole else _NEAR_ENOUGH * high)
        span = before - newest
        edge = np.minimum(step / np.abs(span), 0.5)
        at = _between(newest + np.clip(share, edge, 1 - edge) * span, low, high, is_whole=is_whole)
        value = excess(rows, at)
        is_same = (value > 0) == (at_newest > 0)
        least = np.where(is_same, 2 * least, 1.0)
        third, at_third = np.where(is_same, newest, before), np.where(is_same, at_newest, at_before)
        before = np.where(is_same, before, newest)
        at_before = np.where(is_same, at_before, at_newest)
        newest, at_newest = at, value
        share = _share((newest, before, third), (at_newest, at_before, at_third))
    raise AssertionError("what is halved always closes")


def _ends(one: Floats, other: Floats, at_one: Floats) -> tuple[Floats, Floats]:
    """Return the two points in their order: the one that holds, and the one that fails."""
    return np.where(at_one > 0, other, one), np.where(at_one > 0, one, other)


def _between(at: Floats, low: Floats, high: Floats, *, is_whole: bool) -> Floats:
    """Return points strictly between two others, whole ones if so wanted."""
    if is_whole:
        return np.clip(np.floor(at), low + 1, high - 1)
    return np.clip(at, np.nextafter(low, high), np.nextafter(high, low))


def _share(at: tuple[Floats, Floats, Floats], values: tuple[Floats, Floats, Floats]) -> Floats:
    """Return how far the next point lies from the newest one to the one on the other side."""
    a, b, c = at
    fa, fb, fc = values
    with np.errstate(all="ignore"):
        xi, phi = (a - b) / (c - b), (fa - fb) / (fc - fb)
        serves = (phi * phi < xi) & ((1 - phi) ** 2 < 1 - xi)
        curved = fa / (fb - fa) * (fc / (fb - fc)) + (c - a) / (b - a) * (fa / (fc - fa)) * (
            fb / (fc - fb)
        )
        return np.where(serves & (curved > 0) & (curved < 1), curved, 0.5)
