"""Where a function of the population can change its sign: roots, poles and kinks.

Between two neighboring critical points the sign is constant, so that a few exact
evaluations settle a question about every N in a range, monotone or not.
"""

from __future__ import annotations

from fractions import Fraction

from qps.engine.exact_algebra.piecewise import roots_on
from qps.engine.expressions.algebraic_functions import as_rational_function, piecewise
from qps.engine.expressions.formula_parts import parts_first
from qps.engine.expressions.formulas import Formula, formula
from qps.engine.expressions.substitution import remade
from qps.engine.operations import OPERATIONS


def critical_points(
    expr: Formula, population: Formula, low: Fraction, high: Fraction | None
) -> tuple[Fraction, ...] | None:
    """Return every critical point in [low, high], ascending; `high` None means no bound.

    None where the expression is not made of rational functions, maxima and minima.
    """
    whole = piecewise(expr, population, low, high)
    if whole is None:
        return None
    roots = (root for piece in whole.pieces for root in roots_on(piece))
    return tuple(sorted({*whole.breakpoints, *roots}))


class _UndecidedError(Exception):
    """Which alternative is in force cannot be determined."""


def piece_at(expr: Formula, population: Formula, at: Fraction) -> Formula | None:
    """Return an expression with the alternatives that are in force at a point put in.

    None where that cannot be determined: it is not made of rational functions, maxima and minima.
    """

    def value(alternative: Formula) -> Fraction:
        function = as_rational_function(alternative, population)
        found = None if function is None else function.at(at)
        if found is None:
            raise _UndecidedError
        return found

    known: dict[Formula, Formula] = {}
    for part in parts_first(expr):
        made = remade(part, tuple(known[operand] for operand in part.operands))
        row = OPERATIONS.get(made.word)
        try:
            in_force = row and row.in_force
            known[part] = formula(in_force(value, *made.operands)) if in_force else made
        except _UndecidedError:
            return None
    return known[expr]
