"""The answer of a spec over revisions: as JSON, as a table."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

from msgspec import Struct

from qps.reports.text.facts import COLUMNS, notes_text
from qps.reports.text.nouns import counted, noun
from qps.reports.text.table import Table, escaped, joined

_SHORT = 10


class State(StrEnum):
    """What a spec was at a revision."""

    ANSWERS = "answers"
    MISTAKES = "mistakes"
    MODULE = "module"
    NO_ANSWER = "no answer"


class Point(Struct, frozen=True, kw_only=True):
    """A revision that may have moved a spec: what it was called, and what it answered since.

    `users` is null for nobody; `reason` says why there is no answer.
    """

    commit: str
    day: str
    subject: str
    file: str
    state: State
    users: int | None
    limited_by: str | None
    reason: str | None


class History(Struct, frozen=True, kw_only=True):
    """What a spec answered, the oldest first; not `is_whole` where older revisions are left out."""

    schema: str
    file: str
    population: str
    is_whole: bool
    points: tuple[Point, ...]

    @property
    def differences(self) -> tuple[int | None, ...]:
        """By how many users each revision moved the answer; None where nothing was known before."""
        found: list[int | None] = []
        before: int | None = None
        for point in self.points:
            is_known = point.state is State.ANSWERS
            now = point.users or 0
            found.append(now - before if is_known and before is not None else None)
            before = now if is_known else before
        return tuple(found)


_WORDS = {one: one.value for one in State} | {
    State.MISTAKES: "errors",
    State.NO_ANSWER: "no result",
}


def history_text(history: History, *, markdown: bool = False, width: int = COLUMNS) -> str:
    """Return a row for each revision, and in a line how far it has come."""
    table = _table(history)
    told = _summary(history)
    if markdown:
        head = f"### {escaped(history.file)}\n\n{escaped(told)}\n\n"
        return head + table.as_markdown()
    return joined([notes_text([told], width), table.as_text(width=width)])


def _table(history: History) -> Table:
    of = noun(history.population)
    rows = []
    for point, by in zip(history.points, history.differences, strict=True):
        is_told = point.state is State.ANSWERS
        users = f"{point.users or 0:,}" if is_told else "-"
        moved = "" if by is None else f"{by:+,}" if by else "0"
        why = point.limited_by or "" if is_told else f"{_WORDS[point.state]}: {point.reason or ''}"
        rows.append((point.day, point.commit[:_SHORT], users, moved, why, point.subject))
    headings = ("Date", "Revision", of.capitalize(), "Change", "Bottleneck", "Subject")
    return Table(headings, tuple(rows), frozenset([2, 3]), long=frozenset([4, 5]))


def _summary(history: History) -> str:
    answers = [point for point in history.points if point.state is State.ANSWERS]
    name = Path(history.file).name
    if not answers:
        return f"{name} has no capacity at any of these revisions."
    first, last = answers[0].users or 0, answers[-1].users or 0
    older = "" if history.is_whole else "; older revisions left out"
    moved = f"{last - first:+,} since {answers[0].day}" if len(answers) > 1 else "the only result"
    return f"{name}: {counted(last, history.population)}, {moved}{older}."
