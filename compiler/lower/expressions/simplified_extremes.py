"""Maxima and minima that the range of the population decides.

`max(0, N - 2)` is `N - 2` for every N from 2 on. Saying so keeps loads rational, which gives
them closed forms. What the range does not decide stays as it is.
"""

from __future__ import annotations

from qps.engine.expressions.formulas import Formula, symbol
from qps.engine.expressions.memo import memoized
from qps.engine.expressions.monomials import expanded
from qps.engine.expressions.signs import range_of
from qps.engine.expressions.substitution import substituted
from qps.engine.numerics.value_ranges import NOT_NEGATIVE
from qps.engine.operations import EXTREMES, OPERATIONS

_MORE = symbol("how many more")
"""By so many a population is above the lowest one; never below zero."""


@memoized
def simplify_extremes(expr: Formula, population: Formula, low: int) -> Formula:
    """Return an expression with every maximum and minimum decided that holds from `low` on."""
    if expr.word not in EXTREMES:
        return expr
    best, *others = expr.operands
    for other in others:
        sign = sign_from(best - other, population, low)
        if sign is None:
            return expr
        if (sign < 0) == (OPERATIONS[expr.word].chooses > 0):
            best = other
    return best


def sign_from(expr: Formula, population: Formula, low: int) -> int | None:
    """Return 1 where an expression is never below zero from `low` on, -1 where never above.

    None where it is both, or where that is not known: it has other symbols, or its terms, put in
    order from `low` on, have different signs.
    """
    if expr.symbols - {population}:
        return None
    written_out = expanded(expr, {population, 1 / population})  # (N - 1)/N - 1 is -1/N
    from_low = expanded(substituted(written_out, {population: low + _MORE}), {_MORE})
    for form, known in ((written_out, {}), (from_low, {_MORE: NOT_NEGATIVE})):
        found = range_of(form, known)
        if not found.below:
            return 1
        if not found.above:
            return -1
    return None
