"""Piecewise rational functions of the population, exact: what maxima and minima make of them.

An expression of rational functions, maxima and minima is one rational function between two
neighbouring seams: the points at which another alternative comes into force, and the poles.
It is put together from the functions of its parts, each part once, however often it occurs:
with a load inside every latency and loss, choosing alternatives in the whole expression, one
maximum after the other, takes time that multiplies with each of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import combinations, zip_longest

from sympy.polys.fields import FracElement

from qps.engine.erlang import erlang_c_expanded
from qps.engine.formulas import MAXIMUM, MINIMUM, PRODUCT, SUM, Formula
from qps.solver.rational import (
    Root,
    TooHighError,
    as_rational_function,
    denominator,
    numerator,
    product,
    raised,
    real_roots,
    total,
    value_at,
    whole_exponent,
)


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a range and the rational function that holds on it; `end` None: no bound.

    The function is None where the value is infinite: where a queue grows without end.
    """

    start: Fraction
    end: Fraction | None
    function: FracElement | None


@dataclass(frozen=True, slots=True)
class Piecewise:
    """Pieces without gaps, ascending, and the seams inside or at the ends of the range."""

    pieces: tuple[Piece, ...]
    seams: tuple[Root, ...]

    def at(self, point: Fraction) -> FracElement | None:
        """Return the function that holds at a point of the range, just after it at a seam."""
        return [piece for piece in self.pieces if piece.start <= point][-1].function


_Join = Callable[[Sequence[FracElement]], FracElement]


@lru_cache(maxsize=8192)
def piecewise(
    expr: Formula, population: Formula, low: Fraction, high: Fraction | None
) -> Piecewise | None:
    """Return an expression in the population alone on [low, high]; `high` None means no bound.

    None where it is not made of rational functions, maxima, minima and absolute values, where
    it divides by zero on a whole stretch, or where its degree is too high.
    """
    try:
        return _piecewise(expr, population, low, high)
    except TooHighError:
        return None


def _piecewise(
    expr: Formula, population: Formula, low: Fraction, high: Fraction | None
) -> Piecewise | None:
    if expr is population or expr.exact is not None:
        function = as_rational_function(expr, population)
        return Piecewise((Piece(low, high, function),), ())
    if expr.word == "erlang_c":
        expanded = erlang_c_expanded(*expr.operands)
        return None if expanded is None else piecewise(expanded, population, low, high)
    exponent = whole_exponent(expr)
    parts = []
    for argument in expr.operands if exponent is None else expr.operands[:1]:
        part = piecewise(argument, population, low, high)
        if part is None:
            return None
        parts.append(part)
    if not parts:
        return None
    if expr.word in (SUM, PRODUCT):
        return _joined(parts, total if expr.word == SUM else product)
    if exponent is not None:
        return _power(parts[0], exponent)
    if expr.word in ("ratio", "mean"):
        below = _power(parts[1], -1)
        return below and _joined([parts[0], below], product)
    if expr.word == "abs":
        return _extreme([parts[0], _joined(parts, lambda functions: -functions[0])], max)
    if expr.word == "waiting":
        return _waiting(*parts)
    if expr.word in (MAXIMUM, MINIMUM):
        return _extreme(parts, max if expr.word == MAXIMUM else min)
    return None


def _joined(parts: Sequence[Piecewise], join: _Join) -> Piecewise:
    """Return what an operation makes of several functions, stretch by stretch."""
    pieces = []
    for start, end, functions in _stretches(parts):
        finite = [function for function in functions if function is not None]
        joined = join(finite) if len(finite) == len(functions) else None
        pieces.append(Piece(start, end, joined))
    return Piecewise(_merged(pieces), _seams(parts))


def _power(base: Piecewise, exponent: int) -> Piecewise | None:
    """Return an integer power; the roots of what is divided by are seams."""
    poles: list[Root] = []
    for piece in base.pieces if exponent < 0 else ():
        if piece.function == 0:
            return None
        poles += roots_on(piece)
    powers = tuple(
        replace(
            piece, function=None if piece.function is None else raised(piece.function, exponent)
        )
        for piece in base.pieces
    )
    return Piecewise(powers, _seams([base], poles))


