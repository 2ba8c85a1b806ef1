"""The mean of the largest of independent times as a ball, as `maximum_numbers` has it."""

from __future__ import annotations

from flint import arb

from qps.engine.distributions import maximum_numbers
from qps.engine.evaluators.ball_arithmetic import (
    INFINITE,
    UNKNOWN,
    by_floats,
    is_infinite,
    is_unknown,
    refuse,
)


def slowest(*operands: arb) -> arb:
    """Return the mean of the largest of independent times."""
    variations = operands[2::3]
    refuse(any(bool(one < 0) for one in operands) or any(map(is_infinite, variations)))
    if is_unknown(*operands) or not all(bool(one >= 0) for one in operands):
        return UNKNOWN
    if any(map(is_infinite, operands)):
        return INFINITE
    return by_floats(maximum_numbers.slowest, (1,) * len(operands), *operands)
