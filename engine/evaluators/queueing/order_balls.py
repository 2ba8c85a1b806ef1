"""The k-th shortest of n times in balls: levels are proven, means are as floats have them."""

from __future__ import annotations

from flint import arb

from qps.engine.distributions import order_levels, order_numbers
from qps.engine.evaluators.ball_arithmetic import (
    UNKNOWN,
    Falling,
    is_unknown,
    refuse,
    root,
)
from qps.engine.evaluators.queueing.float_balls import in_floats
from qps.engine.forks import fork_numbers


def order_level(level: arb, answers: arb, spare: arb) -> arb:
    """Return the level of one call where so many answers are at a level."""
    refuse(bool(level < 0) or bool(level >= 1) or bool(answers < 1) or bool(spare < 0))
    operands = (level, answers, spare)
    if is_unknown(*operands) or not all(one.is_finite() for one in operands):
        return UNKNOWN
    if level.is_zero():
        return level
    if not (level > 0 and level < 1 and answers >= 1 and spare >= 0):
        return UNKNOWN
    if spare.is_zero():
        return (level.log() / answers).exp()
    start = order_levels.order_level(*(float(one.mid()) for one in operands))
    return root(_excess(level, answers, spare + 1), start)


def _excess(level: arb, a: arb, b: arb) -> Falling:
    front = (a + b).lgamma() - a.lgamma() - b.lgamma()

    def excess(x: arb) -> tuple[arb, arb]:
        share = x.beta_lower(a, b, 1)
        slope = (front + (a - 1) * x.log() + (b - 1) * (-x).log1p()).exp()
        return (level / share).log(), -slope / share

    return excess


def order_mean(answers: arb, spare: arb, *stages: arb) -> arb:
    """Return the mean time until so many answers are there: as floats have it."""
    return in_floats(order_numbers.order_mean, answers, spare, *stages)


def order_quantile(level: arb, answers: arb, spare: arb, *others: arb) -> arb:
    """Return the quantile of the time until so many answers are there: as floats have it."""
    refuse(bool(level < 0) or bool(level >= 1))
    return in_floats(fork_numbers.order_quantile, level, answers, spare, *others)


def order_tail(time: arb, answers: arb, spare: arb, *others: arb) -> arb:
    """Return the share that takes longer until so many answers are there: as floats have it."""
    return in_floats(fork_numbers.order_tail, time, answers, spare, *others)
