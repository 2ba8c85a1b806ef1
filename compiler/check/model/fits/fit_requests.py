"""A fit that somebody requests by itself: of which table, and how that is read."""

from __future__ import annotations

from collections.abc import Sequence

from qps.compiler.check.model.fits.table_units import costs_with, units_with
from qps.compiler.measurement.fit_columns import FitColumns
from qps.compiler.measurement.fits import fitted
from qps.compiler.measurement.measured_tables import MOST_RUNS, DataError, number, read_table
from qps.compiler.measurement.regression import Regression, regression
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
) -> Regression:
    """Return the costs that fit a table, of a text; DataError or QpsError where none do.

    They are `per` what is written so: `token`, `token * context`; else per each rate.
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
    return regression(fitted(read_table(text, name, MOST_RUNS), reading, units_with(units)))


def station_fitted_to(text: str, name: str, *, by: str, units: Sequence[str]) -> StationFit:
    """Return the station that fits a closed load test; DataError where none does."""
    from qps.compiler.measurement.scalability.scalability_fit import station_fit  # noqa: PLC0415 - an extra

    return station_fit(closed_table(read_table(text, name), by, units_with(units)))
