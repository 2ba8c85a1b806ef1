"""How well costs that were fitted to some settings predict the others.

Each setting is left out in turn, and its load predicted from a fit to the rest, with the interval
that the fit states: of one more run, noise and all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import sqrt
from pathlib import Path
from statistics import median

from qps.compiler.check.model.fits.table_units import units_with
from qps.compiler.measurement.fit_columns import FitColumns
from qps.compiler.measurement.fit_spread import fit_spread
from qps.compiler.measurement.fits import CostFit, fitted
from qps.compiler.measurement.measured_tables import DataError, MeasuredTable, read_table
from qps.compiler.measurement.student_t import student_quantile
from servers import DELIVERY

_LEVEL = 0.9


@dataclass(frozen=True)
class Prediction:
    """A setting: its load as measured and as predicted, and half the width of the interval.

    Of a closed loop it is a rate in 1/s or a time in s; `unit` is how tables show it.

    `spread` is how far its repetitions lie apart, as a share: nothing is predicted much closer.
    """

    name: str
    measured: float
    predicted: float
    half_width: float | None
    spread: float
    unit: str = "%"

    def rounded(self) -> Prediction:
        """Return it with six digits, as it is kept."""
        half_width = None if self.half_width is None else _six(self.half_width)
        return replace(
            self,
            measured=_six(self.measured),
            predicted=_six(self.predicted),
            half_width=half_width,
            spread=_six(self.spread),
        )

    def shown(self, value: float) -> str:
        """Return a value of it as a table has it."""
        factor = {"%": 100.0, "ms": 1000.0}.get(self.unit, 1.0)
        return f"{factor * value:.4g} {self.unit}"

    @property
    def error(self) -> float:
        """By what part of the measured load the prediction is off."""
        return (self.predicted - self.measured) / self.measured if self.measured else 0.0

    @property
    def is_held(self) -> bool | None:
        """Whether the interval holds what was measured; None where there is none."""
        if self.half_width is None:
            return None
        return abs(self.predicted - self.measured) <= self.half_width


def without(table: MeasuredTable, rows: frozenset[int]) -> MeasuredTable:
    """Return a table without some of its rows."""
    remaining = [i for i in range(len(table.lines)) if i not in rows]
    return MeasuredTable(
        table.name,
        table.headings,
        tuple(table.lines[i] for i in remaining),
        {name: tuple(cells[i] for i in remaining) for name, cells in table.columns.items()},
    )


def only(table: MeasuredTable, rows: Sequence[int]) -> MeasuredTable:
    """Return a table of some rows."""
    return without(table, frozenset(range(len(table.lines))) - set(rows))


def reading_of(resource: str, cores: int) -> FitColumns:
    """Return how the tables of the laboratory are read."""
    return FitColumns(resource=resource, cores=Fraction(cores), processors=Fraction(cores))


def left_out(path: Path, resource: str, cores: int) -> list[Prediction]:
    """Return what is predicted of each setting with load, from all others."""
    table = read_table(path.read_text(encoding="utf-8"), path.name)
    reading, units = reading_of(resource, cores), units_with([DELIVERY])
    whole = fitted(table, reading, units)
    found = []
    for row in range(len(table.lines)):
        if _is_idle(table, row):
            continue
        try:
            fit = fitted(without(table, frozenset([row])), reading, units)
        except DataError:
            continue  # without it, nothing tells the costs apart
        found.append(predicted(fit, whole, row, table))
    return found


def composed(alone: Path, together: Path, resource: str, cores: int) -> list[Prediction]:
    """Return what a fit to a server alone predicts of it in a larger system."""
    units = units_with([DELIVERY])
    fit = fitted(
        read_table(alone.read_text(encoding="utf-8"), alone.name), reading_of("cpu", cores), units
    )
    table = read_table(together.read_text(encoding="utf-8"), together.name)
    whole = fitted(table, reading_of(resource, cores), units)
    rows = [i for i in range(len(table.lines)) if not _is_idle(table, i)]
    return [predicted(fit, whole, row, table) for row in rows]


def predicted(fit: CostFit, other: CostFit, row: int, table: MeasuredTable) -> Prediction:
    """Return what a fit predicts of a row of another table with the same rates."""
    by_heading = {
        term.heading: float(rate[row])
        for term, rate in zip(other.terms, other.runs.rates, strict=True)
    }
    given = [by_heading.get(term.heading, 0.0) for term in fit.terms]
    load = float(fit.fixed) + sum(
        float(term.value) / float(fit.cores) * rate
        for term, rate in zip(fit.terms, given, strict=True)
    )
    return Prediction(
        name=_named(table, row),
        measured=float(other.runs.load[row]),
        predicted=load,
        half_width=_half_width(fit, given, load),
        spread=float(table.columns["spread in %"][row]) / 100,
    )


def _half_width(fit: CostFit, rates: Sequence[float], load: float) -> float | None:
    spread = fit_spread(fit)
    if spread is None:
        return None
    cores = float(fit.cores)
    factors = [1.0] * fit.has_fixed + [rate / cores for rate in rates]
    size = len(spread.weights[0])
    parts = [
        sum(factor * row[j] for factor, row in zip(factors, spread.weights, strict=True))
        for j in range(size)
    ]
    deviation = sqrt(sum(part * part for part in parts) + (spread.noise * load) ** 2)
    return deviation * student_quantile((1 + _LEVEL) / 2, spread.freedom)


def _is_idle(table: MeasuredTable, row: int) -> bool:
    """Return whether a row is that of a server without load: a counter may ask it something."""
    requested = [heading for heading in table.headings if heading.startswith("requested ")]
    return all(table.columns[heading][row] == "-" for heading in requested)


def _named(table: MeasuredTable, row: int) -> str:
    requested = [heading for heading in table.headings if heading.startswith("requested ")]
    return ", ".join(f"{h.removeprefix('requested ')} {table.columns[h][row]}" for h in requested)


def summary(found: Sequence[Prediction]) -> tuple[str, ...]:
    """Return settings, median, 90 % and worst error, what intervals hold, and spread, as cells."""
    errors = sorted(abs(one.error) for one in found)
    held = [one.is_held for one in found if one.is_held is not None]
    ninth = errors[min(len(errors) - 1, round(0.9 * (len(errors) - 1)))]
    return (
        str(len(found)),
        *(f"{100 * value:.0f} %" for value in (median(errors), ninth, errors[-1])),
        f"{sum(held)} of {len(held)}" if held else "-",
        f"{100 * median(one.spread for one in found):.0f} %",
    )


def _six(value: float) -> float:
    return float(f"{value:.6g}")
