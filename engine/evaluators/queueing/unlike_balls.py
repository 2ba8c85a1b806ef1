"""Waits for several servers where services are short or long by chance, as balls."""

from __future__ import annotations

from collections.abc import Callable

from flint import arb

from qps.engine.evaluators.ball_arithmetic import (
    INFINITE,
    UNKNOWN,
    is_infinite,
    is_unknown,
    refuse,
)
from qps.engine.evaluators.queueing.erlang_balls import erlang_c
from qps.engine.evaluators.queueing.unlike_proofs import ENDLESS
from qps.engine.queueing import unlike_laws


def _minimum(one: arb, other: arb | float) -> arb:
    return one.min(arb(other))


def _maximum(one: arb, other: arb | float) -> arb:
    return one.max(arb(other))


def _square(one: arb) -> arb:
    return one * one  # a power of what may be 0 is unknown to arb


def _root(one: arb) -> arb:
    return one.nonnegative_part().sqrt()


class _Balls:
    """Functions of balls."""

    maximum = staticmethod(_maximum)
    minimum = staticmethod(_minimum)
    square = staticmethod(_square)
    root = staticmethod(_root)
    exponential = staticmethod(arb.exp)
    logarithm = staticmethod(arb.log)
    erlang_c = staticmethod(erlang_c)


_BY = _Balls()


def _ball(law: Callable[..., arb]) -> Callable[..., arb]:
    def found(*operands: arb) -> arb:
        between, third, *finite, load = operands
        sizes = (between, *finite)
        refuse(any(bool(one < 0) for one in (*sizes, load)))
        if is_unknown(*operands):
            return UNKNOWN
        refuse(any(map(is_infinite, (*sizes, third))))
        if is_infinite(load):
            load = arb(1)
        if law.__name__ in ENDLESS and not load < 1:
            return INFINITE if load >= 1 else UNKNOWN
        return law(_BY, between, third, *finite, load)

    return found


def unlike_ratio(*operands: arb) -> arb:
    """Return how many times as long as for exponential services one waits."""
    servers = operands[3]
    refuse(servers.is_zero())
    return _RATIO(*operands) if servers > 0 or servers < 0 else UNKNOWN


_RATIO = _ball(unlike_laws.unlike_ratio)
unlike_short = _ball(unlike_laws.unlike_short)
unlike_long = _ball(unlike_laws.unlike_long)


def unlike_share(*operands: arb) -> arb:
    """Return which share waits the long time: in balls of what lies between 0 and 1."""
    found = _SHARE(*operands)
    return found if found.is_nan() else _minimum(_maximum(found, 0.0), 1.0)


_SHARE = _ball(unlike_laws.unlike_share)
