"""The value of a number as a spec states it, before anything is changed."""

from __future__ import annotations

from fractions import Fraction
from math import prod

from qps.compiler import ir


def nominal_value(expr: ir.Expr, model: ir.Model) -> Fraction | None:
    """Return a number in base units; None where it rests on more than stated parameters."""
    stated = {each.name: each.value for each in model.parameters}

    def value(expr: ir.Expr) -> Fraction | None:
        match expr:
            case ir.Constant():
                return expr.value
            case ir.ParameterValue(name, is_elastic):
                return None if is_elastic or name not in stated else value(stated[name])
            case ir.Sum(terms):
                found = _all(terms)
                return None if found is None else sum(found, Fraction(0))
            case ir.Product(factors):
                found = _all(factors)
                return None if found is None else prod(found, start=Fraction(1))
            case ir.Power(base, ir.Constant(exponent)) if exponent == -1:
                inner = value(base)
                return 1 / inner if inner else None
        return None

    def _all(parts: tuple[ir.Expr, ...]) -> list[Fraction] | None:
        found = [value(part) for part in parts]
        known = [each for each in found if each is not None]
        return known if len(known) == len(found) else None

    return value(expr)
