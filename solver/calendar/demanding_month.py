"""The month up to a date that demands the most: what is bought for it is enough until that date."""

from __future__ import annotations

from math import floor

from msgspec import Struct

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.quantities.calendar_dates import CalendarDate, months_between
from qps.solver.calendar.calendar_month import CalendarMonth, months_of, nearness


class DemandedMonth(Struct, frozen=True, kw_only=True):
    """A month with its configuration, and the users that the forecast expects in it."""

    date: CalendarDate
    users: int
    configuration: Configuration


def month_of_date(
    model: ir.Model, configuration: Configuration, date: CalendarDate
) -> DemandedMonth:
    """Return the month of a date. QpsError without a forecast, or outside the calendar."""
    calendar, number = month_in_calendar(model, date)
    (month,) = months_of(model, calendar, configuration, [number])
    return _demanded(calendar, month)


def most_demanding_month(
    model: ir.Model, configuration: Configuration, until: CalendarDate
) -> DemandedMonth:
    """Return the month up to a date in which the expected users come nearest to a limit.

    Inputs are nominal. QpsError without a forecast, or outside the calendar.
    """
    calendar, number = month_in_calendar(model, until)
    months = months_of(model, calendar, configuration, range(number + 1))
    return _demanded(calendar, max(months, key=nearness))


def _demanded(calendar: ir.Calendar, month: CalendarMonth) -> DemandedMonth:
    return DemandedMonth(
        date=calendar.date(month.number),
        users=max(month.users.mid, month.configuration.low),
        configuration=month.configuration,
    )


def month_in_calendar(model: ir.Model, until: CalendarDate) -> tuple[ir.Calendar, int]:
    """Return the calendar of a forecast, and the number of a date's month in it."""
    calendar = model.calendar
    if calendar is None or model.forecast is None:
        raise QpsError.single(
            codes.BAD_SETTING,
            None,
            f"`{until.iso}` is a date, but the spec has no forecast",
            hint=f"add `calendar date in 2026-12..2030-12` and `forecast "
            f"{model.population.name} = …`, or set a number of users",
        )
    number = floor(months_between(calendar.start, until))
    if not 0 <= number <= calendar.months:
        raise QpsError.single(
            codes.OUT_OF_RANGE,
            calendar.span,
            f"{until.in_words} is outside the calendar",
            hint=f"use a date from {calendar.start.iso} to {calendar.date(calendar.months).iso}, "
            "or extend the calendar",
        )
    return calendar, number
