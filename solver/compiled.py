"""Expressions compiled to functions of numbers or arrays; the few functions that numpy lacks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import sympy


def array_function(
    arguments: Sequence[sympy.Symbol], exprs: sympy.Expr | Sequence[sympy.Expr]
) -> Callable[..., Any]:
    """Return one or several expressions as a function of arrays, with shared subexpressions."""
    modules = [{"LambertW": _lambert_w}, "numpy"]
    compiled: Callable[..., Any] = sympy.lambdify(arguments, exprs, modules, cse=True)
    return compiled


def number_function(argument: sympy.Symbol, expr: sympy.Expr) -> Callable[[float], float]:
    """Return an expression as a function of one number; it raises where it has no value."""
    modules = [{"LambertW": _lambert_w}, "math"]
    compiled: Callable[[float], float] = sympy.lambdify(argument, expr, modules)
    return compiled


def _lambert_w(value: Any, branch: int = 0) -> Any:
    """Return Lambert's W on the reals; not-a-number where it is not real."""
    import numpy as np  # noqa: PLC0415 - slow to import, seldom needed
    from scipy.special import lambertw  # noqa: PLC0415 - slow to import, seldom needed

    found = lambertw(value, branch)
    return np.where(np.isreal(found), found.real, np.nan)[()]
