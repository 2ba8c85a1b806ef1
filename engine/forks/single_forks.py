"""One fork by itself: the longest of branches whose laws are known to all digits.

Of independent branches the share that is done by a time is the product of theirs, each the inverted
transform of its stages. So no transform of the longest is needed, as it is where other stages are
passed, too (`fork_grids`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
from msgspec import Struct

from qps.engine.distributions.panel_laws import points_of
from qps.engine.distributions.stage_paths import MOST_COMBINED, SAME
from qps.engine.distributions.sum_mixtures import StagePath, paths_of, terms_of
from qps.engine.distributions.sum_numbers import KINKED
from qps.engine.forks.phase_counts import single_fork
from qps.engine.numerics.array_blocks import Array, gauss_rule

_MOST_PATHS = 2 * MOST_COMBINED
"""Ways through all branches that differ: more take longer than a grid."""
_NOTHING = 1e-14
"""What moves by less does not."""
_PLACES = 16
_ESTIMATE_ERROR, _PARTS, _MOST_TURNS, _NEXT = 1e-3, 16, 60, 1e-13
"""How near a time on a grid is, and into how many parts what is around a quantile is cut."""


class _Branch(Struct, frozen=True, kw_only=True):
    """Branches of one law: their operands, how many there are, and the ways through one."""

    operands: tuple[Array, ...]
    count: int
    paths: tuple[StagePath, ...]
    terms: Array


class SingleFork(Struct, frozen=True, kw_only=True):
    """A fork of some branches, of elements that have the same ones."""

    branches: tuple[_Branch, ...]

    @staticmethod
    def of(stages: Sequence[Array]) -> SingleFork | None:
        """Return the fork that stages are, None where they are more, or have too many ways."""
        found = single_fork(stages, lambda column: float(column[0]))
        if found is None:
            return None
        counts = Counter(tuple(column.tobytes() for column in branch) for branch in found)
        alike = {tuple(column.tobytes() for column in branch): branch for branch in found}
        branches = []
        for key, operands in alike.items():
            paths = paths_of(operands)
            if paths is None:
                return None
            branches.append(
                _Branch(
                    operands=operands, count=counts[key], paths=tuple(paths), terms=terms_of(paths)
                )
            )
        if sum(len(branch.paths) for branch in branches) > _MOST_PATHS:
            return None
        return SingleFork(branches=tuple(branches))

    def later(self, time: Array, late: Array) -> Array:
        """Return which share takes longer than each time, where about a share `late` does.

        One element is looked at for many times.
        """
        return self._longest(lambda one: _later(one, time, 20 - np.log(late)))

    def _longest(self, later: Callable[[_Branch], Array]) -> Array:
        with np.errstate(all="ignore"):  # far out nothing is left
            each = (one.count * np.log1p(-np.clip(later(one), 0.0, 1.0)) for one in self.branches)
            return np.asarray(-np.expm1(sum(each)))

    def quantile(self, late: float, estimate: float) -> float:
        """Return the time that no more than a share `late` exceeds; a grid has `estimate` there."""
        share = np.array([late])
        if float(self.later(np.zeros(1), share)[0]) <= late:
            return 0.0
        low, high = estimate * (1 - _ESTIMATE_ERROR), estimate * (1 + _ESTIMATE_ERROR)
        is_smooth = False
        for _ in range(_MOST_TURNS):
            times = np.linspace(low, high, _PARTS + 1)
            shares = self.later(times, share)
            behind = int((shares > late).sum())
            if not 0 < behind < len(times):  # the grid was not so near
                reach = high - low
                low, high = (high, high + 2 * reach) if behind else (max(0.0, low - 2 * reach), low)
                if high <= 0:
                    return 0.0
                continue
            low, high = float(times[behind - 1]), float(times[behind])
            first, last = float(shares[behind - 1]), float(shares[behind])
            is_smooth = last > 0 and first - last < _ESTIMATE_ERROR * first
            if high - low <= _NEXT * high or is_smooth:
                break
        part = np.log(first / late) / np.log(first / last) if is_smooth and first > last else 1.0
        return float(low + (high - low) * part)

    def mean(self) -> float:
        """Return the mean of one element."""
        starts, points = [0.0], []
        for one in self.branches:
            fixed = [float(path.fixed[0]) for path in one.paths]
            stages = [float(column[0]) for column in one.operands]
            starts += fixed
            if any(path.stages for path in one.paths):
                points.append(points_of(fixed, stages))
        times = np.unique(np.concatenate([np.array(starts), *points]))
        shares = self.later(times * (1 + _NOTHING), np.array([_NOTHING]))
        is_first = np.append(shares[1:], 0.0) < 1 - _NOTHING
        is_last = np.insert(shares[:-1], 0, 1.0) > _NOTHING
        times_between = times[is_first & is_last]
        if not len(times_between):
            return float(times[-1])
        at, by = gauss_rule(_PLACES)
        half = np.diff(times_between)[:, None] / 2
        inner = (times_between[:-1, None] + half * (1 + at)).ravel()
        found = self.later(inner, np.array([_NOTHING]))
        return float(times_between[0] + ((half * by).ravel() * found).sum())


def _later(branch: _Branch, times: Array, goal: Array) -> Array:
    """Return which share takes longer than each time.

    Of narrow laws the line of a transform is moved no further than the share that is left asks.
    """
    found = np.zeros(times.shape)
    is_narrow = len(branch.terms) == len(KINKED)
    for path in branch.paths:
        after, most = times - path.fixed, goal + np.zeros(times.shape)
        is_same = np.abs(after) <= SAME * times
        if is_narrow and path.varies:
            most = np.minimum(most, path.least_goal(after))
        later, _ = path.later(np.where(is_same, -1.0, after), most, branch.terms)
        found = found + np.where(is_same, later - path.fixed_share, later)
    return found
