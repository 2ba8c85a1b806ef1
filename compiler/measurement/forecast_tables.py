"""Forecasts as tables: a date, the expected number of users, and optionally its interval."""

from __future__ import annotations

from fractions import Fraction

from msgspec import Struct

from qps.compiler.measurement.measured_tables import DataError, MeasuredTable, number, read_table
from qps.compiler.quantities.calendar_dates import CalendarDate, read_date

_DATE = ("date", "month", "quarter", "ds")
_EXPECTED = ("mid", "forecast", "users", "expected", "yhat")
_LEAST = ("low", "p5", "yhat_lower")
_MOST = ("high", "p95", "yhat_upper")
_COLUMNS = "date, mid, and optionally low and high"


class ForecastPoint(Struct, frozen=True, kw_only=True):
    """Expected users at a date, with the ends of the 90 % interval; all alike without one."""

    date: CalendarDate
    low: Fraction
    mid: Fraction
    high: Fraction


def read_forecast(text: str, name: str, population: str) -> tuple[ForecastPoint, ...]:
    """Return the points of a forecast, in the order of their dates; DataError if it is none.

    The column of expected users can also have the name of the `population`.
    """
    table = read_table(text, name)
    by_name = {heading.lower(): heading for heading in table.headings}
    date = _column(table, by_name, _DATE)
    mid = _column(table, by_name, (population.lower(), *_EXPECTED))
    low, high = (_optional(by_name, names) for names in (_LEAST, _MOST))
    if (low is None) != (high is None):
        one, other = ("low", "high") if high is None else ("high", "low")
        raise DataError(f"`{name}` has a column `{one}`, but no column `{other}`", f"add `{other}`")
    unused = [h for h in table.headings if h not in (date, mid, low, high)]
    if unused:
        raise DataError(
            f"`{name}` has a column `{unused[0]}` that a forecast does not use",
            f"keep only the columns {_COLUMNS}",
        )
    points = [
        _point(name, line, cells[date], cells[mid], *(cells[one or mid] for one in (low, high)))
        for line, cells in table.rows
    ]
    for line, before, after in zip(table.lines[1:], points, points[1:], strict=False):
        if after.date <= before.date:
            raise DataError(
                f"`{name}`, line {line}: {after.date.iso} does not come after {before.date.iso}",
                "sort the rows by date, with one row per date",
            )
    return tuple(points)


def _column(table: MeasuredTable, by_name: dict[str, str], names: tuple[str, ...]) -> str:
    found = _optional(by_name, names)
    if found is None:
        raise DataError(
            f"`{table.name}` has no column `{names[0]}`", f"name its columns {_COLUMNS}"
        )
    return found


def _optional(by_name: dict[str, str], names: tuple[str, ...]) -> str | None:
    return next((by_name[one] for one in names if one in by_name), None)


def _point(name: str, line: int, date: str, mid: str, low: str, high: str) -> ForecastPoint:
    found = read_date(date)
    if found is None:
        raise DataError(
            f"`{name}`, line {line}: `{date}` is not a date that exists",
            "write dates as `2027-03`, `2027-03-16` or `2027-Q1`",
        )
    values = {cell: number(cell) for cell in (low, mid, high)}
    for cell, value in values.items():
        if value is None or value < 0:
            raise DataError(f"`{name}`, line {line}: `{cell}` is not a number of users")
    least, expected, most = (values[cell] or Fraction(0) for cell in (low, mid, high))
    if not least <= expected <= most:
        raise DataError(
            f"`{name}`, line {line}: {low}, {mid} and {high} are not in ascending order",
            "put the lower end in `low` and the upper end in `high`",
        )
    return ForecastPoint(date=found, low=least, mid=expected, high=most)
