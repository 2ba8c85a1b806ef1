"""What a file is, by how it begins: one of the sources, or none, and then what it looks like."""

from __future__ import annotations

import re
from pathlib import Path

from msgspec import Struct

from qps.compiler.diagnostics.suggest import did_you_mean, listed, shortened
from qps.compiler.measurement.measured_tables import DataError
from qps.compiler.measurement.observations.file_texts import encoding_of, first_bytes, unreadable
from qps.compiler.measurement.observations.measurement_sources import SOURCES, TABLE
from qps.compiler.measurement.observations.run_texts import plain_text
from qps.compiler.measurement.observations.source_layouts import MeasurementTool
from qps.compiler.measurement.observations.unread_reports import unread_report
from qps.compiler.measurement.table_layout import headings_of

_HEAD = 1 << 16
"""Bytes by which a file is recognized."""
_MOST_SHOWN = 5
_FEWEST_COLUMNS = 2
_BINARY = {
    b"PK\x03\x04": ("a spreadsheet file or ZIP archive", "save the sheet as CSV, or unpack it"),
    b"\xd0\xcf\x11\xe0": ("an Excel file", "save the sheet as CSV"),
    b"\x1f\x8b": ("a file compressed by gzip", "unpack it: `gunzip -k FILE`"),
    b"(\xb5/\xfd": ("a file compressed by zstd", "unpack it: `zstd -d FILE`"),
    b"BZh": ("a file compressed by bzip2", "unpack it: `bunzip2 -k FILE`"),
    b"%PDF": ("a PDF", "use the data that the report was made from"),
    b"PAR1": ("a Parquet file", "write it as CSV"),
    b"SQLite format 3": ("an SQLite database", "export the table as CSV"),
}
_JSON = r"\A\s*(?:\{\s*[\"}]|\[\s*(?:[\[{\"\]tfn]|-?[\d.]{1,30}(?:[eE][+-]?\d{1,3})?\s*[,\]]))"
_TEXTS = {
    r"(?i)\A\s*<(?:!doctype html|html)": (
        "a web page",
        "use the data of the report: a summary as JSON or CSV, or the log of the tool",
    ),
    r"\A\s*<\?xml|\A\s*<\w": ("XML", "export the results as CSV or JSON"),
    _JSON: ("JSON", "write the summary or the data points of the tool, or a CSV table"),
}
_TRACES = r'(?s)\A\s*[\[{].{0,9999}?"(?:resourceSpans|operationName|localEndpoint)"\s*:'
_OTHER_HINT = (
    "name its format with `--as`, such as `--as wrk`, or write a CSV table with column names such "
    "as `users`, `request/s`, `cpu in %` and `latency p95, ms`"
)


class FileHead(Struct, frozen=True):
    """How a file begins: its first bytes, and these as text."""

    start: bytes
    text: str


def head_of(path: Path) -> FileHead:
    """Return how a file begins; DataError where it cannot be read or is no file."""
    if not path.exists():
        near = did_you_mean(str(path), SOURCES)
        raise DataError(
            f"`{shortened(str(path))}` does not exist", near or "check the path of the file"
        )
    if not path.is_file():
        raise DataError(
            f"`{shortened(str(path))}` is not a regular file",
            "name a file, or the format before a pipe: `qps observe wrk /dev/stdin`",
        )
    try:
        start = first_bytes(path, _HEAD)
    except OSError as error:
        raise unreadable(path, error) from error
    return FileHead(start, plain_text(start.decode(encoding_of(start), errors="replace")))


def source_of(path: Path) -> MeasurementTool:
    """Return the source that a file is of; DataError where that is not certain."""
    head, name = head_of(path), shortened(str(path))
    found = [one for one in SOURCES.values() if one.is_of(head.start, head.text)]
    if len(found) > 1:
        flags = listed([f"--as {one.name}" for one in found], "or")
        raise DataError(
            f"`{name}` may be output of {listed([one.name for one in found], 'or')}",
            f"name its format: {flags}",
        )
    if found:
        return found[0]
    for magic, (what, hint) in _BINARY.items():
        if head.start.startswith(magic):
            raise DataError(f"`{name}` is {what}", hint)
    if (report := unread_report(head.start, head.text)) is not None:
        what, hint = report
        raise DataError(f"`{name}` is {what}, which is not read", hint)
    if not head.text.strip():
        raise DataError(f"`{name}` is empty", "save the output of the tool: `… > run.txt`")
    if "\0" in head.text:
        raise DataError(f"`{name}` is a binary file of an unknown format", _OTHER_HINT)
    if re.match(_TRACES, head.text):
        raise DataError(
            f"`{name}` is a file of distributed traces",
            "write a spec of the system that they show: `qps observe traces FILE… -o system.qps`",
        )
    for sign, (what, hint) in _TEXTS.items():
        if re.match(sign, head.text):
            raise DataError(f"`{name}` is {what} of an unknown format{_names(head.text)}", hint)
    if len(headings_of(head.text)) >= _FEWEST_COLUMNS:
        return SOURCES[TABLE]
    first = next(line for line in head.text.splitlines() if line.strip())
    raise DataError(
        f"`{name}` is text of an unknown format, beginning with `{shortened(first.strip())}`",
        _OTHER_HINT,
    )


def _names(text: str) -> str:
    """Return how a JSON begins: with which names."""
    names = dict.fromkeys(re.findall(r'"([\w .-]{1,40})"\s*:', text[:_HEAD]))
    return f" (with {listed([*names][:_MOST_SHOWN], 'and')})" if names else ""
