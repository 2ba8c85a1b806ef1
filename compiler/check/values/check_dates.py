"""Dates in expressions: months since the calendar of the spec begins."""

from __future__ import annotations

from qps.compiler import ir
from qps.compiler.check.values.values import Value, leaf
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Label, Sink
from qps.compiler.quantities.calendar_dates import CalendarDate, months_between, read_date
from qps.compiler.quantities.dimension import DIMENSIONLESS
from qps.compiler.syntax import ast


def date_value(date: ast.Date, main: ast.Module, sink: Sink) -> Value | None:
    """Return how many months a date is after the start of the calendar of the main file.

    A date that does not exist, that is after the calendar, or without one, is reported.
    """
    found = checked_date(date, sink)
    calendar = calendar_of(main)
    if calendar is None:
        year, _, rest = date.text.partition("-")
        sink.report(
            codes.MISSING_PART,
            date.span,
            f"`{date.text}` is a date, but the spec has no calendar",
            hint="add one, such as `calendar date in 2027-01..2029-12`; for a difference, write "
            f"`{year} - {rest.replace('-', ' - ')}`",
        )
        return None
    start = start_of(calendar)
    if found is None or start is None:
        return None
    end = end_of(calendar)
    if end is not None and months_between(start, end) < 0 and start == found:
        sink.report(
            codes.OUT_OF_RANGE,
            date.span,
            "this calendar ends before it starts",
            hint="state the first month first: "
            f"`calendar {calendar.name.text} in {end.iso}..{start.iso}`",
        )
        return None
    if end is not None and months_between(end, found) >= 1:
        sink.report(
            codes.OUT_OF_RANGE,
            date.span,
            f"`{date.text}` is after the end of the calendar",
            hint="use an earlier date, or extend the calendar",
            secondary=[Label(calendar.name.span, "this calendar")],
        )
        return None
    return leaf(ir.Constant(months_between(start, found)), DIMENSIONLESS, date.span)


def checked_date(date: ast.Date, sink: Sink) -> CalendarDate | None:
    """Return the date of an expression; one that does not exist is reported."""
    found = read_date(date.text)
    if found is None:
        sink.report(
            codes.OUT_OF_RANGE,
            date.span,
            f"`{date.text}` is not a date that exists",
            hint="write a month as `2027-03`, and a day as `2027-03-16`",
        )
    return found


def calendar_of(main: ast.Module) -> ast.Param | None:
    """Return the calendar of a file, None where it has none."""
    return next((one for one in main.every(ast.Param) if one.is_calendar), None)


def start_of(calendar: ast.Param) -> CalendarDate | None:
    """Return the first date of a calendar; None where it is not one that exists."""
    return read_date(calendar.value.text) if isinstance(calendar.value, ast.Date) else None


def end_of(calendar: ast.Param) -> CalendarDate | None:
    """Return the last month of a calendar; None where it is not one that exists."""
    end = None if calendar.range is None else calendar.range.high
    return read_date(end.text) if isinstance(end, ast.Date) else None
