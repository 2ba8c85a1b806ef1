"""Profiles as tables: a value for each hour, or each other step, of a day or a week."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from msgspec import Struct

from qps.compiler.measurement.measured_tables import DataError, MeasuredTable, number, read_table
from qps.compiler.quantities.clock_times import DAY, HOUR, WEEK, moment_name, read_clock, read_day

_TIMES = ("time", "hour")
_FACTORS = ("factor",)
_LOADS = ("rate", "requests", "load", "users", "traffic")
"""Columns of loads: a profile is their part of the largest one."""


class ProfileRow(Struct, frozen=True):
    """A value of a profile from a minute of its cycle to the next row."""

    start: int
    value: Fraction


@lru_cache(maxsize=8)  # changes of a spec that are tried read the same table
def read_profile(text: str, name: str, profile: str, cycle: int) -> tuple[ProfileRow, ...]:
    """Return the values of a profile, in the order of their times; DataError if it is none.

    They are factors as they stand in `factor` or a column with the name of the `profile`, and parts
    of the largest one otherwise.
    """
    table = read_table(text, name)
    by_name = {heading.lower(): heading for heading in table.headings}
    time = _column(table, by_name, _TIMES)
    values = _column(table, by_name, (profile.lower(), *_FACTORS, *_LOADS))
    day = _column(table, by_name, ("day",)) if cycle == WEEK else None
    unused = [h for h in table.headings if h not in (time, values, day)]
    if unused:
        raise DataError(
            f"`{name}` has a column `{unused[0]}` that this profile does not use",
            f"keep only the columns {_columns(cycle)}",
        )
    at: dict[int, Fraction] = {}
    for line, cells in table.rows:
        start = _start(name, line, cells[time], None if day is None else cells[day])
        if start in at:
            moment = moment_name(start, cycle)
            raise DataError(f"`{name}`, line {line}: {moment} is there twice", "remove one row")
        at[start] = _value(name, line, cells[values])
    _check_steps(name, sorted(at), cycle)
    largest = max(at.values())
    if largest == 0:
        raise DataError(f"`{name}` is 0 at all times", "add a value above 0")
    scale = largest if values.lower() in _LOADS and values.lower() != profile.lower() else 1
    return tuple(ProfileRow(start, at[start] / scale) for start in sorted(at))


def _columns(cycle: int) -> str:
    return "time and factor" if cycle == DAY else "day, time and factor"


def _column(table: MeasuredTable, by_name: dict[str, str], names: tuple[str, ...]) -> str:
    found = next((by_name[one] for one in names if one in by_name), None)
    if found is None:
        raise DataError(
            f"`{table.name}` has no column `{'factor' if names[-1] in _LOADS else names[0]}`",
            "name the columns `time` (or `hour`), and `factor` or `rate`; over a week, also `day`",
        )
    return found


def _start(name: str, line: int, time: str, day: str | None) -> int:
    """Return the minute at which a row begins."""
    minute = read_clock(time)
    if minute is None or minute == DAY:
        raise DataError(
            f"`{name}`, line {line}: `{time}` is not a time of the day",
            "write hours as 0 to 23, or times as `09:30`",
        )
    if day is None:
        return minute
    number_of_day = read_day(day)
    if number_of_day is None:
        raise DataError(
            f"`{name}`, line {line}: `{day}` is not a day of the week",
            "write days as `Monday` or `Mon`",
        )
    return number_of_day * DAY + minute


def _value(name: str, line: int, cell: str) -> Fraction:
    value = number(cell)
    if value is None:
        raise DataError(f"`{name}`, line {line}: `{cell}` is not a number")
    if value < 0:
        raise DataError(
            f"`{name}`, line {line}: `{cell}` is negative", "a load is at least 0: correct the row"
        )
    return value


def _check_steps(name: str, starts: list[int], cycle: int) -> None:
    """Refuse a table that does not cover its cycle in equal steps."""
    ends = [*starts[1:], cycle + starts[0]]
    step = min(end - start for start, end in zip(starts, ends, strict=True))
    expected = 0
    for start in [*starts, cycle]:
        if start != expected:
            raise DataError(
                f"`{name}` has no row for {moment_name(expected, cycle)}",
                f"add one row for every {_step(step)} of the {'day' if cycle == DAY else 'week'}",
            )
        expected = start + step


def _step(minutes: int) -> str:
    if minutes % HOUR:
        return f"{minutes} minutes" if minutes > 1 else "minute"
    return f"{minutes // HOUR} hours" if minutes > HOUR else "hour"
