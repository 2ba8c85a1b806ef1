"""Any table with headings, as people keep it in a spreadsheet: its columns by what they mean."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path

from qps.compiler.diagnostics.suggest import closest, listed, shortened
from qps.compiler.measurement.measured_tables import DataError, MeasuredTable, number, read_table
from qps.compiler.measurement.number_forms import MISSING
from qps.compiler.measurement.observations.file_texts import FileReading, text_of
from qps.compiler.measurement.observations.observed_runs import ObservedRuns
from qps.compiler.measurement.usual_headings import (
    CPU_CORES,
    CPU_SHARE,
    FAILED,
    RATE,
    TIME,
    USERS,
    ColumnMeaning,
    looks_like_rate,
    scaled,
    usual_meaning,
)

_FULL = 101
"""Per cent of a machine that no row can have: shares are rounded."""
_AMBIGUOUS = {
    r"(?i)\b(?:throughput|rate|iops|hits)\b": RATE,
    r"(?i)%\s*cpu|\bcpu\b|processor": "cpu in % of a core",
    r"(?i)\b(?:latency|response|elapsed|rt)\b": "latency mean, ms",
    r"(?i)\bp\d\d|\d\d ?(?:%|th)": "latency p95, ms",
    r"(?i)\berrors?\b|\bfail": FAILED,
}
"""What a heading may mean that is not certain, by what is in it."""
_MOST_NAMED = 8
_KNOWN = re.compile(rf"latency .+, ms|{RATE}|{CPU_SHARE}|{CPU_CORES}")


def sheet_table(path: Path, how: FileReading) -> ObservedRuns:
    """Return a table headed as QPS heads its columns; what was not measured is empty."""
    return table_of(text_of(path), str(path), how)


def table_of(text: str, name: str, how: FileReading) -> ObservedRuns:
    """Return a text as such a table."""
    if how.decimal not in (None, ".", ","):
        raise DataError(f"`{how.decimal}` is not a decimal sign", "write `--decimal ,`")
    table = read_table(text, name, decimal=how.decimal)
    stated = _stated(table, how.column)
    meanings = {heading: stated.get(heading) or _meaning(heading) for heading in table.headings}
    _refuse_twins(table, meanings)
    columns: dict[str, tuple[str, ...]] = {}
    for heading, cells in table.columns.items():
        meaning = meanings[heading]
        measured = tuple("" if cell.lower() in MISSING else cell for cell in cells)
        if meaning is None:
            columns[heading] = measured
        else:
            columns[meaning.heading] = _numbers(table, heading, measured, meaning)
    if not any(_KNOWN.fullmatch(one) or looks_like_rate(one) for one in columns):
        raise _nothing_known(table)
    return ObservedRuns(
        headings=tuple(columns),
        rows=tuple(zip(*columns.values(), strict=True)),
        notes=tuple(_notes(table, meanings)),
    )


def _meaning(heading: str) -> ColumnMeaning | None:
    """Return what a heading means, as it is read or as `qps observe` writes it."""
    return usual_meaning(heading) or (ColumnMeaning(heading) if looks_like_rate(heading) else None)


def _stated(table: MeasuredTable, columns: Sequence[str]) -> dict[str, ColumnMeaning]:
    """Return what somebody says that columns mean."""
    found = {}
    for text in columns:
        heading, _, meaning = (part.strip() for part in text.rpartition("="))
        if not heading or not meaning:
            raise DataError(
                f"`--column {shortened(text)}` does not state what a column means",
                "write `--column 'Throughput=request/s'`",
            )
        if heading not in table.columns:
            near = closest(heading, table.headings)
            named = listed(table.headings[:_MOST_NAMED], "and")
            raise DataError(
                f"`{shortened(table.name)}` has no column `{shortened(heading)}`",
                f"did you mean `{near}`?" if near else f"its columns are {named}",
            )
        found[heading] = usual_meaning(meaning) or ColumnMeaning(meaning)
    return found


def _refuse_twins(table: MeasuredTable, meanings: Mapping[str, ColumnMeaning | None]) -> None:
    """Raise that two columns mean the same, as average and largest users of a run do."""
    by_meaning: dict[str, str] = {}
    for heading, meaning in meanings.items():
        name = heading if meaning is None else meaning.heading
        other = by_meaning.setdefault(name, heading)
        if other != heading:
            raise DataError(
                f"`{shortened(table.name)}`: `{shortened(other)}` and `{shortened(heading)}` are "
                f"both read as `{name}`",
                f"name the other one: `--column '{shortened(heading)}=another name'`",
            )


def _numbers(
    table: MeasuredTable, heading: str, cells: Sequence[str], meaning: ColumnMeaning
) -> tuple[str, ...]:
    """Return the numbers of a column as its meaning counts them; DataError for other texts."""
    if meaning.heading == TIME:
        return tuple(cells)
    bare = [cell.removesuffix("%").rstrip() for cell in cells]
    for line, cell in zip(table.lines, bare, strict=True):
        value = number(cell)
        if cell and value is None:
            raise DataError(
                f"`{shortened(table.name)}`, line {line}: `{shortened(cell)}` in column "
                f"`{shortened(heading)}` is not a number",
                f"correct it, leave it empty, or name the column: `--column '{heading}=name'`",
            )
        if value is not None and meaning.heading == CPU_SHARE and value > _FULL:
            raise DataError(
                f"`{shortened(table.name)}`, line {line}: `{shortened(heading)}` is {cell} %, more "
                "than all of a machine",
                f"if it is per cent of a core, add `--column '{heading}=cpu in % of a core'`",
            )
    factor = meaning.factor
    if meaning.heading == FAILED and factor == 1 and any(cell.endswith("%") for cell in cells):
        factor = Fraction(1, 100)
    return scaled(bare, factor)


def _notes(table: MeasuredTable, meanings: Mapping[str, ColumnMeaning | None]) -> list[str]:
    name = shortened(table.name)
    read = [
        f"{meaning.heading} from `{heading}`"
        for heading, meaning in meanings.items()
        if meaning is not None
    ]
    notes = [f"`{name}`: {'; '.join(read)}"] if read else []
    for heading, meaning in meanings.items():
        guess = None if meaning is not None else _guess(heading)
        if guess is not None:
            notes.append(
                f"warning: `{name}`: the meaning of `{shortened(heading)}` is not certain; state "
                f"it, such as `--column '{heading}={guess}'`"
            )
    return notes


def _guess(heading: str) -> str | None:
    if usual_meaning(heading) is not None or heading in (USERS, FAILED, "cores", "users, mean"):
        return None
    return next((name for words, name in _AMBIGUOUS.items() if re.search(words, heading)), None)


def _nothing_known(table: MeasuredTable) -> DataError:
    """Return that no column is known to be measured, and how to state what one is."""
    named = listed(table.headings[:_MOST_NAMED], "and")
    likely = next(
        ((one, guess) for one in table.headings for guess in [_guess(one)] if guess),
        (table.headings[-1], RATE),
    )
    return DataError(
        f"`{shortened(table.name)}` has no column that is known to be a rate, a utilization or a "
        f"latency: it has {named}",
        f"state what a column is: `--column '{likely[0]}={likely[1]}'`",
    )
