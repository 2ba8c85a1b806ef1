"""Where a function of one number begins and ceases to fail: every place in a range, by boxes.

It fails where it is above zero, and where it has no finite value. What each operation needs to
have a value is a formula too, with bounds of its own: its roots cut the range first, where they
are exact; a box in which bounds prove that it is missing fails as a whole. A box in which bounds
prove that all parts have values is decided where the function has one sign, or where it only
rises or only falls, so that its ends decide. All others are halved, the widest first, down to the
last digits, or to where bounds of a point are as wide. Where so many boxes do not settle it, or
bounds say nothing even of narrow ones, points are tried: between two neighbors that agree it is
taken to be alike, and that is reported. Of what is whole, each of a few numbers is tried.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import pairwise
from math import ceil, floor, inf, isfinite, nextafter

from msgspec import Struct

from qps.engine.evaluators.domains import DomainCondition
from qps.engine.exact_algebra.exact_powers import PowerTooLongError
from qps.engine.expressions.formula_parts import parts_first
from qps.engine.expressions.formulas import Formula
from qps.engine.numerics.bisection import bisected, halfway
from qps.engine.numerics.sloped_intervals import SlopedInterval, above, below
from qps.engine.operations import OPERATIONS
from qps.solver.search.bounds import BoundedFunction
from qps.solver.search.boxes import Budget
from qps.solver.search.certain_signs import UndecidedLimitError, sign_at
from qps.solver.search.critical_points import critical_points
from qps.solver.search.trials import Box, UndecidedSignError, tried

_NARROW, _FINE = 1e-13, 1e-6
"""Boxes in which floats hardly differ, and in which bounds of one point may be as wide."""
_EDGE_WIDTH = Fraction(1, 10**8)
_NOTHING = 1e-25
"""So small a part of the range is narrow wherever it lies."""

_SIMPLE = 10**6
"""A change is a fraction with no larger denominator where floats do not distinguish it."""

_FEW_WHOLE, _MOST_WHOLE = 4, 1000
"""In a box so narrow each whole number is tried, and in all so many where bounds do not decide."""

_PLACES, _PLACE, _FAR_WIDER = 5, 2.0**-14, 256
"""At so many places it is seen whether bounds say anything, over so small a part of the range.

