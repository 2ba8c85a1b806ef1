"""Where a function that rounds up or down can be above zero at all, up to infinity.

What is rounded up lies between its argument and one more. Put in where the function grows with
it, that gives a rational function which is never below the first: where it is below zero, so is
the function, however often it jumps. So machines that are added as `ceil(N / 20)` are proved to
be never saturated, or only so far, without a look at every jump.
"""

from __future__ import annotations

from fractions import Fraction
from math import inf, isfinite

from qps.engine.exact_algebra.piecewise import middle, roots_on
from qps.engine.expressions.algebraic_functions import piecewise
from qps.engine.expressions.formulas import ZERO, Formula, apply, maximum, minimum
from qps.engine.numerics.sloped_intervals import above, below
from qps.engine.numerics.value_ranges import ValueRange
from qps.engine.operations import OPERATIONS, ROUNDINGS
from qps.solver.search.bounds import BoundedFunction

_MOST_ROUNDINGS = 8
"""More roundings make a rational function of so high a degree that its roots take long."""

Stretch = tuple[float, float | None]
"""Two populations; the second is None where there is no end."""


class _NoBoundError(Exception):
    """A part of which no bound is reported."""


def stretches_to_search(curve: BoundedFunction, low: float, farthest: float) -> list[Stretch]:
    """Return the stretches from `low` on, ascending, outside of which a function is below zero."""
    everything: list[Stretch] = [(low, None)]
    if not 0 < sum(1 for _ in curve.roundings()) <= _MOST_ROUNDINGS:
        return everything
    curve.over(low, farthest)
    try:
        bound = _Bounding(curve).bound(curve.expr, up=True)
    except _NoBoundError:
        return everything
    start = Fraction(low)
    whole = piecewise(bound, curve.population, start, None)
    if whole is None:
        return everything
    found: list[Stretch] = []
    for piece in whole.pieces:
        if piece.function is None:
            found.append(_outwards(piece.start, piece.end, start))
            continue
        for one, other in whole.of_one_sign(piece):
            value = piece.function.at(middle(one, other))
            if value is None or value >= 0:
                found.append(_outwards(one, other, start))
        # Zero at a root alone is as much as above zero.
        found += [_outwards(root, root, start) for root in roots_on(piece)]
    return _joined(found)


def _outwards(one: Fraction, other: Fraction | None, least: Fraction) -> Stretch:
    start = max(below(float(one)), float(least))
    return start, None if other is None else max(above(float(other)), above(start))


def _joined(stretches: list[Stretch]) -> list[Stretch]:
    joined: list[Stretch] = []
    for start, end in sorted(stretches, key=lambda s: s[0]):
        before = joined[-1][1] if joined else 0.0
        if joined and (before is None or start <= before):
            longest = None if before is None or end is None else max(before, end)
            joined[-1] = (joined[-1][0], longest)
        else:
            joined.append((start, end))
    return joined


class _Bounding:
    """Makes the bound of an expression from those of its parts, whose signs are known."""

    def __init__(self, curve: BoundedFunction) -> None:
        self._curve = curve
        self._known: dict[tuple[Formula, bool], Formula] = {}

    def bound(self, expr: Formula, *, up: bool) -> Formula:
        """Return what an expression is never above (`up`), or never below."""
        key = (expr, up)
        if key not in self._known:
            self._known[key] = self._bound(expr, up=up) if expr.has(*ROUNDINGS) else expr
        return self._known[key]

    def _bound(self, expr: Formula, *, up: bool) -> Formula:
        row = OPERATIONS[expr.word]
        if row.rounds:
            return self._rounding(expr, row.rounds, up=up)
        between = [self._range(operand) for operand in expr.operands]
        if row.divisor is None and _is_bounded(*between) and not _is_bounded(self._range(expr)):
            raise _NoBoundError  # there may be a pole, and no value
        bounds = [
            self._operand(operand, within, move, up=up, keeps_sign=0 in row.grows)
            for operand, within, move in zip(
                expr.operands, between, row.moves(*between), strict=True
            )
        ]
        return apply(expr.word, *bounds)

    def _operand(
        self, operand: Formula, within: ValueRange, move: int, *, up: bool, keeps_sign: bool
    ) -> Formula:
        """Return the bound of an operand, with which an operation moves as is reported.

        Where that rests on its sign, the bound has the same.
        """
        if not operand.has(*ROUNDINGS):
            return operand
        if not move:
            raise _NoBoundError
        is_up = up == (move > 0)
        found = self.bound(operand, up=is_up)
        if not keeps_sign or operand.word in ROUNDINGS:
            return found
        if is_up:
            return found if within.above else minimum(found, ZERO)
        return found if within.below else maximum(found, ZERO)

    def _range(self, part: Formula) -> ValueRange:
        if part.exact is not None:
            return ValueRange(part.exact, part.exact)
        over = self._curve.part(part)
        return ValueRange(
            *(Fraction(end) if isfinite(end) else end for end in (over.low, over.high))
        )

    def _rounding(self, expr: Formula, rounds: int, *, up: bool) -> Formula:
        inner = self.bound(expr.operands[0], up=up)
        if up:
            return inner + 1 if rounds > 0 else inner
        found = inner if rounds > 0 else inner - 1
        least = self._curve.part(expr).low
        return found if least == -inf else maximum(found, int(least))


def _is_bounded(*between: ValueRange) -> bool:
    return all(isfinite(each.low) and isfinite(each.high) for each in between)
