"""Expressions compiled to functions of numbers or arrays; the functions that numpy lacks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil, floor, isfinite
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
    return queues | {
        "LambertW": lambert_w,
        "Waiting": _waiting,
        "harmonic": harmonic,
        "ceil": lambda value: _rounded_by(ceil, value),
        "floor": lambda value: _rounded_by(floor, value),
    }


def _of_arrays() -> dict[str, Callable[..., Any]]:
    """Return the functions that numpy lacks, by the names that sympy prints."""
    import numpy as np  # noqa: PLC0415 - slow to import, seldom needed

    from qps.engine import queue_arrays  # noqa: PLC0415 - needs scipy, seldom needed

    queues: dict[str, Callable[..., Any]] = {
        f.__name__: getattr(queue_arrays, f.word) for f in QUEUE_FUNCTIONS
    }
    return queues | {
        "LambertW": lambert_w,
        "Waiting": _waiting_in_arrays,
        "harmonic": harmonic,
        "ceil": lambda value: rounded_in_arrays(np.ceil, value),
        "floor": lambda value: rounded_in_arrays(np.floor, value),
    }


def _waiting(work: float, load: float) -> float:
    return work / (1 - load) if load < 1 else float("inf")


def _waiting_in_arrays(work: Any, load: Any) -> Any:
    import numpy as np  # noqa: PLC0415 - slow to import, seldom needed

    spare = 1 - np.asarray(load, dtype=float)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(spare > 0, work / spare, np.where(np.isnan(spare), np.nan, np.inf))


_NEARLY_WHOLE = 1e-13
"""So near to a whole number, as a part of it, floats do not tell on which side a value lies.

0.07 times 100 is 7.000000000000001 in floats: rounded up as it stands, it would be 8.
"""


def _rounded_by(rounded: Callable[[float], float], value: float) -> float:
    """Return a float rounded up or down: what is nearly whole counts as whole."""
    if not isfinite(value):
        return value
    whole = float(round(value))
    return whole if abs(value - whole) <= _NEARLY_WHOLE * abs(whole) else float(rounded(value))


def rounded_in_arrays(rounded: Callable[[Any], Any], value: Any) -> Any:
    """Return floats rounded up or down: what is nearly whole counts as whole."""
    import numpy as np  # noqa: PLC0415 - slow to import, seldom needed

    whole = np.rint(value)
    with np.errstate(invalid="ignore"):
        is_whole = np.abs(value - whole) <= _NEARLY_WHOLE * np.abs(whole)
    return np.where(is_whole, whole, rounded(value))[()]


def harmonic(count: Any) -> Any:
    """Return 1 + 1/2 + ... + 1/n, between whole numbers by the digamma function."""
    import numpy as np  # noqa: PLC0415 - slow to import, seldom needed
    from scipy.special import digamma  # noqa: PLC0415 - slow to import, seldom needed

    return digamma(np.asarray(count, dtype=float) + 1) + np.euler_gamma


def lambert_w(value: Any, branch: int = 0) -> Any:
    """Return Lambert's W on the reals; not-a-number where it is not real."""
    import numpy as np  # noqa: PLC0415 - slow to import, seldom needed
    from scipy.special import lambertw  # noqa: PLC0415 - slow to import, seldom needed

    found = lambertw(value, branch)
    return np.where(np.isreal(found), found.real, np.nan)[()]
