"""Texts in cells of CSV files, written so that no spreadsheet takes one for a formula.

Who opens a table in a spreadsheet has `=cmd|…` run, be it the name of a file or of a machine. As
OWASP advises ("CSV Injection", https://owasp.org/www-community/attacks/CSV_Injection) such a text
stands behind an apostrophe, which a spreadsheet takes for "this is text". A number is none of them,
be it below zero. Whoever reads a table of ours takes the apostrophe away again: nothing is lost,
since a text that has one there of its own gets another.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable

from msgspec import Struct

FORMULA = r"(?s)^'*[=+\-@\t\r\n＝＋－＠]."
"""What a spreadsheet may run, also behind apostrophes; a sign by itself is nothing to run."""
NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
WRITTEN = r"(?s)^'('*[=+\-@\t\r\n＝＋－＠].)"
"""A text behind the apostrophe that `as_cell` gave it."""


def as_cell(text: str) -> str:
    """Return a text as it is written into a cell.

    >>> as_cell("=1+1"), as_cell("web-1"), as_cell("-5"), as_cell("-5 ms"), as_cell("-")
    ("'=1+1", 'web-1', '-5', "'-5 ms", '-')
    """
    # `re` keeps what it compiles; whoever only reads specs needs none of it.
    return f"'{text}" if re.match(FORMULA, text) and not re.fullmatch(NUMBER, text) else text


def of_cell(cell: str) -> str:
    """Return the text that a cell was written for.

    >>> of_cell("'=1+1"), of_cell("'tis")
    ('=1+1', "'tis")
    """
    return cell[1:] if cell[:1] == "'" and re.match(WRITTEN, cell) else cell


def csv_of(rows: Iterable[Iterable[str]]) -> str:
    """Return rows of texts as CSV, a line each, with no cell that a spreadsheet would run."""
    lines: list[str] = []
    # It quotes no more of what ends lines than it ends lines with itself: "\r\n".
    writer = csv.writer(_Lines(lines))
    writer.writerows([as_cell(text) for text in row] for row in rows)
    return "".join(lines)


class _Lines(Struct):
    """What rows are written to, one at a time."""

    found: list[str]

    def write(self, line: str) -> None:
        """Take a row."""
        self.found.append(line.removesuffix("\r\n") + "\n")
