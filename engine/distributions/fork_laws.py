"""The law of the time until all of some branches are done that are begun together, and of sums.

Of independent branches the share that is done by a time is the product of theirs. What is passed
besides takes an independent time A: with M the time of the fork, each with what it is with some
chance for sure (a_j, m_k) and what varies, A' and M',

    P(A + M > t) = the sum of P(A = a_j) P(M > t - a_j) and of P(M = m_k) P(A' > t - m_k)
        + P(A' > 0) P(M' > t - a) + the integral of P(A' > t - m) dP(M' <= m) up to t - a,

with a the least of A'.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from qps.engine.distributions.stage_paths import SAME
from qps.engine.distributions.time_laws import (
    IMMEDIATE,
    LEAST_SHARE,
    RULES,
    TimeLaw,
    behind,
    moving,
)
from qps.engine.numerics.array_blocks import Array


def law_of_fork(branches: Sequence[TimeLaw], cut: float) -> TimeLaw:
    """Return the law of the time until all of some independent branches are done."""
    if len(branches) == 1:
        return branches[0]
    least = max(branch.least for branch in branches)
    starts = sorted({at for branch in branches for at, _ in branch.atoms if at >= least})
    found = TimeLaw(
        atoms=tuple(_atoms(branches, starts)),
        longer=lambda times: _longest(branches, times),
        points=_points(branches, least),
        least=least,
        is_narrow=any(branch.is_narrow for branch in branches),
        is_closed=all(branch.is_closed for branch in branches),
    )
    return moving(found, cut)


def _longest(branches: Sequence[TimeLaw], times: Array) -> tuple[Array, Array]:
    """Return which share of the longest takes longer than each time, and the density."""
    each = [branch.longer(times) for branch in branches]
    with np.errstate(divide="ignore"):
        shares = -np.expm1(sum(np.log1p(-share) for share, _ in each))
    densities = np.zeros(times.shape)
    for k, (_, density) in enumerate(each):
        others = [1 - share for j, (share, _) in enumerate(each) if j != k]
        densities = densities + density * np.prod(others, axis=0)
    return np.clip(shares, 0.0, 1.0), densities


def _atoms(branches: Sequence[TimeLaw], starts: Sequence[float]) -> list[tuple[float, float]]:
    """Return what the longest is for sure with some chance: one branch is, the others are done."""
    found: list[tuple[float, float]] = []
    for at in starts:
        done = before = 1.0
        for branch in branches:
            after = float(branch.longer(behind(np.array([at])))[0][0])
            share = sum(one for time, one in branch.atoms if abs(time - at) <= SAME * at)
            done, before = done * (1 - after), before * max(0.0, 1 - after - share)
        is_same = bool(found) and at - found[-1][0] <= SAME * at
        if done - before > LEAST_SHARE and not is_same:
            found.append((at, done - before))
    return found


def _points(branches: Sequence[TimeLaw], least: float) -> Array:
    """Return the points of all branches from the least time on; none where nothing varies."""
    points = np.concatenate([branch.points for branch in branches])
    if not len(points):
        return points
    starts = [at for branch in branches for at, _ in branch.atoms]
    found = np.unique(np.concatenate([[least], starts, points]))
    return found[found >= least]


def longer_together(one: TimeLaw, other: TimeLaw, time: float) -> tuple[float, float]:
    """Return which share takes longer than a time for two independent ones, and the density."""
    near = max(time * (1 + SAME), IMMEDIATE)
    if not one.varies:
        return _behind_atoms(one, other, near)
    if not other.varies:
        return _behind_atoms(other, one, near)
    found, density = _added(one.atoms, other, near)
    more, slope = _added(other.atoms, one, near)
    found, density = found + more, density + slope
    found += sum(
        share * float(other.atoms_beyond(np.array([near - at]))[0]) for at, share in one.atoms
    )
    first, last = float(other.points[0]), time - float(one.points[0])
    found += one.varies * float(other.varying(np.array([last]))[0][0])
    if first >= last:
        return found, density
    times, weights = _between(one, other, time)
    each = weights * other.varying(times)[1]
    shares, densities = one.varying(time - times)
    return found + float((each * shares).sum()), density + float((each * densities).sum())


def _between(one: TimeLaw, other: TimeLaw, time: float) -> tuple[Array, Array]:
    """Return where, and with which weights, the sum is taken of what both vary by."""
    first, last = float(other.points[0]), time - float(one.points[0])
    inner = np.concatenate([other.points, time - one.points])
    points = np.unique(np.concatenate([[first, last], inner[(inner > first) & (inner < last)]]))
    at, by, _ = RULES[one.is_narrow or other.is_narrow]
    half = (points[1:, None] - points[:-1, None]) / 2
    return (points[:-1, None] + half * (1 + at)).ravel(), (half * by).ravel()


def _added(
    atoms: Sequence[tuple[float, float]], other: TimeLaw, time: float
) -> tuple[float, float]:
    """Return what of the share, and of the density, is behind what is for sure with some chance."""
    if not atoms:
        return 0.0, 0.0
    starts, chances = np.array(atoms).T
    shares, densities = other.varying(time - starts)
    return float((chances * shares).sum()), float((chances * densities).sum())


def _behind_atoms(one: TimeLaw, other: TimeLaw, time: float) -> tuple[float, float]:
    """Return the same where one of them is for sure what it is: each with some chance."""
    starts, chances = np.array(one.atoms).T
    shares, densities = other.longer(time - starts)
    return float((chances * shares).sum()), float((chances * densities).sum())
