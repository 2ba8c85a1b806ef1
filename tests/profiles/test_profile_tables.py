"""Profiles as tables: what can be read, and what is refused with its mend."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qps.compiler.measurement.measured_tables import DataError
from qps.compiler.measurement.profile_tables import read_profile
from qps.compiler.quantities.clock_times import DAY, WEEK

HOURS = [f"{hour},{hour % 7}" for hour in range(24)]


def _table(heading: str, rows: list[str]) -> str:
    return "\n".join([heading, *rows]) + "\n"


def test_a_load_is_a_part_of_the_largest_one_and_a_factor_is_as_it_stands() -> None:
    of_rate = read_profile(_table("hour,requests", HOURS), "day.csv", "busy", DAY)
    of_factor = read_profile(_table("Hour,Factor", HOURS), "day.csv", "busy", DAY)
    of_name = read_profile(_table("hour,busy", HOURS), "day.csv", "busy", DAY)
    assert of_factor == of_name
    assert [row.start for row in of_rate] == [60 * hour for hour in range(24)]
    assert [row.value for row in of_rate] == [row.value / 6 for row in of_factor]


@given(st.permutations(HOURS))
def test_the_order_of_rows_does_not_matter(rows: list[str]) -> None:
    usual = read_profile(_table("hour,factor", HOURS), "day.csv", "busy", DAY)
    assert read_profile(_table("hour,factor", rows), "day.csv", "busy", DAY) == usual


def test_quarters_of_an_hour_and_days_of_a_week_are_steps_too() -> None:
    quarters = [f"{q // 4:02d}:{15 * (q % 4):02d},1" for q in range(96)]
    assert len(read_profile(_table("time,factor", quarters), "day.csv", "busy", DAY)) == 96
    days = ["Mon", "tuesday", "Wed", "Thu", "Fri", "Saturday", "sun"]
    week = [f"{day},{hour},{n + 1}" for n, day in enumerate(days) for hour in (0, 12)]
    rows = read_profile(_table("day,hour,load", week), "week.csv", "busy", WEEK)
    assert [row.start for row in rows] == [720 * n for n in range(14)]
    assert rows[1].value == Fraction(1, 7)


@pytest.mark.parametrize(
    ("heading", "rows", "message"),
    [
        ("hour,factor", HOURS[:3] + HOURS[4:], "has no row for 03:00"),
        ("hour,factor", HOURS[1:], "has no row for 00:00"),
        ("hour,factor", HOURS[:-1], "has no row for 23:00"),
        ("hour,factor", [*HOURS, "3,1"], "line 26: 03:00 is there twice"),
        ("hour,factor", ["0,-1", *HOURS[1:]], "line 2: `-1` is negative"),
        ("hour,factor", ["0,many", *HOURS[1:]], "line 2: `many` is not a number"),
        ("hour,factor", ["24,1", *HOURS[1:]], "line 2: `24` is not a time of the day"),
        ("hour,factor", ["07:60,1", *HOURS[1:]], "line 2: `07:60` is not a time of the day"),
        ("hour,factor", [f"{hour},0" for hour in range(24)], "is 0 at all times"),
        ("when,factor", HOURS, "has no column `time`"),
        ("hour,percent", HOURS, "has no column `factor`"),
        ("hour,factor,region", [f"{row},eu" for row in HOURS], "has a column `region`"),
    ],
)
def test_other_tables_are_refused_with_the_place(
    heading: str, rows: list[str], message: str
) -> None:
    with pytest.raises(DataError) as error:
        read_profile(_table(heading, rows), "day.csv", "busy", DAY)
    assert message in error.value.message
    assert error.value.hint


def test_a_week_needs_days_that_exist() -> None:
    with pytest.raises(DataError, match="`someday` is not a day of the week"):
        read_profile("day,hour,factor\nsomeday,0,1\n", "week.csv", "busy", WEEK)
    with pytest.raises(DataError, match="has no column `day`"):
        read_profile(_table("hour,factor", HOURS), "week.csv", "busy", WEEK)
    days = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    rows = [f"{day},{hour},1" for day in days for hour in (0, 12)]
    without = _table("day,hour,factor", [*rows, "Sun,0,1"])
    with pytest.raises(DataError, match="has no row for 12:00 on Sunday"):
        read_profile(without, "week.csv", "busy", WEEK)
