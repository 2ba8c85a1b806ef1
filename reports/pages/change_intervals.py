"""Capacities with changes as intervals on one axis, and the capacity now.

The scripts of the page make the same: `scripts/live/charts/change_intervals.js`.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from qps.reports.pages.plain_sentences import unquoted
from qps.reports.text.solutions.advice_view import AdviceView
from qps.reports.text.solutions.change_rows import marks_of, printed_with
from qps.reports.text.solutions.change_wording import Wording
from qps.reports.text.solutions.uncertainty_text import rounded_ends
from qps.reports.text.words.nouns import noun
from qps.reports.text.words.phrases import phrase
from qps.solver.answer import Answer

_MARGIN = 3.0
"""Beyond the ends of all intervals, in per cent."""


class ChangeInterval(Struct, frozen=True, kw_only=True):
    """The capacity with a change as a dot, its interval as a bar; places in per cent of the axis.

    Without an interval, `text` says so.
    """

    text: str
    low: float = 0.0
    length: float = 0.0
    dot: float | None = None
    now: float = 0.0


def changes_note(answer: Answer, words: Wording, *, draws_samples: bool) -> str:
    """Return what the capacities of changes count, why they have no intervals, and their marks."""
    if draws_samples:
        key = "changes.count"
    elif any(map(has_interval, words.changes)):
        key = "changes.intervals"
    else:
        key = "changes.exact" if answer.uncertainty is None else "changes.unaffected"
    marks = marks_of(words.changes, answer, words.labels)
    return "; ".join([phrase(key, noun=noun(answer.population)), *map(unquoted, marks)])


def change_intervals(
    answer: Answer, words: Wording, changes: Sequence[AdviceView]
) -> list[ChangeInterval | None]:
    """Return the intervals of changes on the axis of all; nothing if none has one."""
    if not any(map(has_interval, words.changes)):
        return [None for _ in changes]
    ends = [one.capacity_interval for one in words.changes if one.capacity_interval is not None]
    populations = [words.supported, *(end or 0 for one in ends for end in (one.least, one.most))]
    low, high = min(populations), max(populations)

    def at(population: float) -> float:
        return _MARGIN + (100 - 2 * _MARGIN) * (population - low) / (high - low)

    found: list[ChangeInterval | None] = []
    for one in changes:
        interval = one.capacity_interval
        if interval is None:
            found.append(ChangeInterval(text=phrase("change.no_interval")))
            continue
        start, end = at(interval.least or low), at(interval.most or low)
        found.append(
            ChangeInterval(
                text=rounded_ends(interval, answer.high),
                low=start,
                length=end - start,
                dot=at(max(low, printed_with(one, answer))),
                now=at(words.supported),
            )
        )
    return found


def has_interval(one: AdviceView) -> bool:
    """Return whether uncertain inputs change the capacity with a change."""
    interval = one.capacity_interval
    return interval is not None and interval.least != interval.most
