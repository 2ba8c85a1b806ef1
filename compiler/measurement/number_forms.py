"""Numbers as people write them: with a decimal comma, and with marks between thousands.

`1,890` is 1890 or 1.89. Which of both a table means is known by its other numbers: `0,9` has a
decimal comma, `0.9` a decimal point. Where none says so, nobody guesses.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

_SIGN = r"[+-]?"
_END = r"(?:[eE][+-]?\d{1,3})?\s?%?"
_GAP = "[ \u00a0\u202f'’]"
_GAPS = rf"\d{{1,3}}(?:{_GAP}\d{{3}})+"
_POINT = rf"{_SIGN}(?:\d+|\d{{1,3}}(?:,\d{{3}})+|{_GAPS})(?:\.\d+)?{_END}"
_COMMA = rf"{_SIGN}(?:\d+|\d{{1,3}}(?:\.\d{{3}})+|{_GAPS})(?:,\d+)?{_END}"
_MARKED = rf"\d(?:,|{_GAP})\d"
_DOTS = r"\.\d{3}\."
"""Marks between thousands, which a number with a decimal point has not."""
MISSING = frozenset(["", "-", "–", "—", "nan", "na", "n/a", "#n/a", "null", "none", "inf", "-inf"])
"""What stands in a cell where nothing was measured, in small letters."""


class AmbiguousNumberError(Exception):
    """Raised for a number that may be either of two, or numbers that contradict each other."""

    def __init__(self, row: int, heading: str, message: str) -> None:
        super().__init__(message)
        self.row, self.heading, self.message = row, heading, message


def has_marks(text: str, separator: str) -> bool:
    r"""Return whether cells may have numbers with a decimal comma or marks between thousands.

    Of a table that commas separate, only cells in quotes have commas.

    >>> has_marks("rate,cpu\n1890,0.9", ","), has_marks('rate,cpu\n"1,890",0.9', ",")
    (False, True)
    """
    if separator != "," or '"' in text:
        return re.search(_MARKED, text) is not None or re.search(_DOTS, text) is not None
    has_gap = any(gap in text for gap in _GAP[1:-1]) and re.search(rf"\d{_GAP}\d", text)
    return bool(has_gap) or re.search(_DOTS, text) is not None


def plain_numbers(
    columns: Mapping[str, Sequence[str]], decimal: str | None = None
) -> dict[str, tuple[str, ...]]:
    """Return columns with their numbers as plain decimals; those with other texts stay.

    `decimal` is the sign that somebody names, `.` or `,`.

    >>> plain_numbers({"rate": ["1,890", "3,702.5"], "case": ["a", "1,5"]})
    {'rate': ('1890', '3702.5'), 'case': ('a', '1,5')}
    >>> plain_numbers({"rate": ["1,890"], "cpu": ["0,9"]})
    {'rate': ('1.890',), 'cpu': ('0.9',)}
    """
    numeric = {heading: cells for heading, cells in columns.items() if _is_numeric(cells)}
    sign = decimal or _decimal_sign(numeric)
    found = {heading: tuple(cells) for heading, cells in columns.items()}
    for heading, cells in numeric.items():
        if any(re.search(_MARKED, cell) for cell in cells) or sign == ",":
            found[heading] = tuple(
                _plain(cell, sign, row, heading) for row, cell in enumerate(cells)
            )
    return found


def _is_numeric(cells: Sequence[str]) -> bool:
    """Return whether all cells are numbers of either form, or empty in some way."""
    measured = [cell for cell in cells if cell.lower() not in MISSING]
    return bool(measured) and all(
        re.fullmatch(_POINT, cell) or re.fullmatch(_COMMA, cell) for cell in measured
    )


def _decimal_sign(columns: Mapping[str, Sequence[str]]) -> str | None:
    """Return the decimal sign of a table: that of numbers which have no other reading."""
    signs: dict[str, tuple[int, str, str]] = {}
    for heading, cells in columns.items():
        for row, cell in enumerate(cells):
            if "," not in cell and "." not in cell:
                continue
            is_point = re.fullmatch(_POINT, cell) and not _is_zero_led(cell, ",")
            is_comma = re.fullmatch(_COMMA, cell) and not _is_zero_led(cell, ".")
            if bool(is_point) != bool(is_comma):
                signs.setdefault("." if is_point else ",", (row, heading, cell))
    if len(signs) > 1:
        (_, _, point), (row, heading, comma) = signs["."], signs[","]
        raise AmbiguousNumberError(
            row, heading, f"`{comma}` has a decimal comma, but `{point}` a decimal point"
        )
    return next(iter(signs), None)


def _is_zero_led(cell: str, mark: str) -> bool:
    """Return whether a mark stands behind a zero, as none does between thousands: `0,123`."""
    return cell.lstrip("+-").startswith(f"0{mark}")


def _plain(cell: str, sign: str | None, row: int, heading: str) -> str:
    if cell.lower() in MISSING:
        return cell
    bare = re.sub(_GAP + r"(?=\d)", "", cell)
    if "," not in bare and (sign != "," or "." not in bare):
        return bare
    if sign is None:
        first, _, second = bare.partition(",")
        raise AmbiguousNumberError(
            row, heading, f"`{cell}` can mean {first}{second} or {first}.{second}"
        )
    return bare.replace(",", "") if sign == "." else bare.replace(".", "").replace(",", ".")
