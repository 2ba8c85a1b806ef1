"""Times behind forks on a grid of equal steps: the work is bounded, whatever stands in each other.

A law is a series of weights, of which w(n) is the chance of about n steps. Times in a row are
products of generating functions, and the longest of some branches has as its sums of weights the
products of theirs. A stage of transform f has the function f((3/2 - 2 z + z^2/2)/h) where a step is
h: convolution quadrature by the second backward difference (Lubich 1988), which keeps its mean and
its variance. Behind the weights up to w(n) is the share of times longer than (n + 1/2) h. What is
always the same is put on the two steps next to it.

The share that takes longer than t is found on a grid of which t is a given part, so that its errors
are parts of t, and a quantile on that of which it is about this part. A mean is that of grids, each
with steps of an eighth, until the next one changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from qps.engine.forks.fork_nodes import nodes_of
from qps.engine.forks.grid_plans import GridPlan, plan_of
from qps.engine.forks.grid_times import shares_on_grid
from qps.engine.numerics.array_blocks import Array

_SIZES = ((32, 1024), (96, 512), (512, 256))
"""How many steps grids have up to so many stages that differ."""
_LEAST_SIZE = 128
"""Steps where there are more."""
_COARSE = 64
"""Steps of grids that only look for about where a quantile is."""
_TOGETHER = 256
"""So many elements times stages are worked out at a time."""
_FARTHEST, _SAME, _FINER, _MOST_GRIDS = 1 - 1e-5, 1e-6, 8, 12
"""A mean is summed up to that quantile at least, until parts of it are the same on finer grids."""
_FEW, _ENOUGH, _WIDER, _SHORTER, _MOST_TURNS = 3, 24, 4.0, 1 / 16, 60
"""Behind how few steps a quantile is sought on a finer grid, and behind how many it is found."""
_MOST_FINE, _STEADY, _ABOUT = 4, 1e-4, 0.05
"""A quantile is found on a grid of which it is at its place, but for such a part; of few steps it
is about there.
"""
_NOTHING = 1e-12
"""What takes less of the time that all may take is nothing."""


def grid_tail(stages: Sequence[Array], time: Array) -> Array:
    """Return the share that takes longer than each time."""
    return _in_parts(_tail, stages, time)


def grid_quantile(stages: Sequence[Array], level: Array) -> Array:
    """Return the time that a share `level` does not exceed."""
    return _in_parts(_quantile, stages, level)


def grid_mean(stages: Sequence[Array]) -> Array:
    """Return the mean time."""
    return _in_parts(_mean, stages, np.full(stages[0].shape, _FARTHEST))


def _in_parts(
    function: Callable[[GridPlan, Array], Array], stages: Sequence[Array], operand: Array
) -> Array:
    first = plan_of(nodes_of([one[:1] for one in stages]))
    many = max(1, _TOGETHER // max(1, first.count))
    found = []
    for at in range(0, operand.size, many):
        part = slice(at, at + many)
        plan = first if operand.size == 1 else plan_of(nodes_of([one[part] for one in stages]))
        found.append(function(plan, operand[part]))
    return np.concatenate(found)


def _tail(plan: GridPlan, time: Array) -> Array:
    is_within = (time > 0) & (time < np.inf)
    size = _size_of(plan)
    step = _step(np.where(is_within, time, 1.0), size)
    found = shares_on_grid(plan, step, size)[_place(size)]
    if (time == 0).any():
        at_once = shares_on_grid(plan, np.full(time.shape, plan.scale * _NOTHING), _COARSE)[-1]
        found = np.where(time == 0, at_once, found)
    return np.where(time < 0, 1.0, np.where(time == np.inf, 0.0, found))


def _quantile(plan: GridPlan, level: Array) -> Array:
    estimate = _first_estimate(plan, level)
    is_there = estimate > 0
    size, late = _size_of(plan), 1 - level
    steady = _STEADY if plan.count <= _SIZES[1][0] else _ABOUT
    for _ in range(_MOST_FINE):
        step = _step(np.where(is_there, estimate, plan.scale), size)
        place, last = _where(shares_on_grid(plan, step, size), late)
        before, estimate = estimate, place * step
        is_far = (last > late) | (np.abs(estimate - before) > steady * before)
        if not (is_there & is_far).any():
            break
    return np.where(is_there, estimate, 0.0)


def _mean(plan: GridPlan, level: Array) -> Array:
    size = _size_of(plan)
    far = np.maximum(_first_estimate(plan, level) / plan.scale, _NOTHING)
    step = _step(plan.scale * 2.0 ** np.ceil(np.log2(far)), size)  # it moves as smoothly as a scale
    shares = shares_on_grid(plan, step, size)
    found = np.zeros(level.shape)
    for _ in range(_MOST_GRIDS):
        first = shares[: size // _FINER].sum(axis=0) * step
        found = found + shares[size // _FINER :].sum(axis=0) * step
        step = step / _FINER
        shares = shares_on_grid(plan, step, size)
        rest = shares.sum(axis=0) * step
        if (np.abs(rest - first) <= _SAME * (found + first)).all():
            break
    return np.asarray(found + rest + (rest - first) / (_FINER**2 - 1))  # errors fall as squares do


def _first_estimate(plan: GridPlan, level: Array) -> Array:
    """Return about where quantiles are, 0 where they are next to nothing."""
    late = 1 - level
    is_open, nothing = np.ones(level.shape, dtype=bool), plan.scale * _NOTHING
    horizon = plan.scale * (1 - np.log(late))
    for _ in range(_MOST_TURNS):
        step = _step(horizon, _COARSE)
        place, last = _where(shares_on_grid(plan, step, _COARSE), late)
        is_beyond, is_early = last > late, place < _FEW
        after = np.where(is_early, horizon * _SHORTER, place * step)
        after = np.where(is_beyond, horizon * _WIDER, after)
        is_there = ~is_beyond & ~is_early & (place > _ENOUGH)
        horizon = np.where(is_open, after, horizon)
        is_open &= ~is_there & (horizon > nothing)
        if not is_open.any():
            break
    return np.where(horizon > nothing, horizon, 0.0)


def _where(shares: Array, late: Array) -> tuple[Array, Array]:
    """Return behind how many steps no more than a share is left, and the last of the shares."""
    shares = np.minimum.accumulate(shares, axis=0)
    at = np.minimum((shares > late).sum(axis=0), len(shares) - 1)
    column = np.arange(late.size)
    after = shares[at, column]
    before = np.where(at > 0, shares[np.maximum(at - 1, 0), column], 1.0)
    with np.errstate(all="ignore"):  # where nothing is left behind
        part = np.log(before / late) / np.log(before / after)  # tails are straight there
    part = np.where((part >= 0) & (part <= 1), part, 1.0)
    return np.maximum(at - 0.5 + part, 0.0), shares[-1]


def _step(time: Array, size: int) -> Array:
    return time / (_place(size) + 0.5)


def _place(size: int) -> int:
    """Return which sum of a grid belongs to the time that is looked at."""
    return size * 3 // 4


def _size_of(plan: GridPlan) -> int:
    return next((size for most, size in _SIZES if plan.count <= most), _LEAST_SIZE)
