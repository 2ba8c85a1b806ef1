"""The time to pass stages of which some are forks, on arrays: mean, quantiles and tail.

Where forks are known in phases, `paths_with_forks` has the paths; each is a product of transforms,
which is inverted as that of a sum of stages (`sum_mixtures`). One fork by itself is known from its
branches (`single_forks`), and all others on grids (`fork_grids`). Terms of a series stand in rows,
elements in columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial, reduce
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct
from numpy.typing import ArrayLike

from qps.engine.distributions.stage_paths import SAME
from qps.engine.distributions.stages import NARROW, NEARLY_WHOLE, OPERANDS
from qps.engine.distributions.sum_arrays import is_stage
from qps.engine.distributions.sum_mixtures import around, quantile_of_paths, terms_of
from qps.engine.distributions.sum_transforms import Bools
from qps.engine.forks.fork_grids import grid_mean, grid_quantile, grid_tail
from qps.engine.forks.fork_nodes import ForkNode, NoPathError, nodes_of
from qps.engine.forks.phase_counts import CALLS, FORK, have_phases
from qps.engine.forks.single_forks import SingleFork
from qps.engine.numerics.array_blocks import Array, filled, in_blocks

if TYPE_CHECKING:  # it needs numpy, which playgrounds do not have
    from qps.engine.forks.time_factors import ForkPath

_BLOCK = 1024
_BEYOND, _LATE = 20.0, 1e-9
"""A share that is not known before is sought as if it were so small, and to more digits."""


def fork_mean(*stages: ArrayLike) -> Array:
    """Return the mean time to pass stages."""
    return in_blocks(partial(_of_rows, _MEAN), *stages, size=_BLOCK)


def fork_quantile(level: ArrayLike, *stages: ArrayLike) -> Array:
    """Return the quantile of the time to pass stages."""
    return in_blocks(_quantile, level, *stages, size=_BLOCK)


def fork_tail(time: ArrayLike, *stages: ArrayLike) -> Array:
    """Return the share that takes longer than a time to pass stages."""
    return in_blocks(_tail, time, *stages, size=_BLOCK)


def fork_lateness(time: ArrayLike, level: ArrayLike, *stages: ArrayLike) -> Array:
    """Return log(P(T > time)/(1 - level)) as a part of what it is at most; -1 at the least."""
    return in_blocks(_lateness, time, level, *stages, size=_BLOCK)


def _quantile(level: Array, *stages: Array) -> Array:
    found = np.full(level.shape, np.nan)
    is_level = (level >= 0) & (level < 1)
    filled(is_level, found, partial(_of_rows, _QUANTILE), level, *stages)
    return found


def _tail(time: Array, *stages: Array) -> Array:
    found = np.full(time.shape, np.nan)
    filled(~np.isnan(time), found, partial(_of_rows, _TAIL), time, *stages)
    return found


def _lateness(time: Array, level: Array, *stages: Array) -> Array:
    found = np.full(time.shape, np.nan)
    is_computed = (time >= 0) & (level > 0) & (level < 1)
    filled(is_computed, found, partial(_of_rows, _LATENESS), time, level, *stages)
    return found


# -- of elements that have the same paths ---------------------------------------------------


def _mean_of_paths(stages: Sequence[Array]) -> Array:
    return np.asarray(sum(path.mean for path in _paths(stages)))


def _quantile_of_paths(stages: Sequence[Array], level: Array) -> Array:
    paths = _paths(stages)

    def again(*some: Array) -> list[ForkPath]:
        return paths if level.size == 1 else _paths(some)

    return quantile_of_paths(paths, again, level, *stages)


def _tail_of_paths(stages: Sequence[Array], time: Array) -> Array:
    paths = _paths(stages)
    goal = np.full(time.shape, _BEYOND - np.log(_LATE))
    _, found = around(paths, np.clip(time, 0.0, _FURTHEST), goal, terms_of(paths))
    return _within(time, found)


def _within(time: Array, found: Array) -> Array:
    found = np.clip(found, 0.0, 1.0)
    return np.asarray(np.where(time < 0, 1.0, np.where(time == np.inf, 0.0, found)))


_FURTHEST = 1e300


def _lateness_of_paths(stages: Sequence[Array], time: Array, level: Array) -> Array:
    paths, goal = _paths(stages), -np.log1p(-level)
    _, longer = around(paths, time, goal, terms_of(paths))
    return _lateness_of(longer, level)


def _lateness_of(longer: Array, level: Array) -> Array:
    found = np.where(longer > 0, 1 - np.log(longer) / np.log1p(-level), -1.0)
    return np.asarray(np.maximum(found, -1.0))


def _paths(stages: Sequence[Array]) -> list[ForkPath]:
    from qps.engine.forks.paths_with_forks import fork_paths  # noqa: PLC0415 - needs numpy

    return fork_paths(stages)


# -- of one fork by itself -----------------------------------------------------------------


def _mean_of_fork(fork: SingleFork, stages: Sequence[Array]) -> Array:
    if stages[0].size == 1:
        return np.array([fork.mean()])
    each = (SingleFork.of([one[k : k + 1] for one in stages]) for k in range(stages[0].size))
    return np.array([np.nan if one is None else one.mean() for one in each])


def _quantile_of_fork(fork: SingleFork, stages: Sequence[Array], level: Array) -> Array:
    near = grid_quantile(stages, level)
    if level.size == 1:
        return np.array([fork.quantile(1 - float(level[0]), float(near[0]))])
    found = []
    for k, one in enumerate(level):
        alone = SingleFork.of([column[k : k + 1] for column in stages])
        found.append(np.nan if alone is None else alone.quantile(1 - float(one), float(near[k])))
    return np.array(found)


def _tail_of_fork(fork: SingleFork, _: Sequence[Array], time: Array) -> Array:
    late = np.full(time.shape, _LATE)
    return _within(time, fork.later(np.clip(time, 0.0, _FURTHEST), late))


def _lateness_of_fork(fork: SingleFork, _: Sequence[Array], time: Array, level: Array) -> Array:
    return _lateness_of(fork.later(time, 1 - level), level)


# -- of all others -------------------------------------------------------------------------


def _lateness_on_grid(stages: Sequence[Array], time: Array, level: Array) -> Array:
    return _lateness_of(grid_tail(stages, time), level)


class _Measure(Struct, frozen=True, kw_only=True):
    """Some measure of the time to pass stages; `endless` is that of one that has no end."""

    by_paths: Callable[..., Array]
    of_one_fork: Callable[..., Array]
    on_grid: Callable[..., Array]
    endless: float = np.inf
    operands: int = 1


_MEAN = _Measure(by_paths=_mean_of_paths, of_one_fork=_mean_of_fork, on_grid=grid_mean, operands=0)
_QUANTILE = _Measure(
    by_paths=_quantile_of_paths, of_one_fork=_quantile_of_fork, on_grid=grid_quantile
)
_TAIL = _Measure(by_paths=_tail_of_paths, of_one_fork=_tail_of_fork, on_grid=grid_tail, endless=1.0)
_LATENESS = _Measure(
    by_paths=_lateness_of_paths,
    of_one_fork=_lateness_of_fork,
    on_grid=_lateness_on_grid,
    operands=2,
)


# -- which elements those are --------------------------------------------------------------


def _of_rows(measure: _Measure, *operands: Array) -> Array:
    """Return the values of elements that have the same paths, for all."""
    before, stages = operands[: measure.operands], operands[measure.operands :]
    found = np.full(operands[0].shape, np.nan)
    if not stages or len(stages) % OPERANDS:
        return found
    for is_among in _alike(stages):
        some = [one[is_among] for one in stages]
        is_computed, is_endless = _is_sound(some)
        values = np.where(is_computed & is_endless, measure.endless, np.nan)
        left = is_computed & ~is_endless
        if left.any():
            rest = [[one[is_among][left] for one in each] for each in (before, stages)]
            values[left] = _evaluated(measure, rest[1], rest[0])
        found[is_among] = values
    return found


def _evaluated(measure: _Measure, stages: Sequence[Array], before: Sequence[Array]) -> Array:
    try:
        if have_phases(stages, lambda column: float(column[0])):
            try:
                return measure.by_paths(stages, *before)
            except NoPathError:
                return measure.on_grid(stages, *before)
        fork = SingleFork.of(stages)
        if fork is not None:
            return measure.of_one_fork(fork, stages, *before)
        return measure.on_grid(stages, *before)
    except NoPathError:
        return np.full(stages[0].shape, np.nan)


def _alike(stages: Sequence[Array]) -> Iterator[Any]:
    """Yield which elements have the same paths."""
    groups = np.reshape(np.stack(stages), (-1, OPERANDS, stages[0].size))
    waits, load, work, spread, servers, service, variation, times, inside = groups.swapaxes(0, 1)
    near = np.rint(times)
    whole = np.where(np.abs(times - near) <= NEARLY_WHOLE * near, near, np.floor(times))
    signs = (
        (waits > 0) & (work > 0),
        service > 0,
        variation == 0,
        variation == 1,
        (variation > 0) & (variation < NARROW),
        spread == 1,
        (work > 0) & (spread < NARROW),
        times > whole,
        np.isnan(load),
    )
    marks = np.concatenate([inside, np.minimum(servers, 1.0), whole, *signs])
    if (marks == marks[:, :1]).all():
        yield slice(None)
        return
    _, which = np.unique(marks, axis=1, return_inverse=True)
    for one in range(which.max() + 1):
        yield which.reshape(-1) == one


def _is_sound(stages: Sequence[Array]) -> tuple[Bools, Bools]:
    """Return where operands make stages, and where one that is passed takes an infinite time."""
    groups = np.reshape(np.stack(stages), (-1, OPERANDS, stages[0].size)).swapaxes(0, 1)
    waits, load, work, spread, servers, service, *_, inside = groups
    is_fork = (servers == FORK) | ((servers == CALLS) & (spread >= 1))
    is_plain = (waits == 0) & (work == 0) & (service == 0) & (inside >= 0) & is_fork
    all_are = is_stage((*groups[:4], np.abs(servers), *groups[5:])) & ((servers >= 0) | is_plain)
    found: Bools = all_are.all(axis=0)
    if not found.any():
        return found, found
    is_simple = bool((servers != 0).all() and (inside >= 0).all())
    if is_simple and not ((load >= 1) | (work == np.inf) | (service == np.inf)).any():
        return found, np.zeros(found.shape, dtype=bool)
    is_sound, is_endless = _checked(nodes_of(stages), found)
    return found & is_sound, is_endless


def _checked(nodes: Sequence[ForkNode], is_passed: Bools) -> tuple[Bools, Bools]:
    is_sound = np.ones(is_passed.shape, dtype=bool)
    is_endless = np.zeros(is_passed.shape, dtype=bool)
    for node in nodes:
        _, load, _, _, servers, service, _, times, _ = node.group
        works, inside = node.apart
        is_there = is_passed & (times > 0)
        full = load
        if works:
            full = reduce(np.add, (one.group[1] for one in works), load)
        groups = [node.group, *(one.group for one in works)]
        of_work = reduce(np.logical_or, ((one[0] > 0) & (one[2] == np.inf) for one in groups))
        is_full = (full >= 1) | of_work | (service == np.inf)
        if is_full.any():
            is_late = reduce(np.logical_or, ((one[0] > 0) & (one[2] > 0) for one in groups))
            is_late &= (full >= 1) | of_work
            is_endless |= is_there & ((service == np.inf) | is_late)
        if not servers.all():
            is_sound &= servers != 0
        if node.is_choice:
            chances = sum((one.group[7] for one in inside), np.zeros(times.shape))
            is_sound &= chances <= 1 + SAME
        if inside:
            more = _checked(inside, is_there)
            is_sound &= more[0]
            is_endless |= more[1]
    return is_sound, is_endless
