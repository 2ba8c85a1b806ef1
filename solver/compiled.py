"""Expressions compiled to functions of numbers or arrays; the functions that numpy lacks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import sympy

from qps.compiler.queue_functions import QUEUE_FUNCTIONS

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
    return queues | {"LambertW": _lambert_w, "Waiting": _waiting, "harmonic": _harmonic}


def _of_arrays() -> dict[str, Callable[..., Any]]:
    """Return the functions that numpy lacks, by the names that sympy prints."""
    import numpy as np  # noqa: PLC0415 - slow to import, seldom needed

    queues: dict[str, Callable[..., Any]] = {
        f.__name__: np.vectorize(f.numeric, otypes=[float]) for f in QUEUE_FUNCTIONS
    }
    return queues | {
        "LambertW": _lambert_w,
        "Waiting": _waiting_in_arrays,
        "harmonic": _harmonic,
    }


def _waiting(work: float, load: float) -> float:
    return work / (1 - load) if load < 1 else float("inf")


def _waiting_in_arrays(work: Any, load: Any) -> Any:
    import numpy as np  # noqa: PLC0415 - slow to import, seldom needed

    spare = 1 - np.asarray(load, dtype=float)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(spare > 0, work / spare, np.where(np.isnan(spare), np.nan, np.inf))


def _harmonic(count: Any) -> Any:
    """Return 1 + 1/2 + ... + 1/n, between whole numbers by the digamma function."""
    import numpy as np  # noqa: PLC0415 - slow to import, seldom needed
    from scipy.special import digamma  # noqa: PLC0415 - slow to import, seldom needed

    return digamma(np.asarray(count, dtype=float) + 1) + np.euler_gamma


def _lambert_w(value: Any, branch: int = 0) -> Any:
    """Return Lambert's W on the reals; not-a-number where it is not real."""
    import numpy as np  # noqa: PLC0415 - slow to import, seldom needed
    from scipy.special import lambertw  # noqa: PLC0415 - slow to import, seldom needed

    found = lambertw(value, branch)
    return np.where(np.isreal(found), found.real, np.nan)[()]
