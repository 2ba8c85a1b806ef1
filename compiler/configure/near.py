"""Numbers close to values that are not rational: enough to tell that a share is above one."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from qps.compiler import ir

NEAR = Fraction(1, 10**9)
"""How far a number may be from the value that it stands for, as a part of it."""

_FUNCTIONS: dict[ir.Function, Callable[[float], float]] = {
    ir.Function.SQRT: math.sqrt,
    ir.Function.EXP: math.exp,
    ir.Function.LOG: math.log,
    ir.Function.LOG2: math.log2,
    ir.Function.LOG10: math.log10,
    ir.Function.COS: math.cos,
    ir.Function.ACOS: math.acos,
}


def near_function(function: ir.Function, values: list[Fraction]) -> Fraction | None:
    """Return about what a function of one number is, None for others and beyond all floats.

    >>> near_function(ir.Function.EXP, [Fraction(0)])
    Fraction(1, 1)
    """
    numeric = _FUNCTIONS.get(function)
    return None if numeric is None else _fraction(lambda: numeric(float(values[0])))


def is_at_step(function: ir.Function, values: list[Fraction]) -> bool:
    """Return whether a number is so close to a whole one that it may be rounded either way."""
    if function not in (ir.Function.CEIL, ir.Function.FLOOR):
        return False
    return abs(values[0] - round(values[0])) <= NEAR * abs(values[0])


def near_power(base: Fraction, power: Fraction) -> Fraction | None:
    """Return about what a root is, None beyond all floats."""
    return _fraction(lambda: math.pow(base, power))


def _fraction(compute: Callable[[], float]) -> Fraction | None:
    try:
        return Fraction(compute())
    except (OverflowError, ValueError):
        return None
