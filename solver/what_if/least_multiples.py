"""The least multiple of what a capacity is with which nothing fails, and how it is known."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from math import ceil

from msgspec import Struct

from qps.compiler.quantities.certainty import Certainty, opposite
from qps.engine.expressions.formulas import Formula
from qps.solver.what_if.boundaries import Excess, boundaries_of

_LEAST = Fraction(1, 10**6)
MOST = Fraction(10**6)
_SMALL_SHARE = Fraction(1, 10**9)
"""A part by which a root that is no fraction is passed, to be on the side that holds."""


class LeastMultiple(Struct, frozen=True):
    """From how many times what there is nothing fails, what does just below, what was seen.

    0 where any does, None where none does.
    """

    times: Fraction | None
    below: tuple[Excess, ...]
    seen: Certainty


def whole_above(value: Fraction | float) -> int:
    """Return the least whole number that is not below a value, but for a hair."""
    return ceil(value - _SMALL_SHARE)


def least_multiple(
    excesses: Sequence[Excess], symbol: Formula, low: Fraction = _LEAST
) -> LeastMultiple:
    """Return the least value from which on nothing fails, 0 where that is all from `low` on."""
    boundaries = boundaries_of(excesses, symbol, (low, MOST), unit="times")
    ends, seen = [low, *boundaries.points, MOST], opposite(boundaries.known)
    found: Fraction | None = None
    below: list[Excess] = []
    for start, end in reversed(list(pairwise(ends))):
        below = [o for o in boundaries.excesses if o.fails(symbol, (start + end) / 2)]
        if below:
            break
        found = start
    if found is None:
        return LeastMultiple(None, tuple(below), seen)
    is_open = any(over.fails(symbol, found) for over in excesses)
    if found == low and not is_open:
        return LeastMultiple(Fraction(0), tuple(below), seen)
    return LeastMultiple(found * (1 + _SMALL_SHARE) if is_open else found, tuple(below), seen)
