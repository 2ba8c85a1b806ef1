"""Fractions as those of flint, in which arithmetic of many digits is several times as fast."""

from __future__ import annotations

from fractions import Fraction

from flint import fmpq


def flint_of(value: Fraction) -> fmpq:
    """Return a fraction as one of flint."""
    return fmpq(value.numerator, value.denominator)


def fraction_of(value: fmpq) -> Fraction:
    """Return a fraction of flint as one of Python."""
    return Fraction(int(value.p), int(value.q))
