"""The quantile of a sum of independent stages on arrays: `sum_numbers` explains what it is.

Terms of the series stand in rows, elements in columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import numpy as np
from numpy.typing import ArrayLike

from qps.engine.distributions.stages import OPERANDS
from qps.engine.distributions.sum_mixtures import mixed_quantile
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
    StageArrays,
    every,
    groups_of,
    is_sound,
    nearest_singularity,
    read,
    served,
    share_at_fixed,
    transform,
)
from qps.engine.numerics.array_blocks import Array, falling_root_by_neighbors, filled, in_blocks

BLOCK = 512
_CACHE_SIZE = 1 << 14

_cache: dict[bytes, float] = {}


def stages_quantile(level: ArrayLike, *stages: ArrayLike) -> Array:
    """Return the time that a share `level` does not exceed to pass stages, one after the other."""
    if not stages or len(stages) % OPERANDS:
        return in_blocks(lambda p: np.full(p.shape, np.nan), level)
    return in_blocks(_memoized, level, *stages, size=BLOCK)


def _memoized(*operands: Array) -> Array:
    """Return the quantiles of a block; a search needs those of the ends again and again."""
    rows = np.ascontiguousarray(np.stack(operands, axis=1))
    names = rows.view(f"V{rows.shape[1] * rows.itemsize}").ravel().tolist()
    found = [_cache.get(name) for name in names]
    missing = [place for place, value in enumerate(found) if value is None]
    if missing:
        if len(_cache) > _CACHE_SIZE:
            _cache.clear()
        for place, value in zip(missing, _quantile(*rows[missing].T), strict=True):
            found[place] = _cache[names[place]] = float(value)
    return np.array(found)


def _quantile(level: Array, *stages: Array) -> Array:
    found = np.full(level.shape, np.nan)
    is_plain = (level >= 0) & (level < 1) & reduce(np.logical_and, map(is_stage, groups_of(stages)))
    filled(is_plain, found, _plain, level, *stages)
    return found


def is_stage(group: Sequence[Array]) -> Bools:
    """Return where operands make a stage."""
    waits, load, work, spread, servers, service, variation, times, inside = group
    found: Bools = (
        (waits >= 0)
        & (load >= 0)
        & (work >= 0)
        & (spread >= 0)
        & (spread < np.inf)
        & (servers >= 0)
        & (service >= 0)
        & (variation >= 0)
        & (variation < np.inf)
        & (times >= 0)
        & (times < np.inf)
        & (np.abs(inside) < np.inf)
    )
    return found


def _plain(level: Array, *stages: Array) -> Array:
    groups = groups_of(stages)
    shape = np.array([mark for group in groups for mark in (group[-1], group[4] > 0)])
    if (shape != shape[:, :1]).any():
        return np.concatenate(
            [_plain(*(one[k : k + 1] for one in (level, *stages))) for k in range(level.size)]
        )
    line = read(groups)
    is_right = is_sound(line, np.ones(level.shape, dtype=bool))
    if not is_right.all():
        found = np.full(level.shape, np.nan)
        filled(is_right, found, _plain, level, *stages)
        return found
    counted = list(every(line, np.ones(level.shape, dtype=bool)))
    is_endless = np.zeros(level.shape, dtype=bool)
    for stage, counts in counted:
        is_endless |= counts & stage.is_endless
    fixed = np.zeros(level.shape) + sum(map(fixed_time, line))
    is_at_once = level <= share_at_fixed(line)
    found = np.where(is_endless, np.inf, fixed)
    is_narrow = reduce(np.logical_or, (counts & stage.is_narrow for stage, counts in counted))
    is_mixed = reduce(np.logical_or, map(has_fixed_chance, line)) & ~is_endless
    if is_mixed.any():
        filled(is_mixed, found, mixed_quantile, level, *stages)
    is_left = ~(is_at_once | is_endless | is_mixed)
    for is_among, terms in ((is_left & ~is_narrow, SMOOTH), (is_left & is_narrow, KINKED)):
        if is_among.any():
            some = (one[is_among] for one in (level, *stages))
            found[is_among] += _beyond(np.array(terms)[:, None], *some)
    return found


def fixed_time(stage: StageArrays) -> Array:
    """Return what is always the same of all passages of a stage."""
    return stage.whole * _fixed_time(stage)


def _fixed_time(stage: StageArrays) -> Array:
    own = np.where(stage.variation == 0, stage.service, 0.0)
    return np.where(stage.is_passed, own + sum(map(fixed_time, stage.inside)), 0.0)


def has_fixed_chance(stage: StageArrays) -> Bools:
    """Return where a time that is always the same is taken by chance."""
    within = reduce(
        np.logical_or,
        map(has_fixed_chance, stage.inside),
        (stage.share > 0) & (_fixed_time(stage) > 0),
    )
    return np.asarray(within & stage.is_passed)


def _beyond(terms: Array, level: Array, *stages: Array) -> Array:
    """Return the quantile of what is not always the same, by a series of so many terms."""
    goal = -np.log1p(-level)
    line = read(groups_of(stages))
    nearest = nearest_singularity(line, level.shape)
    left = np.minimum(nearest / 2, LONG / np.maximum(served(line), TINY))
    there = transform(line, (-left).astype(np.complex128)[None, :])[0].real
    high = (np.log(there) + goal) / left  # by Chernoff's bound
    steps = np.arange(len(terms))[:, None] * np.pi

    def excess(time: Array, goal: Array, nearest: Array, *stages: Array) -> tuple[Array, Array]:
        """Return log(P(T > t)/(1 - level)), and its slope."""
        gap = DISCOUNT / 2 - np.minimum(TOWARDS * nearest * time, goal)
        gap = np.where(np.abs(gap) >= 1, gap, 1.0)
        at = np.empty((len(terms), time.size), dtype=complex)
        at.real, at.imag = gap / time, steps / time
        found = transform(read(groups_of(stages)), at)
        longer = (terms * ((1 - found) / at).real).sum(axis=0)
        density = (terms * found.real).sum(axis=0)
        is_there = longer > 0
        value = np.where(is_there, np.log(longer / time) + gap + goal, -1.0)
        return value, np.where(is_there, -density / longer, 0.0)

    near = TOLERANCES if len(terms) == len(SMOOTH) else NEXT_TO
    start = np.zeros(level.shape)
    return falling_root_by_neighbors(excess, start, high, high, goal, nearest, *stages, guess=near)
