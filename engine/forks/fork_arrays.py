"""The time to pass stages of which some are forks, on arrays: mean, quantiles and tail.

`paths_with_forks` has the paths; each is a product of transforms, which is inverted as that of a
sum of stages (`sum_mixtures`). Terms of the series stand in rows, elements in columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial, reduce
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from qps.engine.distributions.stage_paths import SAME
from qps.engine.distributions.stages import NARROW, NEARLY_WHOLE, OPERANDS
from qps.engine.distributions.sum_arrays import is_stage
from qps.engine.distributions.sum_mixtures import around, quantile_of_paths, terms_of
from qps.engine.distributions.sum_transforms import Bools
from qps.engine.forks.fork_nodes import CALLS, FORK, AloneError, Node, NoPathError, nodes_of
from qps.engine.numerics.array_blocks import Array, filled, in_blocks

if TYPE_CHECKING:  # it needs numpy, which playgrounds do not have
    from qps.engine.forks.time_factors import ForkPath

_BLOCK = 1024
_CUT, _BEYOND = 1e-9, 20.0
"""Of laws so much of the share is left out that is sought; so many digits more are known of it."""
_LATE = 1e-9
"""A share that is not known before is sought as if it were so small."""

_OfAlike = Callable[..., Array]


def fork_mean(*stages: ArrayLike) -> Array:
    """Return the mean time to pass stages."""
    return in_blocks(partial(_of_rows, _mean, np.inf), *stages, size=_BLOCK)


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
    filled(is_level, found, partial(_of_rows, _alike_quantile, np.inf), level, *stages)
    return found


def _tail(time: Array, *stages: Array) -> Array:
    found = np.full(time.shape, np.nan)
    filled(~np.isnan(time), found, partial(_of_rows, _alike_tail, 1.0), time, *stages)
    return found


def _lateness(time: Array, level: Array, *stages: Array) -> Array:
    found = np.full(time.shape, np.nan)
    is_computed = (time >= 0) & (level > 0) & (level < 1)
    filled(is_computed, found, partial(_of_rows, _alike_lateness, np.inf), time, level, *stages)
    return found


# -- of elements that have the same paths ---------------------------------------------------


def _mean(stages: Sequence[Array]) -> Array:
    return np.asarray(sum(path.mean for path in _paths(stages, _CUT * _LATE)))


def _alike_quantile(stages: Sequence[Array], level: Array) -> Array:
    cut = _CUT * float(1 - level[0]) if level.size == 1 else None
    paths = _paths(stages, cut)

    def again(*some: Array) -> list[ForkPath]:
        return paths if level.size == 1 else _paths(some, None)

    return quantile_of_paths(paths, again, level, *stages)


def _alike_tail(stages: Sequence[Array], time: Array) -> Array:
    paths = _paths(stages, _CUT * _LATE)
    goal = np.full(time.shape, _BEYOND - np.log(_LATE))
    _, found = around(paths, np.clip(time, 0.0, _FURTHEST), goal, terms_of(paths))
    found = np.clip(found, 0.0, 1.0)
    return np.asarray(np.where(time < 0, 1.0, np.where(time == np.inf, 0.0, found)))


_FURTHEST = 1e300


def _alike_lateness(stages: Sequence[Array], time: Array, level: Array) -> Array:
    cut = _CUT * float(1 - level[0]) if level.size == 1 else None
    paths, goal = _paths(stages, cut), -np.log1p(-level)
    _, longer = around(paths, time, goal, terms_of(paths))
    found = np.where(longer > 0, np.log(longer) / goal + 1, -1.0)
    return np.asarray(np.maximum(found, -1.0))


def _paths(stages: Sequence[Array], cut: float | None) -> list[ForkPath]:
    from qps.engine.forks.paths_with_forks import fork_paths  # noqa: PLC0415 - needs numpy

    return fork_paths(stages, cut if stages[0].size == 1 else None)


# -- which elements those are --------------------------------------------------------------


def _of_rows(of_alike: _OfAlike, endless: float, *operands: Array) -> Array:
    """Return the values of elements that have the same paths, for all; of endless ones that."""
    count = len(operands) // OPERANDS * OPERANDS
    before, stages = operands[: len(operands) - count], operands[len(operands) - count :]
    if not stages or (of_alike is _mean) != (not before):
        return np.full(operands[0].shape, np.nan)
    found = np.full(operands[0].shape, np.nan)
    for is_among in _alike(stages):
        some = [one[is_among] for one in stages]
        is_computed, is_endless = _is_sound(some)
        values = np.where(is_computed & is_endless, endless, np.nan)
        left = is_computed & ~is_endless
        if left.any():
            rest = [[one[is_among][left] for one in each] for each in (before, stages)]
            values[left] = _evaluated(of_alike, rest[1], rest[0])
        found[is_among] = values
    return found


def _evaluated(of_alike: _OfAlike, stages: Sequence[Array], before: Sequence[Array]) -> Array:
    try:
        return of_alike(stages, *before)
    except NoPathError:
        return np.full(stages[0].shape, np.nan)
    except AloneError:
        rows = range(stages[0].size)
        each = [
            _evaluated(of_alike, *([one[k : k + 1] for one in some] for some in (stages, before)))
            for k in rows
        ]
        return np.concatenate(each)


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
    waits, _, work, spread, servers, service, *_, inside = groups
    is_fork = (servers == FORK) | ((servers == CALLS) & (spread >= 1))
    is_plain = (waits == 0) & (work == 0) & (service == 0) & (inside >= 0) & is_fork
    all_are = is_stage((*groups[:4], np.abs(servers), *groups[5:])) & ((servers >= 0) | is_plain)
    found: Bools = all_are.all(axis=0)
    if not found.any():
        return found, found
    is_sound, is_endless = _checked(nodes_of(stages), found)
    return found & is_sound, is_endless


def _checked(nodes: Sequence[Node], is_passed: Bools) -> tuple[Bools, Bools]:
    is_sound, is_endless = (
        np.ones(is_passed.shape, dtype=bool),
        np.zeros(is_passed.shape, dtype=bool),
    )
    for node in nodes:
        waits, load, work, _, servers, service, _, times, _ = node.group
        works = [one.group for one in node.inside if one.is_work]
        is_late = reduce(
            np.logical_or, ((one[0] > 0) & (one[2] > 0) for one in works), (waits > 0) & (work > 0)
        )
        full = load + sum((one[1] for one in works), np.zeros(load.shape))
        is_there = is_passed & (times > 0)
        is_endless |= is_there & ((service == np.inf) | (is_late & (full >= 1)))
        inside = [one for one in node.inside if not one.is_work]
        is_sound &= servers != 0
        if node.is_choice:
            chances = sum((one.group[7] for one in inside), np.zeros(load.shape))
            is_sound &= chances <= 1 + SAME
        more = _checked(inside, is_there)
        is_sound &= more[0]
        is_endless |= more[1]
    return is_sound, is_endless
