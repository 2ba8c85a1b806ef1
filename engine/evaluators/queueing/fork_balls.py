"""The time to pass stages with forks in balls: as floats have it."""

from __future__ import annotations

from flint import arb

from qps.engine.evaluators.ball_arithmetic import refuse
from qps.engine.evaluators.queueing.float_balls import in_floats
from qps.engine.forks import fork_numbers


def fork_mean(*stages: arb) -> arb:
    """Return the mean time to pass stages."""
    return in_floats(fork_numbers.fork_mean, *stages)


def fork_quantile(level: arb, *stages: arb) -> arb:
    """Return the quantile of the time to pass stages."""
    refuse(bool(level < 0) or bool(level >= 1))
    return in_floats(fork_numbers.fork_quantile, level, *stages)


def fork_tail(time: arb, *stages: arb) -> arb:
    """Return the share that takes longer than a time to pass stages."""
    return in_floats(fork_numbers.fork_tail, time, *stages)
