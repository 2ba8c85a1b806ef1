"""Maxima and minima that the range of the population decides.

`max(0, N - 2)` is `N - 2` for every N from 2 on. Saying so keeps loads rational, which gives
them closed forms. What the range does not decide stays as it is.
"""

from __future__ import annotations

from functools import lru_cache

import sympy

from qps.compiler.lower.extremes import Maximum, Minimum


def tidy_extremes(expr: sympy.Expr, population: sympy.Symbol, low: int) -> sympy.Expr:
    """Return an expression with every maximum and minimum decided that holds from `low` on."""
    if not isinstance(expr, Maximum | Minimum):
        return expr
    best, *others = expr.args
    for other in others:
        sign = sign_from(best - other, population, low)
        if sign is None:
            return expr
        if (sign < 0) == isinstance(expr, Maximum):
            best = other
    return best


@lru_cache(maxsize=4096)  # the configurations of a matrix ask the same again and again
def sign_from(expr: sympy.Expr, population: sympy.Symbol, low: int) -> int | None:
    """Return 1 where an expression is never below zero from `low` on, -1 where never above.

    None where it is both, or where that cannot be told: it has other symbols or is not a
    rational function of the population.
    """
    if expr.free_symbols - {population}:
        return None
    if not expr.is_rational_function(population):
        return None
    numerator, denominator = sympy.fraction(sympy.cancel(expr))
    for part in (numerator, denominator):
        polynomial = sympy.Poly(part, population)
        if polynomial.degree() < 1:
            continue
        beyond = polynomial.count_roots(low, sympy.oo)
        if polynomial.eval(low) == 0:
            beyond -= 1
        if beyond:
            return None
    return -1 if expr.subs(population, low + 1) < 0 else 1
