"""Expressions compiled to functions of numbers or arrays; the functions that numpy lacks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil, floor, isfinite
from typing import Any

import sympy

from qps.compiler.lower.queue_functions import QUEUE_FUNCTIONS
from qps.engine import elementary

_LONGEST_INTEGER = 2**53
"""Beyond this a float does not hold every integer, and numpy's own end soon after."""


def array_function(
    arguments: Sequence[sympy.Symbol], exprs: sympy.Expr | Sequence[sympy.Expr]
) -> Callable[..., Any]:
    """Return one or several expressions as a function of arrays, with shared subexpressions."""
    modules = [_of_arrays(), "numpy"]
    single = isinstance(exprs, sympy.Basic)
    ready = _in_floats(exprs) if single else [_in_floats(expr) for expr in exprs]
    compiled: Callable[..., Any] = sympy.lambdify(arguments, ready, modules, cse=True)
    return compiled


def number_function(argument: sympy.Symbol, expr: sympy.Expr) -> Callable[[float], float]:
    """Return an expression as a function of one number; it raises where it has no value."""
    modules = [_of_numbers(), "math"]
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


def _of_numbers() -> dict[str, Callable[..., Any]]:
    """Return the functions that `math` lacks, by the names that sympy prints."""
    queues: dict[str, Callable[..., Any]] = {f.__name__: f.numeric for f in QUEUE_FUNCTIONS}
    return queues | {
        "LambertW": elementary.lambert,
        "Waiting": _waiting,
        "harmonic": elementary.harmonic,
        "ceil": lambda value: _rounded_by(ceil, value),
        "floor": lambda value: _rounded_by(floor, value),
    }


def _of_arrays() -> dict[str, Callable[..., Any]]:
    """Return the functions that numpy lacks, by the names that sympy prints."""
    from qps.engine.operations import OPERATIONS  # noqa: PLC0415 - needs scipy, seldom needed

    words = {f.__name__: f.word for f in QUEUE_FUNCTIONS}
    words |= {"Waiting": "waiting", "harmonic": "harmonic", "ceil": "ceil", "floor": "floor"}
    arrays = {name: OPERATIONS[word].array for name, word in words.items()}
    return arrays | {"LambertW": elementary.lambert}


def _waiting(work: float, load: float) -> float:
    return work / (1 - load) if load < 1 else float("inf")


def _rounded_by(rounded: Callable[[float], float], value: float) -> float:
    """Return a float rounded up or down: what is nearly whole counts as whole."""
    if not isfinite(value):
        return value
    whole = float(round(value))
    return (
        whole
        if abs(value - whole) <= elementary.NEARLY_WHOLE * abs(whole)
        else float(rounded(value))
    )
