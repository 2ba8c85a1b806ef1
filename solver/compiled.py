"""Expressions compiled to functions of numbers or arrays; the functions that numpy lacks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import sympy

from qps.compiler.lower.queue_functions import QUEUE_FUNCTIONS
from qps.engine.operations import OPERATIONS

_LONGEST_INTEGER = 2**53
"""Beyond this a float does not hold every integer, and numpy's own end soon after."""


def array_function(
    arguments: Sequence[sympy.Symbol], exprs: sympy.Expr | Sequence[sympy.Expr]
) -> Callable[..., Any]:
    """Return one or several expressions as a function of arrays, with shared subexpressions."""
    modules = [_functions("array"), "numpy"]
    single = isinstance(exprs, sympy.Basic)
    ready = _in_floats(exprs) if single else [_in_floats(expr) for expr in exprs]
    compiled: Callable[..., Any] = sympy.lambdify(arguments, ready, modules, cse=True)
    return compiled


def number_function(argument: sympy.Symbol, expr: sympy.Expr) -> Callable[[float], float]:
    """Return an expression as a function of one number; it raises where it has no value."""
    modules = [_functions("number"), "math"]
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


def _functions(column: str) -> dict[str, Callable[..., Any]]:
    """Return what `math` and numpy lack, of the table, by the names that sympy prints."""
    words = {function.__name__: function.word for function in QUEUE_FUNCTIONS}
    words |= {"Waiting": "waiting", "harmonic": "harmonic", "ceil": "ceil", "floor": "floor"}
    upper, lower = (getattr(OPERATIONS[word], column) for word in ("w", "lower_w"))
    return {
        **{name: getattr(OPERATIONS[word], column) for name, word in words.items()},
        "LambertW": lambda value, branch=0: lower(value) if branch else upper(value),
    }
