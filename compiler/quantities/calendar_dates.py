"""Dates of a plan as numbers: months since its first one.

A month is 1, whichever it is; a day is its part of its own month, so that `2027-03` is a whole
number of months after `2027-01`, and `2027-03-16` half a month more than `2027-03`.
"""

from __future__ import annotations

import re
from calendar import monthrange
from datetime import date
from fractions import Fraction
from math import floor

from msgspec import Struct

_MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]
_IN_A_YEAR = 12
_PERIOD = re.compile(r"\b(\d{4})[- ]?([WQ])(\d{1,2})(?:-\d)?\Z")
_ABBREVIATED = 3


class CalendarDate(Struct, frozen=True, order=True):
    """A month, or a day of it; the first of a month is the same as the month."""

    year: int
    month: int
    day: int = 1

    @property
    def iso(self) -> str:
        """How it is written: `2027-03`, or `2027-03-16`."""
        month = f"{self.year:04d}-{self.month:02d}"
        return month if self.day == 1 else f"{month}-{self.day:02d}"

    @property
    def in_words(self) -> str:
        """How it is read: `March 2027`, or `March 16, 2027`."""
        day = "" if self.day == 1 else f" {self.day},"
        return f"{_MONTHS[self.month - 1]}{day} {self.year}"


def read_date(text: str) -> CalendarDate | None:
    """Return the date of an ISO text (`2027-03`, `2027-03-16`) or a quarter (`2027-Q1`).

    A quarter is its first month. None if it is no date, or one that does not exist.
    """
    year, _, rest = text.partition("-")
    month, _, day = rest.partition("-")
    if month in ("Q1", "Q2", "Q3", "Q4") and not day:
        month = f"{3 * int(month[1]) - 2:02d}"
    has_form = len(year) == 4 and len(month) == 2 and len(day) in (0, 2)  # noqa: PLR2004
    digits = year + month + day
    if not (has_form and digits.isascii() and digits.isdigit()) or text.endswith("-"):
        return None
    found = CalendarDate(int(year), int(month), int(day or 1))
    if found.year < 1 or not 1 <= found.month <= _IN_A_YEAR:
        return None
    return found if 1 <= found.day <= monthrange(found.year, found.month)[1] else None


def date_of_period(text: str) -> CalendarDate | None:
    """Return the first day of an ISO week or a quarter at the end of a text; None for others.

    >>> date_of_period("2026-W49").iso, date_of_period("in 2027-Q2").iso, date_of_period("2027-W60")
    ('2026-11-30', '2027-04', None)
    """
    found = _PERIOD.search(text)
    if found is None:
        return None
    year, number = int(found[1]), int(found[3])
    if found[2] == "Q":
        return read_date(f"{year:04d}-Q{number}")
    try:
        first = date.fromisocalendar(year, number, 1)
    except ValueError:  # a year has 52 or 53 weeks
        return None
    return CalendarDate(first.year, first.month, first.day)


def month_of_word(word: str) -> int | None:
    """Return the number of a month by its name or the first three letters of it.

    >>> month_of_word("november"), month_of_word("Dec"), month_of_word("page")
    (11, 12, None)
    """
    names = [month.lower() for month in _MONTHS]
    alike = [one for one in names if word.lower() in (one, one[:_ABBREVIATED])]
    return names.index(alike[0]) + 1 if alike else None


def date_meant(text: str) -> CalendarDate | None:
    """Return the date of a text that writes it in another way; None if it is none.

    >>> date_meant("June 2027").iso, date_meant("6/2027").iso, date_meant("2027-6").iso
    ('2027-06', '2027-06', '2027-06')
    >>> date_meant("2027-W23").iso, date_meant("15 Jun 2027").iso, date_meant("300 users")
    ('2027-06-07', '2027-06', None)
    """
    period = date_of_period(text)
    if period is not None:
        return period
    year = re.search(r"(?<!\d)\d{4}(?!\d)", text)
    if year is None:
        return None
    rest = text[: year.start()] + " " + text[year.end() :]
    named = next(filter(None, map(month_of_word, re.findall(r"[A-Za-z]+", rest))), None)
    number = re.fullmatch(r"[ /.-]*(\d{1,2})[ /.-]*", rest)
    month = named or (int(number[1]) if number else None)
    return None if month is None else read_date(f"{year[0]}-{month:02d}")


def months_between(start: CalendarDate, end: CalendarDate) -> Fraction:
    """Return how many months a date is after another one; below zero if it is before."""
    return _months(end) - _months(start)


def date_after(start: CalendarDate, months: float) -> CalendarDate:
    """Return the date so many months after a month; a part of a month is rounded to days.

    >>> date_after(CalendarDate(2026, 12), 3.5).iso
    '2027-03-17'
    """
    whole = floor(months)
    year, month = divmod(_IN_A_YEAR * start.year + start.month - 1 + whole, _IN_A_YEAR)
    days = monthrange(year, month + 1)[1]
    return CalendarDate(year, month + 1, 1 + min(days - 1, floor((months - whole) * days + 0.5)))


def _months(day: CalendarDate) -> Fraction:
    part = Fraction(day.day - 1, monthrange(day.year, day.month)[1])
    return _IN_A_YEAR * day.year + day.month - 1 + part
