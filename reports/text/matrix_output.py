"""Matrices as files (Parquet, CSV, JSON) and as tables for people."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
from pyarrow import compute, csv, parquet

from qps.atomic_files import whole_file
from qps.compiler.diagnostics.visible_text import escaped
from qps.compiler.ir.matrices import ANSWER
from qps.compiler.ir.measure_names import percentile_level
from qps.compiler.measurement.sheet_cells import FORMULA, NUMBER, as_cell
from qps.compiler.quantities.certainty import CertaintyKind
from qps.reports.text.layout.table import Table
from qps.reports.text.layout.text_layout import TextLayout
from qps.reports.text.words.certainty_marks import MARKS, known_numbers, marked
from qps.reports.text.words.labels import PLAIN, Labels
from qps.reports.text.words.nouns import counted
from qps.reports.text.words.phrases import phrase
from qps.reports.text.words.quantities import (
    is_share,
    number,
    percent,
    quantity,
    rounded_down,
    rounded_up,
    undecided_point,
    whole_population,
)
from qps.solver.matrix.compilation.compiled_matrix import CompiledMatrix
from qps.solver.matrix.matrix_request import request_of
from qps.solver.matrix.row_tables import (
    FROM_START,
    KNOWN,
    LARGEST,
    LIMITED,
    LOAD,
    NOT_BELOW,
    ONE_BY_ONE,
    SATURATION,
    SCHEMA,
    STAYS_FULL,
    Counts,
    TableColumn,
    columns_of,
    counts_of,
    layout_of,
    one_by_one_in,
    schema_of,
)


def write(compiled: CompiledMatrix, tables: Iterable[pa.Table], path: Path) -> None:
    """Write tables of rows to a file by its ending; under its name only when it is whole."""
    with whole_file(path) as file:
        _write(compiled, tables, path.suffix, file)


def _write(
    compiled: CompiledMatrix, tables: Iterable[pa.Table], ending: str, file: IO[bytes]
) -> None:
    schema = schema_of(compiled)
    if ending == ".json":
        for text in json_texts(compiled, tables):
            file.write(text.encode())
        return
    with _writer(schema, ending, file) as writer:
        one_by_one = 0
        for table in tables:
            one_by_one += one_by_one_in(table)
            writer.write_table(table.replace_schema_metadata(schema.metadata))
        if one_by_one and ending == ".parquet":
            writer.add_key_value_metadata({ONE_BY_ONE: str(one_by_one)})


@contextmanager
def _writer(schema: pa.Schema, ending: str, file: IO[bytes]) -> Iterator[Any]:
    """Return what writes tables: as Parquet or as CSV."""
    if ending == ".csv":
        with csv.CSVWriter(file, _in_sheet(schema.empty_table()).schema) as writer:
            yield _SheetWriter(writer)
        return
    with parquet.ParquetWriter(file, schema, **layout_of(schema)) as writer:
        yield writer


class _SheetWriter:
    """Writes tables as CSV, with no cell that a spreadsheet would run."""

    def __init__(self, writer: csv.CSVWriter) -> None:
        self._writer = writer

    def write_table(self, table: pa.Table) -> None:
        """Write more rows."""
        self._writer.write_table(_in_sheet(table))


def _in_sheet(table: pa.Table) -> pa.Table:
    """Return a table with its texts as they are written into cells."""
    columns = [_cells(c) if pa.types.is_string(c.type) else c for c in table.columns]
    return pa.table(columns, names=[*map(as_cell, table.column_names)])


def _cells(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return the texts of a column as they are written into cells, as `as_cell` does."""
    may_run = compute.match_substring_regex(column, FORMULA)
    is_number = compute.match_substring_regex(column, NUMBER)
    marked = compute.binary_join_element_wise("'", column, "")
    return compute.if_else(compute.and_not(may_run, is_number), marked, column)


def json_texts(compiled: CompiledMatrix, tables: Iterable[pa.Table]) -> Iterator[str]:
    """Yield the text of a JSON object: what the columns are, an object for each row, the counts."""
    columns = columns_of(compiled)
    head = {
        "schema": SCHEMA,
        "file": compiled.model.file,
        "model": compiled.model.name,
        "matrix": compiled.matrix.name,
        "units": {column.name: str(column.dimension) for column in columns},
        "axes": [column.name for column in columns if column.is_axis],
        "shares": [column.name for column in columns if column.is_share],
        "known": {
            column.name: column.known.printed for column in columns if not column.known.is_exact
        },
        "request": json.loads(request_of(compiled).as_text),
    }
    yield escaped(json.dumps(head, ensure_ascii=False, indent=2)[:-2]) + ',\n  "rows": ['
    before, counts = "\n    ", Counts()
    for table in tables:
        counts += counts_of(table)
        for row in table.to_pylist():
            yield before + escaped(json.dumps(row, ensure_ascii=False, allow_nan=False))
            before = ",\n    "
    numbers = {"rows": counts.rows, "infeasible": counts.none_supported, "faults": counts.faults}
    numbers |= {ONE_BY_ONE: counts.one_by_one} if counts.one_by_one else {}
    yield f'\n  ],\n  "counts": {json.dumps(numbers)}\n}}\n'


