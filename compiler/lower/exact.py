"""Exact numbers of sympy: made, and compared without a doubt."""

from __future__ import annotations

from fractions import Fraction

import sympy

_DIGITS = 40
_SAME = sympy.Float(10, 30) ** -30


def compare(operator: str, left: sympy.Expr, right: sympy.Expr) -> bool:
    """Compare two numbers."""
    sign = sign_of(left, right)
    return {
        "<": sign < 0,
        "<=": sign <= 0,
        ">": sign > 0,
        ">=": sign >= 0,
        "==": sign == 0,
        "!=": sign != 0,
    }[operator]


def sign_of(left: sympy.Expr, right: sympy.Expr) -> int:
    """Return 1 where the left number is larger, -1 where it is smaller, else 0.

    What no algebra tells apart, such as log(1000)/log(10) and 3, is equal where thirty digits are.
    """
    if left == right:
        return 0
    if not (left.is_finite and right.is_finite) or (left.is_Rational and right.is_Rational):
        return 1 if left > right else (-1 if left < right else 0)
    gap = left.evalf(_DIGITS) - right.evalf(_DIGITS)
    if abs(gap) <= _SAME * max(abs(left.evalf(_DIGITS)), abs(right.evalf(_DIGITS))):
        return 0
    return 1 if gap > 0 else -1


def rational(value: Fraction) -> sympy.Rational:
    """Return an exact number as sympy's."""
    return sympy.Rational(value.numerator, value.denominator)
