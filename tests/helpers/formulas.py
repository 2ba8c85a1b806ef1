"""Formulas as tests write them."""

from __future__ import annotations

from fractions import Fraction
from functools import partial

from qps.engine.expressions.formulas import Formula, apply, number

ceil, floor, exp, log, cos, acos, lambert, absolute = (
    partial(apply, word) for word in ("ceil", "floor", "exp", "ln", "cos", "acos", "w", "abs")
)
ratio, waiting = partial(apply, "ratio"), partial(apply, "waiting")


def R(above: int, below: int = 1) -> Formula:
    """Return a fraction."""
    return number(Fraction(above, below))
