"""By how much more items than allowed pass stages late, on arrays: what quantiles are sought by.

A quantile is at most a time where no more than the share beyond its level take longer. One look at
the tail shows that, where the quantile itself takes a search of such looks. Terms of the series
stand in rows, elements in columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from qps.engine.distributions.stages import OPERANDS
from qps.engine.distributions.sum_arrays import BLOCK, is_stage
from qps.engine.distributions.sum_mixtures import alike, around, paths_of, terms_of
from qps.engine.distributions.sum_transforms import every, groups_of, is_sound, read
from qps.engine.numerics.array_blocks import Array, filled, in_blocks


def lateness(time: ArrayLike, level: ArrayLike, *stages: ArrayLike) -> Array:
    """Return log(P(T > time)/(1 - level)) as a part of what it is at most; -1 at the least.

    It is above zero just where the quantile of that level is above the time. Not-a-number where
    there is no law, or none that arrays can compute; infinite where a queue is full.
    """
    if not stages or len(stages) % OPERANDS:
        return in_blocks(lambda t: np.full(t.shape, np.nan), time)
    return in_blocks(_lateness, time, level, *stages, size=BLOCK)


def _lateness(time: Array, level: Array, *stages: Array) -> Array:
    found = np.full(time.shape, np.nan)
    is_computed = (time >= 0) & (level > 0) & (level < 1)
    is_computed &= reduce(np.logical_and, map(is_stage, groups_of(stages)))
    filled(is_computed, found, _of_stages, time, level, *stages)
    return found


def _of_stages(time: Array, level: Array, *stages: Array) -> Array:
    found = np.full(time.shape, np.nan)
    for is_among in _in_shape(*stages):
        some = tuple(one[is_among] for one in (time, level, *stages))
        line = read(groups_of(some[2:]))
        is_there = is_sound(line, np.ones(some[0].shape, dtype=bool))
        is_endless = np.zeros(some[0].shape, dtype=bool)
        for stage, counts in every(line, is_there):
            is_endless |= counts & stage.is_endless
        values = np.where(is_endless, np.inf, np.nan)
        filled(is_there & ~is_endless, values, _of_finite, *some)
        found[is_among] = values
    return found


def _in_shape(*stages: Array) -> Iterator[Any]:
    """Yield which elements have as many stages inside of each other."""
    groups = groups_of(stages)
    shape = np.array([mark for group in groups for mark in (group[-1], group[4] > 0)])
    if (shape == shape[:, :1]).all():
        yield slice(None)
        return
    _, which = np.unique(shape, axis=1, return_inverse=True)
    for one in range(which.max() + 1):
        yield which.reshape(-1) == one


def _of_finite(time: Array, level: Array, *stages: Array) -> Array:
    found = np.full(time.shape, np.nan)
    for is_among in alike(stages):
        some = tuple(one[is_among] for one in (time, level, *stages))
        ways = paths_of(some[2:])
        if ways is None:
            continue
        goal = -np.log1p(-some[1])
        _, longer = around(ways, some[0], goal, terms_of(ways))
        with np.errstate(all="ignore"):  # far out nothing is left
            found[is_among] = np.where(longer > 0, np.log(longer) / goal + 1, -1.0)
    return np.asarray(np.maximum(found, -1.0))
