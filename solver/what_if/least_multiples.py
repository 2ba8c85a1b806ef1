"""The least multiple of what a capacity is with which nothing fails, and how it is known."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from math import ceil

from msgspec import Struct

from qps.compiler.quantities.certainty import EXACT, Certainty, opposite, together
from qps.engine.expressions.formulas import Formula
from qps.solver.search.boxes import UndecidedBoxesError
from qps.solver.search.sign_changes import Stretch
from qps.solver.search.whole_multiples import least_whole
from qps.solver.what_if.boundaries import Boundaries, Excess, boundaries_of

_LEAST = Fraction(1, 10**6)
MOST = Fraction(10**6)
_PARTS = (Fraction(1, 1000), Fraction(1))
"""Where the range is parted."""
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
    """Return the least value from which on nothing fails, 0 where that is all from `low` on.

    Parts of the range are searched from the top, where its end holds: below what fails nothing
    matters.
    """
    failing = tuple(one for one in excesses if (one.sign_at(symbol, MOST) or 0) > 0)
    if failing:
        return LeastMultiple(None, failing, EXACT)
    found: Fraction | None = None
    below: list[Excess] = []
    seen = EXACT
    parts = [low, *(part for part in _PARTS if part > low), MOST]
    for start, end in reversed(list(pairwise(parts))):
        boundaries = boundaries_of(excesses, symbol, (start, end), unit="times")
        seen = together(seen, opposite(boundaries.known))
        holds_from, below = _holding(boundaries, symbol, (start, end))
        found = found if holds_from is None else holds_from
        if below:
            break
    if found is None:
        return LeastMultiple(None, tuple(below), seen)
    is_open = any(over.fails(symbol, found) for over in excesses)
    if found == low and not is_open:
        return LeastMultiple(Fraction(0), tuple(below), seen)
    return LeastMultiple(found * (1 + _SMALL_SHARE) if is_open else found, tuple(below), seen)


def least_count(over: Excess, symbol: Formula, now: int) -> LeastMultiple | None:
    """Return the least whole number of what there are `now` from which on nothing fails.

    None where that is undecided: whole numbers alone do not tell.
    """
    try:
        takes = least_whole(over.value, symbol, Fraction(now), int(MOST * now), strict=over.strict)
    except UndecidedBoxesError:
        return None
    if takes is None:
        return LeastMultiple(None, (over,), EXACT)
    return LeastMultiple(Fraction(takes, now), (over,) if takes > 1 else (), EXACT)


def _holding(
    boundaries: Boundaries, symbol: Formula, part: Stretch
) -> tuple[Fraction | None, list[Excess]]:
    """Return from where on nothing fails up to the end of a part, and what fails just below."""
    found: Fraction | None = None
    for start, end in reversed(list(pairwise([part[0], *boundaries.points, part[1]]))):
        below = [o for o in boundaries.excesses if o.fails(symbol, (start + end) / 2)]
        if below:
            return found, below
        found = start
    return found, []
