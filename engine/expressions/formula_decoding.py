"""Formulas made of parts that come from outside, such as a cache: each is checked first."""

from __future__ import annotations

from fractions import Fraction
from math import isfinite

from qps.engine.expressions.formulas import Formula, interned, number
from qps.engine.expressions.nodes import Value
from qps.engine.leaves import INPUT, NUMBER, POPULATION
from qps.engine.operations import OPERATIONS


def decoded_formula(word: str, operands: tuple[Formula, ...], value: Value) -> Formula:
    """Return the formula that has these parts, in the form that it has already.

    ValueError where no formula has them.
    """
    row = OPERATIONS.get(word)
    if row is not None:
        takes = len(operands) == row.operands or (operands and (row.takes_more or row.repeats))
        is_of_formulas = type(operands) is tuple and {*map(type, operands)} == {Formula}
        if takes and is_of_formulas and value is None:
            return interned(word, operands)
    elif operands == ():
        if word == NUMBER and (
            type(value) is Fraction or (type(value) is float and not isfinite(value))
        ):
            return number(value)
        if word in (INPUT, POPULATION) and type(value) is str:
            return interned(word, (), value)
    raise ValueError(f"no formula is made of {word}")
