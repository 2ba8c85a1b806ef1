"""Until when a spec holds: the first month in which the forecast is above the capacity.

The capacity is the headline of each month, which covers uncertain inputs and model errors. Months
with the same load graph share it. If there are many others, they are searched by how near the
requirements come to their limits with nominal inputs: the months are ordered by that, and bisection
finds the ones that are not supported.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from typing import TYPE_CHECKING

from msgspec import Struct, field

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration
from qps.compiler.quantities.calendar_dates import CalendarDate
from qps.compiler.quantities.certainty import together
from qps.solver.answers.answer_certainty import answer_known
from qps.solver.answers.reliable_limits import ReliableLimits
from qps.solver.calendar.calendar_answer import CalendarAnswer, CalendarVerdict, MonthAnswer
from qps.solver.calendar.calendar_month import CalendarMonth, Key, months_of, nearness
from qps.solver.reliable_solution import ReliableSolution, reliable_solution
from qps.solver.uncertainty.interval_result import PROBABILITY, Sampling

if TYPE_CHECKING:  # of few specs; it needs numpy
    from qps.solver.calendar.month_samples import MonthSampler

_FEW = 8
"""Load graphs whose capacities are all computed; of more months, bisection finds the last."""


def calendar_answer(
    model: ir.Model,
    configuration: Configuration,
    solved: ReliableSolution | None,
    sampling: Sampling,
) -> CalendarAnswer | None:
    """Return until when a configuration holds; None for a spec without a forecast.

    The capacity of the date in force is that of `solved`, if it is given. QpsError if the forecast
    has no number of users for a month.
    """
    if model.calendar is None or model.forecast is None:
        return None
    months = months_of(model, model.calendar, configuration)
    search = _Search(model=model, calendar=model.calendar, months=months, sampling=sampling)
    if solved is not None:
        search.remember(configuration, solved)
    return search.answer()


class _Search(Struct, kw_only=True, dict=True):
    """Finds the months that are not supported; each load graph is solved once."""

    model: ir.Model
    calendar: ir.Calendar
    months: list[CalendarMonth]
    sampling: Sampling
    solutions: dict[Key, ReliableSolution] = field(default_factory=dict)
    probabilities: dict[int, float] = field(default_factory=dict)

    def remember(self, configuration: Configuration, solved: ReliableSolution) -> None:
        """Take the solution of a configuration for the month that it is at."""
        date = configuration.parameters[self.calendar.name]
        for month in self.months:
            if isinstance(date, ir.Constant) and date.value == month.number:
                self.solutions[month.key] = solved

    def answer(self) -> CalendarAnswer:
        """Return until when all months are supported."""
        failing = self._failing(self._is_reliable)
        first = min(failing, default=None)
        last = len(self.months) - 1 if first is None else first
        # Around the last month that holds, capacities are shown, and make up how it is known.
        around = [self._solution(month) for month in self.months[max(0, last - 1) : last + 1]]
        months = tuple(self._answered(month, failing) for month in self.months)
        verdict = self._verdict(first)
        is_limited = first is not None and verdict is not CalendarVerdict.RANGE
        return CalendarAnswer(
            name=self.calendar.name,
            verdict=verdict,
            until=self._before(first),
            ends=None if first is None else self.calendar.date(first),
            limited_by=months[first].limited_by if first is not None and is_limited else None,
            confidence=self.sampling.certainty if self.probabilities else None,
            interval=self._interval() if self.probabilities else None,
            known=together(*(answer_known(one.solution) for one in around)),
            is_covered=all(map(_is_covered, around)),
            months=months,
        )

    # -- what is known of a month ------------------------------------------------------------

    def _solution(self, month: CalendarMonth) -> ReliableSolution:
        """Return the solution of a month, which months with the same load graph share."""
        if month.key not in self.solutions:
            found = reliable_solution(self.model, month.configuration, sampling=self.sampling)
            self.solutions[month.key] = found
        return self.solutions[month.key]

    def _is_reliable(self, month: CalendarMonth) -> bool:
        """Return whether a month is supported with the confidence of the headline."""
        solved = self._solution(month)
        if month.users.has_interval or solved.sampled is not None:
            return self._probability(month) >= self.sampling.certainty
        capacity = solved.capacity
        return capacity is not None and month.users.mid <= capacity

    def _probability(self, month: CalendarMonth) -> float:
        """Return the probability that a month is supported."""
        if month.number not in self.probabilities:
            # Of few specs; it needs numpy.
            from qps.solver.calendar.month_samples import supported_part  # noqa: PLC0415

            solved = self._solution(month)
            self.probabilities[month.number] = supported_part(
                self._sampler.users(month),
                solved.capacity,
                solved.sampled,
                month.configuration.low,
            )
        return self.probabilities[month.number]

    @cached_property
    def _sampler(self) -> MonthSampler:
        from qps.solver.calendar.month_samples import MonthSampler  # noqa: PLC0415

        return MonthSampler(model=self.model, sampling=self.sampling)

    # -- the months that are not supported ---------------------------------------------------

    def _failing(self, holds: Callable[[CalendarMonth], bool]) -> frozenset[int]:
        """Return the numbers of the months that are not supported."""
        if len({month.key for month in self.months}) <= _FEW:
            return frozenset(month.number for month in self.months if not holds(month))
        ordered = sorted(self.months, key=nearness)
        supported, failing = -1, len(ordered)
        while failing - supported > 1:
            middle = (supported + failing) // 2
            if holds(ordered[middle]):
                supported = middle
            else:
                failing = middle
        return frozenset(month.number for month in ordered[failing:])

    def _verdict(self, first: int | None) -> CalendarVerdict:
        if first is None:
            return CalendarVerdict.HOLDS
        month = self.months[first]
        high = month.configuration.high
        if month.users.mid > high and self._solution(month).capacity == high:
            return CalendarVerdict.RANGE
        return CalendarVerdict.NEVER if first == 0 else CalendarVerdict.EXCEEDED

    # -- what is reported ----------------------------------------------------------------------

    def _interval(self) -> tuple[CalendarDate | None, CalendarDate | None]:
        """Return the last months that hold at both ends of the 90 % interval."""
        least, most = (
            min(self._failing(partial(self._is_likely, level)), default=None)
            for level in ((1 + PROBABILITY) / 2, (1 - PROBABILITY) / 2)
        )
        return self._before(least), self._before(most)

    def _is_likely(self, level: float, month: CalendarMonth) -> bool:
        """Return whether a month is supported with a probability of at least a level."""
        return self._probability(month) >= level

    def _before(self, first: int | None) -> CalendarDate | None:
        """Return the last month before one that is not supported; None before the calendar."""
        last = self.calendar.months if first is None else first - 1
        return None if last < 0 else self.calendar.date(last)

    def _answered(self, month: CalendarMonth, failing: frozenset[int]) -> MonthAnswer:
        solved = self.solutions.get(month.key)
        capacity = None if solved is None else solved.capacity
        users = month.users
        return MonthAnswer(
            date=self.calendar.date(month.number),
            expected=users.mid,
            least=users.least,
            most=users.most,
            is_solved=solved is not None,
            capacity=capacity,
            holds=month.number not in failing,
            probability=self.probabilities.get(month.number),
            limited_by=None if solved is None else _limited_by(solved),
        )


def _is_covered(solved: ReliableSolution) -> bool:
    """Return whether every model error that can lower the capacity is known and allowed for."""
    return solved.reliable is not None and not solved.reliable.capacity.unmeasured


def _limited_by(solved: ReliableSolution) -> str | None:
    """Return what limits the capacity that can be relied on."""
    capacity = solved.capacity
    if solved.reliable is None or capacity is None:
        return solved.solution.limited_by
    limits = ReliableLimits(
        solution=solved.plain_solution, reliable=solved.reliable, population=capacity
    )
    return limits.limited_by
