"""Runs held against the costs of a spec: what both say, and whether something has moved."""

from __future__ import annotations

from collections.abc import Sequence

from qps.compiler.check.model.fits.fit_units import unit_reader
from qps.compiler.measurement.fit_columns import rate_columns
from qps.compiler.measurement.measured_tables import MOST_RUNS, DataError, read_table
from qps.compiler.pipeline import Spec
from qps.compiler.quantities.dimension import DIMENSIONLESS
from qps.compiler.quantities.quantity import read_quantity
from qps.solver.claims.drift import Drift, drift
from qps.solver.claims.stated_costs import stated_costs

_LEAST_CHANCE, _MOST_CHANCE = 1e-6, 0.5


def observed_drift(
    spec: Spec,
    text: str,
    name: str,
    *,
    of: Sequence[str],
    resource: str,
    chance: float,
    tolerance: float,
) -> Drift:
    """Return what runs, a table of the text, say of the costs of a spec.

    DataError where they do not show it, or do not go with it.
    """
    units = unit_reader(spec.program.main)
    table = read_table(text, name, MOST_RUNS)
    items = [rate.item for rate in rate_columns(table, units)]
    stated = stated_costs(spec.model, resource, items, of)
    return drift(table, stated, units, chance=chance, tolerance=tolerance)


def tolerance_of(text: str | None) -> float:
    """Return the share of the load that is let pass: 5 % unless said otherwise."""
    return _share(text, "--tolerance", "5 %")


def chance_of(text: str | None) -> float:
    """Return the false-alarm rate: 1 % unless stated otherwise."""
    chance = _share(text, "--chance", "1 %")
    if not _LEAST_CHANCE <= chance <= _MOST_CHANCE:
        raise DataError("`--chance` must be from 0.0001 % to 50 %", "write `--chance '1 %'`")
    return chance


def _share(text: str | None, flag: str, usual: str) -> float:
    share = float(read_quantity(usual if text is None else text, DIMENSIONLESS, flag, usual))
    if not 0 <= share < 1:
        raise DataError(
            f"`{flag}` must be a percentage below 100 %, not `{text}`", f"write `{flag} '{usual}'`"
        )
    return share
