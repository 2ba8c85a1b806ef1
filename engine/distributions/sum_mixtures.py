"""The quantile of stages of which some take a fixed time by chance, on arrays.

As `sum_numbers` has it: elements that have the same paths through stages go together, each path
with its chance and its fixed time. Terms of the series stand in rows, elements in columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from typing import Any, ClassVar

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from qps.engine.distributions.stage_paths import SAME, fixed_of, pieces_of, varied_of
from qps.engine.distributions.sum_numbers import (
    DISCOUNT,
    KINKED,
    LONG,
    NEXT_TO,
    SMOOTH,
    TINY,
    TOLERANCES,
    TOWARDS,
)
from qps.engine.distributions.sum_transforms import (
    Bools,
    Complex,
    StageArrays,
    every,
    groups_of,
    nearest_singularity,
    read,
    served,
    share_at_fixed,
    transform,
)
from qps.engine.numerics.array_blocks import Array, falling_root_by_neighbors


class _Alike(Struct):
    """A stage that all elements pass alike, but for the numbers of shares and times."""

    stage: StageArrays

    @property
    def whole(self) -> int:
        return int(self.stage.whole[0])

    @property
    def share(self) -> Array:
        return self.stage.share

    @property
    def has_share(self) -> bool:
        return bool(self.stage.share[0] > 0)

    @property
    def own_fixed(self) -> Array:
        return self.stage.service if self.is_fixed else np.zeros_like(self.stage.service)

    @property
    def is_fixed(self) -> bool:
        return bool(self.stage.variation[0] == 0 and self.stage.service[0] > 0)

    @property
    def is_random(self) -> bool:
        stage = self.stage
        return bool(stage.is_late[0]) or bool(stage.service[0] > 0 and stage.variation[0] > 0)

    @property
    def inside(self) -> list[_Alike]:
        return [_Alike(each) for each in self.stage.inside]

    @property
    def per_visit(self) -> _Alike:
        once, never = np.ones_like(self.stage.whole), np.zeros_like(self.stage.share)
        alone = replace(self.stage, whole=once, share=never, inside=(), is_choice=False)
        return _Alike(alone)

    @property
    def is_choice(self) -> bool:
        return self.stage.is_choice

    @property
    def chance(self) -> Array:
        return self.stage.chance

    @property
    def left(self) -> Array:
        return self.stage.left

    @property
    def has_left(self) -> bool:
        return bool((self.stage.left > 0).any())


class TimePath(Struct, frozen=True, kw_only=True):
    """A path that all elements have: the chance of it, its fixed time, and what varies on it."""

    smooth: ClassVar[tuple[float, ...]] = SMOOTH
    """By what the terms of the series count, where laws are smooth."""
    discount: ClassVar[float] = DISCOUNT
    """What is beyond three times the requested time counts with e to the minus this."""
    chance: Array
    fixed: Array

    @property
    def varies(self) -> bool:
        """True where something on the path varies."""
        raise NotImplementedError

    @property
    def nearest(self) -> Array:
        """How far left of zero there is no singularity."""
        raise NotImplementedError

    @property
    def served(self) -> Array | float:
        """How long what varies serves at most, without waits."""
        raise NotImplementedError

    @property
    def fixed_share(self) -> Array:
        """Which share takes this path, and no longer than its fixed time."""
        raise NotImplementedError

    @property
    def is_narrow(self) -> bool:
        """True where the law is hardly smooth."""
        raise NotImplementedError

    def transform(self, at: Complex) -> Complex:
        """Return that of what varies on the path."""
        raise NotImplementedError

    def furthest(self, goal: Array) -> Array:
        """Return how far beyond its fixed time quantiles are at most, by Chernoff's bound."""
        if not self.varies:
            return np.zeros(goal.shape)
        left, size = self._chernoff
        return np.asarray((size + goal) / left)

    def least_goal(self, time: Array) -> Array:
        """Return what -log P(T > t) is at least, by Chernoff's bound: no line need be further."""
        left, size = self._chernoff
        return np.asarray(np.maximum(0.0, left * time - size))

    @property
    def _chernoff(self) -> tuple[Array, Array]:
        """A place left of zero, and the logarithm of the transform there."""
        left = np.minimum(self.nearest / 2, LONG / np.maximum(self.served, TINY))
        size = self.transform((-left).astype(np.complex128)[None, :])[0].real
        return left, np.log(np.maximum(size, 1.0))

    def later(self, time: Array, goal: Array, terms: Array) -> tuple[Array, Array]:
        """Return which share takes this path and longer than so much beyond it, and the density."""
        is_there = time > 0
        longer = np.where(is_there | ((time == 0) & (not self.varies)), 0.0, self.chance)
        density = np.zeros(time.shape)
        if not self.varies or not is_there.any():
            return longer, density
        time = np.where(is_there, time, 1.0)
        gap = self.discount / 2 - np.minimum(TOWARDS * self.nearest * time, goal)
        gap = np.where(np.abs(gap) >= 1, gap, 1.0)
        at = np.empty((len(terms), time.size), dtype=complex)
        at.real, at.imag = gap / time, np.arange(len(terms))[:, None] * np.pi / time
        found = self.transform(at)
        scale = self.chance * np.exp(gap) / time
        summed = scale * (terms * ((1 - found) / at).real).sum(axis=0)
        slope = scale * (terms * found.real).sum(axis=0)
        return np.where(is_there, summed, longer), np.where(is_there, slope, density)


