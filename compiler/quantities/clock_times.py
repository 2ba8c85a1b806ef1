"""Times of a day or a week: minutes since its start, which is Monday at 00:00."""

from __future__ import annotations

import re

HOUR = 60
DAY = 24 * HOUR
WEEK = 7 * DAY
CYCLES = {"day": DAY, "week": WEEK}
"""What a profile can be over, and its length."""

_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
DAYS = {name: (number,) for number, name in enumerate(_WEEKDAYS)} | {
    "weekday": (0, 1, 2, 3, 4),
    "weekend": (5, 6),
}
"""The days of each word of a profile, Monday as 0."""

_CLOCK = re.compile(r"(\d{1,2})(?::(\d{2}))?(?::00)?")
_ABBREVIATED = 3
_AT = ", "


def read_clock(text: str) -> int | None:
    """Return the minutes of a time, `09:00` or `24:00`; None if it is none.

    >>> read_clock("09:30"), read_clock("9"), read_clock("24:00"), read_clock("24:01")
    (570, 540, 1440, None)
    """
    found = _CLOCK.fullmatch(text.strip())
    if found is None:
        return None
    minutes = int(found[2] or 0)
    minute = HOUR * int(found[1]) + minutes
    return minute if minutes < HOUR and minute <= DAY else None


def read_day(text: str) -> int | None:
    """Return the number of a day, Monday as 0, by its name or its first three letters.

    >>> read_day("Fri"), read_day("sunday"), read_day("weekday")
    (4, 6, None)
    """
    word = text.strip().lower()
    names = [one for one in _WEEKDAYS if word in (one, one[:_ABBREVIATED])]
    return _WEEKDAYS.index(names[0]) if names else None


def clock(minute: int) -> str:
    """Return the time of a minute of the day or the week.

    >>> clock(570), clock(DAY + 5), clock(DAY)
    ('09:30', '00:05', '00:00')
    """
    return f"{minute % DAY // HOUR:02d}:{minute % HOUR:02d}"


def moment_name(minute: int, cycle: int) -> str:
    """Return the name of a minute of a day, or with its day of a week.

    >>> moment_name(1200, DAY), moment_name(4 * DAY + 1200, WEEK)
    ('20:00', '20:00 on Friday')
    """
    return clock(minute) if cycle == DAY else f"{clock(minute)} on {day_of(minute)}"


def is_moment(mode: str) -> bool:
    """Return whether the name of a mode is that of a moment alone: no other starts with a time.

    >>> is_moment("20:00 on Friday"), is_moment("20_web_lost"), is_moment("night, 20:00")
    (True, False, False)
    """
    return mode[:2].isdigit() and mode[2:3] == ":"


def mode_at(mode: str, moment: str) -> str:
    """Return the name of a mode at a moment.

    >>> mode_at("night", "20:00")
    'night, 20:00'
    """
    return f"{mode}{_AT}{moment}"


def without_moment(mode: str | None) -> str:
    """Return the name of a mode at any moment; empty for a moment alone.

    >>> without_moment("night, 20:00"), without_moment("night"), without_moment("20:00")
    ('night', 'night', '')
    """
    name = mode or ""
    return "" if is_moment(name) else name.partition(_AT)[0]


def moment_of(mode: str | None) -> str:
    """Return the moment in the name of a mode; empty where there is none.

    >>> moment_of("night, 20:00"), moment_of("night"), moment_of("20:00")
    ('20:00', '', '20:00')
    """
    name = mode or ""
    return name if is_moment(name) else name.partition(_AT)[2]


def day_of(minute: int) -> str:
    """Return the day of a minute of the week.

    >>> day_of(0), day_of(WEEK - 1)
    ('Monday', 'Sunday')
    """
    return _WEEKDAYS[minute // DAY % len(_WEEKDAYS)].title()
