"""Exact values of operations, and why there may be none."""

from __future__ import annotations

from fractions import Fraction
from math import inf, isnan
from typing import SupportsFloat, TypeAlias

Exact: TypeAlias = Fraction | float
"""A fraction, or an infinity: no other float."""


def as_float(value: SupportsFloat) -> float:
    """Return an exact number as a float, infinite where it is beyond all floats."""
    try:
        return float(value)
    except OverflowError:
        return inf if value > 0 else -inf  # type: ignore[operator]


def plus(one: Exact, other: Exact) -> Exact:
    """Return a sum, not-a-number where there is none."""
    if type(one) is Fraction and type(other) is Fraction:
        return one + other
    # Only infinities and not-a-number are floats: their sums need no size of the other.
    return sum(value for value in (one, other) if isinstance(value, float))


def times(one: Exact, other: Exact) -> Exact:
    """Return a product, not-a-number where there is none."""
    if type(one) is Fraction and type(other) is Fraction:
        return one * other
    return _clamp_infinity(one) * _clamp_infinity(other)


def _clamp_infinity(value: Exact) -> float:
    return value if isinstance(value, float) else float((value > 0) - (value < 0))


class InexactError(Exception):
    """Raised where a value is no fraction: a root, a logarithm."""


class NoValueError(Exception):
    """Raised where there is no value: 0/0, a pole, the root of what is negative.

    The text says why, behind what has none.
    """

    def __init__(self, why: str = "has no value") -> None:
        super().__init__(why)


def exact_of_float(value: float) -> Exact:
    """Return what a float shows of an exact value: that it is infinite.

    NoValueError where it is not-a-number, InexactError else.
    """
    if isnan(value):
        raise NoValueError
    if value in (inf, -inf):
        return value
    raise InexactError
