"""Ranges: a unit at one end holds for both."""

from __future__ import annotations

from qps.compiler.syntax import ast


def with_unit_of(bound: ast.Expr, other: ast.Expr | None) -> ast.Expr:
    """Return a plain number with the unit of the other end of its range, all else as it is."""
    unit = unit_of(other) if isinstance(bound, ast.Number) and other is not None else None
    return bound if unit is None else ast.Product(bound.span, ((False, bound), *unit))


def unit_of(expr: ast.Expr) -> tuple[tuple[bool, ast.Expr], ...] | None:
    """Return the factors of a quantity without its number: the `frame/s` of `30 frame/s`."""
    match expr:
        case ast.Quantity(unit=unit):
            return ((False, unit),)
        case ast.Product(factors=((False, ast.Quantity(unit=unit)), *rest)):
            return ((False, unit), *rest)
    return None
