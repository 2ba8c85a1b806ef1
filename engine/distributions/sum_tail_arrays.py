"""The tail of a sum of independent stages on arrays: `sum_tails` explains what it is.

Terms of the series stand in rows, elements in columns. Elements in which a queue is full are read
one by one.
"""

from __future__ import annotations

from functools import reduce

import numpy as np
from numpy.typing import ArrayLike

from qps.engine.distributions import sum_tails
from qps.engine.distributions.stage_paths import SAME
from qps.engine.distributions.stages import OPERANDS
from qps.engine.distributions.sum_arrays import BLOCK, fixed_time, has_fixed_chance, is_stage
from qps.engine.distributions.sum_mixtures import mixed_tail
from qps.engine.distributions.sum_numbers import (
    DISCOUNT,
    KINKED,
    LONG,
    SMOOTH,
    TINY,
    TOWARDS,
)
from qps.engine.distributions.sum_transforms import (
    Bools,
    every,
    groups_of,
    is_sound,
    nearest_singularity,
    read,
    served,
    transform,
)
from qps.engine.numerics.array_blocks import Array, filled, in_blocks, row_by_row

_one_by_one = row_by_row(sum_tails.stages_tail)


def stages_tail(time: ArrayLike, *stages: ArrayLike) -> Array:
    """Return the share that takes longer than a time to pass stages, one after the other."""
    if not stages or len(stages) % OPERANDS:
        return in_blocks(lambda t: np.full(t.shape, np.nan), time)
    return in_blocks(_tail, time, *stages, size=BLOCK)


def _tail(time: Array, *stages: Array) -> Array:
    found = np.full(time.shape, np.nan)
    is_sound = reduce(np.logical_and, map(is_stage, groups_of(stages)))
    filled(~np.isnan(time) & is_sound, found, _of_sound, time, *stages)
    return found


def _of_sound(time: Array, *stages: Array) -> Array:
    groups = groups_of(stages)
    shape = np.array([mark for group in groups for mark in (group[-1], group[4] > 0)])
    if (shape != shape[:, :1]).any():
        return _one_by_one(time, *stages)
    found = np.empty(time.shape)
    is_plain = _are_plain(time, *stages)
    is_mixed = ~is_plain & _are_mixed(time, *stages)
    filled(is_plain, found, _of_plain, time, *stages)
    filled(is_mixed, found, mixed_tail, time, *stages)
    filled(~(is_plain | is_mixed), found, _one_by_one, time, *stages)
    return found


def _are_mixed(time: Array, *stages: Array) -> Bools:
    """Return which elements take a fixed time by chance, and end."""
    line = read(groups_of(stages))
    found = is_sound(line, (time > 0) & (time < np.inf))
    is_by_chance = reduce(np.logical_or, map(has_fixed_chance, line))
    for stage, counts in every(line, np.ones(time.shape, dtype=bool)):
        found &= ~(counts & stage.is_endless)
    return np.asarray(found & is_by_chance)


def _are_plain(time: Array, *stages: Array) -> Bools:
    """Return which elements have one way through their stages, of which some vary."""
    line = read(groups_of(stages))
    found = is_sound(line, time > 0)
    for stage in line:
        found &= ~has_fixed_chance(stage)
    varies = np.zeros(time.shape, dtype=bool)
    for stage, counts in every(line, np.ones(time.shape, dtype=bool)):
        found &= ~(counts & stage.is_endless)
        varies |= counts & (stage.is_late | (stage.variation > 0))
    after = time - sum(map(fixed_time, line))
    return found & varies & (after > SAME * time) & (time < np.inf)


def _of_plain(time: Array, *stages: Array) -> Array:
    line = read(groups_of(stages))
    is_narrow = np.zeros(time.shape, dtype=bool)
    for stage, counts in every(line, np.ones(time.shape, dtype=bool)):
        is_narrow |= counts & stage.is_narrow
    found = np.empty(time.shape)
    after = time - sum(map(fixed_time, line))
    for is_among, terms in ((~is_narrow, SMOOTH), (is_narrow, KINKED)):
        if is_among.any():
            some = (one[is_among] for one in (after, *stages))
            found[is_among] = _inverted(np.array(terms)[:, None], *some)
    return found


def _inverted(terms: Array, time: Array, *stages: Array) -> Array:
    """Return the tail of what is not always the same, by two series of so many terms."""
    line = read(groups_of(stages))
    nearest = nearest_singularity(line, time.shape)
    left = np.minimum(nearest / 2, LONG / np.maximum(served(line), TINY))
    size = transform(line, (-left).astype(np.complex128)[None, :])[0].real
    goal = np.maximum(0.0, left * time - np.log(np.maximum(size, 1.0)))
    for _ in range(2):
        gap = DISCOUNT / 2 - np.minimum(TOWARDS * nearest * time, goal)
        gap = np.where(np.abs(gap) >= 1, gap, 1.0)
        at = np.empty((len(terms), time.size), dtype=complex)
        at.real, at.imag = gap / time, np.arange(len(terms))[:, None] * np.pi / time
        series = (terms * ((1 - transform(line, at)) / at).real).sum(axis=0)
        share = np.exp(gap) / time * series
        goal = np.where((share > 0) & (share < 1), np.maximum(goal, -np.log(share)), goal)
    return np.asarray(np.clip(share, 0.0, 1.0))
