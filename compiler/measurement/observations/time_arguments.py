"""Times as people write them: how long a window is, how far back, until when."""

from __future__ import annotations

import re
import time
from datetime import UTC, datetime
from fractions import Fraction

from qps.compiler.measurement.measured_tables import DataError

LEAST_WINDOW = Fraction(1)
"""Of counters that are scraped, in s."""
LEAST_STRETCH = Fraction(1, 1000)
"""The source of each item."""
_LONGEST_WINDOW = Fraction(7 * 86_400)
_LONGEST_SINCE = Fraction(5 * 366 * 86_400)
_MOST_SHOWN = 40
_UNITS = {"ms": "0.001", "s": "1", "m": "60", "h": "3600", "d": "86400", "w": "604800"}


def duration(text: str) -> Fraction | None:
    """Return a time as Prometheus writes it, in s; None for what is none.

    >>> duration("1h30m"), duration("7d"), duration("5")
    (Fraction(5400, 1), Fraction(604800, 1), None)
    """
    compact = text.replace(" ", "")
    if not re.fullmatch(r"(?:\d{1,9}(?:\.\d{1,6})?(?:ms|[smhdw]))+", compact, re.ASCII):
        return None
    parts = re.findall(r"([\d.]+)(ms|[smhdw])", compact)
    return sum((Fraction(number) * Fraction(_UNITS[unit]) for number, unit in parts), Fraction(0))


def window_of(text: str, least: Fraction) -> Fraction:
    """Return how long a window is, in s; DataError where that is none from `least` to a week."""
    found = duration(text)
    if found is None or not least <= found <= _LONGEST_WINDOW:
        raise DataError(
            f"`--window {text[:_MOST_SHOWN]}` is not a time between {float(least):g} s and a week",
            "write a time such as `5m` or `30s`",
        )
    return found


def back_to(text: str) -> Fraction:
    """Return how far back a window goes, in s; DataError where that is no time."""
    found = duration(text)
    if found is None or not 0 < found <= _LONGEST_SINCE:
        raise DataError(
            f"`--since {text[:_MOST_SHOWN]}` is not a time",
            "write a time such as `7d`, `12h` or `90m`",
        )
    return found


def moment_of(text: str | None) -> float:
    """Return a moment in s since 1970: now where none is said, DataError where it is none."""
    if text is None:
        return time.time()
    try:
        found = datetime.fromisoformat(text)
        found = found if found.tzinfo is not None else found.replace(tzinfo=UTC)
        return found.timestamp()
    except (ValueError, OverflowError) as error:
        raise DataError(
            f"`--until {text[:_MOST_SHOWN]}` is not a date and time", "write `2026-11-16T00:00Z`"
        ) from error
