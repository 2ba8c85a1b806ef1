"""Waits for several servers where services are short or long by chance, in floats.

The laws are those of `unlike_laws`. What has no value is not-a-number; nothing is raised.
"""

from __future__ import annotations

from collections.abc import Callable
from math import exp, inf, isfinite, log, nan, sqrt

from msgspec import Struct

from qps.engine.queueing import unlike_laws
from qps.engine.queueing.queue_numbers import erlang_c


def _squared(value: float) -> float:
    return value * value


class _Floats:
    """Functions of floats."""

    maximum = staticmethod(max)
    minimum = staticmethod(min)
    square = staticmethod(_squared)
    root = staticmethod(sqrt)
    exponential = staticmethod(exp)
    logarithm = staticmethod(log)
    erlang_c = staticmethod(erlang_c)


FLOATS = _Floats()


def _number(law: Callable[..., float], *, is_endless: bool = False) -> Callable[..., float]:
    """Return a law of floats; some have no end from load 1 on."""

    def found(*operands: float) -> float:
        if not unlike_laws.are_there(*operands):
            return nan
        if is_endless and operands[-1] >= 1:
            return inf
        try:
            value = law(FLOATS, *operands)
        except (ArithmeticError, ValueError):
            return nan
        return value if isfinite(value) else nan

    return found


unlike_ratio = _number(unlike_laws.unlike_ratio)
unlike_share = _number(unlike_laws.unlike_share)
unlike_short = _number(unlike_laws.unlike_short)
unlike_long = _number(unlike_laws.unlike_long, is_endless=True)


def ratio_rises(between: float, third: float, varied: float, servers: float) -> bool:
    """Return whether it is proven that the ratio rises with the load.

    Where services of one length vary no less than exponential ones, the wait for them is a multiple
    that rises with the load, from 1 to at most (1 + v)/2. So the long ones are surely waited for
    longer than the short ones where they are longer by more than that.
    """
    if not (servers >= 1 and varied >= 1):
        return False
    of = unlike_laws.two_lengths(FLOATS, between, third)
    return bool(of.long >= of.short * (1 + varied) / 2)


class Proof(Struct, frozen=True):
    """With which operands a law rises (1) of the same others (0), and whether it does of these."""

    grows: tuple[int, ...]
    holds: Callable[..., bool] = lambda *_: True


RISES = {
    "unlike_ratio": Proof((0, 0, 0, 0, 1), ratio_rises),
    "unlike_share": Proof((0, 0, 1, 1)),
    "unlike_short": Proof((0, 0, 1)),
    "unlike_long": Proof((0, 0, 1)),
}
ENDLESS = frozenset(["unlike_long"])
"""What has no end from load 1 on."""
