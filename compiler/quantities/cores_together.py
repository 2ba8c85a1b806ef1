"""What cores do together, in fractions: for checks, and for formulas once numbers are put in."""

from __future__ import annotations

from fractions import Fraction
from math import log2


def effective_cores(cores: Fraction, efficiency: Fraction) -> Fraction:
    """Return c · e^(log2 c), for c cores of which each doubling keeps e (docs/language/).

    Exact for powers of two, else to the digits of a float. ValueError for cores of none.
    """
    doublings = log2(cores)
    if doublings == int(doublings):
        return cores * efficiency ** int(doublings)
    return cores * Fraction(float(efficiency) ** doublings)
