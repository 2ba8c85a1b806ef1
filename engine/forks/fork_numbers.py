"""The mean, quantiles and tail of the time to pass stages of which some are forks, or equal calls.

`fork_arrays` and `answer_arrays` explain how; of one number each is that of one row.
"""

from __future__ import annotations

from functools import lru_cache


@lru_cache(maxsize=1 << 14)
def fork_mean(*stages: float) -> float:
    """Return the mean time to pass stages; infinite where one that is passed is full."""
    from qps.engine.forks import fork_arrays  # noqa: PLC0415 - needs numpy

    return float(fork_arrays.fork_mean(*stages))


@lru_cache(maxsize=1 << 14)
def fork_tail(time: float, *stages: float) -> float:
    """Return the share that takes longer than a time to pass stages."""
    from qps.engine.forks import fork_arrays  # noqa: PLC0415 - needs numpy

    return float(fork_arrays.fork_tail(time, *stages))


@lru_cache(maxsize=1 << 14)
def fork_quantile(level: float, *stages: float) -> float:
    """Return the time that a share `level` does not exceed to pass stages."""
    from qps.engine.forks import fork_arrays  # noqa: PLC0415 - needs numpy

    return float(fork_arrays.fork_quantile(level, *stages))


@lru_cache(maxsize=1 << 14)
def order_quantile(
    level: float, answers: float, spare: float, inside: float, *stages: float
) -> float:
    """Return the quantile of the time until so many answers are there, with other stages."""
    from qps.engine.forks import answer_arrays  # noqa: PLC0415 - needs numpy

    return float(answer_arrays.order_quantile(level, answers, spare, inside, *stages))


@lru_cache(maxsize=1 << 14)
def order_tail(time: float, answers: float, spare: float, inside: float, *stages: float) -> float:
    """Return the share that takes longer until so many answers are there, with other stages."""
    from qps.engine.forks import answer_arrays  # noqa: PLC0415 - needs numpy

    return float(answer_arrays.order_tail(time, answers, spare, inside, *stages))
