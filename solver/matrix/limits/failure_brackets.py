"""Where something begins to fail between a point at which it holds and one at which it fails.

For many rows at once, by Chandrupatla's method: by inverse quadratic interpolation where the last
three points say that it serves, else by halves (T. R. Chandrupatla 1997, A new hybrid
quadratic/bisection algorithm for finding the zero of a nonlinear function without using
derivatives, Advances in Engineering Software 28). What is flat up to a point and rises from there,
as what is full by design, is met by the line through the last two points on one side: that is tried
every other time. Near enough, least steps lead to the other side.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from qps.solver.matrix.limits.row_preparation import Bools, Floats, Rows

Excess: TypeAlias = Callable[[Rows, Floats], Floats]
"""What is above zero where some rows fail, at a population of each; infinite without a value."""

_MOST_STEPS = 400
_RELATIVE_TOLERANCE = 4e-16
_LITTLE = 1e-6
"""What is left of a value, as a part of another, where least steps are next."""
_FARTHEST = 4096
"""A least step, in parts of the smallest, behind which there are no more of them."""


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
    (before, newest), (at_before, at_newest) = ends, values
    is_open = (at_newest > 0) & ~(at_before > 0)
    # The newest point and the nearest one on the other side; the last ones of both sides.
    points = np.array([newest, before, newest, before])
    at = np.array([at_newest, at_before, at_newest, at_before])
    least, is_there = np.ones(rows.count), np.zeros(rows.count, dtype=bool)
    with np.errstate(all="ignore"):
        share = np.where(np.isfinite(at_newest), at_newest / (at_newest - at_before), 0.5)
    for turn in range(_MOST_STEPS):
        low, high = _ends(points, at)
        is_done = high - low <= (1.0 if is_whole else _RELATIVE_TOLERANCE * high)
        ended = is_open & is_done
        found[where[ended]] = high[ended]
        is_open &= ~is_done
        left = np.flatnonzero(is_open)
        if not left.size:
            return found
        if 4 * left.size <= 3 * is_open.size:
            rows, where, is_open, share = rows.take(left), where[left], is_open[left], share[left]
            points, at, low, high = points[:, left], at[:, left], low[left], high[left]
            least, is_there = least[left], is_there[left]
        # What stays on one side creeps: the least step is doubled until the other side is met.
        step = least * (1.0 if is_whole else _RELATIVE_TOLERANCE * high)
        span = points[1] - points[0]
        edge = np.minimum(step / np.abs(span), 0.5)
        next_ = points[0] + np.clip(share, edge, 1 - edge) * span
        next_ = _between(next_, low, high, is_whole=is_whole)
        value = excess(rows, next_)
        is_same = (value > 0) == (at[0] > 0)
        least = np.where(is_same, 2 * least, 1.0)
        points, at = _with(next_, points, is_same), _with(value, at, is_same)
        is_little = (np.abs(value) <= _LITTLE * np.abs(at[2])) & (value != 0) & np.isfinite(at[2])
        is_there = is_little | (is_there & is_same & (least < _FARTHEST))
        share = _share(points, at, is_there, may_be_line=turn % 2 == 0)
    raise AssertionError("what is halved always closes")


def _ends(points: Floats, at: Floats) -> tuple[Floats, Floats]:
    """Return the two points in their order: the one that holds, and the one that fails."""
    fails = at[0] > 0
    return np.where(fails, points[1], points[0]), np.where(fails, points[0], points[1])


def _with(newest: Floats, known: Floats, is_same: Bools) -> Floats:
    """Return points, or their values, with a new one: on the side of the newest or on the other."""
    first, other, third, fourth = known
    return np.array(
        [
            newest,
            np.where(is_same, other, first),
            np.where(is_same, first, other),
            np.where(is_same, fourth, third),
        ]
    )


def _between(at: Floats, low: Floats, high: Floats, *, is_whole: bool) -> Floats:
    """Return points strictly between two others, whole ones if so wanted."""
    if is_whole:
        return np.clip(np.floor(at), low + 1, high - 1)
    return np.clip(at, np.nextafter(low, high), np.nextafter(high, low))


def _share(points: Floats, at: Floats, is_there: Bools, *, may_be_line: bool) -> Floats:
    """Return how far the next point lies from the newest one to the one on the other side."""
    a, b, c, d = points
    fa, fb, fc, fd = at
    with np.errstate(all="ignore"):
        xi, phi = (a - b) / (c - b), (fa - fb) / (fc - fb)
        serves = (phi * phi < xi) & ((1 - phi) ** 2 < 1 - xi)
        curved = fa / (fb - fa) * (fc / (fb - fc)) + (c - a) / (b - a) * (fa / (fc - fa)) * (
            fb / (fc - fb)
        )
        serves &= (curved >= 0) & (curved < 1)
        share = np.where(serves, curved, np.where(is_there, 0.0, 0.5))
        if not may_be_line:
            return share
        may_be = ~serves & ~is_there
        for line in (
            1 - fb / (fd - fb) * ((b - d) / (a - b)),
            fa / (fc - fa) * ((a - c) / (b - a)),
        ):
            share = np.where(may_be & (line > 0) & (line < 1), line, share)
    return share
