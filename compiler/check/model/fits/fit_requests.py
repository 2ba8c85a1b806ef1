"""A fit that somebody requests by itself: of which table, and how that is read."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from qps.compiler.check.model.fits.curve_choice import better_costs
from qps.compiler.check.model.fits.table_units import costs_with, units_with
from qps.compiler.measurement.fit_columns import CORES, FitColumns
from qps.compiler.measurement.fits import fitted
from qps.compiler.measurement.measured_tables import (
    MOST_RUNS,
    DataError,
    MeasuredTable,
    number,
    read_table,
)
from qps.compiler.measurement.regression import Regression, regression
from qps.compiler.measurement.rescaled_fits import rescaled
from qps.compiler.measurement.scalability.closed_tables import closed_table
from qps.compiler.measurement.scalability.station_fit import StationFit


def fitted_to(
    text: str,
    name: str,
    *,
    cores: str | None,
    resource: str | None,
    has_fixed: bool,
    is_served: bool,
    units: Sequence[str],
    per: Sequence[str] = (),
    onto: tuple[str, str] | None = None,
) -> Regression:
    """Return the costs that fit a table, of a text; DataError or QpsError where none do.

    They are `per` what is written so: `token`, `token * context`; else per each rate. `onto` is a
    table of runs of another machine, which the fit is scaled to: its text and name. The number of
    cores is that of this machine, unless a table has it.
    """
    processors = None if cores is None else number(cores)
    if cores is not None and (processors is None or processors <= 0):
        raise DataError(f"`--cores` must be a number of cores, not `{cores}`", "write `--cores 4`")
    reading = FitColumns(
        resource=resource,
        cores=processors,
        processors=processors,
        has_fixed=has_fixed,
        is_served=is_served,
        skips_missing=True,
        costs=costs_with(per, units) if per else (),
    )
    table, unit_of = read_table(text, name, MOST_RUNS), units_with(units)
    if onto is None:
        own = regression(fitted(table, reading, unit_of))
        better = better_costs(table, reading, unit_of, own)
        return own if better is None else replace(own, better=better)
    found = fitted(table, _of_table(table, reading), unit_of)
    other = read_table(*onto)
    return regression(rescaled(found, other, _of_table(other, reading), unit_of))


def _of_table(table: MeasuredTable, reading: FitColumns) -> FitColumns:
    """Return how a table is read that may say itself how many cores there are."""
    return replace(reading, cores=None, processors=None) if CORES in table.headings else reading


def station_fitted_to(text: str, name: str, *, by: str, units: Sequence[str]) -> StationFit:
    """Return the station that fits a closed load test; DataError where none does."""
    from qps.compiler.measurement.scalability.scalability_fit import station_fit  # noqa: PLC0415 - an extra

    return station_fit(closed_table(read_table(text, name), by, units_with(units)))
