"""The day or the week of a spec with profiles, in words; and its moments as a table."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

from qps.compiler.quantities.clock_times import DAY, clock, day_of, moment_name
from qps.compiler.quantities.dimension import MONEY, TIME
from qps.reports.text.layout.table import Table
from qps.reports.text.words.labels import Labels
from qps.reports.text.words.nouns import counted
from qps.reports.text.words.phrases import phrase
from qps.reports.text.words.quantities import percent, quantity
from qps.solver.answer import Answer
from qps.solver.profiles.course_answer import (
    Backlog,
    CourseAnswer,
    MomentAnswer,
    ServerHours,
    TransientQueue,
)

_MOST_ROWS = 12
_BARS = "▁▂▃▄▅▆▇█"
_STRIP = 24
"""Marks of a day; those of a week stand for more hours each."""
_STRIP_OF_A_DAY_OF_A_WEEK = 6
_MOST_BACKLOGS = 3
_MINUTE = 60
_ROUNDING = 1e-6


def course_rows(answer: Answer, labels: Labels) -> list[tuple[str, str]]:
    """Return the worst moment, backlogs, and what servers that follow the load would save."""
    found = answer.course
    if found is None:
        return []
    rows = [
        (phrase("course.worst"), labels.sentence(_worst(found, labels))),
        (phrase("course.utilization"), strip(found)),
    ]
    rows += [
        (phrase("course.backlog"), labels.sentence(_backlog(one, found, labels)))
        for one in found.backlogs[:_MOST_BACKLOGS]
    ]
    rows += [
        (phrase("course.slow"), labels.sentence(_transient(one, labels))) for one in found.transient
    ]
    saving = [one for one in found.servers if one.needed < one.hours]
    rows += [(phrase("course.servers"), _servers(one, found)) for one in saving]
    return rows


def course_labels() -> tuple[str, ...]:
    """Return the labels of these rows."""
    keys = ("worst", "utilization", "backlog", "slow", "servers")
    return tuple(phrase(f"course.{key}") for key in keys)


def _worst(found: CourseAnswer, labels: Labels) -> str:
    one, quiet = found.worst, found.quietest
    text = phrase("course.worst_moment", when=_when(one, found), why=_why(one, labels))
    if quiet.utilization == one.utilization or quiet.resource is None:
        return text
    return text + phrase(
        "course.quietest",
        when=_when(quiet, found),
        resource=labels.of(quiet.resource),
        load=_load(quiet.utilization),
    )


def _when(one: MomentAnswer, found: CourseAnswer) -> str:
    """Return `18:00 to 21:00`, or `18:00 to 21:00 on Friday`."""
    if one.end - one.start >= found.cycle:
        return phrase("course.always")
    if found.cycle == DAY:
        return phrase("course.span", start=clock(one.start), end=_end(one.end))
    if day_of(one.start) == day_of(one.end - 1):
        span = phrase("course.span", start=clock(one.start), end=_end(one.end))
        return phrase("course.on_day", span=span, day=day_of(one.start))
    start, end = moment_name(one.start, found.cycle), moment_name(one.end, found.cycle)
    return phrase("course.span", start=start, end=end)


def _end(minute: int) -> str:
    return "24:00" if minute % DAY == 0 else clock(minute)


def _why(one: MomentAnswer, labels: Labels) -> str:
    if one.resource is None:
        return phrase("course.no_load")
    load = phrase("course.load", resource=labels.of(one.resource), load=_load(one.utilization))
    if one.requirement is None or one.requirement.startswith(f"{one.resource}."):
        return load
    if not isfinite(one.used):
        return f"{labels.measure(one.requirement)}; {load}"
    used = phrase(
        "course.used", requirement=labels.measure(one.requirement), part=percent(one.used)
    )
    return f"{used}, {load}"


def _load(load: float) -> str:
    return percent(load) if isfinite(load) else phrase("course.endless")


def _backlog(one: Backlog, found: CourseAnswer, labels: Labels) -> str:
    of = {
        "resource": labels.of(one.resource),
        "start": moment_name(round(one.start), found.cycle),
        "cycle": phrase("course.day" if found.cycle == DAY else "course.week"),
    }
    if one.cleared_at is None:
        return phrase("course.grows", **of)
    return phrase(
        "course.peak",
        **of,
        worst=duration(one.worst),
        at=moment_name(round(one.worst_at), found.cycle),
        cleared=moment_name(_up(one.cleared_at), found.cycle),
    )


def duration(seconds: float) -> str:
    """Return a time in the unit in which it is read.

    >>> duration(1350), duration(90), duration(12_240)
    ('22.5 minutes', '90 s', '3.4 hours')
    """
    if seconds < 2 * _MINUTE:
        return quantity(seconds, TIME)
    factor, _ = duration_scale(seconds)
    key = "course.minutes" if factor == _MINUTE else "course.hours"
    return phrase(key, many=f"{seconds / factor:.3g}")


def duration_scale(seconds: float) -> tuple[float, str]:
    """Return the unit in which a time is read, in s, and its name.

    >>> duration_scale(1350), duration_scale(90), duration_scale(12_240)
    ((60, 'minutes'), (1, 's'), (3600, 'hours'))
    """
    if seconds < 2 * _MINUTE:
        return 1, phrase("course.unit.seconds")
    if seconds < 2 * _MINUTE * _MINUTE:
        return _MINUTE, phrase("course.unit.minutes")
    return _MINUTE * _MINUTE, phrase("course.unit.hours")


def _up(minutes: float) -> int:
    whole = int(minutes)
    return whole if minutes - whole < _ROUNDING else whole + 1


def _transient(one: TransientQueue, labels: Labels) -> str:
    of = {"resource": labels.of(one.resource), "wait": duration(one.wait), "at": one.at}
    if one.steady_wait is None:
        return phrase("course.overloaded_queue", **of)
    return phrase("course.transient", **of, steady=duration(one.steady_wait))


def _servers(one: ServerHours, found: CourseAnswer) -> str:
    saved = 1 - one.needed / one.hours
    money = ""
    if one.cost is not None and one.needed_cost is not None:
        costs = (quantity(each, MONEY) for each in (one.needed_cost, one.cost))
        money = phrase("course.money", **dict(zip(("needed", "all"), costs, strict=True)))
    return phrase(
        "course.needed",
        node=one.node,
        needed=f"{one.needed:,.4g}",
        hours=f"{one.hours:,.4g}",
        cycle=phrase("course.day" if found.cycle == DAY else "course.week"),
        saved=percent(saved),
        money=money,
    )


def strip(found: CourseAnswer) -> str:
    """Return the highest utilization over the cycle as a row of bars."""
    parts = _STRIP if found.cycle == DAY else _STRIP_OF_A_DAY_OF_A_WEEK
    step = DAY // parts
    most = max((one.utilization for one in found.moments if isfinite(one.utilization)), default=1)
    marks = []
    for start in range(0, found.cycle, step):
        loads = [
            one.utilization for one in found.moments if one.start < start + step and one.end > start
        ]
        marks.append(bar(max(loads), max(most, 1.0)))
    if found.cycle == DAY:
        return phrase("course.strip", bars="".join(marks))
    days = ["".join(marks[i : i + parts]) for i in range(0, len(marks), parts)]
    return phrase("course.strip_of_a_week", bars=" ".join(days))


def bar(load: float, most: float) -> str:
    """Return the mark of a value, of which there is one for the largest."""
    place = len(_BARS) - 1 if not isfinite(load) else int(load / most * len(_BARS))
    return _BARS[min(max(place, 0), len(_BARS) - 1)]


def _distinct(moments: Sequence[MomentAnswer]) -> list[MomentAnswer]:
    """Return the first of the moments that are alike in all but their time."""
    first: dict[object, MomentAnswer] = {}
    for one in moments:
        first.setdefault((one.values, one.resource, one.requirement, one.backlog), one)
    return list(first.values())


def _nearest_moments(moments: Sequence[MomentAnswer]) -> list[MomentAnswer]:
    """Return, of many moments, the nearest to each limit, then the nearest to any, in order."""
    ranked = sorted(moments, key=lambda one: (one.is_met, -one.used))
    nearest: dict[object, MomentAnswer] = {}
    for one in ranked:
        nearest.setdefault((one.requirement or one.resource, one.is_met), one)
    firsts = list(nearest.values())
    most = [*firsts, *(one for one in ranked if one not in firsts)][:_MOST_ROWS]
    return sorted(most, key=lambda one: one.start)


def moments_table(answer: Answer, labels: Labels) -> Table:
    """Return the moments of a cycle; of many, those that differ, the nearest to limits."""
    found = answer.course
    if found is None:
        return Table(("", ""), (), frozenset())
    shown, more = list(found.moments), ""
    if len(shown) > _MOST_ROWS:
        distinct = _distinct(shown)
        key = "course.alike" if len(distinct) <= _MOST_ROWS else "course.more"
        shown = distinct if len(distinct) <= _MOST_ROWS else _nearest_moments(distinct)
        more = phrase(key, count=len(found.moments) - len(shown))
    has_backlog = any(one.backlog for one in shown)
    rows = [
        (
            _when(one, found),
            *(f"{value:.4g}" for _, value in one.values),
            _load(one.utilization),
            "" if one.resource is None else labels.of(one.resource),
            *([duration(one.backlog) if one.backlog else ""] if has_backlog else []),
            phrase("forecast.yes" if one.is_met else "forecast.no"),
        )
        for one in shown
    ]
    headings = (
        phrase("course.at", users=counted(found.at, answer.population)),
        *(name for name, _ in found.moments[0].values),
        phrase("course.highest"),
        "",
        *([phrase("course.backlog")] if has_backlog else []),
        phrase("course.met"),
    )
    if more:
        rows.append((more, *("" for _ in headings[1:])))
    numbers = frozenset(range(1, 2 + len(found.moments[0].values)))
    return Table(headings, tuple(rows), numbers)
