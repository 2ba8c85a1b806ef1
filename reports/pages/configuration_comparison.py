"""Configurations side by side on a page: what is compared, and what each of them answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from qps.reports.pages.live.live_page import column_names
from qps.reports.pages.page_rows import first_to_saturate, requirement_rows
from qps.reports.pages.plain_sentences import unquoted
from qps.reports.text.layout.table import Table
from qps.reports.text.solutions.answer_text import title_of
from qps.reports.text.solutions.change_wording import Wording, wording
from qps.reports.text.solutions.first_screen import decision
from qps.reports.text.words.certainty_marks import marked_users
from qps.reports.text.words.nouns import noun
from qps.reports.text.words.phrases import phrase
from qps.solver.answer import Answer
from qps.solver.variants.model_variants import ShownCase

_MOST_NAMED = 3
_ROW_ORDER = (
    "Limit",
    "Bottleneck",
    phrase("accuracy"),
    phrase("term.next_limit"),
    "Cost",
)


class ConfigurationComparison(Struct, frozen=True, kw_only=True):
    """What is compared in a title, in which files it stands, and a column for each of it."""

    title: str
    files: tuple[str, ...]
    table: Table


def compared(
    cases: Sequence[ShownCase], answers: Sequence[Answer]
) -> ConfigurationComparison | None:
    """Return what a page of several configurations begins with; None for one alone."""
    if len(cases) == 1:
        return None
    names = column_names(cases)
    files = tuple(dict.fromkeys(case.model.file for case in cases))
    of = f"{title_of(cases[0].model)}: " if len(files) == 1 else ""
    what = f"{len(names)} configurations" if len(names) > _MOST_NAMED else _and(names)
    return ConfigurationComparison(
        title=f"{of}{what} compared", files=files, table=_table(names, cases, answers)
    )


def _and(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}"


def _table(
    names: Sequence[str],
    cases: Sequence[ShownCase],
    answers: Sequence[Answer],
) -> Table:
    worded = [
        (answer, wording(case.model, case.configuration, answer))
        for case, answer in zip(cases, answers, strict=True)
    ]
    nouns = {noun(answer.population) for answer in answers}
    rows = [
        (
            f"Capacity ({nouns.pop() if len(nouns) == 1 else 'users'})",
            *map(_users, answers),
        ),
        *_rows([_facts(*one) for one in worded]),
        (
            phrase("page.first"),
            *(words.labels.sentence(first_to_saturate(answer)) for answer, words in worded),
        ),
        (
            phrase("report.shown_at"),
            *(f"{answer.population} = {answer.at:,}" for answer in answers),
        ),
    ]
    table_rows = [
        {
            row.measure: f"{row.value} of {row.limit}"
            for row in requirement_rows(answer, words.labels.of)
        }
        for answer, words in worded
    ]
    return Table(("Measure", *names), (*rows, *_rows(table_rows)))


def _rows(columns: Sequence[Mapping[str, str]]) -> list[tuple[str, ...]]:
    """Return a row for each name that any of the columns has a value of."""
    names = dict.fromkeys(name for one in columns for name in one)
    return [(name, *(one.get(name, "") for one in columns)) for name in names]


def _facts(answer: Answer, words: Wording) -> dict[str, str]:
    """Return the first screen of an answer, in a few words each."""
    facts = dict(fact.pair for fact in decision(answer, words).facts)
    return {label: unquoted(facts[label]) for label in _ROW_ORDER if label in facts}


def _users(answer: Answer) -> str:
    if answer.capacity is None:
        return "none"
    return marked_users(answer.capacity, answer.known, range_limits=answer.limited_by is None)
