"""A fit scaled to another machine, by few runs there: all costs change by one factor.

A run shows by how many times the machine is busier than the fit says of its rates. The logarithms
of these ratios are as uncertain as one run is (`noise` of the fit), over the root of how many there
are; runs that differ by more than that make it larger. The numbers of the fit and the factor are
correlated: where costs are too high by the table, the factor that the run shows is too low. So both
are one distribution (the delta method: G. W. Oehlert, A note on the delta method, The American
Statistician 46, 1992).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import exp, log, sqrt

from msgspec.structs import replace

from qps.compiler.measurement.fit_columns import FitColumns, UnitOf, with_cores
from qps.compiler.measurement.fit_runs import Runs, measured_runs
from qps.compiler.measurement.fit_spread import FitDistribution, fit_spread
from qps.compiler.measurement.fits import CostFit, MachineScale
from qps.compiler.measurement.measured_tables import DataError, MeasuredTable
from qps.compiler.measurement.noise_prior import expected_noise


def rescaled(fit: CostFit, table: MeasuredTable, reading: FitColumns, unit_of: UnitOf) -> CostFit:
    """Return a fit scaled to the runs of a table; DataError where these do not show by how much.

    `reading` says how they are read: of which machine they are.
    """
    _check_straight(fit)
    costs = tuple(term.cost for term in fit.terms)
    reading = replace(with_cores(table, reading), costs=costs, has_fixed=fit.has_fixed)
    runs = measured_runs(table, reading, unit_of)
    columns = [_seconds(fit, runs, row) for row in runs.used]
    cores = reading.cores or Fraction(1)
    numbers = [float(fit.fixed * fit.cores)] * fit.has_fixed + [float(t.value) for t in fit.terms]
    work = [sum(a * b for a, b in zip(numbers, row, strict=True)) for row in columns]
    loads = [float(runs.load[row] * cores) for row in runs.used]
    if not loads or min(loads) <= 0 or min(work) <= 0:
        raise DataError(
            f"`{table.name}` has no run with a utilization above 0 that shows the scale",
            "measure one near the planned utilization, below saturation",
        )
    logs = [log(load / one) for load, one in zip(loads, work, strict=True)]
    middle = sum(logs) / len(logs)
    spread = fit_spread(fit)
    expected = expected_noise(0.0, 0)
    freedom = expected.freedom if spread is None else spread.freedom
    noise = sqrt(expected.variance) if spread is None else spread.noise
    scatter = sum((one - middle) ** 2 for one in logs)
    noise = sqrt((freedom * noise**2 + scatter) / (freedom + len(logs) - 1))
    slopes = [
        sum(row[i] / one for row, one in zip(columns, work, strict=True)) / len(work)
        for i in range(len(numbers))
    ]
    factor = Fraction(f"{exp(middle):.9g}")
    weights = _weights(numbers, slopes, spread, fit)
    own = noise / sqrt(len(logs))
    scale = MachineScale(
        file=table.name,
        factor=float(factor),
        weights=tuple(
            _in_unit(fit, cores, index, [float(factor) * one for one in (*row, number * own)])
            for index, (row, number) in enumerate(zip(weights, numbers, strict=True))
        ),
        freedom=freedom,
        noise=noise,
        unscaled=fit,
    )
    as_busy = cores / fit.cores / factor  # rates at which this machine is as busy as that was
    return replace(
        fit,
        cores=cores,
        fixed=fit.fixed * fit.cores / cores * factor,
        terms=tuple(
            replace(
                term, value=term.value * factor, low=term.low * as_busy, high=term.high * as_busy
            )
            for term in fit.terms
        ),
        scale=scale,
    )


def _check_straight(fit: CostFit) -> None:
    """Raise where a cost has a curve: it would have another one on the other machine."""
    curved = next((term for term in fit.terms if term.curve is not None), None)
    if curved is not None:
        raise DataError(
            f"a fit with `{curved.cost.written}` cannot be scaled to other runs",
            "remove `to`, and measure a table on this machine",
        )


def _seconds(fit: CostFit, runs: Runs, row: int) -> list[float]:
    """Return what each number of a fit is multiplied by to give the busy cores of a run."""
    return [1.0] * fit.has_fixed + [float(rate[row]) for rate in runs.rates]


def _weights(
    numbers: Sequence[float], slopes: Sequence[float], spread: FitDistribution | None, fit: CostFit
) -> list[list[float]]:
    """Return how far numbers are off that were scaled to runs, as a share of the factor."""
    if spread is None:
        return [[] for _ in numbers]
    rows = [list(row) for row in spread.weights]
    if fit.has_fixed:
        rows[0] = [float(fit.cores) * one for one in rows[0]]
    along = [sum(s * row[j] for s, row in zip(slopes, rows, strict=True)) for j in range(len(rows))]
    return [
        [one - number * common for one, common in zip(row, along, strict=True)]
        for row, number in zip(rows, numbers, strict=True)
    ]


def _in_unit(fit: CostFit, cores: Fraction, index: int, row: Sequence[float]) -> tuple[float, ...]:
    """Return a row of weights; of the fixed load, as a share of the machine."""
    is_fixed = fit.has_fixed and index == 0
    return tuple(one / float(cores) if is_fixed else one for one in row)
