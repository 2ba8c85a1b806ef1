"""Powers of sums as sympy has them, without its search for parts that are infinite.

Of a sum of two parts sympy asks whether either can be infinite before it leaves the power as it
stands. Of long parts, such as the axes of a quality, that takes longer than all the rest.
"""

from __future__ import annotations

import sympy

_PLAIN = (sympy.S.Zero, sympy.S.One)


def power(base: sympy.Expr, exponent: sympy.Expr) -> sympy.Expr:
    """Return a power; that of a sum with symbols stands as it is."""
    if base.is_Add and exponent.is_Rational and exponent not in _PLAIN and not base.is_number:
        return sympy.Pow(base, exponent, evaluate=False)
    return sympy.Pow(base, exponent)
