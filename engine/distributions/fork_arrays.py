"""The time to pass stages of which some are forks on arrays, as `fork_numbers` has it."""

from __future__ import annotations

from numpy.typing import ArrayLike

from qps.engine.distributions import fork_numbers
from qps.engine.numerics.array_blocks import Array, in_blocks, row_by_row


def fork_mean(*stages: ArrayLike) -> Array:
    """Return the mean time to pass stages."""
    return in_blocks(row_by_row(fork_numbers.fork_mean), *stages)


def fork_quantile(level: ArrayLike, *stages: ArrayLike) -> Array:
    """Return the quantile of the time to pass stages."""
    return in_blocks(row_by_row(fork_numbers.fork_quantile), level, *stages)


def fork_tail(time: ArrayLike, *stages: ArrayLike) -> Array:
    """Return the share that takes longer than a time to pass stages."""
    return in_blocks(row_by_row(fork_numbers.fork_tail), time, *stages)