They say nothing where they are so many times as wide as what moves.
"""

Stretch = tuple[Fraction, Fraction]


class Trial(Struct, frozen=True):
    """A stretch in which so many `values` were tried, as bounds do not decide for all."""

    low: Fraction
    high: Fraction
    values: int

    @property
    def stretch(self) -> Stretch:
        """Its two ends."""
        return self.low, self.high


class SignChanges(Struct, frozen=True):
    """The points at which a function may begin or cease to fail, ascending; all that there are.

    But for those between the values of `trials`, for those in stretches that are `undecided`, whose
    ends are among the points, and for those in stretches of the last digits that are `nearly`
    failing: there the function holds at both ends.
    """

    points: tuple[Fraction, ...]
    undecided: tuple[Stretch, ...] = ()
    nearly: tuple[Stretch, ...] = ()
    trials: tuple[Trial, ...] = ()


def changes_of(
    over: Formula,
    symbol: Formula,
    ends: Stretch,
    budget: Budget,
    *,
    strict: bool,
    is_whole: bool = False,
) -> SignChanges:
    """Return where a function of a symbol begins and ceases to fail between two ends.

    With `strict`, zero fails. Where the symbol `is_whole` what lies between two whole numbers
    does not matter.
    """
    search = _Search(over, symbol, ends, budget, strict=strict, is_whole=is_whole)
    cuts = search.cuts()
    exact: dict[float, Fraction] = {}
    for low, high in pairwise((ends[0], *cuts, ends[1])):
        # At the ends themselves there may be no value: they are looked at by themselves.
        start, end = search.inside(low, high)
        search.look(start, end)
        exact |= {start: low, end: high}

    def exactly(low: float, high: float) -> Stretch:
        return exact.get(low, Fraction(low)), exact.get(high, Fraction(high))

    undecided, trials = list[Stretch](), list[Trial]()
    for box in _joined(search.undecided):
        stretch = exactly(*box)
        known = search.whole_changes(stretch) if is_whole else None
        values = search.trial(*box) if known is None else 0
        search.points |= set(known or ())
        if values:
            trials.append(Trial(*stretch, values))
        elif known is None:
            undecided.append(stretch)
    points = {*cuts, *search.points}
    beside = _Edge(sorted({*points, *ends}), (ends[1] - ends[0]) * Fraction(4 * _NOTHING))
    nearly = [one for box in _joined(search.nearly) if (one := exactly(*box)) not in beside]
    trials = [one for one in trials if one.stretch not in beside]
    undecided = [one for one in undecided if one not in beside]
    points |= {end for stretch in undecided for end in stretch}
    if is_whole:
        nearly = [(low, high) for low, high in nearly if ceil(low) <= floor(high)]
    return SignChanges(tuple(sorted(points)), tuple(undecided), tuple(nearly), tuple(trials))


def _joined(boxes: Iterable[Box]) -> list[Box]:
    """Return boxes that meet as one."""
    found: list[Box] = []
    for low, high in sorted(boxes):
        if found and low <= found[-1][1]:
            found[-1] = found[-1][0], max(found[-1][1], high)
        else:
            found.append((low, high))
    return found


class _Edge:
    """The last digits beside a change, or an end: what bounds leave open there is that change."""

    def __init__(self, changes: list[Fraction], least: Fraction) -> None:
        self._changes, self._least = changes, least

    def __contains__(self, stretch: Stretch) -> bool:
        width = max(_EDGE_WIDTH * max(map(abs, stretch)), self._least)
        first = bisect_left(self._changes, stretch[1] - width)
        return any(at <= stretch[0] + width for at in self._changes[first : first + 1])


class _Search:
    """Looks at boxes, the widest first."""

    def __init__(
        self,
        over: Formula,
        symbol: Formula,
        ends: Stretch,
        budget: Budget,
        *,
        strict: bool,
        is_whole: bool,
    ) -> None:
        self._over, self._symbol, self._ends, self._strict = over, symbol, ends, strict
        self._budget, self._is_whole, self._whole_left = budget, is_whole, _MOST_WHOLE
        self._least_width = float(ends[1] - ends[0]) * _NOTHING
        self._needed = tuple(dict.fromkeys(_needed(over, symbol)))
        self._curve = BoundedFunction(over, symbol, [one.of for one in self._needed])
        self._jumps = any(True for _ in self._curve.roundings())
        self._known: dict[Fraction, bool] = {}
        self.points: set[Fraction] = set()
        self.undecided: list[Box] = []
        self.nearly: list[Box] = []

    def cuts(self) -> tuple[Fraction, ...]:
        """Return where what is needed for a value begins or ceases to be there."""
        low, high = self._ends
        self._curve.over(float(low), float(high))
        found: set[Fraction] = set()
        for one in self._needed:
            bounds = self._curve.part(one.of)
            if bounds.low <= 0 <= bounds.high:
                found |= set(critical_points(one.of, self._symbol, low, high) or ())
        return tuple(sorted(at for at in found if low < at < high))

    def inside(self, low: Fraction, high: Fraction) -> tuple[float, float]:
        """Return the ends of a stretch, just inside of it; not so near to zero that digits end."""
        start, end = above(float(low)), below(float(high))
        near = self._least_width
        return near if 0 <= low < near else start, -near if -near < high <= 0 else end

    def look(self, start: float, end: float) -> None:
        """Find all changes between two points."""
        waiting = deque([(start, end)] if start < end else [])
        if waiting and self._is_blind(start, end):
            self.undecided.append((start, end))
            return
        while waiting:
            low, high = waiting.popleft()
            self._budget.boxes -= 1
            try:
                if self._budget.boxes < 0:
                    self.undecided.append((low, high))
                elif not self._is_complete(low, high):
                    middle = halfway(low, high)
                    waiting += [(low, middle), (middle, high)]
            except UndecidedSignError:
                self.undecided.append((low, high))

    def _is_complete(self, low: float, high: float) -> bool:
        """Return whether all that changes in a box is found."""
        bounds = self._curve.over(low, high)
        if bounds.low > 0 or (self._strict and bounds.low == 0):
            return True
        if self._curve.has_value:
            if bounds.high < 0 or (not self._strict and bounds.high == 0):
                return True
            if bounds.slow >= 0 or bounds.steep <= 0:
                self._ends_of_one(low, high)
                return True
        elif bounds.high == -inf or any(map(self._is_missing, self._needed)):
            return True  # without a finite value
        if self._has_one_sign_across_jumps(low, high):
            return True
        if self._is_whole and high - low <= _FEW_WHOLE:
            known = self.whole_changes((Fraction(low), Fraction(high)))
            self.points |= set(known or ())
            return known is not None
        narrow = max(abs(low), abs(high))
        if high - low <= max(_NARROW * narrow, self._least_width) or (
            high - low <= _FINE * narrow and self._is_blurred((low + high) / 2, bounds)
        ):
            self._narrow(low, high)
            return True
        return False

    def _is_blurred(self, middle: float, bounds: SlopedInterval) -> bool:
        """Return whether bounds of a box are hardly wider than a point's: halves say no more."""
        if not (self._curve.has_value and isfinite(bounds.low) and isfinite(bounds.high)):
            return False
        here = self._curve.at(middle)
        return 2 * (here.high - here.low) >= bounds.high - bounds.low

    def _has_one_sign_across_jumps(self, low: float, high: float) -> bool:
        """Return whether a function has one sign in a box however often roundings jump there."""
        if not self._jumps or self._curve.jumps() == 0:
            return False  # bounds between jumps say no more than those of a box that has none
        least, most = self._curve.across_jumps(low, high)
        is_below = most < 0 or (not self._strict and most == 0)
        return least > 0 or (is_below and self._curve.has_value)

    def _ends_of_one(self, low: float, high: float) -> None:
        """Note the only change that there can be in a box, if there is one."""
        fails = self.fails(Fraction(high))
        if self.fails(Fraction(low)) is fails:
            return
        near: list[float] = []

        def is_behind(at: float) -> bool:
            try:
                return self.fails(Fraction(at)) is fails
            except UndecidedSignError:
                near.append(at)  # no digits distinguish it from the change
                return True

        end = bisected(is_behind, low, high)
        if near:
            self.points.add(Fraction(near[0]))
            return
        simple = _simple(nextafter(end, low), end)
        self.points.add(Fraction(end) if simple is None else simple)

    def _narrow(self, low: float, high: float) -> None:
        """Note what changes in a box whose floats hardly differ; undecided where nothing does."""
        if self.fails(Fraction(low)) is not self.fails(Fraction(high)):
            self._ends_of_one(low, high)
            return
        simple = _simple(low, high)
        if simple is not None and self.fails(simple) is not self.fails(Fraction(low)):
            self.points.add(simple)
        else:
            (self.undecided if self.fails(Fraction(low)) else self.nearly).append((low, high))

    def fails(self, at: Fraction) -> bool:
        """Return whether the function fails at a point: by bounds, else exactly."""
        if at not in self._known:
            self._known[at] = self._fails(at)
        return self._known[at]

    def _fails(self, at: Fraction) -> bool:
        if Fraction(float(at)) == at:
            bounds = self._curve.at(float(at))
            if bounds.low > 0 or (bounds.high < 0 and self._curve.has_value):
                return bounds.low > 0
        try:
            sign = sign_at(self._over, self._symbol, at)
        except (UndecidedLimitError, PowerTooLongError):
            raise UndecidedSignError from None
        return sign is None or sign > 0 or (self._strict and sign == 0)

    # -- where there is no value -----------------------------------------------------------

    def _is_missing(self, one: DomainCondition) -> bool:
        bounds = self._curve.part(one.of)
        if one.may_be_negative:
            return bounds.low == 0 == bounds.high
        return bounds.high < 0 or (one.is_zero_out and bounds.high == 0)

    # -- values that are tried -------------------------------------------------------------

    def _is_blind(self, start: float, end: float) -> bool:
        """Return whether bounds of some narrow box say nothing though both its ends are alike.

        They are far wider there than a value moves: halves of the range would show no more. So they
        are of what jumps where they are as wide whatever its roundings are.
        """
        width = (end - start) * _PLACE
        for place in range(1, _PLACES + 1):
            low = start + (end - start) * place / (_PLACES + 1)
            bounds = self._curve.over(low, low + width)
            if not (bounds.low <= 0 <= bounds.high and bounds.slow < 0 < bounds.steep):
                continue
            one, other = self._curve.at(low), self._curve.at(low + width)
            moves = max(one.high, other.high) - min(one.low, other.low)
            are_alike = (one.is_above and other.is_above) or (one.is_below and other.is_below)
            least, most = bounds.low, bounds.high
            if self._jumps:
                least, most = self._curve.across_jumps(low, low + width)
            if are_alike and least <= 0 <= most and most - least > _FAR_WIDER * moves:
                return True
        return False

    def trial(self, low: float, high: float) -> int:
        """Find changes between tried values of a box; return how many, 0 where undecided."""
        try:
            values, changes = tried(self.fails, (low, high), is_whole=self._is_whole)
            for start, end in changes:
                if self._is_whole:
                    self.points.add(Fraction(start if self.fails(Fraction(end)) else end))
                else:
                    self._ends_of_one(start, end)
        except UndecidedSignError:
            return 0
        return values

    def whole_changes(self, stretch: Stretch) -> list[Fraction] | None:
        """Return which whole numbers of a stretch hold beside one that fails, None for too many."""
        first, last = floor(stretch[0]), ceil(stretch[1])
        if last - first > self._whole_left:
            return None
        inside = [n for n in range(first, last + 1) if self._ends[0] <= n <= self._ends[1]]
        self._whole_left -= sum(Fraction(n) not in self._known for n in inside)
        try:
            fails = [self.fails(Fraction(n)) for n in inside]
        except UndecidedSignError:
            return None
        return [
            Fraction(n if after else n + 1)
            for n, (before, after) in zip(inside, pairwise(fails), strict=False)
            if before is not after
        ]


def _needed(over: Formula, symbol: Formula) -> Iterator[DomainCondition]:
    """Yield what the parts of a function that rest on a symbol need to have values."""
    for part in parts_first(over):
        if part.operands and symbol in part.symbols:
            domain = OPERATIONS[part.word].domain(*part.operands) or ()
            yield from (one for one in domain if symbol in one.of.symbols)


def _simple(low: float, high: float) -> Fraction | None:
    """Return a plain fraction in a box of the last digits, None for none."""
    found = ((Fraction(low) + Fraction(high)) / 2).limit_denominator(_SIMPLE)
    return found if low <= found <= high else None