def csv_text(compiled: CompiledMatrix, tables: Iterable[pa.Table]) -> Iterator[bytes]:
    """Yield the text of a CSV file."""
    first = True
    for table in tables:
        output = pa.BufferOutputStream()
        options = csv.WriteOptions(include_header=first)
        csv.write_csv(_in_sheet(table.cast(schema_of(compiled))), output, options)
        yield output.getvalue().to_pybytes()
        first = False


def _has_answers(table: pa.Table) -> bool:
    counts = counts_of(table)
    return counts.none_supported + counts.faults < counts.rows


def matrix_layout(
    compiled: CompiledMatrix,
    table: pa.Table,
    *,
    facts: Sequence[tuple[str, str]] = (),
    left: int = 0,
    labels: Labels = PLAIN,
    width: int | None = None,
) -> TextLayout:
    """Return rows as people read them, without columns in which nothing stands.

    In a `width`, columns that fit no more are left out, and named below; `left` rows are.
    """
    every = columns_of(compiled)
    found = {c.answer or c.name for c in every if table[c.name].null_count < len(table)}
    if NOT_BELOW in found:
        found.add("saturates_at")  # there it is reported
    columns = [c for c in every if (c.answer or c.name) in found]
    empty = [_heading(c) for c in every if not c.answer and not c.is_axis and c.name not in found]
    known = next((column.name for column in columns if column.answer == KNOWN), None)
    columns = [column for column in columns if _is_shown(column, columns)]
    population = compiled.model.population.name
    rows = tuple(
        tuple(_marked_cell(column, row, known, labels, population) for column in columns)
        for row in table.to_pylist()
    )
    whole = _laid_out(columns, rows)
    shown = whole.fitting(width, _least_first(columns)) if width else range(len(columns))
    inexact = {columns[i].name: columns[i].known for i in shown if not columns[i].known.is_exact}
    notes = known_numbers(inexact) if inexact else []
    hidden = [_heading(column) for i, column in enumerate(columns) if i not in shown]
    if hidden:
        notes.append(phrase("matrix.hidden", names=", ".join(hidden)))
    if empty and _has_answers(table):
        notes.append(phrase("matrix.unavailable", names=", ".join(empty)))
    if left:
        notes.append(
            phrase("matrix.more_rows", left=f"{left:,}", rows="row" if left == 1 else "rows")
        )
    return TextLayout(
        title=f"Matrix: {compiled.matrix.name}",
        place=compiled.model.file,
        facts=tuple(facts),
        tables=(whole.with_columns(shown),),
        notes=tuple(notes),
    )


def _laid_out(columns: Sequence[TableColumn], rows: tuple[tuple[str, ...], ...]) -> Table:
    headings = tuple(map(_heading, columns))
    right = frozenset(i for i, column in enumerate(columns) if column.type != pa.string())
    axes = frozenset(i for i, column in enumerate(columns) if column.is_axis)
    long = frozenset(
        i for i, c in enumerate(columns) if c.answer in _IN_WORDS or (c.is_axis and i not in right)
    )
    return Table(headings, rows, right, firm=axes, long=long)


def _least_first(columns: Sequence[TableColumn]) -> list[int]:
    """Return the columns that a narrow terminal can do without, the least important first."""
    ranks = {answer: rank for rank, answer in enumerate(_LEAST_FIRST)}
    found = [
        (ranks[answer], i)
        for i, column in enumerate(columns)
        if not column.is_axis and (answer := column.answer or column.name) in ranks
    ]
    return [i for _, i in sorted(found)]


_IN_WORDS = ("limited_by", "bottleneck", "reason")
_LEAST_FIRST = (
    "quality_at", "quality", "saturates_at", "bottleneck", "at", "elastic", "cost_per_user",
    "running_cost_per_user", "limited_by",
)  # fmt: skip
"""Answers in the order in which a narrow table leaves them out, the least first."""
_ABOUT = MARKS[CertaintyKind.APPROXIMATION]
_HEADINGS = {
    LARGEST: "Capacity",
    "limited_by": "Limit",
    "bottleneck": "Bottleneck",
    "saturates_at": "Saturates",
    "running_cost": phrase("matrix.running_cost"),
    "running_cost_per_user": phrase("matrix.running_cost_per_user"),
    "cost": "Cost",
    "cost_per_user": phrase("matrix.cost_per_user"),
    "quality_at": "Quality",
    "mode": "Mode",
    "reason": "Reason",
}


def _heading(column: TableColumn) -> str:
    """Return what a column is called: answers in words, axes and measures by their names."""
    if column.answer in _HEADINGS and not column.name.startswith("answer:"):
        return _HEADINGS[column.answer]
    if column.name.startswith(f"{LARGEST}."):
        return f"Capacity {column.name.removeprefix(f'{LARGEST}.')}"
    return column.name.replace("_", " ").replace(ANSWER, f"{ANSWER} ")