class StagePath(TimePath, frozen=True, kw_only=True):
    """A path through stages alone: those that vary on it, and how often each is passed."""

    stages: tuple[tuple[_Alike, int], ...]

    @property
    def line(self) -> list[StageArrays]:
        """The stages that vary on the path."""
        return [alike.stage for alike, _ in self.stages]

    @property
    def varies(self) -> bool:
        """True where a stage varies."""
        return bool(self.stages)

    @property
    def nearest(self) -> Array:
        """How far left of zero there is no singularity."""
        return nearest_singularity(self.line, self.chance.shape)

    @property
    def served(self) -> Array | float:
        """How long what varies serves at most, without waits."""
        return served(self.line)

    @property
    def fixed_share(self) -> Array:
        """Which share takes this path, and no longer than its fixed time."""
        found = self.chance
        for alike, often in self.stages:
            found = np.asarray(found * share_at_fixed((alike.stage,)) ** often)
        return found

    @property
    def is_narrow(self) -> bool:
        """True where the law of a stage is hardly smooth."""
        return any(bool(stage.is_narrow[0]) for stage in self.line)

    def transform(self, at: Complex) -> Complex:
        """Return that of what varies on the path."""
        found = np.ones(at.shape, dtype=complex)
        for alike, often in self.stages:
            found = found * transform((alike.stage,), at) ** often
        return found


def mixed_quantile(level: Array, *stages: Array) -> Array:
    """Return the quantiles of elements that take some fixed time by chance."""
    found = np.full(level.shape, np.nan)
    for is_among in alike(stages):
        found[is_among] = _of_alike(*(one[is_among] for one in (level, *stages)))
    return found


def mixed_tail(time: Array, *stages: Array) -> Array:
    """Return the shares that take longer than a time, of elements that take some fixed time."""
    found = np.full(time.shape, np.nan)
    for is_among in alike(stages):
        found[is_among] = _tail_of_alike(*(one[is_among] for one in (time, *stages)))
    return found


def _tail_of_alike(time: Array, *stages: Array) -> Array:
    paths = paths_of(stages)
    if paths is None:
        return np.full(time.shape, np.nan)
    terms, found = terms_of(paths), np.zeros(time.shape)
    for path in paths:
        after = time - path.fixed
        is_same = np.abs(after) <= SAME * time
        found += _share_later(path, np.where(is_same, -1.0, after), terms)
        found -= np.where(is_same, path.fixed_share, 0.0)
    return np.clip(found, 0.0, 1.0)


def _share_later(path: TimePath, after: Array, terms: Array) -> Array:
    """Return which share takes a path, and so much longer than its fixed time.

    It is inverted twice, as `sum_tails` explains.
    """
    if not path.varies:
        return path.later(after, np.zeros(after.shape), terms)[0]
    goal = path.least_goal(np.maximum(after, 0.0))
    share, _ = path.later(after, goal, terms)
    is_part = (share > 0) & (share < path.chance)
    goal = np.where(
        is_part, np.maximum(goal, -np.log(np.where(is_part, share, 1.0) / path.chance)), goal
    )
    return np.clip(path.later(after, goal, terms)[0], 0.0, path.chance)


def alike(stages: Sequence[Array]) -> Iterator[Any]:
    """Yield which elements have the same paths."""
    marks = []
    for stage, _ in every(read(groups_of(stages)), np.ones(stages[0].shape, dtype=bool)):
        signs = (
            stage.share > 0,
            stage.variation == 0,
            stage.service > 0,
            stage.is_late,
            stage.is_narrow,
        )
        marks += [stage.whole, *(sign.astype(float) for sign in signs)]
    if all((mark == mark[0]).all() for mark in marks):
        yield slice(None)
        return
    _, which = np.unique(np.stack(marks, axis=1), axis=0, return_inverse=True)
    for one in range(which.max() + 1):
        yield which.reshape(-1) == one


