"""Tables of measured numbers: CSV files with headings, read strictly."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

MOST_ROWS = 100_000
LONGEST_CELL = 200


@dataclass(frozen=True, slots=True)
class Table:
    """Headings, and rows by line of the file and by heading."""

    name: str
    headings: tuple[str, ...]
    rows: tuple[tuple[int, dict[str, str]], ...]


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with a table, and how to mend it."""

    message: str
    hint: str = "mend the file there"


def read_table(text: str, name: str) -> Table | Problem:
    """Return the headings and rows of a CSV text; blank lines are passed over."""
    reader = csv.reader(io.StringIO(text), strict=True)
    rows: list[tuple[int, dict[str, str]]] = []
    try:
        headings = [heading.strip() for heading in next(reader, [])]
        wrong = _headings_problem(headings)
        if wrong is not None:
            return Problem(f"`{name}` {wrong[0]}", wrong[1])
        for cells in reader:
            if not any(cell.strip() for cell in cells):
                continue
            problem = _row_problem(cells, headings, len(rows))
            if problem is not None:
                return Problem(f"`{name}`, line {reader.line_num}: {problem}")
            stripped = [cell.strip() for cell in cells]
            rows.append((reader.line_num, dict(zip(headings, stripped, strict=True))))
    except csv.Error as error:
        return Problem(f"`{name}`, line {reader.line_num}: {error}")
    if not rows:
        return Problem(f"`{name}` has no rows", "add a row for each run")
    return Table(name, tuple(headings), tuple(rows))


def _headings_problem(headings: Sequence[str]) -> tuple[str, str] | None:
    """Return what is wrong with the first line of a table, and how to mend it."""
    for separator, word in ((";", "semicolons"), ("\t", "tabs")):
        if len(headings) == 1 and separator in headings[0]:
            return f"has its columns separated by {word}", "separate them with commas"
    if not any(headings):
        return "does not start with the names of its columns", "add a line with a name for each"
    if len(set(headings)) < len(headings):
        return "names a column twice", "give each column a name of its own"
    return None


def _row_problem(cells: Sequence[str], headings: Sequence[str], count: int) -> str | None:
    if len(cells) != len(headings):
        return f"{len(cells)} cells, but {len(headings)} columns"
    if count >= MOST_ROWS:
        return f"more than {MOST_ROWS:,} rows"
    if max(len(cell) for cell in cells) > LONGEST_CELL:
        return f"a cell is longer than {LONGEST_CELL} characters"
    return None


def number(cell: str) -> Fraction | None:
    """Return a plain decimal number, exact."""
    digits = cell.lower().partition("e")
    try:
        if abs(int(digits[2] or 0)) > 300:  # noqa: PLR2004 - as in the language itself
            return None
        return Fraction(cell)
    except (ValueError, ZeroDivisionError):
        return None