def _extreme(parts: Sequence[Piecewise], choose: Callable[..., FracElement]) -> Piecewise | None:
    """Return the largest or the smallest of several functions."""
    pieces: list[Piece] = []
    met: dict[Fraction, Root] = {}
    for start, end, functions in _stretches(parts):
        finite = [function for function in functions if function is not None]
        distinct = tuple(dict.fromkeys(finite))
        if not distinct or (choose is max and len(finite) < len(functions)):
            pieces.append(Piece(start, end, None))
            continue
        meetings = _meetings(distinct, start, end)
        met |= {root.near: root for root in meetings if _inside(root, start, end)}
        for first, last in _between(start, end, met):
            middle = _middle(first, last)
            values = {function: value_at(function, middle) for function in distinct}
            if None in values.values():
                return None
            pieces.append(Piece(first, last, choose(distinct, key=values.__getitem__)))
    merged = _merged(pieces)
    kinks = [met[piece.start] for piece in merged if piece.start in met]
    return Piecewise(merged, _seams(parts, kinks))


def _waiting(work: Piecewise, load: Piecewise) -> Piecewise | None:
    """Return work/(1 - load) where the load is below 1, infinite elsewhere."""
    pieces: list[Piece] = []
    full: dict[Fraction, Root] = {}
    for start, end, (busy, loaded) in _stretches([work, load]):
        if busy is None or loaded is None:
            pieces.append(Piece(start, end, None))
            continue
        spare = 1 - loaded
        both = numerator(spare), denominator(spare)
        met = [root for one in both for root in real_roots(one, start, end)]
        full |= {root.near: root for root in met if _inside(root, start, end)}
        for first, last in _between(start, end, full):
            value = value_at(spare, _middle(first, last))
            if value is None:
                return None
            wait = product([busy, raised(spare, -1)]) if value > 0 else None
            pieces.append(Piece(first, last, wait))
    return Piecewise(_merged(pieces), _seams([work, load], list(full.values())))


def _between(
    start: Fraction, end: Fraction | None, cuts: Iterable[Fraction]
) -> Iterator[tuple[Fraction, Fraction | None]]:
    """Yield the stretches into which points cut a stretch."""
    inside = {cut for cut in cuts if start < cut and (end is None or cut < end)}
    starts = sorted({start, *inside})
    for first, last in zip_longest(starts, starts[1:], fillvalue=end):
        assert first is not None
        yield first, last


def _middle(start: Fraction, end: Fraction | None) -> Fraction:
    return start * 2 + 1 if end is None else (start + end) / 2


def _stretches(
    parts: Sequence[Piecewise],
) -> Iterator[tuple[Fraction, Fraction | None, list[FracElement | None]]]:
    """Yield the stretches on which none of several functions changes, and what they are there."""
    starts = sorted({piece.start for part in parts for piece in part.pieces})
    for start, end in zip_longest(starts, starts[1:], fillvalue=parts[0].pieces[-1].end):
        assert start is not None
        yield start, end, [part.at(start) for part in parts]


@lru_cache(maxsize=8192)
def _meetings(
    functions: tuple[FracElement, ...], start: Fraction, end: Fraction | None
) -> tuple[Root, ...]:
    """Return where two of several different functions meet, or one has a pole, in a stretch."""
    found: list[Root] = []
    for function in functions if len(functions) > 1 else ():
        found += real_roots(denominator(function), start, end)
    for one, other in combinations(functions, 2):
        found += real_roots(numerator(one - other), start, end)
    return tuple(found)


def _inside(root: Root, start: Fraction, end: Fraction | None) -> bool:
    return start <= root.near and (end is None or root.near <= end)


def roots_on(piece: Piece) -> list[Root]:
    """Return the roots of the function of a piece that lie on it."""
    if piece.function is None:
        return []
    roots = real_roots(numerator(piece.function), piece.start, piece.end)
    return [root for root in roots if _inside(root, piece.start, piece.end)]


def _merged(pieces: Sequence[Piece]) -> tuple[Piece, ...]:
    """Return pieces with neighbours of the same function joined."""
    merged: list[Piece] = []
    for piece in pieces:
        if merged and merged[-1].function == piece.function:
            merged[-1] = replace(merged[-1], end=piece.end)
        else:
            merged.append(piece)
    return tuple(merged)


def _seams(parts: Sequence[Piecewise], more: Sequence[Root] = ()) -> tuple[Root, ...]:
    known = {root.near: root for part in parts for root in part.seams}
    return tuple((known | {root.near: root for root in more}).values())