def _marked_cell(
    column: TableColumn,
    row: Mapping[str, object],
    known: str | None,
    labels: Labels,
    population: str,
) -> str:
    """Return a cell with the mark of how it is known: of users by row, else by column."""
    text = _cell(column, row[column.name])
    if column.answer in ("limited_by", "bottleneck") and row[column.name] is not None:
        return labels.of(text)
    if column.answer == "reason" and row[column.name] is not None:
        return labels.sentence(_with_users(text, population))
    if column.answer == "saturates_at":
        is_undecided = row.get(NOT_BELOW) is not None
        return _saturation(_undecided(row) if is_undecided else text, row)
    if not column.known.is_exact and row[column.name] is not None:
        return marked(_sampled(column, row[column.name]) or text, column.known)
    if column.answer != LARGEST or row[column.name] is None:
        return text
    kind = row.get(known or "")
    if LIMITED in row and row[LIMITED] is None:  # the end of the range: more may be supported
        is_exact = kind in (None, CertaintyKind.EXACT.value)
        return phrase("at_least", users=text) if is_exact else _ABOUT + text
    return text if kind is None else MARKS[CertaintyKind(str(kind))] + text


def _with_users(reason: str, population: str) -> str:
    """Return a reason with a population in words: `is not met at 4,900 users`.

    >>> _with_users("talk.latency is not met at N = 4900", "N")
    'talk.latency is not met at 4,900 users'
    """
    counts = re.compile(rf"\b{re.escape(population)} = (\d+)")
    return counts.sub(lambda found: counted(int(found[1]), population), reason)


def _sampled(column: TableColumn, users: object) -> str:
    """Return a percentile of the capacity as `solve` prints it; empty for all else."""
    prefix, _, name = column.name.rpartition(".")
    level = percentile_level(name) if prefix == LARGEST else None
    if level is None or not isinstance(users, int | float) or not math.isfinite(users):
        return ""
    return rounded_down(int(users)) if level <= Fraction(1, 2) else rounded_up(math.ceil(users))


def _undecided(row: Mapping[str, object]) -> str:
    """Return where the first resource saturates, where of one of them that cannot be determined."""
    at, least = row.get("saturates_at"), row[NOT_BELOW]
    assert isinstance(least, float)
    if isinstance(at, float) and at <= least:
        return whole_population(at)
    return undecided_point(at if isinstance(at, float) else None, int(least))


def _saturation(text: str, row: Mapping[str, object]) -> str:
    """Return where the first resource saturates as `solve` prints it: from the start, staying full.

    What stays full is not beyond: it is acceptable for as long as it grows no more.
    """
    if _answer(row, FROM_START) is not None:
        text = phrase("matrix.from_start")
    stays, largest = _answer(row, STAYS_FULL), _answer(row, LARGEST)
    to = f" to {largest:,}" if isinstance(largest, int) else phrase("matrix.to_answer")
    return text if stays is None else f"{text} ({stays} full{to})"


def _answer(row: Mapping[str, object], name: str) -> object:
    """Return an answer of a row, where an axis has its name too."""
    return row.get(ANSWER + name, row.get(name))


def _is_shown(column: TableColumn, columns: list[TableColumn]) -> bool:
    """Leave out what a table has no room for: files have it all."""
    answer = column.answer or ""
    if answer.startswith((SATURATION, LOAD)) or answer in _ELSEWHERE:
        return False
    return not (answer == "cost_per_user" and len(columns) > _MOST_COLUMNS)


_MOST_COLUMNS = 40
_ELSEWHERE = ("at", KNOWN, NOT_BELOW, FROM_START, STAYS_FULL)
"""Answers that stand in no column of a table: in others' cells, or nowhere."""


def _cell(column: TableColumn, value: object) -> str:
    if value is None:
        return "–"
    if not isinstance(value, float):
        return f"{value:,}" if isinstance(value, int) else str(value)
    if math.isnan(value):
        return "–"
    if not column.dimension.exponents:
        is_percentage = column.is_share or is_share(column.answer or column.name)
        return percent(value) if is_percentage else number(value)
    return quantity(value, column.dimension)


def summary(compiled: CompiledMatrix, counts: Counts) -> str:
    """Return in a line how many configurations there are."""
    size = compiled.size
    text = phrase(
        "matrix.configurations_of", size=size, s="s" * (size != 1), name=compiled.matrix.name
    )
    if counts.rows != size:
        text += f", {counts.rows:,} kept"
    if counts.none_supported:
        text += phrase("matrix.no_capacity", none_supported=f"{counts.none_supported:,}")
    if counts.faults:
        text += f"; {faults_in_words(counts.faults)}"
    if counts.one_by_one:
        text += f"; {one_by_one_in_words(counts.one_by_one, size)}"
    return text


def one_by_one_in_words(count: int, size: int) -> str:
    """Return how many configurations took longer than others, and why."""
    verb = "was" if count == 1 else "were"
    return phrase("matrix.individually", count=f"{count:,}", size=f"{size:,}", verb=verb)


def faults_in_words(count: int) -> str:
    """Return how many rows have no answer by a fault of ours."""
    errors = phrase("matrix.error") if count == 1 else phrase("matrix.internal_errors")
    return phrase("matrix.no_result", count=f"{count:,}", errors=errors)
