"""Where a function of the population is first above zero, found by boxes: branch and bound.

For what is not made of rational functions, maxima and minima. A box of populations is left behind
where the bounds of the function prove that it holds there; where not, it is halved, the left half
first. What is rounded up or down jumps: between two jumps it is a fixed number, and what is left
is mostly rational, so that the point is found exactly. At single populations signs are exact.

Where so many boxes do not decide, `UndecidedBoxesError` says from where on; nothing is guessed.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from functools import cached_property, lru_cache
from math import inf

from qps.engine.exact_algebra.exact_powers import PowerTooLongError
from qps.engine.execution.float_runs import number_function
from qps.engine.expressions.algebraic_functions import piecewise
from qps.engine.expressions.cancellation import canceled
from qps.engine.expressions.formulas import Formula
from qps.engine.expressions.signs import range_of
from qps.engine.numerics.bisection import first_above_zero, halfway, shared_cut
from qps.engine.numerics.sloped_intervals import above, below
from qps.engine.operations import OF_QUEUES
from qps.solver.search.bounds import BoundedFunction
from qps.solver.search.certain_signs import UndecidedLimitError, sign_at
from qps.solver.search.first_crossing import CrossingPoint
from qps.solver.search.jumps import is_stepped_rational, reached_between, without_jumps
from qps.solver.search.likely_failures import likely_failure
from qps.solver.search.method import SearchMethod
from qps.solver.search.open_populations import cut_at_failure
from qps.solver.search.rounding_bounds import stretches_to_search
from qps.solver.search.whole_populations import fails, first_failure_in_pieces

MOST_BOXES = 4000
FARTHEST = 1e15
FARTHEST_OF_QUEUES = 1e9
"""Beyond this, numbers of queues take too long to be computed."""

_FEW_JUMPS = 12
_COST_OF_EXACT, _COST_OF_SLOW_BOX, _COST_OF_SLOW_SIGN = 20, 8, 100
"""As long as so many boxes take an exact look at one, a box of numbers of queues, and an exact sign
of these."""

_NARROW = 1e-13
_WHOLE_FLOATS = 2**53
_FEW = 4
_FEW_ALONE, _STEPS_ALONE = 12, 4000
"""After so many boxes the rest are looked at together, in arrays: of what takes long; of all else
there are so many steps in them, at least."""
_PART = 8
"""Before a likely failure so much of a box is left behind first."""


class UndecidedBoxesError(Exception):
    """So many boxes did not decide; `point` is where the search stood."""

    def __init__(self, point: float) -> None:
        super().__init__(f"undecided near {point:g}")
        self.point = point


class _Open(Enum):
    """A box that its bounds leave open: it must be halved."""

    OPEN = "open"


@dataclass
class Budget:
    """How many boxes may be looked at, in one search or several, each down to a `unit`."""

    boxes: int = field(default_factory=lambda: MOST_BOXES)
    unit: float = 0.0

    def spend(self, point: float, boxes: int = 1) -> None:
        """Take off some boxes; UndecidedError where none are left."""
        self.boxes -= boxes
        if self.boxes < 0:
            raise UndecidedBoxesError(point)


# -- as a real number --------------------------------------------------------------------


def first_reached(
    over: Formula, population: Formula, low: int, *, passes: bool, until: float = inf
) -> CrossingPoint | None:
    """Return the least real population from `low` on at which `over` is zero or more.

    With `passes`, zero does not count: it is the infimum of those above zero. It is taken as
    known that it is not so at `low` itself. None for nowhere: proved up to infinity where what
    is rounded can be bounded by a rational function, else up to `FARTHEST`. UndecidedError
    where boxes do not decide. What is reached behind `until` may count as nowhere. Of what takes
    long it may be any such population within one user from there.
    """
    over = _shortened(over, population, low)
    search = _Search(BoundedFunction(over, population), passes=passes, budget=Budget(unit=1.0))
    most = range_of(over, {}).high
    if not search.is_stepped and (most < 0 or (passes and most == 0)):
        return None
    farthest = FARTHEST_OF_QUEUES if over.has(*OF_QUEUES) else FARTHEST
    for start, end in stretches_to_search(search.curve, float(low), farthest):
        if start > until:
            break
        found = search.within(start, min(until, farthest if end is None else end))
        if found is not None:
            return found
    return None


def first_above(
    over: Formula, axis: Formula, low: Fraction, high: Fraction, budget: Budget
) -> CrossingPoint | None:
    """Return the infimum of the points between two at which `over` is above zero, None for none.

    Just behind `low` it is taken as known not to be. Of what takes long it may be any such point
    within a unit of the budget from there. UndecidedError where boxes do not decide.
    """
    search = _Search(BoundedFunction(_shortened(over, axis, low), axis), passes=True, budget=budget)
    return search.within(above(float(low)), float(high))


@lru_cache(maxsize=128)
def _shortened(over: Formula, symbol: Formula, low: Fraction | int) -> Formula:
    """Return what has the same values from `low` on, with narrower bounds."""
    return canceled(over, symbol) if low > 0 else over


class _Search:
    """Looks for the first point in boxes, from the left to the right."""

    def __init__(self, curve: BoundedFunction, *, passes: bool, budget: Budget) -> None:
        self.curve, self._passes = curve, passes
        self.is_stepped = is_stepped_rational(curve.expr, curve.population)
        self._is_slow = curve.expr.has(*OF_QUEUES)
        self._budget = budget
        self._unit = 0.0 if curve.is_followed else budget.unit

    def within(self, low: float, high: float) -> CrossingPoint | None:
        """Return the first point between two populations, None for none."""
        self._end, waiting = high, [(low, high)] * (low <= high)
        while waiting:
            start, end = waiting.pop()
            self._budget.spend(start, _COST_OF_SLOW_BOX if self._is_slow else 1)
            found = self._in_box(start, end)
            if isinstance(found, CrossingPoint):
                return found
            if found is _Open.OPEN:
                # What is followed is so at points that searches for other criteria look at, too.
                middle = (shared_cut if self.curve.is_followed else halfway)(start, end)
                waiting += [(middle, end), (start, middle)]
        return None

    def _in_box(self, start: float, end: float) -> CrossingPoint | _Open | None:
        """Return the first point in a box, None for none, or that it must be halved."""
        bounds = self.curve.over(start, end)
        if -inf < bounds.high < 0 or (self._passes and bounds.high == 0):
            return None
        if bounds.high == -inf or bounds.low > 0 or (bounds.low == 0 and not self._passes):
            return CrossingPoint(Fraction(start), SearchMethod.BRACKETED_ROOT)
        if self.is_stepped and self.curve.jumps() <= _FEW_JUMPS:
            self._budget.spend(start, _COST_OF_EXACT)
            there = reached_between(self.curve, Fraction(start), Fraction(end), passes=self._passes)
            if there is not None:
                return there.first
        if end - start <= _NARROW * max(abs(start), abs(end)):
            found = self._at_point(start, end)
            turns = bounds.slow < 0 < bounds.steep
            if found is None and turns and not self._passes and not self.is_stepped:
                raise UndecidedBoxesError(start)  # it turns so near to zero, or touches it
            return found
        if bounds.slow >= 0 and not self.is_stepped:
            return self._rising(start, end)
        if bounds.slow >= 0 and not self._is_reached(Fraction(end)):
            return None
        if bounds.steep <= 0:
            return None  # not so at its start, and falling from there
        return self._within_unit(start, end) or _Open.OPEN

    def _within_unit(self, start: float, end: float) -> CrossingPoint | None:
        """Return where what takes long passes zero in a box that is no wider than the unit.

        By signs it is not reached at its start, but a unit later: so it is where floats pass it.
        """
        if not self._is_slow or self.is_stepped or not 0 < end - start <= self._unit:
            return None
        end = min(start + self._unit, self._end)
        with suppress(UndecidedBoxesError):
            if self._is_reached(Fraction(start)) or not self._is_reached(Fraction(end)):
                return None
            with suppress(UndecidedBoxesError):
                low, high = self._around_root(start, end)
                if high - low <= _NARROW * abs(high):
                    return self._at_point(low, high)
            likely = first_above_zero(self._value, start, end)
            return CrossingPoint(Fraction(likely), SearchMethod.BRACKETED_ROOT)
        return None

    def _rising(self, start: float, end: float) -> CrossingPoint | None:
        """Return where a function that rises reaches zero: by bisection, each sign exact.

        It begins beside the point at which floats pass zero.
        """
        if not self._is_reached(Fraction(end)):
            return None
        if self._is_slow:
            start, end = self._around_root(start, end)
        while end - start > _NARROW * max(abs(start), abs(end)):
            middle = start + (end - start) / 2
            if self._is_reached(Fraction(middle)):
                end = middle
            else:
                start = middle
        return self._at_point(start, end)

    def _around_root(self, start: float, end: float) -> tuple[float, float]:
        """Return a narrower box of a function that rises, if floats tell where it passes zero."""
        likely = first_above_zero(self._value, start, end)
        low, high = (likely + side * _NARROW / 4 * abs(likely) for side in (-1, 1))
        if start < low and not self._is_reached(Fraction(low)):
            start = low
        if high < end and self._is_reached(Fraction(high)):
            end = high
        return start, end

    @cached_property
    def _value(self) -> Callable[[float], float]:
        return number_function(self.curve.population, self.curve.expr)

    def _at_point(self, start: float, end: float) -> CrossingPoint | None:
        """Return what a box holds in which floats hardly differ: at its simplest fraction first."""
        width = Fraction(end) - Fraction(start)
        simple = (Fraction(start) + width / 2).limit_denominator(10**6)
        if abs(simple - Fraction(start)) <= 2 * width and self._is_reached(simple):
            return CrossingPoint(simple, SearchMethod.BRACKETED_ROOT)
        return (
            CrossingPoint(Fraction(end), SearchMethod.BRACKETED_ROOT)
            if self._is_reached(Fraction(end))
            else None
        )

    def _is_reached(self, at: Fraction) -> bool:
        bounds = self.curve.over(float(at), float(at)) if Fraction(float(at)) == at else None
        if bounds is not None and bounds.high > -inf and (bounds.is_below or bounds.low > 0):
            return not bounds.is_below
        if self._is_slow:
            self._budget.spend(float(at), _COST_OF_SLOW_SIGN)
        try:
            sign = sign_at(self.curve.expr, self.curve.population, at)
        except (PowerTooLongError, UndecidedLimitError):
            raise UndecidedBoxesError(float(at)) from None
        return sign is None or sign > 0 or (sign == 0 and not self._passes)


# -- at whole populations ----------------------------------------------------------------


def first_failure_in_boxes(
    over: Formula, population: Formula, low: int, high: int, *, strict: bool
) -> int | None:
    """Return the least whole population in a range at which `over` is above zero, None for none.

    With `strict`, zero counts. UndecidedError where boxes do not decide.
    """
    return _WholeSearch(over, population, low, strict=strict).within(low, high)


class _WholeSearch:
    """Looks for the first whole population in boxes, from the left to the right.

    The first box that its bounds leave open is cut where the values of the function say that it
    fails first: most often nothing is left but to prove that.
    """

    def __init__(self, over: Formula, population: Formula, low: int, *, strict: bool) -> None:
        self._over, self._population, self._strict, self._low = over, population, strict, low
        self._curve = BoundedFunction(_shortened(over, population, low), population)
        self._budget = Budget()
        self._is_stepped = is_stepped_rational(over, population)
        self._likely_first: int | None = None
        self._is_cut = False
        quick = 0 if over.has(*OF_QUEUES) else _STEPS_ALONE // self._curve.steps
        self._until_together = max(_FEW_ALONE, quick)

    def within(self, low: int, high: int) -> int | None:
        """Return the first failure between two populations, None for none."""
        waiting = [(low, high)]
        while waiting:
            start, end = waiting.pop()
            self._budget.spend(start)
            found = self._in_box(start, end)
            if isinstance(found, int):
                return found
            if found is _Open.OPEN:
                waiting += self._cut(start, end)
            self._until_together -= 1
            if waiting and not self._until_together:
                waiting = self._left_open(waiting[::-1])[::-1]
        return None

    def _left_open(self, boxes: list[tuple[int, int]]) -> list[tuple[int, int]]:
        """Return of many boxes what is open where all are looked at together."""
        if boxes[-1][1] >= _WHOLE_FLOATS or self._curve.is_followed:
            return boxes
        from qps.solver.search.box_arrays import BoxArrays, left_open  # noqa: PLC0415 - needs numpy

        arrays = BoxArrays(self._curve.expr, self._population)
        found = left_open(arrays, boxes, strict=self._strict) if arrays.is_quick else boxes
        is_blind = len(found) > len(boxes) and self._curve.over(*_around(*found[0])).is_below
        return boxes if is_blind else found

    def _in_box(self, start: int, end: int) -> int | _Open | None:
        """Return the first failure in a box, None for none, or that it must be cut."""
        before = 1 if self._curve.is_followed and self._low < start < end else 0
        holds = start < end < (self._likely_first or 0)  # so it seems, and is to be proved
        bounds = self._curve.over(*_around(start - before, end), sign_only=holds)
        if -inf < bounds.high < 0 or (not self._strict and bounds.high == 0):
            return None
        if 0 < bounds.low < inf or (self._strict and bounds.low == 0 and bounds.high < inf):
            return start
        if end - start < _FEW:
            return next((n for n in range(start, end + 1) if self._fails_at(n)), None)
        if bounds.slow >= 0:
            return self._first_rising(start, end) if self._fails_at(end) else None
        if bounds.steep <= 0:
            return start if self._fails_at(start) else None
        if self._is_stepped and self._curve.jumps() == 0:
            plain = without_jumps(self._curve)
            return _first_without_jumps(plain, self._population, start, end, strict=self._strict)
        return _Open.OPEN

    def _cut(self, start: int, end: int) -> list[tuple[int, int]]:
        """Return the parts of a box, the left one last."""
        if not self._is_cut:
            self._is_cut, self._likely_first = True, (likely := self._likely(start, end))
            if likely is not None:
                return cut_at_failure(self._curve, start, likely, end, strict=self._strict)[::-1]
        if self._curve.is_followed and end < _WHOLE_FLOATS:
            middle = min(end - 1, int(shared_cut(float(max(start - 1, 1)), float(end))))
        elif end + 1 == self._likely_first:
            middle = min(end - 1, end - (end - start) // _PART)  # it is near zero only there
        else:
            middle = min(end - 1, int(halfway(float(start), float(end))))
        return [(middle + 1, end), (start, middle)]

    def _likely(self, start: int, end: int) -> int | None:
        return likely_failure(self._value, start, end) if end < _WHOLE_FLOATS else None

    @cached_property
    def _value(self) -> Callable[[float], float]:
        return number_function(self._population, self._curve.expr)

    def _first_rising(self, start: int, end: int) -> int:
        """Return the first of many populations that fails, where all after it fail too."""
        likely = self._likely(start, end)
        if likely is not None and self._fails_at(likely):
            end = likely
            if not self._fails_at(likely - 1):
                return likely
        elif likely is not None:
            start = likely + 1
        while start < end:
            middle = (start + end) // 2
            if self._fails_at(middle):
                end = middle
            else:
                start = middle + 1
        return start

    def _fails_at(self, at: int) -> bool:
        bounds = self._curve.over(*_around(at, at))
        if -inf < bounds.high < 0 or 0 < bounds.low < inf:  # nothing is summed up exactly in vain
            return bounds.low > 0
        try:
            return fails(self._over, self._population, at, strict=self._strict)
        except (PowerTooLongError, UndecidedLimitError):
            raise UndecidedBoxesError(at) from None


def _around(start: int, end: int) -> tuple[float, float]:
    """Return the box of two populations in floats, wider where these do not hold every integer."""
    if end < _WHOLE_FLOATS:
        return float(start), float(end)
    return below(float(start)), above(float(end))


def _first_without_jumps(
    over: Formula, population: Formula, start: int, end: int, *, strict: bool
) -> int | None:
    """Return the first failure in a stretch; UndecidedError where it divides by zero throughout."""
    whole = piecewise(over, population, Fraction(start), Fraction(end))
    if whole is None:
        raise UndecidedBoxesError(start)
    return first_failure_in_pieces(whole, over, population, start, end, strict=strict)
