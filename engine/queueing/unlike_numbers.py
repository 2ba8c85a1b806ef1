"""Waits for several servers where services are short or long by chance, in floats.

The laws are those of `unlike_laws`. What has no value is not-a-number; nothing is raised.
"""

from __future__ import annotations

from collections.abc import Callable
from math import exp, inf, isfinite, log, nan, sqrt

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
