"""Dates and times of the day that are written as people write them elsewhere."""

from __future__ import annotations

import re

from qps.compiler.quantities.calendar_dates import month_of_word
from qps.compiler.syntax.faults import Fault

_TIME = re.compile(r"(?:1[0-2]|0?\d)(?:[:.]\d\d)?[ \t]*[ap]\.?m\b", re.IGNORECASE)
_BEFORE = 12


def time_of_day_help(fault: Fault) -> str | None:
    """Where a time of the day is written as `8am`."""
    text, at = fault.span.source.text, fault.span.start
    around = text[max(0, at - _BEFORE) : at] + fault.word + fault.behind
    if not fault.before.lstrip().startswith("profile") or _TIME.search(around) is None:
        return None
    return "write times of the day with 24 hours: `08:00..20:00`"


def month_help(fault: Fault) -> str | None:
    """Where a date is written as `Dec 2026`."""
    month = month_of_word(fault.previous)
    if month is None or not re.fullmatch(r"\d{4}", fault.word):
        return None
    return f"write the month as a date: `{fault.word}-{month:02d}`"
