"""Pages of all rows of a matrix: as many as a page holds."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from qps.commands.matrices.matrix_work import CountedRows, MatrixWork
from qps.commands.matrices.result_page import too_many
from qps.commands.revisions.provenance import origin_line
from qps.commands.terminal.console import width_of
from qps.commands.terminal.output_files import write_text
from qps.compiler.pipeline import Spec
from qps.reports.text.layout.wrapping import wrapped
from qps.reports.text.words.phrases import phrase

if TYPE_CHECKING:
    import pyarrow as pa

    from qps.solver.matrix.row_tables import Counts


def write_page(work: MatrixWork, spec: Spec, output: Path) -> Counts:
    """Write a page of all rows; where they are more than a page holds, none."""
    from qps.reports.pages.html_page import render_matrix  # noqa: PLC0415
    from qps.reports.pages.matrices.matrix_page import matrix_page  # noqa: PLC0415

    counted = work.counted()
    page = matrix_page(_few_rows(work, counted), work.compiled.model.file)
    write_text(output, render_matrix(page, origin_line([spec])))
    if not work.arguments.quiet:
        width = width_of(sys.stderr)
        lines = [line for text in (page.answer, *page.leads()) for line in wrapped(text, width, "")]
        print("\n".join(lines), file=sys.stderr)
        print(phrase("matrix.written_to", output=output), file=sys.stderr)
    return counted.counts


def _few_rows(work: MatrixWork, counted: CountedRows) -> pa.Table:
    """Return all rows in order, as many as a page holds; no more are solved than that."""
    import pyarrow as pa  # noqa: PLC0415

    from qps.reports.pages.matrices.matrix_page import MOST_ROWS  # noqa: PLC0415
    from qps.solver.matrix.row_tables import in_order, schema_of, statistics_table  # noqa: PLC0415

    matrix, schema = work.compiled.matrix, schema_of(work.compiled)
    if work.compiled.size > MOST_ROWS and matrix.wanted is None and not matrix.excluded:
        raise too_many(MOST_ROWS)
    gathered = [schema.empty_table()]
    for table in counted.count(work.solved()):
        gathered.append(table.cast(schema))
        if counted.counts.rows > MOST_ROWS:
            raise too_many(MOST_ROWS)
    found = in_order(work.compiled, pa.concat_tables(gathered))
    return statistics_table(found, counted.counts.one_by_one)
