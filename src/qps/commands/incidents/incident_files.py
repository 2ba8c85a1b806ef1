"""Incidents as files: a page, or the courses as a table."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from io import BytesIO, StringIO
from pathlib import Path

import msgspec

from qps.atomic_files import whole_file
from qps.commands.terminal.console import complain
from qps.commands.terminal.output_files import refuse_inputs, write_text
from qps.compiler.diagnostics.extras import need_arrow
from qps.compiler.diagnostics.suggest import listed
from qps.reports.pages.course_charts import CourseSection
from qps.reports.pages.html_page import render_incidents
from qps.reports.pages.incidents_page import incidents_page
from qps.reports.text.incidents.course_table import course_columns
from qps.reports.text.incidents.incident_view import IncidentsView
from qps.reports.text.schemas.json_encoding import as_json

ENDINGS = (".html", ".parquet", ".csv", ".json")


def check_output(output: Path, read: Iterable[Path]) -> None:
    """Refuse a file that incidents are not written to, or that was read."""
    if output.suffix.lower() not in ENDINGS:
        raise complain(
            f"unknown file type: `{output}`", f"use the extension {listed([*ENDINGS], 'or')}"
        )
    if output.suffix.lower() == ".parquet":
        need_arrow(f"`{output}`")
    refuse_inputs(output, read)


def write_incidents(
    output: Path, view: IncidentsView, title: str, place: str, sections: Sequence[CourseSection]
) -> None:
    """Write incidents as a page or as a table, by the ending of a file."""
    match output.suffix.lower():
        case ".html":
            write_text(output, render_incidents(incidents_page(title, place, sections)))
        case ".json":
            write_text(output, msgspec.json.encode(as_json(view)).decode() + "\n")
        case ".csv":
            write_text(output, _as_csv(view))
        case _:
            _write_parquet(output, view)


def _as_csv(view: IncidentsView) -> str:
    columns = course_columns(view)
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return text.getvalue()


def _write_parquet(output: Path, view: IncidentsView) -> None:
    import pyarrow as pa  # noqa: PLC0415 - for these files alone
    from pyarrow import parquet  # noqa: PLC0415

    content = BytesIO()
    parquet.write_table(pa.table(course_columns(view)), content, compression="zstd")
    try:
        with whole_file(output) as file:
            file.write(content.getvalue())
    except OSError as error:
        reason = error.strerror or str(error)
        raise complain(f"cannot write `{output}`: {reason}", "choose another path") from error
