"""Formulas as fractions: what is above the line, and what is below it."""

from __future__ import annotations

from qps.engine.expressions.formula_parts import as_power_of
from qps.engine.expressions.formulas import Formula, number, power
from qps.engine.operations import OPERATIONS, PRODUCT


def above_and_below(part: Formula) -> tuple[list[Formula], list[Formula]]:
    """Return the factors of a formula that stand above the line of a fraction, and those below."""
    above: list[Formula] = []
    below: list[Formula] = []
    for factor in part.operands if part.word == PRODUCT else (part,):
        base, exponent = as_power_of(factor)
        if exponent < 0:
            below.append(power(base, number(-exponent)))
        else:
            above.append(factor)
    return above, below


def quotient_of(part: Formula) -> tuple[Formula, Formula] | None:
    """Return what is divided and by what, of what is no product, but a quotient all the same.

    It has a meaning of its own where its divisor vanishes.
    """
    row = OPERATIONS.get(part.word)
    if row is None or row.divisor is None:
        return None
    above, below = part.operands
    return above, row.divisor(below)
