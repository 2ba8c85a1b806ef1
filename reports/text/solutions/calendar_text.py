"""Until when a spec holds, in words; and its months as a table."""

from __future__ import annotations

from qps.compiler.quantities.certainty import CertaintyKind
from qps.reports.text.layout.table import Table
from qps.reports.text.words.certainty_marks import MARKS
from qps.reports.text.words.labels import Labels
from qps.reports.text.words.nouns import counted, noun
from qps.reports.text.words.phrases import phrase
from qps.reports.text.words.quantities import percent
from qps.solver.answer import Answer
from qps.solver.calendar.calendar_answer import CalendarAnswer, CalendarVerdict, MonthAnswer
from qps.solver.uncertainty.interval_result import PROBABILITY

_WORDS = {
    (CalendarVerdict.EXCEEDED, False): "forecast.exceeded",
    (CalendarVerdict.EXCEEDED, True): "forecast.likely_exceeded",
    (CalendarVerdict.NEVER, False): "forecast.never",
    (CalendarVerdict.NEVER, True): "forecast.unlikely",
}
"""The phrase of a verdict, and whether the month that fails has a probability."""
_MOST_MONTHS = 120
_YEAR = 12


def holds_until(answer: Answer, labels: Labels) -> str:
    """Return the last month that holds, its interval, and what limits then; empty without one."""
    found = answer.calendar
    if found is None:
        return ""
    last = found.months[-1].date.in_words
    if found.verdict is CalendarVerdict.HOLDS:
        at_end = phrase(
            "forecast.holds", date=f"{_mark(found)}{last}", users=_users(answer, found.months[-1])
        )
        return at_end + _interval(found)
    failing = found.failing
    assert failing is not None
    of = {
        "date": "" if found.until is None else f"{_mark(found)}{found.until.in_words}",
        "then": failing.date.in_words,
        "users": _users(answer, failing),
        "interval": _interval(found),
    }
    if found.verdict is CalendarVerdict.RANGE:
        return phrase("forecast.range", **of, name=answer.population)
    of |= {
        "limit": "" if found.limited_by is None else labels.of(found.limited_by),
        "capacity": f"{failing.capacity or 0:,}",
        "at": _at_confidence(found),
        "probability": "" if failing.probability is None else percent(failing.probability),
    }
    return phrase(_WORDS[found.verdict, failing.probability is not None], **of)


def current_month(answer: Answer) -> str:
    """Return the month that all other results are for, if they depend on it and it is not set."""
    found = answer.calendar
    if found is None or len({one.capacity for one in found.months}) == 1:
        return ""
    names = {setting.partition("=")[0].strip() for setting in answer.settings}
    return "" if found.name in names else found.months[0].date.in_words


def _mark(found: CalendarAnswer) -> str:
    """Return the mark of a date: that of the capacities, unless they cover their model errors."""
    kind = found.known.kind
    return "" if found.is_covered and kind is not CertaintyKind.LOWER_BOUND else MARKS[kind]


def _at_confidence(found: CalendarAnswer) -> str:
    """Return the confidence of the date, as of a capacity; empty with certain inputs."""
    if found.confidence is None:
        return ""
    way = "confident" if found.is_covered else "sampled"
    return phrase(f"forecast.{way}", sure=percent(found.confidence))


def _interval(found: CalendarAnswer) -> str:
    """Return the confidence of the date and its 90 % interval; empty with certain inputs."""
    if found.interval is None or found.confidence is None:
        return ""
    first, last = found.interval
    start = found.months[0].date.in_words
    least = phrase("forecast.before", date=start) if first is None else first.in_words
    most = phrase("forecast.before", date=start) if last is None else last.in_words
    if last == found.months[-1].date:
        most = phrase("forecast.or_later", date=most)
    at = _at_confidence(found)
    if first == last:
        return at
    return phrase(
        "forecast.interval",
        at=at,
        level=percent(PROBABILITY),
        least=least,
        most=most,
    )


def _users(answer: Answer, month: MonthAnswer) -> str:
    return counted(month.expected, answer.population)


def months_table(answer: Answer) -> Table:
    """Return the months with their expected users and capacities; of many, one of each year.

    A month whose capacity was not solved has a dash.
    """
    found = answer.calendar
    if found is None:
        return Table(("", ""), (), frozenset())
    step = 1 if len(found.months) <= _MOST_MONTHS else _YEAR
    edges = {found.until, found.ends}
    shown = [
        month
        for number, month in enumerate(found.months)
        if number % step == 0 or month.date in edges
    ]
    has_probability = any(month.probability is not None for month in found.months)
    rows = [
        (
            month.date.iso,
            f"{month.expected:,}",
            f"{month.capacity:,}" if month.capacity is not None else _without(month),
            *([_probability(month)] if has_probability else []),
            phrase("forecast.yes" if month.holds else "forecast.no"),
        )
        for month in shown
    ]
    headings = (
        phrase("forecast.month"),
        phrase("forecast.expected", noun=noun(answer.population)),
        "Capacity",
        *([phrase("forecast.probability")] if has_probability else []),
        phrase("forecast.supported"),
    )
    return Table(headings, tuple(rows), frozenset(range(1, len(headings) - 1)))


def _without(month: MonthAnswer) -> str:
    return "0" if month.is_solved else "–"


def _probability(month: MonthAnswer) -> str:
    return "–" if month.probability is None else percent(month.probability)
