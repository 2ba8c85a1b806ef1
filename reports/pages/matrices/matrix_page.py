"""The page of a matrix result: the request, the answer in a sentence, and all rows."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from msgspec import Struct

from qps.compiler.check.claims.check_matrices import ANSWERS
from qps.compiler.diagnostics.render import printable
from qps.compiler.quantities.certainty import CertaintyKind
from qps.reports.pages.json_values import Json
from qps.reports.pages.matrices.matrix_columns import DIGITS, ResultColumn, columns_of_table
from qps.reports.pages.plain_sentences import unquoted
from qps.reports.text.layout.table import Table
from qps.reports.text.matrix_output import faults_in_words, one_by_one_in_words
from qps.reports.text.words.certainty_marks import MARKS
from qps.reports.text.words.nouns import counted, noun, noun_of_one
from qps.reports.text.words.phrases import phrase
from qps.reports.text.words.quantities import joined_words, unit_symbols
from qps.solver.matrix.matrix_request import Request, read_request
from qps.solver.matrix.row_tables import KNOWN, LARGEST, LIMITED, LOAD, one_by_one_in
from qps.solver.matrix.rows.scalar_fallback import FAULT

MOST_ROWS = 100_000
"""Rows that a page holds: more would neither be small nor follow at once."""
_STATIC_ROWS = 50
_MOST_LINES, _MOST_WORDS = 9, 40
COSTS = ("cost", "running_cost")
_MORE, _ABOUT = MARKS[CertaintyKind.LOWER_BOUND], MARKS[CertaintyKind.APPROXIMATION]
_MARKS = {kind.value: mark for kind, mark in MARKS.items() if mark}


def matrix_page(table: pa.Table, origin: str) -> MatrixPage:
    """Return the page of a table with the schema of a result; `origin` is the file it is from."""
    return MatrixPage(
        columns=columns_of_table(table),
        request=_request_in(table),
        rows=len(table),
        origin=origin,
        one_by_one=one_by_one_in(table),
    )


def _request_in(table: pa.Table) -> Request | None:
    """Return the request in the metadata of a schema."""
    about = table.schema.metadata or {}
    try:  # `asked` before qps/matrix/5
        found = json.loads(about.get(b"request", about.get(b"asked", b"null")))
    except (ValueError, RecursionError):
        return None
    return read_request(found) if isinstance(found, dict) else None


class MatrixPage(Struct, frozen=True, kw_only=True):
    """Everything that stands on the page: columns of rows, their request, and their origin."""

    columns: tuple[ResultColumn, ...]
    request: Request | None
    rows: int
    origin: str
    one_by_one: int

    def column(self, name: str) -> ResultColumn | None:
        """Return an answer by its name, None where there is none with a value."""
        named = [c for c in self.columns if c.answer == name and c.values]
        # Where the spec has a column of that name, the answer is the one that gave way.
        found = sorted(named, key=lambda column: column.name == name)
        return found[0] if found else None

    @property
    def _population(self) -> str:
        """The name of the users, which some results do not name."""
        return printable(self.request.population) if self.request else "N"

    @property
    def source(self) -> str:
        """The file of the spec, or of the result where it does not say."""
        return printable(self.request.file if self.request else self.origin)

    @property
    def is_answered(self) -> bool:
        """Whether any configuration carries somebody."""
        return bool(self.feasible_rows.any())

    @property
    def axes(self) -> list[ResultColumn]:
        """What was gone over."""
        return [column for column in self.columns if column.is_axis]

    @property
    def feasible_rows(self) -> Any:
        """Which rows carry somebody, as truth values."""
        reason, largest = self.column("reason"), self.column(LARGEST)
        feasible_rows = np.ones(self.rows, dtype=bool) if reason is None else reason.codes == 0
        return feasible_rows & (largest.codes > 0) if largest is not None else feasible_rows

    @property
    def faults(self) -> int:
        """How many rows a fault of ours left without an answer."""
        reason = self.column("reason")
        if reason is None:
            return 0
        faults = [i for i, text in enumerate(reason.values, 1) if text.startswith(FAULT)]
        return int(np.isin(reason.codes, faults).sum())

    # -- in words ------------------------------------------------------------------------

    @property
    def title(self) -> str:
        """What the page is about."""
        if self.request is None:
            return phrase("matrix.page_title", file=printable(self.origin))
        named = f"{self.request.model}: {self.request.matrix}"
        return printable(f"{named}, {self.request.title}" if self.request.title else named)

    @property
    def answer(self) -> str:
        """How many configurations there are, and how many of them are feasible."""
        sentences = [self._supported_text()]
        if self.faults:
            sentences.append(f"{faults_in_words(self.faults)}.")
        if self.one_by_one:
            size = self.request.configurations if self.request else self.rows
            sentences.append(f"{one_by_one_in_words(self.one_by_one, size)}.")
        return " ".join(sentences)

    def _supported_text(self) -> str:
        total = self.request.configurations if self.request else self.rows
        feasible_rows, faults = int(self.feasible_rows.sum()), self.faults
        nobody = self.rows - feasible_rows - faults
        text = f"{total:,} configuration{'s' * (total != 1)}"
        if self._parts("where"):
            text += phrase("matrix.meet_conditions", rows=self.rows - faults)
            if nobody:
                return phrase("matrix.of_them_infeasible", text=text, infeasible=nobody)
            return f"{text}."
        if total != self.rows:
            text += phrase("matrix.after_exclusions", rows=self.rows)
        if feasible_rows == self.rows:
            return f"{text}, {'all ' if total > 1 else ''}feasible."
        return phrase(
            "matrix.feasible_infeasible", text=text, feasible=feasible_rows, infeasible=nobody
        )

    def leads(self) -> Iterable[str]:
        """Yield the cheapest feasible configuration, and the one of the highest capacity."""
        largest = self.column(LARGEST)
        costs = [c for c in map(self.column, COSTS) if c is not None]
        for cost in costs:
            row, ties = self._best(cost, 1, [(largest, -1)])
            if row is not None:
                yield phrase(
                    "page.matrix.cheapest",
                    running=phrase("page.matrix.running") if cost.name == "running_cost" else "",
                    cost=cost.quantity(cost.at(row)),
                    users="" if largest is None else f", {self._users(largest, row)}",
                    configuration=self._named(row),
                    ties=_ties(ties),
                )
        if largest is None:
            return
        others = [(cost, 1) for cost in costs] + [(self.column("quality_at"), 1)]
        row, ties = self._best(largest, -1, others)
        if row is not None:
            yield phrase(
                "page.matrix.best",
                users=self._users(largest, row),
                cost="".join(f", {cost.quantity(cost.at(row))}" for cost in costs[:1]),
                configuration=self._named(row),
                ties=_ties(ties),
            )

    def _best(
        self,
        first: ResultColumn,
        sign: int,
        others: Sequence[tuple[ResultColumn | None, int]],
    ) -> tuple[int | None, int]:
        """Return the row that is least (`sign` 1) or largest, and how many others are as good."""
        left = np.flatnonzero(self.feasible_rows & (first.codes > 0))
        if not left.size:
            return None, 0
        for column, direction in [(first, sign), *others]:
            if column is None:
                continue
            keys = np.where(column.codes[left] > 0, direction * column.codes[left], self.rows + 1)
            left = left[keys == keys.min()]
        return int(left[0]), left.size - 1

    def _users(self, largest: ResultColumn, row: int) -> str:
        count = largest.at(row)
        if count is None:
            return f"no {noun(self._population)}"
        mark = self._mark(largest, row)
        is_least = self._is_end_of_range(largest, row) and mark == _MORE
        count_text = counted(count, self._population)
        if not is_least:
            return mark + count_text
        amount, _, users = count_text.partition(" ")
        return f"{phrase('at_least', users=amount)} {users}"

    def _is_end_of_range(self, column: ResultColumn, row: int) -> bool:
        """Return whether the capacity of a row is the end of the range: it may be higher."""
        limits = self._limits(column)
        carries = column.at(row) is not None
        return carries and limits is not None and limits.at(row) is None

    def _limits(self, column: ResultColumn) -> ResultColumn | None:
        """Return the column of what limits a number of users; only a range limits those without."""
        if column.answer != LARGEST:
            return None
        return next((one for one in self.columns if one.answer == LIMITED), None)

    def _mark(self, column: ResultColumn, row: int) -> str:
        """Return the mark of how a value is known: of users by row, else by column."""
        by_row = self.column(KNOWN) if column.answer == LARGEST else None
        kind = column.known if by_row is None else by_row.at(row)
        if column.at(row) is None:
            return ""
        mark = _MARKS.get(kind, "")
        if self._is_end_of_range(column, row):
            return _ABOUT if mark else _MORE
        return mark

    def _known(self, column: ResultColumn) -> dict[str, Json]:
        """Return the same for the scripts."""
        found: dict[str, Json] = {}
        if column.known:
            found |= {"known": column.known, "marks": _MARKS}
        by_row = self.column(KNOWN) if column.answer == LARGEST else None
        if by_row is not None:
            found |= {"knownIn": self.columns.index(by_row), "marks": _MARKS}
        limits = self._limits(column)
        if limits is not None:
            found |= {"limitsIn": self.columns.index(limits), "ends": [_MORE, _ABOUT]}
        return found

    def _named(self, row: int) -> str:
        """Return a configuration in words: its axes that have more than one value."""
        varied = [axis for axis in self.axes if len(axis.values) > 1] or self.axes
        return ", ".join(f"{axis.label} {axis.quantity(axis.at(row))}" for axis in varied)

    def _parts(self, word: str) -> list[str]:
        return [text for said, text in self.request.parts if said == word] if self.request else []

    def questions(self) -> Iterable[tuple[str, str]]:
        """Yield the request: each word, and the text behind it."""
        if self.request is None:
            axes = ", ".join(f"{axis.label} ({len(axis.values):,} values)" for axis in self.axes)
            yield "over", axes
            return
        for word, text in self.request.parts:
            yield word, printable(text)
        population = printable(self.request.population)
        at = phrase("matrix.capacity_of_each")
        fixed = self.request.at
        yield phrase("matrix.evaluated_at"), at if fixed is None else f"{population} = {fixed:,}"

    def remarks(self) -> Iterable[str]:
        """Yield what a reader has to know of the numbers."""
        yield phrase("matrix.rounded", digits=DIGITS)
        alike: dict[tuple[str, str], list[str]] = {}
        for column in self.columns:
            if column.known:
                alike.setdefault((column.known, column.because), []).append(column.label)
        for (known, because), labels in alike.items():
            remark = f"{joined_words(labels)}: {known} ({because})."
            yield unquoted(printable(remark))
        if self.request is None and not any(column.base for column in self.columns):
            yield phrase("matrix.no_units")

    # -- for the scripts -----------------------------------------------------------------

    def first_rows(self) -> Table:
        """Return the first rows as a table of words, which the template of the page prints."""
        shown = [column for column in self.columns if not column.is_detail]
        rows = [
            tuple(self._mark(column, row) + column.text(column.at(row)) for column in shown)
            for row in range(min(self.rows, _STATIC_ROWS))
        ]
        headings = tuple(f"{c.label}, {unit_symbols(c.unit)}" if c.unit else c.label for c in shown)
        right = frozenset(i for i, column in enumerate(shown) if not column.is_word)
        return Table(headings, tuple(rows), right)

    def as_json(self) -> dict[str, Json]:
        """Return all rows and what is drawn of them at first."""
        return {
            "rows": self.rows,
            "name": printable(self.request.matrix if self.request else "results"),
            "columns": [
                column.as_json() | {"better": self._better(column)} | self._known(column)
                for column in self.columns
            ],
            "lines": self._lines(),
            "front": self._front(),
            "sorted": self._sorted(),
            "command": self._command(),
            "leads": self._lead_columns(),
        }

    def _lead_columns(self) -> dict[str, Json]:
        """Return the columns that define the cheapest and the best, None for those without."""

        def place(name: str) -> int | None:
            column = self.column(name)
            return None if column is None else self.columns.index(column)

        costs = {name: place(name) for name in COSTS}
        return {
            "nouns": [noun_of_one(self._population), noun(self._population)],
            "largest": place(LARGEST),
            "quality": place("quality_at"),
            "costs": [i for i in costs.values() if i is not None],
            "running": costs["running_cost"],
            "reason": place("reason"),
        }

    def _sorted(self) -> Json:
        """Return the first column that rows are sorted by, and how."""
        if self.request is None or not self.request.order:
            return []
        (name, is_descending), *_ = self.request.order
        return [[i, is_descending] for i, c in enumerate(self.columns) if c.name == name][:1]

    def _command(self) -> dict[str, Json] | None:
        """Return what `qps solve` takes, besides the axes, to solve one of the rows."""
        if self.request is None:
            return None
        return {
            "file": printable(self.request.file),
            "with": list(map(printable, self._parts("with"))),
        }

    def _better(self, column: ResultColumn) -> int:
        """Return 1 where more is better, -1 where less is; 0 where that is not known."""
        for name, is_descending in self.request.order if self.request else ():
            if name == column.name and not column.is_axis:
                return 1 if is_descending else -1
        if column.answer == LARGEST or column.answer.startswith("saturates_at"):
            return 1
        if column.answer.startswith((LOAD, "quality_at", "cost", "running_cost")):
            return -1
        return 0

    def _varying_columns(self) -> list[int]:
        """Return the columns of numbers that differ between rows."""
        return [i for i, c in enumerate(self.columns) if not c.is_word and len(c.values) > 1]

    def _front(self) -> list[int]:
        """Return the two measures whose front is drawn at first: what it costs, what it gives."""
        found = {
            self.columns[i].answer: i
            for i in self._varying_columns()
            if not self.columns[i].is_axis
        }
        own = [name for name in found if name not in ANSWERS and ":" not in name]
        order = [name for name, _ in self.request.order] if self.request else []
        objectives = [LARGEST, "quality_at"]
        if self.request is not None and self.request.at is not None:
            objectives.reverse()
        axes = {self.columns[i].name: i for i in self._varying_columns() if self.columns[i].is_axis}
        costs = [*COSTS, "cost_per_user", "running_cost_per_user", *order, *own]
        wanted = [found[name] for name in costs if name in found]
        given = [found[name] for name in objectives if name in found]
        others = [*axes.values(), *found.values()]
        up = next(iter([*given, *wanted, *others]), None)
        across = next((index for index in [*wanted, *others] if index != up), None)
        return [] if up is None or across is None else [across, up]

    def _lines(self) -> list[int]:
        """Return the columns that parallel lines run through at first."""
        informative = [
            i
            for i, column in enumerate(self.columns)
            if len(column.values) > 1 and (not column.is_word or len(column.values) <= _MOST_WORDS)
        ]
        axes = [i for i in informative if self.columns[i].is_axis]
        answers = [LARGEST, "quality_at", "cost", "running_cost", "limited_by"]
        rank = {name: place for place, name in enumerate(answers)}
        own = [
            i
            for i in informative
            if i not in axes and (self.columns[i].answer in rank or self._is_own(self.columns[i]))
        ]
        own.sort(key=lambda i: rank.get(self.columns[i].answer, 1))
        return [*axes, *own][:_MOST_LINES]

    def _is_own(self, column: ResultColumn) -> bool:
        """Return whether a column is one of the spec's own."""
        return not column.is_detail and column.answer not in (*ANSWERS, "reason", "mode")


def _ties(ties: int) -> str:
    return phrase("page.matrix.ties", ties=f"{ties:,}") if ties else ""
