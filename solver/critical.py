"""Where a function of the population can change its sign: roots, poles and kinks.

Between two neighbouring critical points the sign is constant, so that a few exact
evaluations settle a question about every N in a range, monotone or not.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from itertools import zip_longest

import sympy

from qps.compiler.extremes import Maximum, Minimum
from qps.compiler.queue_functions import Waiting
from qps.solver.rational import (
    Root,
    as_rational_function,
    denominator,
    numerator,
    real_roots,
    value_at,
)

_KINKED = (Maximum, Minimum, sympy.Abs, Waiting)
_INFINITE = (sympy.oo, -sympy.oo, sympy.zoo, sympy.nan)


def critical_points(
    expr: sympy.Expr, population: sympy.Symbol, low: Fraction, high: Fraction | None
) -> tuple[Root, ...] | None:
    """Return every critical point in [low, high], ascending; `high` None means no bound.

    None where the expression is not made of rational functions, maxima and minima.
    """
    found = _critical(expr, population, low, high)
    if found is None:
        return None
    return tuple(found[key] for key in sorted(found))


def _critical(
    expr: sympy.Expr, population: sympy.Symbol, low: Fraction, high: Fraction | None
) -> dict[Fraction, Root] | None:
    kink = _innermost_kink(expr)
    if kink is None:
        if expr.has(*_INFINITE):
            return {}  # it is beyond every limit here
        function = as_rational_function(expr, population)
        if function is None:
            return None
        roots = (*real_roots(numerator(function)), *real_roots(denominator(function)))
        return {root.near: root for root in roots if _inside(root.near, low, high)}
    alternatives = _alternatives(kink)
    cuts = _crossings(alternatives, population, low, high)
    if cuts is None:
        return None
    found = dict(cuts)
    starts = [low, *sorted(cut for cut in cuts if low < cut)]
    for start, end in zip_longest(starts, starts[1:], fillvalue=high):
        assert start is not None
        middle = _between(start, end)
        active = _active(kink, alternatives, population, middle)
        if active is None:
            return None
        part = _critical(expr.xreplace({kink: active}), population, start, end)
        if part is None:
            return None
        found |= part
    return found


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


def _crossings(
    alternatives: tuple[sympy.Expr, ...],
    population: sympy.Symbol,
    low: Fraction,
    high: Fraction | None,
) -> dict[Fraction, Root] | None:
    """Return where two of some rational functions meet."""
    meetings: dict[Fraction, Root] = {}
    for index, one in enumerate(alternatives):
        for other in alternatives[index + 1 :]:
            roots = _meetings(one, other, population)
            if roots is None:
                return None
            meetings |= {root.near: root for root in roots if _inside(root.near, low, high)}
    return meetings


@lru_cache(maxsize=8192)
def _meetings(
    one: sympy.Expr, other: sympy.Expr, population: sympy.Symbol
) -> tuple[Root, ...] | None:
    """Return where two rational functions meet, or one of them has a pole."""
    first, second = (as_rational_function(expr, population) for expr in (one, other))
    if first is None or second is None:
        return None
    gap = first - second
    return (*real_roots(numerator(gap)), *real_roots(denominator(gap)))


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


def _inside(point: Fraction, low: Fraction, high: Fraction | None) -> bool:
    return low <= point and (high is None or point <= high)


def _between(low: Fraction, high: Fraction | None) -> Fraction:
    """Return a point strictly between two others; it is no critical point but by rare chance."""
    return low * 2 + 1 if high is None else (low + high) / 2


def sign_at(expr: sympy.Expr, population: sympy.Symbol, at: Fraction) -> int | None:
    """Return the sign of an expression at a point, None where it has no finite value there."""
    try:
        value = expr.xreplace({population: sympy.Rational(at.numerator, at.denominator)})
    except (TypeError, ValueError):
        # A maximum of something that is not real, or divided by zero: it has no value.
        return None
    if value.is_finite is False or value is sympy.nan:
        return None
    if value.is_Rational:
        return int(sympy.sign(value))
    number = value.evalf(30)
    if not number.is_real:
        return None
    return int(sympy.sign(number))
