"""Files of recorded packets: from the text of a CSV file to columns of whole ticks.

The columns are `arrival` (or `received`, `time`), `sent` and `sequence` (or `seq`), each once; a
heading may name the unit of its times: `arrival, ms`, `arrival (ms)` or `arrival_ms`. A file
with one column may do without a heading. An empty arrival is a packet that was lost.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from fractions import Fraction

from msgspec import Struct

from qps.compiler.diagnostics.suggest import did_you_mean, shortened
from qps.compiler.quantities.units import BUILT_IN

UNITS = {name: BUILT_IN[name].factor for name in ("ns", "us", "µs", "μs", "ms", "s")}
"""Units of time in a heading, in seconds."""

COLUMNS = {
    "arrival": "arrival",
    "received": "arrival",
    "time": "arrival",
    "sent": "sent",
    "sequence": "sequence",
    "seq": "sequence",
}
_HEADING = re.compile(
    r"\s*(?P<name>[^\W_]+)\s*(?:[,_]\s*(?P<a>[^\W_]+)|\((?P<b>[^)]*)\)|\[(?P<c>[^\]]*)\])?\s*"
)
_NUMBER = re.compile(r"([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,3}))?", re.ASCII)
_LONGEST_CELL = 60
_MOST_DIGITS = 40
_LARGEST_EXPONENT = 30


class TraceError(Exception):
    """Raised where a file of packets cannot be used: at which line, why, and how to fix it."""

    def __init__(self, line: int | None, message: str, hint: str) -> None:
        self.line = line
        self.message = message
        self.hint = hint
        super().__init__(message)


class Heading(Struct, frozen=True):
    """The columns of a file by what they hold, and the unit of each column of times, in s."""

    columns: tuple[str, ...]
    units: dict[str, Fraction]
    lines: int
    """Lines of the heading: none in a bare list of numbers."""


class PacketColumns(Struct, frozen=True, eq=False, kw_only=True):
    """What a file says of each packet, in the order of its lines; times in ticks of `tick` s."""

    arrivals: list[int | None]
    sent: list[int] | None
    sequence: list[int] | None
    lines: Sequence[int]
    tick: Fraction


def _heading(cells: Sequence[str], unit: Fraction | None) -> Heading:
    if len(cells) == 1 and _decimal(cells[0].strip()) is not None:
        return Heading(("arrival",), {"arrival": _unit("arrival", None, unit)}, 0)
    columns: list[str] = []
    units: dict[str, Fraction] = {}
    for cell in cells:
        name, written = _split(cell)
        if name in columns:
            raise TraceError(
                1, f"two columns contain the {_COLUMN_CONTENTS[name]}", "remove one of them"
            )
        columns.append(name)
        if name != "sequence":
            units[name] = _unit(name, written, unit)
        elif written is not None:
            raise TraceError(
                1, f"sequence numbers have no unit, `{shortened(cell.strip())}`", "remove it"
            )
    if "arrival" not in columns:
        raise TraceError(1, "the column of arrival times is missing", "name one `arrival`")
    return Heading(tuple(columns), units, 1)


_COLUMN_CONTENTS = {
    "arrival": "arrival times",
    "sent": "sending times",
    "sequence": "sequence numbers",
}


def _split(cell: str) -> tuple[str, str | None]:
    """Return what a column holds, and its unit as it is written."""
    match = _HEADING.fullmatch(cell)
    word = match["name"].lower() if match else cell.strip()
    if match is None or word not in COLUMNS:
        if _decimal(cell.strip()) is not None:
            raise TraceError(
                1,
                "the file has no header with column names",
                "add a first line such as `sequence,sent,arrival`",
            )
        raise TraceError(
            1,
            f"unknown column `{shortened(cell.strip())}`",
            (did_you_mean(word, COLUMNS) if word not in COLUMNS else None)
            or "columns are `sequence`, `sent` and `arrival`; add a unit like `arrival, ms`",
        )
    return COLUMNS[word], match["a"] or match["b"] or match["c"]


def _unit(name: str, written: str | None, default: Fraction | None) -> Fraction:
    if written is None:
        if default is None:
            raise TraceError(
                1,
                f"the {_COLUMN_CONTENTS[name]} have no unit",
                f"add it to the heading, `{name}, ms`, or after the file",
            )
        return default
    if written.strip() not in UNITS:
        raise TraceError(
            1,
            f"`{shortened(written.strip())}` is not a unit of time",
            "use `ns`, `us`, `ms` or `s`",
        )
    return UNITS[written.strip()]


def read_columns(text: str, unit: Fraction | None, most_rows: int) -> PacketColumns:
    """Return the columns of a file; TraceError where something in it cannot be used."""
    reader = csv.reader(io.StringIO(text), strict=True)
    heading: Heading | None = None
    cells: dict[str, list[str]] = {}
    lines: list[int] = []
    try:
        for row in reader:
            if not row or (len(row) == 1 and not row[0].strip()):
                continue
            if heading is None:
                heading = read_first_line(row, unit)
                cells = {name: [] for name in heading.columns}
                if heading.lines:
                    continue
            _check_row(row, heading, reader.line_num, len(lines), most_rows)
            lines.append(reader.line_num)
            for name, cell in zip(heading.columns, row, strict=True):
                cells[name].append(cell.strip())
    except csv.Error as error:
        raise TraceError(reader.line_num, str(error), "fix that line of the file") from error
    if heading is None:
        raise TraceError(None, "the file is empty", "add one line per packet")
    return _columns(heading, cells, lines)


def read_first_line(row: Sequence[str], unit: Fraction | None) -> Heading:
    """Return what the first line of a file says, of whose cells some may hold a comma.

    `unit` is that of times without one of their own, in s. TraceError where a column is unknown
    or stated twice, or where a unit is missing.
    """
    for separator, word in ((";", "semicolons"), ("\t", "tabs")):
        if len(row) == 1 and separator in row[0]:
            raise TraceError(1, f"the columns are separated by {word}", "separate them with commas")
    joined: list[str] = []
    for cell in row:
        # A heading that is not quoted, `sent, ms,arrival, ms`, comes in two parts.
        if joined and cell.strip() in UNITS:
            joined[-1] = f"{joined[-1]}, {cell}"
        else:
            joined.append(cell)
    return _heading(joined, unit)


def _check_row(row: list[str], heading: Heading, line: int, count: int, most_rows: int) -> None:
    if len(row) != len(heading.columns):
        raise TraceError(
            line,
            f"{len(row)} cells, but {len(heading.columns)} columns",
            "fix that line of the file",
        )
    if count >= most_rows:
        raise TraceError(line, f"more than {most_rows:,} packets", "split the recording")
    if max(len(cell) for cell in row) > _LONGEST_CELL:
        raise TraceError(
            line, f"a cell is longer than {_LONGEST_CELL} characters", "fix that line of the file"
        )


def _columns(heading: Heading, cells: dict[str, list[str]], lines: list[int]) -> PacketColumns:
    """Return the cells as whole numbers: times in one tick that all of them are multiples of."""
    read = {name: _decimals(name, column, lines) for name, column in cells.items()}
    sequence = None
    if "sequence" in read:
        sequence = []
        for number, line in zip(read["sequence"], lines, strict=True):
            if number is None:
                raise TraceError(line, "the sequence number is missing", "number all packets")
            sequence.append(_whole(number, line))
    times = {name: read[name] for name in heading.units}
    finest = (
        _places(number, heading.units[name])
        for name in times
        for number in times[name]
        if number is not None
    )
    places = max(0, max(finest, default=0))
    tick = Fraction(1, 10**places)
    arrivals, sent = (
        [
            None if number is None else _ticks(number, heading.units[name], places)
            for number in times[name]
        ]
        if name in times
        else None
        for name in ("arrival", "sent")
    )
    assert arrivals is not None
    for time, line in zip(arrivals, lines, strict=True):
        if time is None and len(heading.columns) == 1:
            raise TraceError(line, "the arrival time is missing", "remove the line")
    for time, line in zip(sent or (), lines, strict=bool(sent)):
        if time is None:
            raise TraceError(line, "the sending time is missing", "add it, or remove the column")
    known = None if sent is None else [time for time in sent if time is not None]
    return PacketColumns(arrivals=arrivals, sent=known, sequence=sequence, lines=lines, tick=tick)


_Decimal = tuple[int, int]
"""A decimal number as `digits * 10^-places`; places may be below zero."""


def _decimals(name: str, column: list[str], lines: list[int]) -> list[_Decimal | None]:
    found: list[_Decimal | None] = []
    for cell, line in zip(column, lines, strict=True):
        number = _decimal(cell)
        if number is None and cell:
            raise TraceError(line, f"`{shortened(cell)}` is not a number", _number_hint(cell, name))
        found.append(number)
    return found


def _decimal(cell: str) -> _Decimal | None:
    """Return a plain decimal number, exact; None for anything else, also for `nan` and `inf`."""
    match = _NUMBER.fullmatch(cell)
    if match is None:
        return None
    sign, whole, part, exponent = match.groups()
    digits = whole + (part or "")
    power = int(exponent or 0)
    if not digits or len(digits) > _MOST_DIGITS or abs(power) > _LARGEST_EXPONENT:
        return None
    return int(sign + digits), len(part or "") - power


def _number_hint(cell: str, name: str) -> str:
    if cell.lower().lstrip("+-") in ("nan", "inf", "infinity"):
        return "leave the cell empty if the packet was lost" if name == "arrival" else "fix it"
    if _decimal(cell.replace(",", ".")) is not None:
        return "write the decimal point as `.`"
    return "write a plain decimal number; the unit is in the heading"


def _whole(number: _Decimal, line: int) -> int:
    digits, places = number
    if places > 0 and digits % 10**places:
        raise TraceError(line, "a sequence number must be a whole number", "number packets 1, 2, 3")
    return digits // 10**places if places > 0 else int(digits * 10**-places)


def _places(number: _Decimal, unit: Fraction) -> int:
    """Return how many decimal places of a second a time has."""
    return number[1] + len(str(unit.denominator)) - 1


def _ticks(number: _Decimal, unit: Fraction, places: int) -> int:
    return int(number[0] * 10 ** (places - _places(number, unit)))
