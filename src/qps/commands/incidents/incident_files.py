"""Incidents as files: a page, or the courses as a table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from qps.commands.terminal.column_files import check_columns_file, write_columns
from qps.commands.terminal.output_files import write_text
from qps.reports.pages.course_charts import CourseSection
from qps.reports.pages.html_page import render_incidents
from qps.reports.pages.incidents_page import incidents_page
from qps.reports.text.incidents.course_table import course_columns
from qps.reports.text.incidents.incident_view import IncidentsView
from qps.reports.text.schemas.json_encoding import as_json

ENDINGS = (".html", ".parquet", ".csv", ".json")


def check_output(output: Path, read: Iterable[Path]) -> None:
    """Refuse a file that incidents are not written to, or that was read."""
    check_columns_file(output, ENDINGS, read)


def write_incidents(
    output: Path, view: IncidentsView, title: str, place: str, sections: Sequence[CourseSection]
) -> None:
    """Write incidents as a page or as a table, by the ending of a file."""
    match output.suffix.lower():
        case ".html":
            write_text(output, render_incidents(incidents_page(title, place, sections)))
        case ".json":
            write_text(output, msgspec.json.encode(as_json(view)).decode() + "\n")
        case _:
            write_columns(output, course_columns(view))
