"""Failures, incidents and profiles in words of which the grammar has others."""

from __future__ import annotations

import re

from qps.compiler.syntax.faults import Fault

_STATEMENT = re.compile(r"(?:\A|[;{\n])\s*(lose|fail|slow|surge|empty)\s+[^;{}\n]*\Z")
_HOURS = re.compile(r"\s*(\d{1,2})\s*(?:\.\.|-|–|to)\s*(\d{1,2})(?!\d)")
_LONGER = re.compile(r"profile\s+\w+\s+over\s+(month|year|quarter)\b")
_DAY = 24


def failure_help(fault: Fault) -> str | None:
    """Where `survive one of web`, `survive any 50 % of web` or a part of the machines is lost."""
    if fault.word == "survive":
        rest = fault.behind.partition("\n")[0]
        return (
            "write a number of machines: `survive any 2 of web`"
            if "%" in rest or "half" in rest
            else "write `survive any one of web, db`, or `survive any one of 3 zones with web, db`"
        )
    statement = _statement_of(fault)
    if statement in ("lose", "fail") and (fault.word in ("%", "of")):
        return f"write a number of machines: `{statement} 2 of web for 10 minute`"
    return None


def event_time_help(fault: Fault) -> str | None:
    """Where a statement of an incident has `from 10 s to 20 s`, `at 10:00` or `to 500 %`."""
    statement = _statement_of(fault)
    if statement is None or fault.word not in ("at", "from", "to", "until", "during", "since"):
        return None
    if statement == "surge" and fault.word == "to":
        return "write how much is added: `by 400 %` is five times the traffic"
    return (
        "write when it starts and how long it lasts: `after 10 s for 1 minute`; an incident with "
        "profiles happens at the peak"
        if fault.word == "at"
        else "write when it starts and how long it lasts: `after 10 s for 1 minute`"
    )


def profile_help(fault: Fault) -> str | None:
    """Where a profile has hours as `9..17`, days as `monday..friday`, or a longer cycle."""
    if not fault.before.lstrip().startswith("profile"):
        return None
    longer = _LONGER.match(fault.before.lstrip())
    if longer is not None:
        return (
            "write `over day` or `over week`; what changes from month to month depends on the "
            "date of a calendar: `calendar date in 2027-01..2029-12`"
        )
    hours = _HOURS.match(fault.word + fault.behind)
    if hours is not None and max(int(hours[1]), int(hours[2])) <= _DAY:
        start, end = (f"{int(hours[number]):02d}:00" for number in (1, 2))
        return f"write times of the day with minutes: `{start}..{end}`"
    if fault.word in ("..", "-", "to") and re.search(r"day\s*\Z", fault.before):
        return "write `weekday` for Monday to Friday, or a list: `monday, tuesday 08:00..12:00`"
    return None


def _statement_of(fault: Fault) -> str | None:
    """Return the word of the statement of an incident in which something cannot stand."""
    if not fault.before.lstrip().startswith("incident"):
        return None
    found = _STATEMENT.search(fault.before)
    return found[1] if found else None
