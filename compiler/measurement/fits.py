"""Costs fitted to measurements: load = fixed + so much per item + so much per byte.

A table has a column for the load (`cpu in %`) and a column for each rate that causes it, whose
heading is its unit (`packet/s`, `Mbit/s`). The coefficients are those of least squares of the
relative errors, solved exactly, so that a spec has the same numbers on every machine.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from fractions import Fraction
from math import ceil, floor
from operator import mul

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler.measurement.cost_columns import CostColumn, cost_columns, multiplied
from qps.compiler.measurement.cost_products import CostProduct
from qps.compiler.measurement.fit_columns import (
    FitColumns,
    LoadColumn,
    RateColumn,
    UnitOf,
    fit_command,
    groups_of,
    is_other_path,
    load_column,
    load_numbers,
    need_cores,
    numbers_below,
    rate_columns,
    rate_hint,
    refuse_load,
    report_columns,
    usually_headed,
    with_cores,
)
from qps.compiler.measurement.fit_terms import (
    FitTerm,
    Size,
    ends,
    measured_factors,
    measured_sizes,
    picked,
)
from qps.compiler.measurement.least_squares import LeastSquares
from qps.compiler.measurement.measured_tables import DataError, MeasuredTable, NumberColumn
from qps.compiler.measurement.repeated_settings import settings_of
from qps.compiler.measurement.repetitions import Repetitions, Weighting, repetitions_of, weighting
from qps.compiler.measurement.usual_headings import looks_like_rate, measured_rows
from qps.compiler.quantities.dimension import INFORMATION_BASE

__all__ = ["CostFit", "FitColumns", "FitTerm", "Runs", "Size", "UnitOf", "fitted"]

LOW_LOAD = Fraction(1, 2)
"""Load below which costs per item are higher than under load: work is done in batches there."""

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


class CostFit(Struct, frozen=True, kw_only=True):
    """Costs fitted to a table: `fixed` is the load of the whole machine that is always there.

    `cores` is how many processors share the load, one where nothing gave them; `left_out` names
    the columns that were not used, `not_measured` the lines of rows without a load or a rate;
    `command` is what shows all of it. `has_fixed` is False where no fixed load was requested,
    `costs` are those that were named, and it `needs_served` where no heading says that the rates
    were served. `weighting` explains how much rows count; None where there are no more of them than
    numbers.
    """

    file: str
    resource: str
    cores: Fraction
    fixed: Fraction
    has_fixed: bool
    terms: tuple[FitTerm, ...]
    sizes: tuple[Size, ...]
    runs: Runs
    left_out: tuple[str, ...]
    command: str
    has_cores: bool
    costs: tuple[CostProduct, ...] = ()
    needs_served: bool = False
    weighting: Weighting | None = None
    not_measured: tuple[int, ...] = ()

    @property
    def of(self) -> str:
        """What of its table it is: the same numbers have the same file, and the same of it."""
        fixed = "" if self.has_fixed else " without idle"
        return " per ".join([f"{self.resource}{fixed}", *(cost.written for cost in self.costs)])

    @property
    def loads(self) -> tuple[Fraction, Fraction]:
        """The least and the greatest load that was measured."""
        return self.runs.ends(self.runs.load)

    @property
    def missed_rates(self) -> tuple[str, ...]:
        """The columns that look like rates, and were not used."""
        return tuple(heading for heading in self.left_out if looks_like_rate(heading))

    @property
    def squares(self) -> LeastSquares:
        """The least squares of the rows that are used, in whole numbers: rows times weights."""
        return _squares(self.runs, self.weights, has_fixed=self.has_fixed)

    @property
    def weights(self) -> tuple[int, ...]:
        """What the rows that are used are multiplied by before they are fitted."""
        if self.weighting is None:
            return (1,) * len(self.runs.used)
        return self.weighting.weights


def fitted(table: MeasuredTable, reading: FitColumns, unit_of: UnitOf) -> CostFit:
    """Return the costs that fit a table best; DataError where it gives none.

    Rows that move items without any bytes are another code path, and those of a saturated machine
    show no cost, unless the rates are known to be what it served: they are read, but not used.
    Where no column is the load, each row is of a full machine, and shows no fixed load.
    """
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
    runs = _runs(table, load, rates, columns, reading)
    found = _fit(table, load, rates, columns, runs, reading)
    missing = sorted({*whole.lines} - {*table.lines}) if table is not whole else ()
    return replace(found, not_measured=tuple(missing), needs_served=needs_served)


def _fit(
    table: MeasuredTable,
    load: LoadColumn,
    rates: Sequence[RateColumn],
    columns: Sequence[CostColumn],
    runs: Runs,
    reading: FitColumns,
) -> CostFit:
    _check_rows(table, runs, len(columns), reading)
    if reading.has_fixed and len(set(runs.picked(runs.load))) == 1:
        raise DataError(
            f"all rows of `{table.name}` have the same rate: idle utilization cannot be separated",
            f"measure at several rates, or assume none: `{fit_command(table, reading)} --no-fixed`",
        )
    if not any(runs.picked(runs.load)):
        raise DataError(
            f"all rows of `{table.name}` have a utilization of 0",
            "measure at higher rates, and with more digits",
        )
    squares = _squares(runs, None, has_fixed=reading.has_fixed)
    solved = squares.numbers
    if solved is None:
        raise DataError(
            f"rates in `{table.name}` are collinear: their service demands cannot be separated",
            "measure different item sizes at different rates, or remove a column",
        )
    repetitions = None if runs.repetitions is None else runs.repetitions.picked(runs.used)
    weights = weighting(squares, repetitions)
    if weights is not None:
        solved = _squares(runs, weights.weights, has_fixed=reading.has_fixed).numbers
        assert solved is not None
    cores = reading.cores or Fraction(1)
    values = solved[reading.has_fixed :]
    terms = tuple(
        _term(rates, column, runs, index, values[index] * cores)
        for index, column in enumerate(columns)
    )
    used = {load.heading, *(rates[column.rate].heading for column in columns)}
    used |= {factor.heading for column in columns for factor, _ in column.factors}
    used |= report_columns(table)
    return CostFit(
        file=table.name,
        resource=load.name,
        cores=cores,
        has_cores=reading.cores is not None,
        command=fit_command(table, reading),
        fixed=solved[0] * runs.load.unit if reading.has_fixed else Fraction(0),
        has_fixed=reading.has_fixed,
        terms=terms,
        costs=reading.costs,
        sizes=measured_sizes(rates, runs.items, runs.used),
        runs=runs,
        left_out=tuple(heading for heading in table.headings if heading not in used),
        weighting=weights,
    )


def _term(
    rates: Sequence[RateColumn], column: CostColumn, runs: Runs, index: int, value: Fraction
) -> FitTerm:
    """Return a coefficient; its `value` is in units of the columns."""
    low, high = runs.ends(runs.items[column.rate])
    return FitTerm(
        heading=column.heading,
        column=rates[column.rate].heading,
        item=column.item,
        value=value * runs.load.unit / runs.rates[index].unit,
        low=low,
        high=high,
        factors=measured_factors(column, runs.used),
    )


def _squares(runs: Runs, weights: Sequence[int] | None, *, has_fixed: bool) -> LeastSquares:
    ones = ((1,) * len(runs.used),) if has_fixed else ()
    columns = (*ones, *(runs.picked(rate) for rate in runs.rates))
    target = runs.picked(runs.load)
    if weights is not None and any(weight != 1 for weight in weights):
        columns = tuple(tuple(map(mul, column, weights)) for column in columns)
        target = tuple(map(mul, target, weights))
    return LeastSquares(columns, target)


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


def _check_rows(table: MeasuredTable, runs: Runs, rates: int, reading: FitColumns) -> None:
    """Raise that there are too few rows, and why."""
    has_fixed, command = reading.has_fixed, fit_command(table, reading)
    count = rates + has_fixed
    if len(runs.used) >= count:
        return
    hints = [f"measure at least {count} runs that differ in every rate"]
    if has_fixed and len(runs.used) == rates:
        hints.append(f"to fit without idle utilization: `{command} --no-fixed`")
    if runs.other_path:
        hints.append("rows without bytes are ignored")
    if not runs.saturated <= set(runs.used):
        hints.append(
            f"saturated rows are ignored unless rates are throughput: `{command} "
            "--served`, or a heading such as `served in request/s`"
        )
    rows = f"{len(runs.used)} row{'s' * (len(runs.used) != 1)}"
    what = f"{count} number{'s' * (count != 1)}"
    raise DataError(f"`{table.name}` has only {rows} for {what}", "; ".join(hints))
