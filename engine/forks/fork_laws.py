"""The law of the time until all of some branches are done that are begun together.

Of independent branches the share that is done by a time is the product of theirs. What varies of it
is summed over panels: so it has a transform, and can stand in a sum with others.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from qps.engine.distributions.stage_paths import SAME
from qps.engine.distributions.sum_mixtures import TimePath, terms_of
from qps.engine.distributions.sum_numbers import TINY
from qps.engine.distributions.sum_transforms import Complex
from qps.engine.forks.time_laws import LEAST_SHARE, TimeLaw, behind, longer_of_paths, moving
from qps.engine.forks.weighted_panels import WeightedPanels
from qps.engine.numerics.array_blocks import Array

_FINER = 4
"""Into so many parts panels are cut where a law is summed."""
_NEXT_TO = 1e-6
"""What varies begins at a time that some take for sure, where that is so near."""
_DIGITS = 11.0
"""To so large a power of e is raised what is far out in transforms."""
_FINEST, _LONGEST = -40, 8
"""Powers of 2, of the time in which tails fall, at which panels begin."""
_TOGETHER = 1 << 14
"""So many terms of transforms stay in the processor's cache."""


class SummedTime(Struct, frozen=True, kw_only=True):
    """What varies of a law: `weights` of all, each with a time; they sum to its `mass`."""

    times: Array
    weights: Array
    nearest: Array
    is_narrow: bool
    panels: WeightedPanels

    @property
    def mass(self) -> Array:
        """The chance that it is taken."""
        return np.array([float(self.weights.sum())])

    @property
    def done(self) -> Array:
        """The chance that it takes no time."""
        return np.zeros(1)

    @property
    def mean(self) -> Array:
        """The mean, times the chance."""
        return np.array([float((self.weights * self.times).sum())])

    def transform(self, at: Complex) -> Complex:
        """Return the transform; imaginary parts of rows are multiples of that of the second.

        Columns of which these are next to each other are done at once, with as few times as
        suffice.
        """
        turns = at.imag[-1] / max(1, len(at) - 1)
        octaves = np.floor(np.log2(np.maximum(np.abs(at[-1]), TINY)))
        found = np.empty(at.shape, dtype=complex)
        for octave in np.unique(octaves):
            among = np.flatnonzero(octaves == octave)
            real, most = at.real[0, among], float(np.abs(at[-1, among]).max())
            times, weights = self.panels.thinned(most, float(real.min()), float(real.max()))
            together = max(1, _TOGETHER // max(1, len(times)))
            for first in range(0, len(among), together):
                some = among[first : first + together]
                value = (weights * np.exp(-at.real[0, some, None] * times)).astype(complex)
                turn = np.exp(-1j * turns[some, None] * times)
                for k in range(len(at)):
                    found[k, some] = value.sum(axis=1)
                    value *= turn
        return found


def summed_times(law: TimeLaw, nearest: float) -> list[tuple[float, float, SummedTime | None]]:
    """Return what a law is made of: chances, times for sure, and what varies beyond that."""
    found: list[tuple[float, float, SummedTime | None]] = [
        (share, at, None) for at, share in law.atoms
    ]
    if law.varies:
        first = float(law.points[0])
        first = max(
            (at for at, _ in law.atoms if 0 <= first - at <= _NEXT_TO * first), default=first
        )
        times, weights = replace(law, points=_finer(law.points)).nodes
        each = (weights * law.varying(times)[1]).ravel()
        each = each * (law.varies / each.sum())
        after = times.ravel() - first
        # Densities far out are known to so many digits of the largest one alone.
        beyond = float(after[-1] - (each * after).sum() / law.varies)
        summed = SummedTime(
            times=after,
            weights=each,
            panels=WeightedPanels.of(
                *(one.reshape(len(law.points) - 1, -1) for one in (after, each))
            ),
            nearest=np.array([min(nearest, _DIGITS / beyond) if law.is_narrow else nearest]),
            is_narrow=law.is_narrow or len(law.atoms) > 1,
        )
        found.append((1.0, first, summed))
    return found


def _finer(points: Array) -> Array:
    """Return panels on which the transform's terms turn but a few times."""
    parts = np.arange(_FINER) / _FINER
    return np.append((points[:-1, None] + np.diff(points)[:, None] * parts).ravel(), points[-1])


def law_of_paths(paths: Sequence[TimePath], goal: float, cut: float) -> TimeLaw:
    """Return the law of the time to pass one of some paths."""
    terms = terms_of(paths)
    atoms: dict[float, float] = {}
    for path in paths:
        at = float(path.fixed[0])
        atoms[at] = atoms.get(at, 0.0) + float(path.fixed_share[0])
    starts = sorted(atoms)
    varied = [path for path in paths if path.varies]
    points = np.zeros(0)
    if varied:
        slowest = 1 / min(float(path.nearest.min()) for path in varied)
        away = slowest * 2.0 ** np.arange(_FINEST, _LONGEST)
        points = np.unique(np.concatenate([starts, *(start + away for start in starts)]))

    found = TimeLaw(
        atoms=tuple((at, share) for at, share in sorted(atoms.items()) if share > LEAST_SHARE),
        longer=lambda times: longer_of_paths(paths, times, goal, terms),
        points=points,
        least=starts[0],
        is_narrow=any(path.is_narrow for path in paths),
    )
    return moving(found, cut)


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
