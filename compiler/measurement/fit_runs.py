"""A table that costs are fitted to, as it is read: what its columns are, which rows count."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from fractions import Fraction
from math import ceil, floor

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler.measurement.cost_columns import CostColumn, cost_columns, multiplied
from qps.compiler.measurement.fit_columns import (
    FitColumns,
    LoadColumn,
    RateColumn,
    UnitOf,
    groups_of,
    is_other_path,
    load_column,
    load_numbers,
    need_cores,
    numbers_below,
    rate_columns,
    refuse_load,
    usually_headed,
    with_cores,
)
from qps.compiler.measurement.fit_terms import (
    ends,
    picked,
)
from qps.compiler.measurement.measured_tables import DataError, MeasuredTable, NumberColumn
from qps.compiler.measurement.repeated_settings import settings_of
from qps.compiler.measurement.repetitions import Repetitions, repetitions_of
from qps.compiler.measurement.usual_headings import measured_rows, rate_hint
from qps.compiler.quantities.dimension import INFORMATION_BASE

SATURATED = Fraction(99, 100)
"""Load from which a machine is full: demand beyond it is not served."""

_HIGHEST_LOAD = Fraction(101, 100)
"""Load above which none can have been measured: shares are rounded, and sums of them more so."""

_LARGEST_RATE = 10**30
"""In base units: what is more is a slip, and no float may hold what is computed of it."""
_MOST_BITS = 450
"""Of a number with all the digits that its column has."""


class Runs(Struct, frozen=True, kw_only=True, dict=True):
    """What was measured, column by column; `used` holds the numbers of the rows that count.

    `rates` are what costs are fitted to: rates of items, or these times other columns; `items` are
    all rates of items that the table has.

    Those `without` any work say nothing where there is no fixed load, and nothing where they have
    no load: whatever items cost, none cost nothing, and nobody measured that.

    `groups` says of each row where or when it was measured, `settings` at what,
    `repetitions` how often; None where no column says so.
    """

    lines: tuple[int, ...]
    load: NumberColumn
    rates: tuple[NumberColumn, ...]
    items: tuple[NumberColumn, ...]
    other_path: frozenset[int]
    saturated: frozenset[int]
    without: frozenset[int]
    used: tuple[int, ...]
    groups: tuple[str, ...] | None = None
    settings: tuple[tuple[str, ...], ...] | None = None
    repetitions: Repetitions | None = None

    def __hash__(self) -> int:  # of many rows, and called often
        return hash((len(self.lines), self.load))

    @property
    def labels(self) -> list[Hashable]:
        """What rows that are used have in common that repeat a setting: else, all their rates."""
        if self.settings is not None:
            return [self.settings[row] for row in self.used]
        return list(zip(*map(self.picked, self.rates), strict=True))

    def picked(self, column: NumberColumn) -> tuple[int, ...]:
        """Return the whole numbers of a column in the rows that are used."""
        return picked(column, self.used)

    def ends(self, column: NumberColumn) -> tuple[Fraction, Fraction]:
        """Return the least and the greatest number of a column in the rows that are used."""
        return ends(column, self.used)


def measured_runs(table: MeasuredTable, reading: FitColumns, unit_of: UnitOf) -> Runs:
    """Return the rows of a table as they are read for a fit; DataError where they cannot be."""
    return read_for_fit(table, reading, unit_of).runs


class ReadTable(Struct, frozen=True, kw_only=True):
    """A table that was read: what its columns are, and its rows."""

    table: MeasuredTable
    load: LoadColumn
    rates: Sequence[RateColumn]
    columns: Sequence[CostColumn]
    runs: Runs
    reading: FitColumns
    not_measured: tuple[int, ...]
    needs_served: bool


def read_for_fit(table: MeasuredTable, reading: FitColumns, unit_of: UnitOf) -> ReadTable:
    """Return what the columns of a table are, and its rows; DataError if it has no load or rate."""
    table = usually_headed(table, reading.resource, unit_of, *reading.factors)
    reading = with_cores(table, reading)
    rates = rate_columns(table, unit_of)
    needs_served = reading.is_served and not any(rate.is_served for rate in rates)
    if any(rate.is_served for rate in rates):
        reading = replace(reading, is_served=True)
    load = load_column(table, reading, rates, unit_of)
    if load.heading is None:
        reading = replace(reading, has_fixed=False)
    if not rates:
        raise DataError(
            f"`{table.name}` has no column with a rate",
            rate_hint(table),
        )
    if reading.processors is None:
        need_cores(table, load)
    whole = table
    if reading.skips_missing:
        table = measured_rows(whole, (load.heading, *(rate.heading for rate in rates)))
    columns = cost_columns(table, rates, reading.costs, unit_of)
    missing = sorted({*whole.lines} - {*table.lines}) if table is not whole else ()
    return ReadTable(
        table=table,
        load=load,
        rates=rates,
        columns=columns,
        runs=_runs(table, load, rates, columns, reading),
        reading=reading,
        not_measured=tuple(missing),
        needs_served=needs_served,
    )


def _runs(
    table: MeasuredTable,
    load: LoadColumn,
    rates: Sequence[RateColumn],
    costs: Sequence[CostColumn],
    reading: FitColumns,
) -> Runs:
    """Return the rows of a table, those that are used by their content."""
    columns: list[NumberColumn] = []
    for rate in rates:
        found = numbers_below(table, rate.heading, table.columns[rate.heading])
        columns.append(NumberColumn(found.whole, found.unit * rate.factor))
    loads = load_numbers(table, load, columns)
    _check_possible(table, load, loads, columns)
    full = ceil(SATURATED / loads.unit)
    saturated = frozenset(i for i, whole in enumerate(loads.whole) if whole >= full)
    other_path = frozenset[int]()
    if any(rate.item == INFORMATION_BASE for rate in rates):
        rows = enumerate(zip(*(column.whole for column in columns), strict=True))
        other_path = frozenset(i for i, row in rows if 0 in row and is_other_path(row, rates))
    all_rates = zip(*(column.whole for column in columns), strict=True)
    without = frozenset(
        i
        for i, row in enumerate(all_rates)
        if not any(row) and not (reading.has_fixed and loads.whole[i])
    )
    unused = other_path | without | (frozenset() if reading.is_served else saturated)
    used = tuple(i for i in range(len(table.lines)) if i not in unused)
    return Runs(
        lines=table.lines,
        load=loads,
        rates=tuple(multiplied(table, cost, columns) for cost in costs),
        items=tuple(columns),
        other_path=other_path,
        saturated=saturated,
        without=without,
        used=used,
        groups=groups_of(table),
        settings=settings_of(table),
        repetitions=repetitions_of(table),
    )


def _check_possible(
    table: MeasuredTable, load: LoadColumn, loads: NumberColumn, rates: Sequence[NumberColumn]
) -> None:
    """Raise the first row that cannot have been measured."""
    for column in (loads, *rates):
        if min(column.whole) < 0:
            row = next(i for i, whole in enumerate(column.whole) if whole < 0)
            line = table.lines[row]
            raise DataError(f"`{table.name}`, line {line}: a utilization or rate is negative")
    for column in (loads, *rates):
        largest = max(column.whole)
        if largest.bit_length() > _MOST_BITS or largest * column.unit > _LARGEST_RATE:
            line = table.lines[column.whole.index(largest)]
            raise DataError(f"`{table.name}`, line {line}: a number out of range")
    highest = floor(_HIGHEST_LOAD / loads.unit)
    if max(loads.whole) > highest:
        row = next(i for i, whole in enumerate(loads.whole) if whole > highest)
        refuse_load(table, row, load, loads[row])
