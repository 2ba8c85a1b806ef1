"""The rows of a matrix on the screen: a table of the first ones, or all as CSV or JSON."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

from qps.commands.matrices.matrix_work import CountedRows, MatrixWork
from qps.commands.terminal.console import width_of
from qps.compiler.pipeline import Spec

if TYPE_CHECKING:
    import pyarrow as pa

    from qps.solver.matrix.row_tables import Counts

_SHOWN = 50
_MOST_COMPARED = 100_000
"""Rows among which the cheapest and the best are looked for before any are printed."""


def print_rows(work: MatrixWork, spec: Spec) -> Counts:
    """Print rows: as a table the first ones, in other formats all of them."""
    from qps.reports.text.matrix_output import csv_text, json_texts  # noqa: PLC0415

    counted = work.counted()
    tables = counted.count(work.in_order(work.solved()))
    if work.arguments.format == "json":
        for text in json_texts(work.compiled, tables):
            sys.stdout.write(text)
    elif work.arguments.format == "csv":
        for data in csv_text(work.compiled, tables):
            sys.stdout.write(data.decode())
    else:
        _print_table(work, spec, tables, counted)
    return counted.counts


def _print_table(
    work: MatrixWork, spec: Spec, tables: Iterable[pa.Table], counted: CountedRows
) -> None:
    import pyarrow as pa  # noqa: PLC0415

    from qps.reports.pages.matrices.matrix_facts import matrix_facts  # noqa: PLC0415
    from qps.reports.text.matrix_output import matrix_layout  # noqa: PLC0415
    from qps.reports.text.words.labels import labels_of  # noqa: PLC0415
    from qps.solver.matrix.row_tables import schema_of, statistics_table  # noqa: PLC0415

    schema = schema_of(work.compiled)
    gathered, count = [schema.empty_table()], 0
    for table in tables:
        if count < _SHOWN or count + len(table) <= _MOST_COMPARED:
            gathered.append(table.cast(schema))
        count += len(table)
    found = pa.concat_tables(gathered)
    first, counts = found.slice(0, _SHOWN), counted.counts
    is_whole = len(found) == counts.rows
    facts = [("Result", work.summary(counts))]
    if is_whole:
        facts = matrix_facts(statistics_table(found, counts.one_by_one), work.compiled.model.file)
    is_markdown, width = work.arguments.format == "markdown", width_of(sys.stdout)
    layout = matrix_layout(
        work.compiled,
        first,
        facts=facts,
        left=counts.rows - len(first),
        labels=spec.model.derived(labels_of),
        width=None if is_markdown else width,
    )
    sys.stdout.write(layout.printed(markdown=is_markdown, width=width))
