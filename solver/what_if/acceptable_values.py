"""Which values of one number are acceptable: stretches between points where what fails changes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import chain, pairwise
from math import ceil, floor

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler.quantities.certainty import EXACT, Certainty, opposite
from qps.solver.answers.answer_certainty import values_known
from qps.solver.answers.solution import QUALITY
from qps.solver.what_if.boundaries import Excess, FailureAt
from qps.solver.what_if.inverse_unknown import Unknown


class AcceptableInterval(Struct, frozen=True, kw_only=True):
    """Acceptable values, and what fails beyond each end; None at a range's end.

    An open end is not acceptable itself. `unrounded` holds the ends before they were rounded
    to whole numbers, where they were. `low_known` and `high_known` explain how the ends are known.
    Of one value that does alone, `exact` is that value.
    """

    low: float
    high: float
    fails_below: FailureAt | None
    fails_above: FailureAt | None
    low_is_open: bool = False
    high_is_open: bool = False
    unrounded: tuple[float, float] | None = None
    low_known: Certainty = EXACT
    high_known: Certainty = EXACT
    exact: Fraction | None = None


class RequirementsOfNumber(Struct, frozen=True, dict=True):
    """What is required, as functions of a number; between two neighboring `ends` all is alike."""

    number: Unknown
    excesses: Sequence[Excess]
    ends: Sequence[Fraction]

    @cached_property
    def middles(self) -> list[Fraction]:
        """A value in each stretch: of what counts a whole one; between two of them nothing lies."""
        return [self._within(low, high) for low, high in pairwise(self.ends)]

    def _within(self, low: Fraction, high: Fraction) -> Fraction:
        middle = (low + high) / 2
        whole = Fraction(floor(middle))
        if not self.number.is_count:
            return middle
        inside = next((n for n in (whole, whole + 1) if low < n < high), None)
        if inside is None and low.denominator == high.denominator == 1:
            return next((end for end in (low, high) if self._failing(end) is not None), low)
        return middle if inside is None else inside

    @cached_property
    def reasons(self) -> list[FailureAt | None]:
        """What fails first in each stretch."""
        return [self._failing(at) for at in self.middles]

    def undefined_ends(self) -> Iterator[Fraction]:
        """Yield the ends at which some criterion has no value, and no other one surely fails.

        One surely fails that does so there and on both sides.
        """
        symbol = self.number.symbol
        for index, at in enumerate(self.ends[1:-1]):
            signs = [over.sign_at(symbol, at) for over in self.excesses]
            if None not in signs:
                continue
            failing = (over for over, sign in zip(self.excesses, signs, strict=True) if sign == 1)
            sides = self.middles[index : index + 2]
            if not any(all(over.sign_at(symbol, n) == 1 for n in sides) for over in failing):
                yield at

    def representative_middles(self, most: int, most_others: int) -> list[Fraction]:
        """Return values in so many stretches: in what is acceptable and next to it, and in others.

        Those are spread evenly over what is left.
        """
        passing = {index for index, reason in enumerate(self.reasons) if reason is None}
        near = {at for index in passing for at in (index - 1, index, index + 1)}
        others = [index for index in range(len(self.reasons)) if index not in near]
        step = max(1, ceil(len(others) / most_others))
        chosen = sorted({*near.intersection(range(len(self.reasons))), *others[::step]})
        return [self.middles[index] for index in chosen[:most]]

    def _all_failing(self, at: Fraction) -> list[Excess]:
        symbol = self.number.symbol
        return [over.as_known_at(symbol, at) for over in self.excesses if over.fails(symbol, at)]

    def _failing(self, at: Fraction) -> FailureAt | None:
        """Return the first criterion that fails at a value."""
        return next(self._failures(at), None)

    def _failures(self, at: Fraction) -> Iterator[FailureAt]:
        """Yield what fails at a value."""
        failures = (over.failure_at(self.number.symbol, at) for over in self.excesses)
        return (failure for failure in failures if failure is not None)

    def _is_within(self, at: Fraction | float) -> bool:
        return self.number.low <= at <= self.number.high

    # -- how the values are known ----------------------------------------------------------

    def known(self, *, is_none: bool) -> Certainty:
        """Return how the values are known, by what fails in each stretch."""
        places = set(self.middles)
        if self.number.is_count:
            whole = {Fraction(n) for at in (*self.ends, *places) for n in (floor(at), ceil(at))}
            places = {at for at in whole if self._is_within(at)}
        outside = [self._all_failing(at) for at in sorted(places)]
        return values_known(outside, self.excesses, is_none=is_none)

    def with_known_ends(self, interval: AcceptableInterval) -> AcceptableInterval:
        """Return an interval with how each end is known: by all that fails just beyond it."""
        low, high = (
            values_known([self._beyond(interval, is_low=is_low)], self.excesses, is_none=False)
            for is_low in (True, False)
        )
        return replace(interval, low_known=opposite(low), high_known=high)

    def _beyond(self, interval: AcceptableInterval, *, is_low: bool) -> list[Excess]:
        """Return what fails just beyond an end of an interval, nothing at the end of the range."""
        ends = self.ends
        end = Fraction(interval.low if is_low else interval.high)
        step = -1 if is_low else 1
        if self.number.is_count:
            places = [end + step]
        else:
            own = min(range(len(ends)), key=lambda index: abs(ends[index] - end))
            is_last = own + step not in range(len(ends))
            places = [] if is_last else [(ends[own] + ends[own + step]) / 2]
            if interval.low_is_open if is_low else interval.high_is_open:
                places.append(ends[own])
        inside = (at for at in places if self._is_within(at))
        return next(filter(None, map(self._all_failing, inside)), [])

    # -- what fails ------------------------------------------------------------------------

    def fails_throughout(self) -> tuple[FailureAt, ...]:
        """Return what fails whatever the number is: what another number must fix.

        Quality is left out where it fails for the sake of one of its axes.
        """
        symbol = self.number.symbol
        failing = [o for o in self.excesses if all(o.fails(symbol, at) for at in self.middles)]
        if any(over.is_axis for over in failing):
            failing = [over for over in failing if over.failure.requirement != QUALITY]
        failures = (
            over.failure_at(symbol, next(filter(over.is_undecided, self.middles), self.middles[0]))
            for over in failing
        )
        found: dict[object, FailureAt] = {}
        for failure in filter(None, failures):
            found.setdefault(failure.what, failure)
        return tuple(found.values())

    def intervals(self) -> list[AcceptableInterval]:
        """Return the acceptable values: of what counts, the whole numbers."""
        return self._in_whole_numbers() if self.number.is_count else self._stretches()

    def _stretches(self) -> list[AcceptableInterval]:
        """Return the stretches between neighboring points on which no criterion fails, joined.

        And the points that are acceptable alone.
        """
        found: list[AcceptableInterval] = []
        for index, reason in enumerate(self.reasons):
            if reason is not None:
                found += self._alone(index)
                continue
            low, high = self.ends[index], self.ends[index + 1]
            opens, closes = self._is_open(low), self._is_open(high)
            # An open end fails by itself, also where all is well on both sides of it.
            before = self.reasons[index - 1] if index else None
            before = self._failing(low) if opens and before is None else before
            after = self.reasons[index + 1] if index + 1 < len(self.reasons) else None
            after = self._failing(high) if closes and after is None else after
            if found and before is None and index:
                last = found[-1]
                found[-1] = replace(last, high=float(high), fails_above=after, high_is_open=closes)
            else:
                found.append(
                    AcceptableInterval(
                        low=float(low),
                        high=float(high),
                        fails_below=before,
                        fails_above=after,
                        low_is_open=opens,
                        high_is_open=closes,
                    )
                )
        return found + self._alone(len(self.reasons))

    def _alone(self, index: int) -> list[AcceptableInterval]:
        """Return an end as an interval of its own where it is acceptable and no side of it is."""
        below, above = self.reasons[:index][-1:], self.reasons[index:][:1]
        end = self.ends[index]
        is_decided = not any(end in stretch for over in self.excesses for stretch in over.undecided)
        if None in (*below, *above) or not is_decided or self._failing(end) is not None:
            return []
        return [
            AcceptableInterval(
                low=float(end),
                high=float(end),
                fails_below=next(iter(below), None),
                fails_above=next(iter(above), None),
                exact=end,
            )
        ]

    def _is_open(self, end: Fraction) -> bool:
        """Return whether an end is not acceptable itself: a strict limit, or no value at all.

        A sign above zero says nothing there: an end that is not rational stands beside itself.
        """
        symbol = self.number.symbol
        return any(over.is_open_at(symbol, end) for over in self.excesses)

    def _in_whole_numbers(self) -> list[AcceptableInterval]:
        """Return the whole numbers in all stretches; neighbors are joined, empty ones left out.

        The whole numbers next to each end are tried themselves: an end that is whole may be rounded
        to either side of itself.
        """
        found: list[AcceptableInterval] = []
        for interval in self._stretches():
            first, last = floor(interval.low), ceil(interval.high)
            near = {first, first + 1, last - 1, last}
            whole = [n for n in sorted(near) if self._is_acceptable(n)]
            if not whole:
                continue
            bounds = replace(
                interval,
                low=whole[0],
                high=whole[-1],
                low_is_open=False,
                high_is_open=False,
                exact=None,
            )
            exact = interval.low, interval.high
            if found and found[-1].high + 1 >= bounds.low:
                before = found.pop()
                bounds = replace(bounds, low=before.low, fails_below=before.fails_below)
                exact = (before.unrounded or (before.low,))[0], interval.high
            found.append(self._rounded(bounds, exact))
        return found

    def _is_acceptable(self, at: int) -> bool:
        return self._is_within(at) and self._failing(Fraction(at)) is None

    def _rounded(
        self, bounds: AcceptableInterval, exact: tuple[float, float]
    ) -> AcceptableInterval:
        """Return an interval in whole numbers, with what fails at those just beyond it.

        Of what fails there, that is named which is at its limit at the end that is not rounded,
        else which begins to fail first.
        """
        symbol = self.number.symbol

        def failing(at: float, first: FailureAt | None, end: float) -> FailureAt | None:
            if not self._is_within(at):
                return None
            there = [(over, over.failure_at(symbol, Fraction(at))) for over in self.excesses]
            failures = [(over, one) for over, one in there if one is not None]
            exactly = min(self.ends, key=lambda one: abs(float(one) - end))
            limits = (one for over, one in failures if over.sign_at(symbol, exactly) == 0)
            own = (one for _, one in failures if first is not None and one.what == first.what)
            return next(chain(limits, own, (one for _, one in failures)), None)

        low, high = exact
        return replace(
            bounds,
            fails_below=failing(bounds.low - 1, bounds.fails_below, low),
            fails_above=failing(bounds.high + 1, bounds.fails_above, high),
            unrounded=None if (bounds.low, bounds.high) == exact else exact,
        )
