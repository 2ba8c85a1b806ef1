"""The answer of a spec over revisions: as JSON, as a table."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from qps.reports.text.layout.facts import COLUMNS
from qps.reports.text.layout.table import Table
from qps.reports.text.layout.text_layout import TextLayout
from qps.reports.text.words.labels import PLAIN, Labels
from qps.reports.text.words.nouns import counted, noun
from qps.reports.text.words.phrases import phrase
from qps.reports.text.words.quantities import percent

_SHORT = 10


class RevisionState(StrEnum):
    """State of a spec at a revision."""

    ANSWERS = "answers"
    MISTAKES = "mistakes"
    MODULE = "module"
    NO_ANSWER = phrase("history.no_answer")


class Point(Struct, frozen=True, kw_only=True):
    """A revision that changed a spec, with the name and the capacity of the spec.

    `users` is the capacity that `qps solve` prints, which covers the uncertainty of inputs, at a
    `confidence`, and model errors; `nominal_users` is computed with nominal inputs. Both are null
    if no user is supported; `reason` has the reason for a missing result.
    """

    commit: str
    day: str
    subject: str
    file: str
    state: RevisionState
    users: int | None
    nominal_users: int | None
    confidence: float | None
    limited_by: str | None
    reason: str | None


class History(Struct, frozen=True, kw_only=True):
    """Capacity by revision, oldest first; `is_whole` is false if older revisions are omitted."""

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
            is_known = point.state is RevisionState.ANSWERS
            now = point.users or 0
            found.append(now - before if is_known and before is not None else None)
            before = now if is_known else before
        return tuple(found)


_WORDS = {one: one.value for one in RevisionState} | {
    RevisionState.MISTAKES: "errors",
    RevisionState.NO_ANSWER: phrase("history.no_result"),
}


def history_text(
    history: History, *, labels: Labels = PLAIN, markdown: bool = False, width: int = COLUMNS
) -> str:
    """Return a row for each revision, and in a line how far it has come.

    `labels` are those of the spec as it is now: what it has no more has its identifier.
    """
    layout = TextLayout(
        title=phrase("history.title"),
        place=history.file,
        facts=(("Capacity", _summary(history)),),
        tables=(_table(history, labels),),
    )
    return layout.printed(markdown=markdown, width=width)


def _called(limit: str, labels: Labels) -> str:
    """Return what limits a capacity by its label; a utilization by the resource."""
    named = labels.sentence(f" `{limit}`").strip()  # begins no sentence
    return named.strip("`") if named == f"`{limit}`" else named.removesuffix(" utilization")


def _table(history: History, labels: Labels) -> Table:
    of = noun(history.population)
    # beside what is supported stands what was computed, where that is another number
    has_nominal = any(point.nominal_users != point.users for point in history.points)
    rows = []
    for point, by in zip(history.points, history.differences, strict=True):
        is_answered = point.state is RevisionState.ANSWERS
        users = f"{point.users or 0:,}" if is_answered else "-"
        moved = "" if by is None else f"{by:+,}" if by else "0"
        limit = _called(point.limited_by, labels) if point.limited_by else ""
        why = limit if is_answered else f"{_WORDS[point.state]}: {point.reason or ''}"
        nominal = [f"{point.nominal_users or 0:,}" if is_answered else "-"] * has_nominal
        capacity = users, moved, *nominal
        rows.append((point.day, point.commit[:_SHORT], *capacity, why, point.subject))
    nominal = [phrase("diff.label.nominal")] * has_nominal
    headings = (
        *("Date", "Revision", of.capitalize(), "Change"),
        *(*nominal, "Bottleneck", "Subject"),
    )
    right = frozenset(range(2, 4 + has_nominal))
    # reasons for no result go on in further lines; subjects are cut before bottlenecks
    has_reasons = any(point.state is not RevisionState.ANSWERS for point in history.points)
    reasons = 4 + has_nominal
    if has_reasons:
        return Table(headings, tuple(rows), right, long=frozenset([reasons]))
    return Table(headings, tuple(rows), right, firm=frozenset([0, 1, reasons]))


def _summary(history: History) -> str:
    answers = [point for point in history.points if point.state is RevisionState.ANSWERS]
    if not answers:
        return phrase("history.none")
    first, last = answers[0].users or 0, answers[-1].users or 0
    older = "" if history.is_whole else phrase("history.older")
    moved = phrase("history.only")
    if len(answers) > 1:
        by = f"{last - first:+,}" if last != first else "unchanged"
        moved = f"{by} since {answers[0].day}"
    users = counted(last, history.population)
    if answers[-1].confidence is not None:
        users += phrase("capacity.confident", sure=percent(answers[-1].confidence))
    return f"{users}, {moved}{older}"
