"""Expressions compiled to functions of numbers or arrays; the few functions that numpy lacks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import sympy

_LONGEST_INTEGER = 2**53
"""Beyond this a float does not hold every integer, and numpy's own end soon after."""


def array_function(
    arguments: Sequence[sympy.Symbol], exprs: sympy.Expr | Sequence[sympy.Expr]
) -> Callable[..., Any]:
    """Return one or several expressions as a function of arrays, with shared subexpressions."""
    modules = [{"LambertW": _lambert_w}, "numpy"]
    single = isinstance(exprs, sympy.Basic)
    ready = _in_floats(exprs) if single else [_in_floats(expr) for expr in exprs]
    compiled: Callable[..., Any] = sympy.lambdify(arguments, ready, modules, cse=True)
    return compiled


def number_function(argument: sympy.Symbol, expr: sympy.Expr) -> Callable[[float], float]:
    """Return an expression as a function of one number; it raises where it has no value."""
    modules = [{"LambertW": _lambert_w}, "math"]
    compiled: Callable[[float], float] = sympy.lambdify(argument, _in_floats(expr), modules)
    return compiled


def _in_floats(expr: sympy.Expr) -> sympy.Expr:
    """Return an expression whose long numbers are floats: numpy has no root of a long integer."""
    long = [
        number
        for number in expr.atoms(sympy.Rational)
        if max(abs(number.p), number.q) > _LONGEST_INTEGER
    ]
    return expr.xreplace({number: sympy.Float(number, 17) for number in long})


def _lambert_w(value: Any, branch: int = 0) -> Any:
    """Return Lambert's W on the reals; not-a-number where it is not real."""
    import numpy as np  # noqa: PLC0415 - slow to import, seldom needed
    from scipy.special import lambertw  # noqa: PLC0415 - slow to import, seldom needed

    found = lambertw(value, branch)
    return np.where(np.isreal(found), found.real, np.nan)[()]
