"""Tables of measured numbers: CSV files with headings, read strictly, column by column."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import repeat
from math import lcm
from operator import itemgetter
from typing import Any

from msgspec import Struct

from qps.compiler.measurement.number_forms import (
    AmbiguousNumberError,
    has_marks,
    plain_numbers,
)
from qps.compiler.measurement.sheet_cells import of_cell
from qps.compiler.measurement.table_layout import CsvLayout, layout_of

MOST_ROWS = 100_000
MOST_RUNS = 1_000_000
"""Rows of a table that is only summed up: nothing is computed in a model for each."""
LONGEST_CELL = 200
_LARGEST_EXPONENT = 300
"""As in the language itself."""
_LONGEST_DENOMINATOR = 2_000
"""Bits of a denominator that all numbers of a column have in common."""


class MeasuredTable(Struct, frozen=True, eq=False):
    """Headings, the cells below each of them, and the line of the file that each row stands in."""

    name: str
    headings: tuple[str, ...]
    lines: tuple[int, ...]
    columns: dict[str, tuple[str, ...]]

    @property
    def rows(self) -> Iterator[tuple[int, dict[str, str]]]:
        """The rows: the line, and the cells by heading."""
        for line, *cells in zip(self.lines, *self.columns.values(), strict=True):
            yield line, dict(zip(self.headings, cells, strict=True))


class DataError(Exception):
    """Raised where a table cannot be used: what is wrong with it, and how to fix it."""

    def __init__(self, message: str, hint: str = "fix that line of the file") -> None:
        self.message = message
        self.hint = hint
        super().__init__(message)


def read_table(
    text: str, name: str, most: int = MOST_ROWS, decimal: str | None = None
) -> MeasuredTable:
    """Return the headings and columns of a CSV text; blank lines are passed over.

    Titles above the headings are, too; `decimal` is the decimal sign, where somebody names it.
    DataError where it is no table.
    """
    layout = layout_of(text)
    reader = _reader(text, layout)
    rows: list[list[str]] = []
    lines: list[int] = []
    try:
        for _ in range(layout.above):
            next(reader)
        headings = [of_cell(heading.strip()) for heading in next(reader, [])]
        _check_headings(name, headings)
        width = len(headings)
        above = reader.line_num
        plain = _plain_rows(reader, width)
        if plain is None or len(plain) > most:  # row by row, with the line of each
            reader = _reader(text, layout)
            for _ in range(layout.above + bool(width)):
                next(reader)
        else:
            rows, lines = plain, [*range(above + 1, reader.line_num + 1)]
        for cells in reader:
            if len(cells) != width or not cells[0].strip():
                if not any(cell.strip() for cell in cells):
                    continue
                if len(cells) != width:
                    wrong_width = f"{len(cells)} cells, but {width} columns"
                    raise DataError(f"`{name}`, line {reader.line_num}: {wrong_width}")
            rows.append(cells)
            lines.append(reader.line_num)
            if len(rows) > most:
                raise DataError(
                    f"`{name}`, line {reader.line_num}: more than {most:,} rows",
                    "keep a random sample of rows",
                )
    except csv.Error as error:
        raise DataError(f"`{name}`, line {reader.line_num}: {error}") from error
    if not rows:
        raise DataError(f"`{name}` has no rows", "add one row per run")
    columns = [_texts(column) for column in zip(*rows, strict=True)]
    _check_lengths(name, columns, lines)
    named = dict(zip(headings, columns, strict=True))
    if decimal is not None or has_marks(text, layout.separator):
        try:
            named = plain_numbers(named, decimal)
        except AmbiguousNumberError as error:
            raise DataError(
                f"`{name}`, line {lines[error.row]}, column `{error.heading}`: {error.message}",
                "write all numbers with `.` for decimals, and nothing between thousands, as "
                f"`qps observe {name} --decimal , -o FILE.csv` does (or `--decimal .`)",
            ) from error
    return MeasuredTable(name, tuple(headings), tuple(lines), named)


def _check_lengths(name: str, columns: Sequence[Sequence[str]], lines: Sequence[int]) -> None:
    """Refuse cells that are no numbers and no names."""
    if all(max(map(len, column)) <= LONGEST_CELL for column in columns):
        return
    long = [i for column in columns for i, cell in enumerate(column) if len(cell) > LONGEST_CELL]
    message = f"a cell is longer than {LONGEST_CELL} characters"
    raise DataError(f"`{name}`, line {lines[min(long)]}: {message}")


def _reader(text: str, layout: CsvLayout) -> Any:
    return csv.reader(io.StringIO(text), strict=True, delimiter=layout.separator)


def _plain_rows(reader: Any, width: int) -> list[list[str]] | None:
    """Return the rows that are left, each of one line; None if one is blank or is no row."""
    above = reader.line_num
    try:
        rows = list(reader)
    except csv.Error:
        return None
    if set(map(len, rows)) != {width} or reader.line_num - above != len(rows):
        return None
    return rows if all(map(str.strip, map(itemgetter(0), rows))) else None


def _texts(column: Sequence[str]) -> tuple[str, ...]:
    """Return what the cells of a column say."""
    cells = tuple(map(str.strip, column))
    has_apostrophes = "'" in "".join(cells)
    return tuple(map(of_cell, cells)) if has_apostrophes else cells


def _check_headings(name: str, headings: Sequence[str]) -> None:
    if not any(headings):
        message = f"`{name}` has no header with column names"
        raise DataError(message, "add a first line with column names")
    if len(set(headings)) < len(headings):
        raise DataError(
            f"`{name}` has two columns with the same name", "give each column a different name"
        )


def number(cell: str) -> Fraction | None:
    """Return a plain decimal number, exact."""
    digits = cell.lower().partition("e")
    try:
        if abs(int(digits[2] or 0)) > _LARGEST_EXPONENT:
            return None
        return Fraction(cell)
    except (ValueError, ZeroDivisionError):
        return None


class NumberColumn(Struct, frozen=True):
    """A column of exact numbers: each is a whole number of `unit`.

    So sums over many rows are sums of whole numbers, exact and fast.
    """

    whole: tuple[int, ...]
    unit: Fraction

    def __getitem__(self, row: int) -> Fraction:
        return self.whole[row] * self.unit

    def __len__(self) -> int:
        return len(self.whole)

    def __hash__(self) -> int:  # of many numbers, and called often
        return hash((len(self.whole), self.unit))


def numbers(cells: Sequence[str]) -> NumberColumn | int:
    """Return the numbers of a column, or the first row that holds none.

    >>> found = numbers(["1.25", "3"])
    >>> found.whole, found.unit
    ((125, 300), Fraction(1, 100))
    >>> numbers(["1", "x"])
    1
    """
    try:
        return NumberColumn(tuple(map(int, cells)), Fraction(1))
    except ValueError:
        return _decimals(cells) or _fractions(cells)


def _decimals(cells: Sequence[str]) -> NumberColumn | None:
    """Return plain decimals such as `12.5`; None where there is anything else."""
    first, _, after = cells[0].partition(".") if cells else ("", "", "")
    is_alike = re.compile(rf"-?[0-9]+\.[0-9]{{{len(after)}}}").fullmatch
    if first and after and all(map(is_alike, cells)):  # as many places in each, as tools write
        whole = tuple(map(int, map(str.replace, cells, repeat("."), repeat(""))))
        return NumberColumn(whole, Fraction(1, 10 ** len(after)))
    parted = [cell.partition(".") for cell in cells]
    places = max(len(after) for _, _, after in parted)
    zeros = "0" * places
    try:
        whole = tuple(
            int(before + (after + zeros)[:places])
            for before, _, after in parted
            if (after.isdecimal() or (not after and before[-1:].isdecimal())) and "_" not in before
        )
    except ValueError:
        return None
    return NumberColumn(whole, Fraction(1, 10**places)) if len(whole) == len(cells) else None


def _fractions(cells: Sequence[str]) -> NumberColumn | int:
    found: list[Fraction] = []
    common = 1
    for row, cell in enumerate(cells):
        value = number(cell)
        common = 1 if value is None else lcm(common, value.denominator)
        if value is None or common.bit_length() > _LONGEST_DENOMINATOR:
            return row
        found.append(value)
    whole = tuple(value.numerator * (common // value.denominator) for value in found)
    return NumberColumn(whole, Fraction(1, common))
