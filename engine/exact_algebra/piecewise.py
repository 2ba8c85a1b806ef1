"""Piecewise rational functions of one variable, exact: what maxima and minima make of them.

Such a function is one rational function between two neighboring breakpoints: the points at which
another one comes into force, and those at which it may have no value. Sums are made from the left
to the right, only what changes at a breakpoint being made anew; extremes and products of many in
pairs, pairs of pairs, and so on: so that the time for many parts grows hardly faster than their
number.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import chain, groupby
from operator import itemgetter

from qps.engine.exact_algebra import rational_functions
from qps.engine.exact_algebra.rational_functions import (
    ONE,
    ZERO,
    RationalFunction,
    RunningTotal,
    in_pairs,
)
from qps.engine.exact_algebra.real_roots import IntractableError, real_roots

_MOST = 50_000
"""Degrees of all pieces together beyond which their roots take too long."""

End = Fraction | None
"""The end of a stretch; None where it has none."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a range and the rational function that holds on it; `end` None: no bound.

    The function is None where the value is infinite: where a queue grows without end.
    """

    start: Fraction
    end: End
    function: RationalFunction | None


@dataclass(frozen=True, slots=True)
class Piecewise:
    """Pieces without gaps, ascending, and points, ascending, at which there may be no value."""

    pieces: tuple[Piece, ...]
    poles: tuple[Fraction, ...] = ()

    @property
    def breakpoints(self) -> tuple[Fraction, ...]:
        """The points, ascending, at which another piece begins, or there may be no value."""
        return tuple(sorted({*self.poles, *(piece.start for piece in self.pieces[1:])}))

    @property
    def end(self) -> End:
        """The end of the range."""
        return self.pieces[-1].end

    def at(self, point: Fraction) -> RationalFunction | None:
        """Return the function that holds at a point of the range, just after it at a breakpoint."""
        return self.pieces[bisect_right(self.pieces, point, key=_start) - 1].function

    def of_one_sign(self, piece: Piece) -> Iterator[tuple[Fraction, End]]:
        """Yield the parts of a piece on which its sign does not change: between roots and poles."""
        cuts = *_inside(self.poles, piece.start, piece.end), *roots_on(piece)
        yield from _cut(piece.start, piece.end, cuts)


def everywhere(function: RationalFunction, low: Fraction, high: End) -> Piecewise:
    """Return what is one function on all of a range."""
    return Piecewise((Piece(low, high, function),))


def middle(start: Fraction, end: End) -> Fraction:
    """Return a point inside a stretch, one with few digits."""
    if start == end:
        return start
    if end is None:
        return Fraction(start.numerator // start.denominator + 1)
    width = end - start
    digits = width.denominator.bit_length() - width.numerator.bit_length() + 2
    scale = Fraction(2) ** digits  # so that the grid's width is less than half of the stretch's
    return ((start + end) / 2 * scale).__floor__() / scale


def roots_on(piece: Piece) -> tuple[Fraction, ...]:
    """Return the roots of the function of a piece that lie on it."""
    if piece.function is None or piece.function.is_zero:
        return ()
    return _roots(piece.function, piece.start, piece.end)


@lru_cache(maxsize=8192)
def _roots(function: RationalFunction, start: Fraction, end: End) -> tuple[Fraction, ...]:
    return real_roots(function.numerator, start, end)


# -- arithmetic ----------------------------------------------------------------------------


def total(parts: Sequence[Piecewise]) -> Piecewise:
    """Return a sum."""
    ends = parts[0].pieces[0].start, parts[0].end
    constant = [part.pieces[0].function for part in parts if len(part.pieces) == 1]
    finite = [function for function in constant if function is not None]
    steady = rational_functions.total(finite) if len(finite) == len(constant) else None
    changing = (_changes(part) for part in parts if len(part.pieces) > 1)
    changes = sorted(chain([(ends[0], ZERO, steady)], *changing), key=itemgetter(0))
    return _joined(_running(changes, ends[1]), _poles(*parts))


_Change = tuple[Fraction, RationalFunction | None, RationalFunction | None]
"""Where a part of a sum changes, from what, and to what."""


def _changes(part: Piecewise) -> Iterator[_Change]:
    before: RationalFunction | None = ZERO
    for piece in part.pieces:
        yield piece.start, before, piece.function
        before = piece.function


def _running(changes: Sequence[_Change], high: End) -> Iterator[Piece]:
    """Yield the pieces of a sum of which the changes are known, ascending."""
    running, infinite = RunningTotal(), 0
    stretches = [(start, list(group)) for start, group in groupby(changes, key=itemgetter(0))]
    ends = [*(start for start, _ in stretches[1:]), high]
    for (start, group), end in zip(stretches, ends, strict=True):
        for _, before, behind in group:
            infinite += (behind is None) - (before is None)
            if before is not None and not before.is_zero:
                running.add(-before)
            if behind is not None:
                running.add(behind)
        yield Piece(start, end, None if infinite else running.value())


def product(parts: Sequence[Piecewise]) -> Piecewise:
    """Return a product."""
    return in_pairs(parts, _product)


def _product(one: Piecewise, other: Piecewise) -> Piecewise:
    pieces = (
        Piece(start, end, None if f is None or g is None else rational_functions.product([f, g]))
        for start, end, f, g in _both(one, other)
    )
    return _joined(pieces, _poles(one, other))


def raised(base: Piecewise, exponent: int) -> Piecewise:
    """Return a whole power; IntractableError where it divides by zero on a whole stretch."""
    pieces = _each(base, lambda function: rational_functions.raised(function, exponent))
    roots = [root for piece in base.pieces for root in roots_on(piece)] if exponent < 0 else []
    return _joined(pieces, _poles(base, more=roots))


def _each(
    whole: Piecewise, change: Callable[[RationalFunction], RationalFunction]
) -> Iterator[Piece]:
    for piece in whole.pieces:
        changed = None if piece.function is None else change(piece.function)
        yield Piece(piece.start, piece.end, changed)


# -- choices -------------------------------------------------------------------------------


def largest(parts: Sequence[Piecewise]) -> Piecewise:
    """Return the largest of several functions."""
    return in_pairs(parts, lambda one, other: _chosen(one, other, sign=1))


def smallest(parts: Sequence[Piecewise]) -> Piecewise:
    """Return the smallest of several functions."""
    return in_pairs(parts, lambda one, other: _chosen(one, other, sign=-1))


def _chosen(one: Piecewise, other: Piecewise, *, sign: int) -> Piecewise:
    """Return the larger one of two functions; the smaller one where the sign is -1."""
    poles = _poles(one, other)

    def chosen() -> Iterator[Piece]:
        for start, end, f, g in _both(one, other):
            if f is None or g is None or f == g:
                finite = f if g is None else g
                yield Piece(start, end, finite if f == g or sign < 0 else None)
                continue
            gap = f - g
            cuts = *_inside(poles, start, end), *_roots(gap, start, end)
            for first, last in _cut(start, end, cuts):
                yield Piece(first, last, f if _value(gap, first, last) * sign > 0 else g)

    return _joined(chosen(), poles)


def waiting(work: Piecewise, load: Piecewise) -> Piecewise:
    """Return work/(1 - load) where the load is below 1, infinite elsewhere."""
    poles = _poles(work, load)
    pieces: list[Piece] = []
    full: list[Fraction] = []
    for start, end, busy, loaded in _both(work, load):
        if busy is None or loaded is None:
            pieces.append(Piece(start, end, None))
            continue
        spare = ONE - loaded
        met = () if spare.is_zero else _roots(spare, start, end)
        full += met
        for first, last in _cut(start, end, (*_inside(poles, start, end), *met)):
            is_spare = not spare.is_zero and _value(spare, first, last) > 0
            wait = rational_functions.product([busy, spare**-1]) if is_spare else None
            pieces.append(Piece(first, last, wait))
    return _joined(pieces, _poles(work, load, more=full))


def _value(function: RationalFunction, start: Fraction, end: End) -> Fraction:
    value = function.at(middle(start, end))
    if value is None:  # two poles are nearer to each other than the accuracy of roots
        raise IntractableError
    return value


# -- stretches -----------------------------------------------------------------------------


def _start(piece: Piece) -> Fraction:
    return piece.start


def _both(
    one: Piecewise, other: Piecewise
) -> Iterator[tuple[Fraction, End, RationalFunction | None, RationalFunction | None]]:
    """Yield the stretches on which neither of two functions changes, and what they are there."""
    first, second = 0, 0
    start = one.pieces[0].start
    while True:
        f, g = one.pieces[first], other.pieces[second]
        ends = [end for end in (f.end, g.end) if end is not None]
        end = min(ends, default=None)
        yield start, end, f.function, g.function
        first += first + 1 < len(one.pieces) and f.end == end
        second += second + 1 < len(other.pieces) and g.end == end
        if end is None or end == one.end:
            return
        start = end


def _cut(start: Fraction, end: End, cuts: Iterable[Fraction]) -> Iterator[tuple[Fraction, End]]:
    """Yield the stretches into which points cut a stretch."""
    for cut in sorted({c for c in cuts if start < c and (end is None or c < end)}):
        yield start, cut
        start = cut
    yield start, end


def _inside(points: Sequence[Fraction], start: Fraction, end: End) -> Sequence[Fraction]:
    """Return those of some ascending points that lie inside a stretch."""
    last = len(points) if end is None else bisect_left(points, end)
    return points[bisect_right(points, start) : last]


def _poles(*parts: Piecewise, more: Iterable[Fraction] = ()) -> tuple[Fraction, ...]:
    return tuple(sorted({*more, *(pole for part in parts for pole in part.poles)}))


def _joined(pieces: Iterable[Piece], poles: tuple[Fraction, ...]) -> Piecewise:
    """Return pieces with neighbors of the same function joined; IntractableError for too many."""
    joined: list[Piece] = []
    size = 0
    for piece in pieces:
        function = piece.function
        if joined and joined[-1].function == function:
            joined[-1] = Piece(joined[-1].start, piece.end, function)
            continue
        joined.append(piece)
        size += 1 if function is None else 1 + function.degree
        if size > _MOST:
            raise IntractableError
    return Piecewise(tuple(joined), poles)
