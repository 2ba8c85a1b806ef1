"""Until when all requirements are met, by the forecast of a spec."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

from qps.compiler.quantities.calendar_dates import CalendarDate
from qps.compiler.quantities.certainty import Certainty


class CalendarVerdict(Enum):
    """How the months of a calendar end: what stops the forecast from being supported, if any."""

    EXCEEDED = "exceeded"
    """From some month on, the forecast is above the capacity."""
    HOLDS = "holds"
    """Every month of the calendar is supported."""
    RANGE = "range"
    """The forecast leaves the range of the population before anything fails."""
    NEVER = "never"
    """Not even the first month is supported."""


class MonthAnswer(Struct, frozen=True, kw_only=True):
    """One month: expected users (with the 90 % interval of a forecast), and the capacity.

    `capacity` is None for a month that was not solved, or in which no user is supported. `holds`
    is whether the forecast is supported, `probability` how likely that is, None with certain
    inputs.
    """

    date: CalendarDate
    expected: int
    least: int
    most: int
    is_solved: bool
    capacity: int | None
    holds: bool
    probability: float | None
    limited_by: str | None


class CalendarAnswer(Struct, frozen=True, kw_only=True):
    """The months of a calendar, and the last one up to which all of them are supported.

    `until` is the last month that holds, None if the first does not; `ends` the month after it,
    None if every month holds, with what limits then. With uncertain inputs, `until` is at a
    `confidence` level, and `interval` the 90 % interval of the last month: None for an end before
    the calendar, its last month for one at or after its end.
    """

    name: str
    verdict: CalendarVerdict
    until: CalendarDate | None
    ends: CalendarDate | None
    limited_by: str | None
    confidence: float | None
    interval: tuple[CalendarDate | None, CalendarDate | None] | None
    known: Certainty
    """Certainty of the capacities around the last month that is supported."""
    is_covered: bool
    """Whether these allow for every model error that can lower them."""
    months: tuple[MonthAnswer, ...]

    @property
    def failing(self) -> MonthAnswer | None:
        """The first month that is not supported; None if all are."""
        return next((one for one in self.months if one.date == self.ends), None)
