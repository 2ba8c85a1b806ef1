"""How a table is laid out in its text: what separates its cells, and which line has the headings.

Spreadsheets separate by commas, by semicolons where a comma is the decimal sign, or by tabs; people
write a title above the headings.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Sequence
from itertools import islice

from msgspec import Struct

SEPARATORS = (",", ";", "\t")
_SAMPLE = 100
"""Lines by which a layout is found."""
_MOST = 0.5
"""Share of the lines of a table that are its rows; the others are titles and sums."""
_NUMBER = r"[+-]?[\d.,]*\d"
"""What is no heading; `95%` is one, of a percentile."""


class CsvLayout(Struct, frozen=True):
    """What separates cells, and how many rows stand above the headings."""

    separator: str = ","
    above: int = 0


def layout_of(text: str) -> CsvLayout:
    r"""Return the layout of a text by its first lines: the one in which most rows are alike.

    >>> layout_of("users;cpu in %\n10;0,9\n20;1,6\n")
    CsvLayout(separator=';', above=0)
    >>> layout_of("Load test of 3 March,\n,\nusers,rps\n10,120\n")
    CsvLayout(separator=',', above=2)
    """
    lines = list(islice(io.StringIO(text), _SAMPLE))
    return _likeliest(lines)[1]


def _likeliest(lines: Sequence[str]) -> tuple[float, CsvLayout]:
    """Return the layout in which most rows are alike, and the share of these."""
    best, layout = (0.0, 0), CsvLayout()
    for separator in SEPARATORS:
        rows = _rows(lines, separator)
        filled = [row for row in rows if any(row)]
        widths = Counter(len(row) for row in filled if len(row) > 1)
        if not widths:
            continue
        width, count = max(widths.items(), key=lambda item: (item[1], item[0]))
        above = _above(rows, width)
        if above is not None and (count / len(filled), width) > best:
            best, layout = (count / len(filled), width), CsvLayout(separator, above)
    return best[0], layout


def headings_of(text: str) -> list[str]:
    """Return the cells of the line in which a table has its headings; none of any other text."""
    lines = list(islice(io.StringIO(text), _SAMPLE))
    share, layout = _likeliest(lines)
    return _rows(lines, layout.separator)[layout.above] if share > _MOST else []


def _rows(lines: Sequence[str], separator: str) -> list[list[str]]:
    try:
        return [[cell.strip() for cell in row] for row in csv.reader(lines, delimiter=separator)]
    except csv.Error:
        return []


def _above(rows: Sequence[Sequence[str]], width: int) -> int | None:
    """Return how many rows stand above the headings: the first row of texts as wide as most.

    Only the outer columns may have no heading: those of line numbers, and what is behind a last
    separator.
    """
    for place, row in enumerate(rows):
        if len(row) != width or not any(row):
            continue
        named = [cell for cell in row if cell]
        if (
            all(row[1:-1])
            and len(named) > 1
            and not any(re.fullmatch(_NUMBER, cell) for cell in named)
        ):
            return place
        if len(named) == width:
            return None
    return None
