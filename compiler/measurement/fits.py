"""Costs fitted to measurements: load = fixed + so much per item + so much per byte.

A table has a column for the load (`cpu in %`) and a column for each rate that causes it, whose
heading is its unit (`packet/s`, `Mbit/s`). The coefficients are those of least squares of the
relative errors, solved exactly, so that a spec has the same numbers on every machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from operator import mul

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler.measurement.cost_columns import CostColumn
from qps.compiler.measurement.cost_products import CostProduct
from qps.compiler.measurement.fit_columns import (
    MEAN_LATENCY,
    FitColumns,
    LoadColumn,
    RateColumn,
    UnitOf,
    fit_command,
    report_columns,
)
from qps.compiler.measurement.fit_curves import CurvedCosts, curved, not_separable
from qps.compiler.measurement.fit_runs import SATURATED, Runs, read_for_fit
from qps.compiler.measurement.fit_terms import (
    FittedCurve,
    FitTerm,
    Size,
    measured_factors,
    measured_sizes,
)
from qps.compiler.measurement.least_squares import LeastSquares
from qps.compiler.measurement.measured_tables import (
    DataError,
    MeasuredTable,
    NumberColumn,
    number,
)
from qps.compiler.measurement.repetitions import Weighting, weighting
from qps.compiler.measurement.usual_headings import looks_like_rate
from qps.compiler.quantities.dimension import INFORMATION_BASE

__all__ = ["SATURATED", "CostFit", "FitColumns", "FitTerm", "Runs", "Size", "UnitOf", "fitted"]

_MOST_STEPS = 25
"""Of Gauss and Newton, for the numbers of curves."""

LOW_LOAD = Fraction(1, 2)
"""Load below which costs per item are higher than under load: work is done in batches there."""


class MachineScale(Struct, frozen=True, kw_only=True):
    """What runs of another machine make of a fit: all of its numbers are `factor` times as large.

    Their uncertainty is that of `FitDistribution`: `weights`, `freedom` and `noise`. The fit to the
    table itself is `unscaled`; the runs are in a `file`.
    """

    file: str
    factor: float
    weights: tuple[tuple[float, ...], ...]
    freedom: int
    noise: float
    unscaled: CostFit


class MeasuredLatency(Struct, frozen=True, kw_only=True):
    """The mean latency of a row, in s."""

    line: int
    seconds: Fraction


class CostFit(Struct, frozen=True, kw_only=True):
    """Costs fitted to a table: `fixed` is the load of the whole machine that is always there.

    `cores` is how many processors share the load, one where nothing gave them; `left_out` names
    the columns that were not used, `other_rates` those of them that have a unit, `not_measured`
    the lines of rows without a load or a rate; `command` is what shows all of it. `has_fixed` is
    False where no fixed load was requested, `costs` are those that were named, and it
    `needs_served` where no heading says that the rates were served. `weighting` explains how much
    rows count; None where there are no more of them than numbers.
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
    other_rates: tuple[str, ...] = ()
    scale: MachineScale | None = None
    shorter_latency: MeasuredLatency | None = None
    """The mean latency of a row, if it is shorter than the processor time of an item."""

    @property
    def of(self) -> str:
        """What of its table it is: the same numbers have the same file, and the same of it."""
        fixed = "" if self.has_fixed else " without idle"
        onto = "" if self.scale is None else f" to {self.scale.file}"
        costs = [cost.written for cost in self.costs]
        return " per ".join([f"{self.resource}{fixed}", *costs]) + onto

    @property
    def clause(self) -> str:
        """How a spec writes it, but for that it has no idle load."""
        per = "".join(f"{' +' * (i > 0)} per {one.written}" for i, one in enumerate(self.costs))
        onto = "" if self.scale is None else f' to "{self.scale.file}"'
        return f'fit "{self.file}"{per}{onto}'

    @property
    def curves(self) -> tuple[FittedCurve, ...]:
        """The curves of its costs: their numbers follow the costs in its least squares."""
        return tuple(term.curve for term in self.terms if term.curve is not None)

    @property
    def loads(self) -> tuple[Fraction, Fraction]:
        """The least and the greatest load that was measured."""
        return self.runs.ends(self.runs.load)

    @property
    def missed_rates(self) -> tuple[str, ...]:
        """The columns that look like rates, and were not used, as their unit is not known."""
        unknown = [heading for heading in self.left_out if heading not in self.other_rates]
        return tuple(filter(looks_like_rate, unknown))

    @property
    def squares(self) -> LeastSquares:
        """The least squares of the rows that are used, in whole numbers: rows times weights."""
        return _squares_of(self)

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
    read = read_for_fit(table, reading, unit_of)
    found = _fit(read.table, read.load, read.rates, read.columns, read.runs, read.reading)
    return replace(
        found,
        not_measured=read.not_measured,
        needs_served=read.needs_served,
        shorter_latency=_shorter_latency(read.table, found),
    )


def _shorter_latency(table: MeasuredTable, found: CostFit) -> MeasuredLatency | None:
    """Return the row whose mean latency is the shortest, if an item takes more processor time.

    None where no column has latencies, or where no single number is the processor time of an item.
    """
    (first, *others) = found.terms
    if others or first.factors or first.curve is not None or not found.has_cores:
        return None
    cells = table.columns.get(MEAN_LATENCY, ())
    measured = [
        (value, line)
        for line, cell in zip(table.lines, cells, strict=False)
        if (value := number(cell)) is not None and value > 0
    ]
    if not measured:
        return None
    latency, line = min(measured)
    if latency / 1000 >= first.value:
        return None
    return MeasuredLatency(line=line, seconds=latency / 1000)


