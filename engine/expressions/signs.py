"""What is known of a formula while its symbols are anywhere in known ranges.

A range holds every value that there is; it may be wider than the values are, never narrower.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import inf

from qps.engine.expressions.formula_parts import parts_first
from qps.engine.expressions.formulas import Formula
from qps.engine.expressions.point_values import NoSignError, sign
from qps.engine.numerics.value_ranges import ANY, ValueRange
from qps.engine.operations import OPERATIONS

_POPULATION = ValueRange(Fraction(1), inf)


def range_of(
    formula: Formula, known: Mapping[Formula, ValueRange], *, by_sign: bool = True
) -> ValueRange:
    """Return a range of a formula; `known` has those of symbols, which may be anything else.

    Of constants that are no fractions the sign is computed, unless excluded by `by_sign`.
    """
    return ranges_of(formula, known, by_sign=by_sign)[formula]


def ranges_of(
    formula: Formula, known: Mapping[Formula, ValueRange], *, by_sign: bool = True
) -> dict[Formula, ValueRange]:
    """Return the ranges of all parts of a formula."""
    found: dict[Formula, ValueRange] = {}
    for part in parts_first(formula):
        if part.is_constant and (by_sign or not part.operands):
            found[part] = range_of_constant(part)
        elif part.is_symbol:
            found[part] = known.get(part, _POPULATION if part.is_population else ANY)
        else:
            found[part] = OPERATIONS[part.word].range(*(found[one] for one in part.operands))
    return found


def range_of_constant(constant: Formula) -> ValueRange:
    """Return a range of what has no symbols: its value, or the side of zero on which it lies."""
    value = constant.exact
    if value is not None:
        return ValueRange(value, value)
    try:
        side = sign(constant)
    except NoSignError:
        return ANY
    if side is None:
        return ANY
    return ValueRange(Fraction(0) if side >= 0 else -inf, Fraction(0) if side <= 0 else inf)
