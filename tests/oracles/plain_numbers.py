"""Numbers of the oracle: exact where they are rational, sixty digits where they are not."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Context, Decimal, DecimalException
from fractions import Fraction
from math import ceil, floor, isqrt

_CONTEXT = Context(prec=60)
_SAME = Fraction(1, 10**45)


class UndefinedError(Exception):
    """Raised where a value does not exist: divided by zero, or not real."""


def compare(one: Fraction, other: Fraction) -> int:
    """Return -1, 0 or 1; what differs beyond sixty digits only is equal."""
    gap = one - other
    if abs(gap) <= _SAME * max(1, abs(one), abs(other)):
        return 0
    return 1 if gap > 0 else -1


def power(base: Fraction, exponent: Fraction) -> Fraction:
    """Return a power."""
    if exponent.denominator == 1:
        if base == 0 and exponent < 0:
            raise UndefinedError
        return base**exponent.numerator
    if base < 0 or (base == 0 and exponent < 0):
        raise UndefinedError
    if base == 0:
        return base
    if exponent == Fraction(1, 2):
        return square_root(base)
    return _decimal(lambda c: c.power(_as_decimal(base), _as_decimal(exponent)))


def square_root(value: Fraction) -> Fraction:
    """Return a square root, exact where there is one."""
    if value < 0:
        raise UndefinedError
    above, below = isqrt(value.numerator), isqrt(value.denominator)
    if above * above == value.numerator and below * below == value.denominator:
        return Fraction(above, below)
    return _decimal(lambda c: c.sqrt(_as_decimal(value)))


def applied(function: str, values: list[Fraction]) -> Fraction:
    """Return an operation, by its word in the table."""
    first = values[0]
    match function:
        case "max":
            return max(values)
        case "min":
            return min(values)
        case "abs":
            return abs(first)
        case "ceil":
            return Fraction(ceil(_without_noise(first)))
        case "floor":
            return Fraction(floor(_without_noise(first)))
        case "exp":
            return _decimal(lambda c: c.exp(_as_decimal(first)))
        case "ln":
            return _logarithm(first)
    raise AssertionError(function)


def _without_noise(value: Fraction) -> Fraction:
    """Return a value that is a whole number but for its sixtieth digit as that number."""
    return Fraction(round(value)) if compare(value, Fraction(round(value))) == 0 else value


def _logarithm(value: Fraction) -> Fraction:
    if value <= 0:
        raise UndefinedError
    return _decimal(lambda c: c.ln(_as_decimal(value)))


def _as_decimal(value: Fraction) -> Decimal:
    return _CONTEXT.divide(Decimal(value.numerator), Decimal(value.denominator))


def _decimal(work: Callable[[Context], Decimal]) -> Fraction:
    try:
        return Fraction(work(_CONTEXT))
    except (DecimalException, OverflowError) as error:
        raise UndefinedError from error
