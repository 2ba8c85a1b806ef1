"""Powers of sums as sympy has them, without its search for parts that are infinite.

Of a sum of two parts sympy asks whether either can be infinite before it leaves the power as it
stands. Of long parts, such as the axes of a quality, that takes longer than all the rest.

Powers of numbers are exact, and so have a bound: 10^15 to the power of itself has more digits
than there is memory.
"""

from __future__ import annotations

import sympy

from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Diagnostic, QpsError

_PLAIN = (sympy.S.Zero, sympy.S.One)

MOST_BITS = 100_000
"""Bits of a numerator or denominator, beyond which an exact power is not computed."""


class TooLongError(QpsError):
    """An exact power would have more than `MOST_BITS` bits."""

    def __init__(self) -> None:
        message = (
            f"a power has more than {MOST_BITS:,} binary digits: beyond what QPS computes with"
        )
        hint = "use smaller exponents, or a smaller range of the population"
        super().__init__([Diagnostic(codes.NUMBER_SIZE, message, None, hints=(hint,))])


def power(base: sympy.Expr, exponent: sympy.Expr) -> sympy.Expr:
    """Return a power; that of a sum with symbols stands as it is.

    TooLongError where that of a number has too many digits.
    """
    if exponent.is_Rational and exponent not in _PLAIN:
        if not base.is_number:
            return sympy.Pow(base, exponent, evaluate=not base.is_Add)
        if abs(exponent) * _bits(base) > MOST_BITS:
            raise TooLongError
    return sympy.Pow(base, exponent)


def _bits(number: sympy.Expr) -> int:
    """Return how many bits the exact numbers take that a number is made of.

    What is raised with it may be taken out of a root: (3 sqrt(2))^8 is 104976.
    """
    found = 0
    for part in [number] if number.is_Rational else number.atoms(sympy.Rational):
        if part.q != 1 or abs(part.p) > 1:
            found += max(abs(part.p), part.q).bit_length()
    return found
