"""Profiles are checked: the values of a number over a day or a week."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

from msgspec import Struct

from qps.compiler import ir
from qps.compiler.check.names.declarations import LoadedModule
from qps.compiler.check.names.scope import AllowedNames, Scope
from qps.compiler.check.values.part import DeclarationChecker
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Label
from qps.compiler.diagnostics.suggest import did_you_mean
from qps.compiler.measurement.measured_tables import DataError
from qps.compiler.measurement.profile_tables import read_profile
from qps.compiler.quantities.clock_times import (
    CYCLES,
    DAY,
    DAYS,
    WEEK,
    clock,
    moment_name,
    read_clock,
)
from qps.compiler.quantities.dimension import DIMENSIONLESS
from qps.compiler.syntax import ast

_ALL_DAYS = (0, 1, 2, 3, 4, 5, 6)


class _Interval(Struct, frozen=True):
    """Minutes of a cycle for which hours of a profile state a value."""

    start: int
    end: int
    stated: ast.Hours


class ProfileChecker(DeclarationChecker, frozen=True):
    """Checks the profiles of a program."""

    def profile(
        self, param: ast.Param, shape: ast.Profile, module: LoadedModule, name: str
    ) -> ir.Profile | None:
        """Return a profile, whose periods cover its cycle; None where it was reported."""
        cycle = CYCLES.get(shape.cycle.text)
        if cycle is None:
            self.sink.report(
                codes.UNKNOWN_NAME,
                shape.cycle.span,
                f"a profile cannot be over `{shape.cycle.text}`",
                hint=did_you_mean(shape.cycle.text, CYCLES),
            )
            return None
        found = (
            self._of_hours(shape, module, cycle)
            if shape.file is None
            else self._of_table(param, shape.file, module, cycle)
        )
        if found is None:
            return None
        return ir.Profile(name=name, cycle=cycle, periods=found, span=param.name.span)

    # -- tables ------------------------------------------------------------------------------

    def _of_table(
        self, param: ast.Param, file: ast.Text, module: LoadedModule, cycle: int
    ) -> tuple[ir.ProfilePeriod, ...] | None:
        text = self.expressions.context.data(file, module.syntax.source)
        if text is None:
            return None
        try:
            rows = read_profile(text, file.value, param.name.text, cycle)
        except DataError as error:
            self.sink.report(codes.BAD_DATA, file.span, error.message, hint=error.hint)
            return None
        ends = [*(row.start for row in rows[1:]), cycle]
        return tuple(
            ir.ProfilePeriod(row.start, end, row.value, file.span)
            for row, end in zip(rows, ends, strict=True)
        )

    # -- hours -------------------------------------------------------------------------------

    def _of_hours(
        self, shape: ast.Profile, module: LoadedModule, cycle: int
    ) -> tuple[ir.ProfilePeriod, ...] | None:
        """Return the periods of stated hours: later ones replace parts of earlier ones."""
        values = {hours: self._value(hours, module) for hours in shape.hours}
        rest = [hours for hours in shape.hours if hours.is_rest]
        intervals: list[_Interval] = []
        is_sound = None not in values.values()
        for hours in shape.hours:
            if hours.is_rest:
                continue
            own = self._intervals(hours, cycle)
            is_sound = is_sound and own is not None and self._refine(own, intervals, cycle)
            intervals += own or ()
        if len(rest) > 1:
            self.sink.report(
                codes.MISPLACED,
                rest[1].span,
                "`else` is stated twice",
                secondary=[Label(rest[0].span, "first stated here")],
                hint="remove one of them",
            )
            return None
        if not is_sound:
            return None
        painted = _painted(intervals, rest[0] if rest else None, cycle)
        for start, end, stated in painted:
            if stated is None:
                first, last = moment_name(start, cycle), moment_name(end, cycle)
                self.sink.report(
                    codes.MISSING_PART,
                    shape.span,
                    f"the profile has no value from {first} to {last}",
                    hint="add the hours, or `else = 0` for all other times",
                )
                return None
        found = tuple(
            ir.ProfilePeriod(start, end, values[hours] or Fraction(0), hours.value.span)
            for start, end, hours in painted
            if hours is not None
        )
        if any(one.value for one in found):
            return found
        self.sink.report(
            codes.OUT_OF_RANGE,
            shape.span,
            "this profile is 0 at all times",
            hint="add hours with a value above 0",
        )
        return None

    def _value(self, hours: ast.Hours, module: LoadedModule) -> Fraction | None:
        scope = Scope(module, AllowedNames.NOTHING)
        found = self.expressions.quantity(hours.value, scope, DIMENSIONLESS, "a value of a profile")
        if found is None:
            return None
        value = found.expr
        if type(value) is not ir.Constant:
            self.sink.report(
                codes.OUT_OF_RANGE,
                hours.value.span,
                "a value of a profile must be a known number",
                hint="write the number, and multiply the profile by the parameter where it is used",
            )
            return None
        if value.value < 0:
            self.sink.report(
                codes.OUT_OF_RANGE,
                hours.value.span,
                "a value of a profile cannot be negative",
                hint="write the part of the peak load, such as `0.2` or `20 %`",
            )
            return None
        return value.value

    def _intervals(self, hours: ast.Hours, cycle: int) -> list[_Interval] | None:
        """Return the minutes for which hours state a value; those past midnight go on there."""
        days = self._days(hours, cycle)
        start, end = self._clock(hours.start, 0), self._clock(hours.end, DAY)
        if days is None or start is None or end is None:
            return None
        if start == DAY:
            self.sink.report(
                codes.OUT_OF_RANGE,
                hours.start.span if hours.start is not None else hours.span,
                "`24:00` is the end of the day, at which no hours start",
                hint=f"start them at `00:00`: `00:00..{clock(end)}`",
            )
            return None
        if start == end:
            self.sink.report(
                codes.OUT_OF_RANGE,
                hours.span,
                "these hours have no duration",
                hint="end them later than they start; `22:00..02:00` ends on the next day",
            )
            return None
        if end < start:
            end += DAY
        found: list[_Interval] = []
        for day in days:
            first, last = day * DAY + start, day * DAY + end
            found.append(_Interval(first, min(last, cycle), hours))
            if last > cycle:
                found.append(_Interval(0, last - cycle, hours))
        return found

    def _days(self, hours: ast.Hours, cycle: int) -> tuple[int, ...] | None:
        if cycle == DAY and hours.days:
            self.sink.report(
                codes.MISPLACED,
                hours.days[0].span,
                "a profile over a day has no days of the week",
                hint="write `over week`, or remove the day",
            )
            return None
        if not hours.days:
            return _ALL_DAYS if cycle == WEEK else (0,)
        found: list[int] = []
        for name in hours.days:
            days = DAYS.get(name.text.lower())
            if days is None:
                self.sink.report(
                    codes.UNKNOWN_NAME,
                    name.span,
                    f"`{name.text}` is not a day of the week",
                    hint=did_you_mean(name.text, DAYS)
                    or "write `monday` to `sunday`, `weekday` or `weekend`",
                )
                return None
            found += days
        return tuple(dict.fromkeys(found))

    def _clock(self, written: ast.ClockTime | None, without: int) -> int | None:
        if written is None:
            return without
        found = read_clock(written.text)
        if found is None:
            self.sink.report(
                codes.OUT_OF_RANGE,
                written.span,
                f"`{written.text}` is not a time of the day",
                hint="write a time from `00:00` to `24:00`",
            )
        return found

    def _refine(self, own: list[_Interval], earlier: list[_Interval], cycle: int) -> bool:
        """Report hours that overlap earlier ones without being a part of them."""
        for one in own:
            for other in earlier:
                is_apart = one.end <= other.start or one.start >= other.end
                if is_apart or other.start <= one.start < one.end <= other.end:
                    continue
                at = moment_name(max(one.start, other.start), cycle)
                self.sink.report(
                    codes.MISPLACED,
                    one.stated.span,
                    f"these hours overlap earlier ones, at {at}",
                    secondary=[Label(other.stated.span, "the earlier hours")],
                    hint="end one where the other starts; hours within earlier ones replace their "
                    "value, so write the longer ones first",
                )
                return False
        return True


def _painted(
    intervals: list[_Interval], rest: ast.Hours | None, cycle: int
) -> list[tuple[int, int, ast.Hours | None]]:
    """Return a whole cycle in order: between two bounds, the last hours that state a value."""
    bounds = sorted({0, cycle, *(i.start for i in intervals), *(i.end for i in intervals)})
    found: list[tuple[int, int, ast.Hours | None]] = []
    for start, end in pairwise(bounds):
        over = [one.stated for one in intervals if one.start <= start < one.end]
        hours = over[-1] if over else rest
        if found and found[-1][2] is hours:
            found[-1] = (found[-1][0], end, hours)
        else:
            found.append((start, end, hours))
    return found
