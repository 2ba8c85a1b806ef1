"""Where a function of the population can change its sign: roots, poles and kinks.

Between two neighbouring critical points the sign is constant, so that a few exact
evaluations settle a question about every N in a range, monotone or not.
"""

from __future__ import annotations

from fractions import Fraction

import sympy

from qps.compiler.lower.extremes import Maximum, Minimum
from qps.compiler.lower.queue_functions import Waiting
from qps.compiler.lower.substitution import Substitution
from qps.solver.piecewise import piecewise, roots_on
from qps.solver.rational import Root, as_rational_function, value_at
from qps.solver.signs import sign_of

_WITHOUT_VALUE = (sympy.oo, -sympy.oo, sympy.zoo, sympy.nan)
_KINKED = (Maximum, Minimum, sympy.Abs, Waiting)


def critical_points(
    expr: sympy.Expr, population: sympy.Symbol, low: Fraction, high: Fraction | None
) -> tuple[Root, ...] | None:
    """Return every critical point in [low, high], ascending; `high` None means no bound.

    None where the expression is not made of rational functions, maxima and minima.
    """
    whole = piecewise(expr, population, low, high)
    if whole is None:
        return None
    found = {root.near: root for root in whole.seams}
    for piece in whole.pieces:
        found |= {root.near: root for root in roots_on(piece)}
    return tuple(found[key] for key in sorted(found))


def _alternatives(kink: sympy.Expr) -> tuple[sympy.Expr, ...]:
    """Return what a kinked function compares: where two of these meet, it may change its form."""
    if isinstance(kink, sympy.Abs):
        return kink.args[0], -kink.args[0]
    if isinstance(kink, Waiting):
        return kink.args[1], sympy.S.One
    return tuple(kink.args)


def _innermost_kink(expr: sympy.Expr) -> sympy.Expr | None:
    """Return a maximum, minimum, absolute value or wait with none of these inside."""
    for part in sympy.postorder_traversal(expr):
        if isinstance(part, _KINKED):
            return part
    return None


def _active(
    kink: sympy.Expr,
    alternatives: tuple[sympy.Expr, ...],
    population: sympy.Symbol,
    at: Fraction,
) -> sympy.Expr | None:
    """Return what a maximum (minimum, absolute value, wait) is at a point."""
    values: list[tuple[Fraction, sympy.Expr]] = []
    for alternative in alternatives:
        function = as_rational_function(alternative, population)
        value = None if function is None else value_at(function, at)
        if value is None:
            return None
        values.append((value, alternative))
    if isinstance(kink, Waiting):
        work, load = kink.args
        return work / (1 - load) if values[0][0] < 1 else sympy.oo
    choose = min if isinstance(kink, Minimum) else max
    return choose(values, key=lambda pair: pair[0])[1]


def piece_at(expr: sympy.Expr, population: sympy.Symbol, at: Fraction) -> sympy.Expr | None:
    """Return an expression with the alternatives that are in force at a point put in.

    None where that cannot be told: it is not made of rational functions, maxima and minima.
    """
    while (kink := _innermost_kink(expr)) is not None:
        active = _active(kink, _alternatives(kink), population, at)
        if active is None:
            return None
        expr = expr.xreplace({kink: active})
    return expr


def sign_at(expr: sympy.Expr, population: sympy.Symbol, at: Fraction) -> int | None:
    """Return the sign of an expression at a point, None where it has no finite value there.

    NoSignError where it is so near to zero that no digits tell.
    """
    try:
        value = Substitution({population: sympy.Rational(at.numerator, at.denominator)})(expr)
    except (TypeError, ValueError):
        # A maximum of something that is not real, or divided by zero: it has no value.
        return None
    # Not `is_finite`, which computes powers of powers to the last digit before their point.
    if value.has(*_WITHOUT_VALUE):
        return None
    return sign_of(value)
