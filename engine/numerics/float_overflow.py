"""What floats do not decide, since a number on the way is beyond all of them, is not-a-number."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from math import nan


def nan_beyond_floats(value: Callable[..., float]) -> Callable[..., float]:
    """Return a function of floats that is not-a-number where Python finds no float on its way.

    >>> nan_beyond_floats(lambda x: x**-2)(1e-300)
    nan
    """

    @wraps(value)
    def guarded(*operands: float) -> float:
        try:
            return value(*operands)
        except ArithmeticError:
            return nan

    return guarded
