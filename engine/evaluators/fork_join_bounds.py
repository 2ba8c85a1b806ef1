"""Bounds of closed networks with calls made together, from those of their operands.

Rates rise with customers and fall with the demands but for a part of them, by which the
Linearizer is off now more, now less.
"""

from __future__ import annotations

from math import inf, isnan

from qps.engine.evaluators.multiclass_bounds import at_point, is_point
from qps.engine.numerics.sloped_intervals import NOTHING_KNOWN, SlopedInterval
from qps.engine.operand_groups import repeated
from qps.engine.queueing_networks import fork_join_mva
from qps.engine.queueing_networks.fork_join_operands import GROUP, GROWING, places_of

_OFF = 1 / 128
"""By which part of a rate it may move the other way: four times as much as it was seen to."""


def forked_rate(*operands: SlopedInterval) -> SlopedInterval:
    """Return between which rates that of a network lies."""
    if is_point(operands):
        return at_point(fork_join_mva.forked_rate, operands)
    if not _is_one_form(operands[2:]) or not all(one.low >= 0 for one in operands[:2]):
        return NOTHING_KNOWN
    pairs = list(zip(repeated(GROWING, GROUP, len(operands)), operands, strict=True))
    least = fork_join_mva.forked_rate(*(one.high if by < 0 else one.low for by, one in pairs))
    most = fork_join_mva.forked_rate(*(one.low if by < 0 else one.high for by, one in pairs))
    if isnan(least) or isnan(most):
        return NOTHING_KNOWN
    return SlopedInterval(least * (1 - _OFF), most * (1 + _OFF), -inf, inf)


def forked_time(*operands: SlopedInterval) -> SlopedInterval:
    """Return between which times that at a place lies."""
    if is_point(operands):
        return at_point(fork_join_mva.forked_time, operands)
    return _anything(operands)


def forked_wait(*operands: SlopedInterval) -> SlopedInterval:
    """Return between which numbers of service times the wait of open visits lies."""
    if is_point(operands):
        return at_point(fork_join_mva.forked_wait, operands)
    return _anything(operands)


def _anything(operands: tuple[SlopedInterval, ...]) -> SlopedInterval:
    """Return that nothing is below zero, where there is one network all over a box."""
    is_one = _is_one_form(operands[3:]) and is_point(operands[:1])
    is_bounded = all(0 <= one.low <= one.high < inf for one in operands[1:3])
    return SlopedInterval(0.0, inf, -inf, inf) if is_one and is_bounded else NOTHING_KNOWN


def _is_one_form(operands: tuple[SlopedInterval, ...]) -> bool:
    """Return whether there is a network, the same all over the box but for its numbers.

    How often stations are visited is one number: how a rate moves with it is not known.
    """
    if len(operands) % GROUP or not is_point(operands[::GROUP]) or not is_point(operands[5::GROUP]):
        return False
    return all(
        0 <= one.low <= one.high < inf for k, one in enumerate(operands) if k % GROUP
    ) and all(
        places_of([one.high if high and k % GROUP else one.low for k, one in enumerate(operands)])
        is not None
        for high in (False, True)
    )
