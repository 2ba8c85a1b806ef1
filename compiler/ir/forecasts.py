"""How many users there will be: the calendar of a spec, and its forecast."""

from __future__ import annotations

from msgspec import Struct

from qps.compiler.diagnostics.source import Span
from qps.compiler.ir.parameters import Quantity
from qps.compiler.measurement.forecast_tables import ForecastPoint
from qps.compiler.quantities.calendar_dates import CalendarDate, date_after


class Calendar(Struct, frozen=True, kw_only=True):
    """The months of a plan: the parameter `name` is how many have passed since the `start`."""

    name: str
    start: CalendarDate
    months: int
    span: Span

    def date(self, month: int) -> CalendarDate:
        """Return the date so many months after the start."""
        return date_after(self.start, month)


class Forecast(Struct, frozen=True, kw_only=True):
    """The population at each date: a `formula` of the calendar, or the `points` of a table.

    Between two points of a table it is linear in time.
    """

    formula: Quantity | None
    points: tuple[ForecastPoint, ...]
    file: str
    span: Span
    source: str | None
