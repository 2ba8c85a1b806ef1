"""Products as they are written: which factors stand behind a unit, and which number divides."""

from __future__ import annotations

from collections.abc import Sequence

from qps.compiler.quantities.dimension import DIMENSIONLESS, Dimension
from qps.compiler.quantities.unit_binding import Divisor
from qps.compiler.syntax import ast


def units_before(expr: ast.Product) -> list[bool]:
    """Return of each factor whether a number with its unit is before it: `job` in `3 ms/job`."""
    found = [False]
    for _, factor in expr.factors[:-1]:
        is_unit = isinstance(factor, ast.Quantity)
        found.append(is_unit or (found[-1] and isinstance(factor, ast.Reference)))
    return found


def divisor_of(expr: ast.Product, factors: Sequence[Dimension]) -> tuple[Divisor, ...]:
    """Return the number that divides with its unit, behind plain numbers only.

    `factors` are the dimensions of the factors.
    """
    for (is_below, factor), dimension in zip(expr.factors, factors, strict=True):
        if dimension == DIMENSIONLESS:
            continue
        if is_below and isinstance(factor, ast.Quantity) and isinstance(factor.number, ast.Number):
            change = dimension * dimension
            return (Divisor(expr.span, factor.span, factor.number.span, change),)
        break
    return ()
