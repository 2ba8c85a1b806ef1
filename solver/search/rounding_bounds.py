"""Where a function that rounds up or down can be above zero at all, up to infinity.

What is rounded up lies between its argument and one more. Put in where the function grows with
it, that gives a rational function which is never below the first: where it is below zero, so is
the function, however often it jumps. So machines that are added as `ceil(N / 20)` are proved to
be never saturated, or only so far, without a look at every jump.
"""

from __future__ import annotations

from fractions import Fraction

from qps.engine.formulas import (
    MAXIMUM,
    MINIMUM,
    PRODUCT,
    ROUNDINGS,
    SUM,
    ZERO,
    Formula,
    apply,
    maximum,
    number,
    product,
    total,
    whole_exponent,
)
from qps.engine.intervals import Interval, above, below
from qps.engine.pieces import middle, roots_on
from qps.solver.search.bounds import Curve
from qps.solver.search.piecewise import piecewise

_MOST_ROUNDINGS = 8
"""More roundings make a rational function of so high a degree that its roots take long."""

Stretch = tuple[float, float | None]
"""Two populations; the second is None where there is no end."""


class _NoBoundError(Exception):
    """A part of which the bound is no rational function."""


def stretches_to_search(curve: Curve, low: float, farthest: float) -> list[Stretch]:
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
        for one, other in whole.between_seams(piece):
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

    def __init__(self, curve: Curve) -> None:
        self._curve = curve
        self._known: dict[tuple[Formula, bool], Formula] = {}

    def bound(self, expr: Formula, *, up: bool) -> Formula:
        """Return what an expression is never above (`up`), or never below."""
        key = (expr, up)
        if key not in self._known:
            self._known[key] = self._bound(expr, up=up) if expr.has(*ROUNDINGS) else expr
        return self._known[key]

    def _bound(self, expr: Formula, *, up: bool) -> Formula:
        if expr.word in ROUNDINGS:
            return self._rounding(expr, up=up)
        if expr.word == SUM:
            return total(self.bound(part, up=up) for part in expr.operands)
        if expr.word == PRODUCT:
            return self._product(expr, up=up)
        exponent = whole_exponent(expr)
        if exponent is not None:
            return self._power(expr, exponent, up=up)
        if expr.word in (MAXIMUM, MINIMUM):
            return apply(expr.word, *(self.bound(part, up=up) for part in expr.operands))
        if expr.word == "waiting":
            work, load = expr.operands
            self._hold(self._over(work).low >= 0)
            return apply("waiting", self.bound(work, up=up), self.bound(load, up=up))
        if expr.word == "ratio":
            one, other = expr.operands
            self._hold(self._over(one).low >= 0 and self._over(other).low > 0)
            return self._positive(one, up=up) / self._positive(other, up=not up)
        raise _NoBoundError

    def _over(self, expr: Formula) -> Interval:
        return self._curve.part(expr)

    @staticmethod
    def _hold(is_so: bool) -> None:  # noqa: FBT001 - it is what is asked for
        if not is_so:
            raise _NoBoundError

    def _rounding(self, expr: Formula, *, up: bool) -> Formula:
        inner = self.bound(expr.operands[0], up=up)
        is_ceiling = expr.word == "ceil"
        if up:
            return inner + 1 if is_ceiling else inner
        found = inner if is_ceiling else inner - 1
        least = self._over(expr).low
        return found if least == float("-inf") else maximum(found, int(least))

    def _positive(self, expr: Formula, *, up: bool) -> Formula:
        """Return the bound of something that is not negative, itself not negative."""
        found = self.bound(expr, up=up)
        if up or not expr.has(*ROUNDINGS) or expr.word in ROUNDINGS:
            return found
        return maximum(found, ZERO)

    def _product(self, expr: Formula, *, up: bool) -> Formula:
        """Return the bound of a product by those of its factors, none of which changes its sign."""
        plain = [part for part in expr.operands if not part.has(*ROUNDINGS)]
        others = [part for part in expr.operands if part.has(*ROUNDINGS)]
        sign, sizes = self._signed(plain)
        own_sign, own_sizes = self._signed(others)
        is_up = up == (sign * own_sign > 0)
        bounds = [
            self._sized(part, size, up=is_up) for part, size in zip(others, own_sizes, strict=True)
        ]
        fixed = [part * size for part, size in zip(plain, sizes, strict=True)]
        return product((number(sign * own_sign), *fixed, *bounds))

    def _signed(self, parts: list[Formula]) -> tuple[int, list[int]]:
        sizes = []
        for part in parts:
            bounds = self._over(part)
            self._hold(bounds.low >= 0 or bounds.high <= 0)
            sizes.append(1 if bounds.low >= 0 else -1)
        total = 1
        for size in sizes:
            total *= size
        return total, sizes

    def _sized(self, part: Formula, size: int, *, up: bool) -> Formula:
        """Return the bound of the size of a factor that is negative where `size` is."""
        if size > 0:
            return self._positive(part, up=up)
        found = -self.bound(part, up=not up)
        return found if up else maximum(found, ZERO)

    def _power(self, expr: Formula, exponent: int, *, up: bool) -> Formula:
        base = expr.operands[0]
        bounds = self._over(base)
        self._hold(bounds.low >= 0 if exponent > 0 else bounds.low > 0)
        return self._positive(base, up=up == (exponent > 0)) ** exponent
