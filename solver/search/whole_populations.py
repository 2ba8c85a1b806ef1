"""The first whole population at which a function is above zero: exactly, from its pieces."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from fractions import Fraction
from math import floor

from qps.engine.exact_algebra.piecewise import Piecewise, roots_on
from qps.engine.expressions.formula_parts import parts_first
from qps.engine.expressions.formulas import Formula
from qps.engine.expressions.point_values import point_of
from qps.engine.expressions.signs import range_of
from qps.engine.operations import BY_FLOATS
from qps.solver.search.certain_signs import UndecidedLimitError, sign_of


def fails(over: Formula, population: Formula, at: int, *, strict: bool) -> bool:
    """Return whether a criterion fails at one population; NoSignError where nothing decides.

    What floats alone decide, and puts it on its limit in all of their digits, counts as on it.
    """
    here = point_of(population, Fraction(at))
    try:
        sign = sign_of(over, here)
    except UndecidedLimitError:
        if any(part.word in BY_FLOATS for part in parts_first(over)):
            return strict
        if strict or range_of(here.constant(over), {}, by_sign=False).high > 0:
            raise
        return False  # it is zero or less, by its parts
    return sign is None or sign > 0 or (strict and sign == 0)


def first_failure_in_pieces(
    whole: Piecewise,
    over: Formula,
    population: Formula,
    low: int,
    end: int,
    *,
    strict: bool,
) -> int | None:
    """Return the least population from `low` to `end` at which `over` is above zero.

    `whole` is `over` in pieces. With `strict`, zero counts; None for nowhere. A population at
    which it has no finite value counts too.
    """
    # At what may be a pole the expression itself must decide; else all that meets there is equal.
    poles = set(whole.poles)
    for candidate in _candidates(whole, low, end):
        if candidate in poles:
            failing = fails(over, population, candidate, strict=strict)
        else:
            function = whole.at(Fraction(candidate))
            value = None if function is None else function.at(Fraction(candidate))
            failing = value is None or value > 0 or (strict and value == 0)
        if failing:
            return candidate
    return None


def _candidates(whole: Piecewise, low: int, high: int) -> Iterator[int]:
    """Yield the populations at which a function may be the first to be above zero, ascending.

    Between two critical points all populations are alike: the first one stands for all.
    """
    last, breakpoints = low - 1, whole.breakpoints
    for piece in whole.pieces:
        assert piece.end is not None
        inside = breakpoints[
            bisect_left(breakpoints, piece.start) : bisect_right(breakpoints, piece.end)
        ]
        points = [piece.start, *inside, *roots_on(piece)]
        for candidate in sorted({floor(point) + more for point in points for more in (0, 1)}):
            if last < candidate <= high:
                yield candidate
                last = candidate
