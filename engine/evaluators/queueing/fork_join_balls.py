"""Closed networks with calls made together as balls: those of floats, with what these are off."""

from __future__ import annotations

from collections.abc import Callable

from flint import arb

from qps.engine.evaluators.queueing.multiclass_exact import by_floats
from qps.engine.queueing_networks import fork_join_mva
from qps.engine.queueing_networks.fork_join_operands import GROUP

_LOAD = 3


def forked_rate(*operands: arb) -> arb:
    """Return how many cycles all customers together end in a time."""
    return _by_floats(fork_join_mva.forked_rate, operands, 2)


def forked_time(*operands: arb) -> arb:
    """Return how long a cycle is at a station, or how long calls take that are made together."""
    return _by_floats(fork_join_mva.forked_time, operands, 3)


def forked_wait(*operands: arb) -> arb:
    """Return the mean wait of an open visit at a station, in mean service times."""
    return _by_floats(fork_join_mva.forked_wait, operands, 3)


def _by_floats(number: Callable[..., float], operands: tuple[arb, ...], before: int) -> arb:
    return by_floats(number, operands, range(before + _LOAD, len(operands), GROUP))
