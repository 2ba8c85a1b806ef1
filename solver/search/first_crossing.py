"""Where a piecewise rational function is first zero or above: exactly, from its pieces."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from qps.engine.exact_algebra.piecewise import Piece, Piecewise, middle, roots_on
from qps.solver.search.method import SearchMethod

_CLOSED_DEGREE = 2


@dataclass(frozen=True, slots=True)
class CrossingPoint:
    """A population, as a real number, at which something is reached, and how it was found."""

    at: Fraction
    method: SearchMethod


def first_in_pieces(
    whole: Piecewise, *, passes: bool, is_closed: bool = True
) -> CrossingPoint | None:
    """Return the first point behind the start at which a function is zero or more, None for none.

    With `passes`, zero does not count: it is the infimum of those above zero. The start itself
    does where the function is above zero just after it. The end does where it `is_closed`.
    """
    for piece in whole.pieces:
        function = piece.function
        if function is None or (function.is_zero and not passes):
            return _reach(piece.start, piece)
        roots = roots_on(piece)
        for start, end in whole.of_one_sign(piece):
            value = function.at(middle(start, end))
            if value is None or value > 0:
                return _reach(start, piece)
            if end in roots and not passes and (is_closed or end != whole.end):
                assert end is not None
                return _reach(end, piece)
    return None


def _reach(at: Fraction, piece: Piece) -> CrossingPoint:
    """Return a point, found as the roots are of the function that holds there."""
    if piece.function is None or piece.function.numerator.degree() > _CLOSED_DEGREE:
        return CrossingPoint(at, SearchMethod.ISOLATED_ROOT)
    return CrossingPoint(at, SearchMethod.CLOSED_FORM)
