"""Where a piecewise rational function is first zero or above: exactly, from its pieces."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import zip_longest

from qps.solver.piecewise import Piece, Piecewise, roots_on
from qps.solver.rational import Root, numerator, value_at
from qps.solver.solution import Method

_CLOSED_DEGREE = 2


@dataclass(frozen=True, slots=True)
class Reach:
    """A population, as a real number, at which something is reached, and how it was found."""

    at: Root
    method: Method


def at_fraction(at: Fraction, method: Method) -> Reach:
    """Return a reach at a fraction."""
    return Reach(Root(at), method)


def first_in_pieces(whole: Piecewise, *, passes: bool, is_closed: bool = True) -> Reach | None:
    """Return the first point behind the start at which a function is zero or more, None for none.

    With `passes`, zero does not count: it is the infimum of those above zero. The start itself
    does where the function is above zero just after it. The end does where it `is_closed`.
    """
    last = whole.pieces[-1].end
    for piece in whole.pieces:
        function = piece.function
        if function is None or (function == 0 and not passes):
            return _reach(_at(piece, piece.start, whole), piece)
        roots = {root.near for root in roots_on(piece)}
        for start, end in _stretches(piece, whole, roots):
            value = value_at(function, start * 2 + 1 if end is None else (start + end) / 2)
            if value is None or value > 0:
                return _reach(_at(piece, start, whole), piece)
            if end in roots and not passes and (is_closed or end != last):
                assert end is not None
                return _reach(_at(piece, end, whole), piece)
    return None


def _stretches(
    piece: Piece, whole: Piecewise, roots: set[Fraction]
) -> Iterator[tuple[Fraction, Fraction | None]]:
    """Yield the parts of a piece on which its sign does not change: between roots and poles."""
    cuts = roots | {seam.near for seam in whole.seams}
    inside = {c for c in cuts if piece.start < c and (piece.end is None or c < piece.end)}
    starts = sorted({piece.start, *inside})
    for start, end in zip_longest(starts, starts[1:], fillvalue=piece.end):
        assert start is not None
        yield start, end


def _at(piece: Piece, near: Fraction, whole: Piecewise) -> Root:
    """Return a point as the root or seam that it is."""
    known = [root for root in (*roots_on(piece), *whole.seams) if root.near == near]
    return known[0] if known else Root(near)


def _reach(at: Root, piece: Piece) -> Reach:
    """Return a point, found as the roots are of the function that holds there."""
    if piece.function is None or len(numerator(piece.function)) > _CLOSED_DEGREE + 1:
        return Reach(at, Method.ISOLATED_ROOT)
    return Reach(at, Method.CLOSED_FORM)