def paths_of(stages: Sequence[Array]) -> list[StagePath] | None:
    """Return the paths of elements that have the same ones, None where there are too many."""
    alike = [_Alike(stage) for stage in read(groups_of(stages))]
    pieced = pieces_of(alike)
    if pieced is None:
        return None
    ones = np.ones(stages[0].shape)
    return [
        StagePath(
            chance=chance * ones,
            fixed=fixed_of(pieced, path) * ones,
            stages=varied_of(pieced, path),
        )
        for path, chance in pieced.chances.items()
    ]


def terms_of(paths: Sequence[TimePath]) -> Array:
    """Return by what the terms of the series count, in a column: of narrow laws there are more."""
    is_narrow = any(path.is_narrow for path in paths)
    return np.array(KINKED if is_narrow else paths[0].smooth)[:, None]


def _of_alike(level: Array, *stages: Array) -> Array:
    paths = paths_of(stages)
    if paths is None:
        return np.full(level.shape, np.nan)
    return quantile_of_paths(paths, lambda *some: paths_of(some) or [], level, *stages)


def quantile_of_paths(
    paths: Sequence[TimePath],
    paths_at: Callable[..., Sequence[TimePath]],
    level: Array,
    *stages: Array,
) -> Array:
    """Return the quantiles of elements that have the same paths; `paths_at` returns theirs."""
    goal, late = -np.log1p(-level), 1 - level
    terms = terms_of(paths)
    low, ahead, is_on = _between(paths, late, goal, terms)
    found = np.where(is_on, ahead, np.nan)
    if is_on.all():
        return found
    high = reduce(np.maximum, (path.fixed + path.furthest(goal) for path in paths))
    high = np.minimum(high, ahead) - low

    def excess(time: Array, since: Array, goal: Array, *stages: Array) -> tuple[Array, Array]:
        """Return log(P(T > t)/(1 - level)), and its slope."""
        parts = [path.later(since - path.fixed + time, goal, terms) for path in paths_at(*stages)]
        longer = sum(one for one, _ in parts)
        density = sum(one for _, one in parts)
        is_there = longer > 0
        value = np.where(is_there, np.log(longer) + goal, -1.0)
        return value, np.where(is_there, -density / longer, 0.0)

    left = ~is_on
    near = TOLERANCES if len(terms) == len(SMOOTH) else NEXT_TO
    some = [one[left] for one in (np.zeros(level.shape), high, high, low, goal, *stages)]
    found[left] = low[left] + falling_root_by_neighbors(excess, *some, guess=near)
    return found


def _between(
    paths: Sequence[TimePath], late: Array, goal: Array, terms: Array
) -> tuple[Array, Array, Bools]:
    """Return the fixed times between which quantiles are, and where one is the second of them."""
    fixed = np.sort(np.stack([path.fixed for path in paths]), axis=0)
    count, column = len(paths), np.arange(late.size)
    first, last = np.zeros(late.shape, dtype=int), np.full(late.shape, count)
    is_on = np.zeros(late.shape, dtype=bool)
    while (first < last).any():
        middle = np.minimum((first + last) // 2, count - 1)
        before, at = around(paths, fixed[middle, column], goal, terms)
        is_open, is_reached = first < last, at <= late * (1 + SAME)
        is_on = np.where(is_open & is_reached, before > late * (1 - SAME), is_on)
        first = np.where(is_open & ~is_reached, middle + 1, first)
        last = np.where(is_open & is_reached, middle, last)
    low = np.where(first > 0, fixed[first - 1, column], 0.0)
    ahead = np.where(first < count, fixed[np.minimum(first, count - 1), column], np.inf)
    return low, ahead, is_on


def around(
    paths: Sequence[TimePath], time: Array, goal: Array, terms: Array
) -> tuple[Array, Array]:
    """Return which share takes a time at least, and which longer: the fixed time of a path."""
    before = at = np.zeros(time.shape)
    for path in paths:
        after = time - path.fixed
        is_same = np.abs(after) <= SAME * time
        later, _ = path.later(np.where(is_same, -1.0, after), goal, terms)
        before = before + later
        at = at + np.where(is_same, later - path.fixed_share, later)
    return before, at
