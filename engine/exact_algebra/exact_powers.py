"""Exact powers of fractions, within bounds."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import isqrt, nan

MOST_BITS = 100_000
"""Bits of a numerator or denominator, beyond which an exact power is not computed."""


class PowerTooLongError(ArithmeticError):
    """An exact power would have more than `MOST_BITS` bits."""


def exact_power(base: Fraction, exponent: Fraction) -> Fraction | float | None:
    """Return a power where it is a fraction, None where it is none; not-a-number without a value.

    TooLongError where it has too many digits: 10^15 to the power of itself has more than there
    is memory.
    """
    if base == 0:
        return Fraction(0) if exponent > 0 else (Fraction(1) if exponent == 0 else nan)
    if base == 1:
        return base
    if exponent.denominator != 1:
        if base < 0:
            return nan
        root = _exact_root(base, exponent.denominator)
        return None if root is None else exact_power(root, Fraction(exponent.numerator))
    bits = max(abs(base.numerator), base.denominator).bit_length()
    if abs(exponent) * bits > MOST_BITS and base != -1:
        raise PowerTooLongError
    return base ** int(exponent)


def _exact_root(base: Fraction, degree: int) -> Fraction | None:
    above = _whole_root(base.numerator, degree)
    below = None if above is None else _whole_root(base.denominator, degree)
    return None if above is None or below is None else Fraction(above, below)


def _whole_root(number: int, degree: int) -> int | None:
    """Return the root of a whole number where it is one itself."""
    if degree == 2:  # noqa: PLR2004 - a square root
        root = isqrt(number)
        return root if root * root == number else None
    if number.bit_length() <= degree:  # less than 2 to that power
        return 1 if number == 1 else None
    low, high = 1, 1 << (number.bit_length() // degree + 1)
    while low < high:  # a whole root of a long number, without floats
        middle = (low + high + 1) // 2
        if middle**degree <= number:
            low = middle
        else:
            high = middle - 1
    return low if low**degree == number else None


_DEGREES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31)
_MOST_BITS_OF_ROOTS = 1024


@lru_cache(maxsize=4096)
def as_power(value: Fraction) -> tuple[Fraction, int]:
    """Return a positive fraction as a whole power of a base that is above 1 and no power itself.

    What is very long, or a very high power, stays as it is.

    >>> as_power(Fraction(1, 1000))
    (Fraction(10, 1), -3)
    """
    if value < 1:
        base, exponent = as_power(1 / value)
        return base, -exponent
    if value == 1 or value.numerator.bit_length() > _MOST_BITS_OF_ROOTS:
        return value, 1
    for degree in _DEGREES:
        root = _exact_root(value, degree)
        if root is not None:
            base, exponent = as_power(root)
            return base, exponent * degree
    return value, 1
