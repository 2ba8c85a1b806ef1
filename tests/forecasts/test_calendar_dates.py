"""Dates as months since the start of a calendar."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qps.compiler.quantities.calendar_dates import (
    CalendarDate,
    date_after,
    months_between,
    read_date,
)

START = CalendarDate(2026, 12)


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("2027-03", CalendarDate(2027, 3)),
        ("2027-03-16", CalendarDate(2027, 3, 16)),
        ("2028-02-29", CalendarDate(2028, 2, 29)),
        ("2027-Q1", CalendarDate(2027, 1)),
        ("2027-Q4", CalendarDate(2027, 10)),
    ],
)
def test_a_month_a_day_and_a_quarter_are_dates(text: str, date: CalendarDate) -> None:
    assert read_date(text) == date


@pytest.mark.parametrize(
    "text",
    [
        "2027",
        "2027-13",
        "2027-00",
        "2027-02-29",
        "2027-3",
        "27-03",
        "2027-Q5",
        "2027-03-",
        "0000-01",
        "2027-03-16-01",
        "2027-03-1",
        "march",
        "²027-03",
    ],
)
def test_what_does_not_exist_is_no_date(text: str) -> None:
    assert read_date(text) is None


@pytest.mark.parametrize(
    ("text", "months"),
    [
        ("2026-12", 0),
        ("2027-12", 12),
        ("2026-11", -1),
        ("2027-02-15", 2 + Fraction(14, 28)),
        ("2028-02-15", 14 + Fraction(14, 29)),
    ],
)
def test_each_month_is_one_whatever_its_days(text: str, months: Fraction) -> None:
    date = read_date(text)
    assert date is not None
    assert months_between(START, date) == months


@given(st.dates())
def test_a_date_is_found_again_by_its_months(day: object) -> None:
    date = read_date(str(day))
    assert date is not None
    assert date_after(START, float(months_between(START, date))) == date
    assert read_date(date.iso) == date
