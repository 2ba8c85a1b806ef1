"""Quantiles and tails of the time until the first of equal calls have answered, with other stages.

Where each call takes an exponential time, that is a factor of the transform, as forks have it. Of
other calls it is summed over the law of their order (`order_numbers`), row by row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import log, log1p, nan

import numpy as np
from numpy.typing import ArrayLike

from qps.engine.distributions.order_arrays import order_level
from qps.engine.distributions.order_numbers import summed_quantile, summed_tail
from qps.engine.distributions.stages import OPERANDS
from qps.engine.distributions.sum_arrays import stages_quantile
from qps.engine.distributions.sum_lateness import lateness
from qps.engine.forks.fork_arrays import fork_lateness, fork_quantile, fork_tail
from qps.engine.forks.phase_counts import CALLS, have_phases
from qps.engine.numerics.array_blocks import Array, in_blocks, row_by_row


def order_quantile(level: ArrayLike, *operands: ArrayLike) -> Array:
    """Return the quantile of the time until so many answers are there, with other stages."""
    if _are_calls_alone(*operands):
        answers, spare, _, *stages = operands
        return stages_quantile(order_level(level, answers, spare), *stages)
    return _as_fork(fork_quantile, summed_quantile, (level,), *operands)


def order_tail(time: ArrayLike, *operands: ArrayLike) -> Array:
    """Return the share that takes longer than a time until so many answers are there."""
    return _as_fork(fork_tail, summed_tail, (time,), *operands)


def order_lateness(time: ArrayLike, level: ArrayLike, *operands: ArrayLike) -> Array:
    """Return log(P(T > time)/(1 - level)) as a part of what it is at most; -1 at the least.

    Of calls alone the share of one that is late has the same sign.
    """
    if _are_calls_alone(*operands):
        answers, spare, _, *stages = operands
        return lateness(time, order_level(level, answers, spare), *stages)
    return _as_fork(fork_lateness, _summed_lateness, (time, level), *operands)


def _summed_lateness(time: float, level: float, *operands: float) -> float:
    if not (time >= 0 and 0 < level < 1):
        return nan
    longer = summed_tail(time, *operands)
    return max(-1.0, 1 - log(longer) / log1p(-level)) if longer > 0 else longer - 1


def _as_fork(
    of_fork: Callable[..., Array],
    summed: Callable[..., float],
    before: Sequence[ArrayLike],
    *operands: ArrayLike,
) -> Array:
    """Return what a fork with these calls has, and the sum over orders where that has no value."""
    stages = _with_calls(*operands)
    found = of_fork(*before, *stages) if _have_phases(stages) else np.asarray(np.nan)
    columns = np.broadcast_arrays(*(np.asarray(one, dtype=float) for one in (*before, *operands)))
    found = np.array(np.broadcast_to(found, columns[0].shape))
    is_left = np.isnan(found)
    if is_left.any():
        found[is_left] = in_blocks(row_by_row(summed), *(one[is_left] for one in columns))
    return found


def has_transform(*operands: ArrayLike) -> bool:
    """Return whether calls with other stages have a transform: nothing is summed over orders."""
    return _have_phases(_with_calls(*operands)) or _are_calls_alone(*operands)


def _have_phases(stages: Sequence[ArrayLike]) -> bool:
    return bool(stages) and have_phases(stages, lambda one: float(np.ravel(one)[0]))


def _are_calls_alone(
    _: ArrayLike, _spare: ArrayLike, inside: ArrayLike, *stages: ArrayLike
) -> bool:
    """Return whether nothing else is passed in any element."""
    count = len(stages) // OPERANDS
    return count > 0 and bool((np.asarray(inside, dtype=float) == count).all())


def _with_calls(
    answers: ArrayLike, spare: ArrayLike, inside: ArrayLike, *stages: ArrayLike
) -> list[ArrayLike]:
    """Return the stages with calls as one of them; none where there are no others."""
    counts = np.unique(np.asarray(inside, dtype=float))
    if len(counts) != 1 or not 1 <= counts[0] < len(stages) // OPERANDS:
        return []
    return [0.0, 0.0, 0.0, answers, CALLS, 0.0, spare, 1.0, float(np.rint(counts[0])), *stages]
