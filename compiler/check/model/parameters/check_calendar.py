"""The calendar of a spec and the forecast of its population are checked."""

from __future__ import annotations

from qps.compiler import ir
from qps.compiler.check.names.scope import AllowedNames, Scope
from qps.compiler.check.values.check_dates import calendar_of, checked_date
from qps.compiler.check.values.part import DeclarationChecker
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Label
from qps.compiler.diagnostics.fixits import instead
from qps.compiler.measurement.forecast_tables import ForecastPoint, read_forecast
from qps.compiler.measurement.measured_tables import DataError
from qps.compiler.quantities.calendar_dates import CalendarDate, date_of_period, months_between
from qps.compiler.quantities.dimension import DIMENSIONLESS
from qps.compiler.syntax import ast

_MOST_MONTHS = 600
_FROM_PARAMETERS = "use parameters, such as the date: `20_000 * 1.06^date`"


class CalendarChecker(DeclarationChecker, frozen=True):
    """Checks the calendar of a spec, and its forecast."""

    def calendar(self) -> ir.Calendar | None:
        """Return the calendar of the spec; None where it has none, or where it was reported."""
        self._report_others()
        declared = calendar_of(self.main.syntax)
        if declared is None or declared.range is None:
            return None
        start = self._month(declared.range.low)
        end = start and self._month(declared.range.high)  # an end beside a wrong one is not judged
        if start is None or end is None:
            return None
        months = int(months_between(start, end))
        if not 0 < months <= _MOST_MONTHS:
            if months >= 0:  # any other range that ends before it starts is reported with it
                self.sink.report(
                    codes.OUT_OF_RANGE,
                    declared.range.span,
                    f"this calendar covers {months:,} months",
                    hint="end it at least one month later"
                    if months == 0
                    else f"use at most {_MOST_MONTHS // 12} years",
                )
            return None
        name = declared.name
        return ir.Calendar(name=name.text, start=start, months=months, span=name.span)

    def forecast(self, calendar: ir.Calendar | None) -> ir.Forecast | None:
        """Return the forecast of the population; None where there is none, or it was reported."""
        found = self.main.syntax.every(ast.Forecast)
        one = self.first(found, "a spec has only one forecast", "remove one of them")
        if one is None or not self._is_of_population(one):
            return None
        if calendar is None:
            if calendar_of(self.main.syntax) is None:
                self.sink.report(
                    codes.MISSING_PART,
                    one.name.span,
                    "the forecast has no calendar",
                    hint="add one, such as `calendar date in 2027-01..2029-12`",
                )
            return None
        formula, points, file = None, tuple[ForecastPoint, ...](), ""
        if isinstance(one.value, ast.Text):
            file, points = one.value.value, self._points(one, one.value, calendar)
            if not points:
                return None
        else:
            scope = Scope(self.main, AllowedNames.NOTHING)
            formula = self.expressions.quantity(
                one.value, scope, DIMENSIONLESS, "a forecast", _FROM_PARAMETERS
            )
            if formula is None:
                return None
        source = None if one.source is None else one.source.value
        return ir.Forecast(formula=formula, points=points, file=file, span=one.span, source=source)

    def _report_others(self) -> None:
        """Report calendars beside the first of the spec itself."""
        own = calendar_of(self.main.syntax)
        for declared in self.program.everywhere(ast.Param):
            one = declared.declaration
            if not one.is_calendar or one is own:
                continue
            label = () if own is None else (Label(own.name.span, "first declared here"),)
            is_own = declared.module is self.main
            what = "a spec has only one calendar" if is_own else "this file is used by a spec"
            self.sink.report(
                codes.MISPLACED,
                one.name.span,
                what,
                secondary=label,
                hint="declare the calendar once, in the spec itself",
            )

    def _month(self, written: ast.Expr) -> CalendarDate | None:
        """Return the month that an end of a calendar is; what is none is reported."""
        if not isinstance(written, ast.Date):
            period = date_of_period(written.span.text)
            self.sink.report(
                codes.OUT_OF_RANGE,
                written.span,
                f"`{written.span.text}` is not a date",
                hint="write the first and the last month: `calendar date in 2027-01..2029-12`"
                if period is None
                else f"write the month in which it begins: `{period.year}-{period.month:02d}`",
            )
            return None
        found = checked_date(written, self.sink)
        if found is None or found.day == 1:
            return found
        month = CalendarDate(found.year, found.month).iso
        self.sink.report(
            codes.OUT_OF_RANGE,
            written.span,
            f"`{written.text}` is a day, and a calendar consists of months",
            hint=instead(written.text, month),
        )
        return None

    def _is_of_population(self, one: ast.Forecast) -> bool:
        users = self.main.syntax.every(ast.Users)
        if not users or one.name.text == users[0].name.text:
            return bool(users)
        self.sink.report(
            codes.WRONG_KIND,
            one.name.span,
            f"`{one.name.text}` is not the population",
            secondary=[Label(users[0].name.span, "the population")],
            hint=f"forecast `{users[0].name.text}`; another number can depend on the date by "
            "itself: `param x = if date >= 2027-06 then 6 else 4`",
        )
        return False

    def _points(
        self, one: ast.Forecast, file: ast.Text, calendar: ir.Calendar
    ) -> tuple[ForecastPoint, ...]:
        """Return the points of a table, which cover the calendar; none where it was reported."""
        text = self.expressions.context.data(file, self.main.syntax.source)
        if text is None:
            return ()
        try:
            points = read_forecast(text, file.value, one.name.text)
        except DataError as error:
            self.sink.report(codes.BAD_DATA, file.span, error.message, hint=error.hint)
            return ()
        first, last = points[0].date, points[-1].date
        start, end = calendar.start, calendar.date(calendar.months)
        if first <= start and last >= end:
            return points
        self.sink.report(
            codes.BAD_DATA,
            file.span,
            f"`{file.value}` covers {first.iso} to {last.iso}, but the calendar is "
            f"{start.iso}..{end.iso}",
            hint="add the missing dates to the table, or shorten the calendar",
        )
        return ()