def _fit(
    table: MeasuredTable,
    load: LoadColumn,
    rates: Sequence[RateColumn],
    columns: Sequence[CostColumn],
    runs: Runs,
    reading: FitColumns,
) -> CostFit:
    count = len(columns) + sum(column.curve is not None for column in columns)
    _check_rows(table, runs, count, reading, rates)
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
    cores = reading.cores or Fraction(1)
    curves = curved(table, columns, runs, cores, has_fixed=reading.has_fixed)
    runs = runs if curves is None else curves.runs
    solved, weights = _solved(table, runs, has_fixed=reading.has_fixed)
    if curves is not None:
        curves, solved = _stepped(table, curves, solved, weights, has_fixed=reading.has_fixed)
        runs = curves.runs
    values = solved[reading.has_fixed :]
    terms = tuple(
        replace(
            _term(rates, column, runs, index, values[index] * cores),
            curve=None if curves is None else curves.curves.get(index),
        )
        for index, column in enumerate(columns)
    )
    used = {load.heading, *(rates[column.rate].heading for column in columns)}
    used |= {factor.heading for column in columns for factor, _ in column.factors}
    used |= {column.curve.column.heading for column in columns if column.curve is not None}
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
        other_rates=tuple(rate.heading for rate in rates if rate.heading not in used),
        weighting=weights,
    )


def _solved(
    table: MeasuredTable, runs: Runs, known: Weighting | None = None, *, has_fixed: bool
) -> tuple[tuple[Fraction, ...], Weighting | None]:
    """Return the numbers that fit rows best by their weights; DataError where there are many.

    Those of curves are found in steps, all by the same weights.
    """
    squares = _squares(runs, None, has_fixed=has_fixed)
    solved = squares.numbers
    if solved is None:
        raise DataError(
            f"rates in `{table.name}` are collinear: their service demands cannot be separated",
            "measure different item sizes at different rates, or remove a column",
        )
    repetitions = None if runs.repetitions is None else runs.repetitions.picked(runs.used)
    weights = weighting(squares, repetitions) if known is None else known
    if weights is not None:
        solved = _squares(runs, weights.weights, has_fixed=has_fixed).numbers
        assert solved is not None
    return solved, weights


def _stepped(
    table: MeasuredTable,
    curves: CurvedCosts,
    solved: tuple[Fraction, ...],
    weights: Weighting | None,
    *,
    has_fixed: bool,
) -> tuple[CurvedCosts, tuple[Fraction, ...]]:
    """Return curves at the least squares of weighted rows; DataError where there are none."""
    count = len(curves.bases)
    for _ in range(_MOST_STEPS):
        runs = curves.runs
        costs = [float(one * runs.load.unit / rate.unit) for one, rate in _paired(solved, runs)]
        moves = costs[count:]
        if curves.are_lost(moves):
            break
        curves = curves.at(costs[:count], moves)
        solved, _ = _solved(table, curves.runs, weights, has_fixed=has_fixed)
        if curves.are_still(moves):
            return curves, solved
    raise not_separable(table, curves)


def _paired(solved: Sequence[Fraction], runs: Runs) -> list[tuple[Fraction, NumberColumn]]:
    """Return the numbers of least squares, but for the fixed load, with their columns."""
    return list(zip(solved[len(solved) - len(runs.rates) :], runs.rates, strict=True))


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


@lru_cache(maxsize=4)  # what describes a fit uses the same, with all that it has computed
def _squares_of(fit: CostFit) -> LeastSquares:
    return _squares(fit.runs, fit.weights, has_fixed=fit.has_fixed)


def _squares(runs: Runs, weights: Sequence[int] | None, *, has_fixed: bool) -> LeastSquares:
    ones = ((1,) * len(runs.used),) if has_fixed else ()
    columns = (*ones, *(runs.picked(rate) for rate in runs.rates))
    target = runs.picked(runs.load)
    if weights is not None and any(weight != 1 for weight in weights):
        columns = tuple(tuple(map(mul, column, weights)) for column in columns)
        target = tuple(map(mul, target, weights))
    return LeastSquares(columns, target)


def _countable(columns: Sequence[RateColumn]) -> list[str]:
    """Return what is counted one by one, and not in bytes."""
    return [column.item for column in columns if column.item != INFORMATION_BASE]


def _check_rows(
    table: MeasuredTable,
    runs: Runs,
    rates: int,
    reading: FitColumns,
    columns: Sequence[RateColumn],
) -> None:
    """Raise that there are too few rows, and why."""
    has_fixed, command = reading.has_fixed, fit_command(table, reading)
    count = rates + has_fixed
    if len(runs.used) >= count:
        return
    hints = [f"measure at least {count} runs that differ in every rate"]
    if has_fixed and len(runs.used) == rates:
        hints.append(f"to fit without idle utilization: `{command} --no-fixed`")
    elif runs.used and not reading.costs and (items := _countable(columns)):
        fixed = " --no-fixed" * (len(runs.used) == 1)
        hints.append(f"to fit a single demand: `{command} --per {items[0]}{fixed}`")
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
