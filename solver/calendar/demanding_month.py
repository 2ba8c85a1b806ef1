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
    months = _months(model, configuration, date)
    return _demanded(model, months[-1])


def most_demanding_month(
    model: ir.Model, configuration: Configuration, until: CalendarDate
) -> DemandedMonth:
    """Return the month up to a date in which the expected users come nearest to a limit.

    Inputs are nominal. QpsError without a forecast, or outside the calendar.
    """
    return _demanded(model, max(_months(model, configuration, until), key=nearness))


def _demanded(model: ir.Model, month: CalendarMonth) -> DemandedMonth:
    assert model.calendar is not None
    return DemandedMonth(
        date=model.calendar.date(month.number),
        users=max(month.users.mid, month.configuration.low),
        configuration=month.configuration,
    )


def _months(
    model: ir.Model, configuration: Configuration, until: CalendarDate
) -> list[CalendarMonth]:
    """Return the months of the calendar up to that of a date."""
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
    return months_of(model, calendar, configuration)[: number + 1]
