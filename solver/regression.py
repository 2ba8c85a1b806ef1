"""How good a fit is: intervals of the numbers, residuals, and the error on rows left out.

Ordinary least squares with Student's t; leave-one-out residuals by the diagonal of the hat matrix
(R. D. Cook and S. Weisberg, Residuals and Influence in Regression, 1982, section 2.2.1).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from qps.compiler.fits import LOW_LOAD, Fit, FitRow

_CONFIDENCE = 0.95
_PIVOTAL = 1 - 1e-9
"""Leverage beyond which a row alone decides a number: without it there is no prediction."""


@dataclass(frozen=True, slots=True)
class Coefficient:
    """A fitted number, in seconds of one processor for each item (a bit for information).

    The fixed one is a load. `half_width` is that of its 95 % confidence interval, None where
    there are no more rows than numbers.
    """

    heading: str
    item: str | None
    value: float
    half_width: float | None


@dataclass(frozen=True, slots=True)
class Residual:
    """A row: its load as measured and fitted, and as predicted by a fit without it.

    `left_out` is None where the row alone decides a number; `is_used` is False for another code
    path and for a saturated machine.
    """

    line: int
    measured: float
    fitted: float
    left_out: float | None
    is_used: bool


@dataclass(frozen=True)
class Regression:
    """A fit with all that tells how far to trust it; loads as shares of the machine."""

    fit: Fit
    coefficients: tuple[Coefficient, ...]
    residuals: tuple[Residual, ...]
    degrees_of_freedom: int
    explained: float | None
    """The share of the variance of the load that the fit explains; None for equal loads."""

    @property
    def left_out_error(self) -> float | None:
        """The root mean square of leave-one-out errors, as a load; None where there are none."""
        errors = [r.left_out - r.measured for r in self.residuals if r.left_out is not None]
        return float(np.sqrt(np.mean(np.square(errors)))) if errors else None

    @property
    def largest_relative_error(self) -> float:
        """The largest residual of a used row, as a share of the measured load."""
        used = [r for r in self.residuals if r.is_used and r.measured > 0]
        return max((abs(r.fitted - r.measured) / r.measured for r in used), default=0.0)

    @property
    def other_path(self) -> tuple[FitRow, ...]:
        """Rows that were not used: items without any bytes."""
        return tuple(row for row in self.fit.rows if row.is_of_other_path)

    @property
    def saturated(self) -> tuple[FitRow, ...]:
        """Rows that were not used: the machine was full, and so was asked for more than that."""
        return tuple(row for row in self.fit.rows if row.is_saturated)

    @property
    def at_low_load(self) -> tuple[FitRow, ...]:
        """Used rows at so low a load that costs are not those near saturation."""
        return tuple(row for row in self.fit.used if row.load < LOW_LOAD)


def regression(fit: Fit) -> Regression:
    """Return a fit with its intervals, residuals and leave-one-out errors."""
    used = fit.used
    cores = float(fit.cores)
    matrix = np.array([[1.0, *(float(rate) / cores for rate in row.rates)] for row in used])
    loads = np.array([float(row.load) for row in used])
    values = np.array([float(fit.fixed), *(float(term.value) for term in fit.terms)])
    # Columns of like size: rates in bit/s stand beside ones.
    scale = np.abs(matrix).max(axis=0)
    orthogonal, triangle = np.linalg.qr(matrix / scale)
    leverage = np.einsum("ij,ij->i", orthogonal, orthogonal)
    rest = loads - matrix @ values
    freedom = len(used) - len(values)
    inverse = np.linalg.inv(triangle)
    spread = np.einsum("ij,ij->i", inverse, inverse) / scale**2
    widths: list[float | None] = [None] * len(values)
    if freedom > 0:
        from scipy.stats import t as student  # noqa: PLC0415 - slow to import, seldom needed

        quantile = float(student.ppf((1 + _CONFIDENCE) / 2, freedom))
        deviation = float(rest @ rest) / freedom
        widths = [quantile * float(np.sqrt(deviation * share)) for share in spread]
    alone = {
        row.line: None if h > _PIVOTAL else float(load - e / (1 - h))
        for row, load, e, h in zip(used, loads, rest, leverage, strict=True)
    }
    total = float(np.sum(np.square(loads - loads.mean())))
    names = [("fixed", None), *((term.heading, term.item) for term in fit.terms)]
    return Regression(
        fit,
        tuple(
            Coefficient(heading, item, float(value), width)
            for (heading, item), value, width in zip(names, values, widths, strict=True)
        ),
        tuple(
            Residual(
                row.line,
                float(row.load),
                float(fit.predicted(row)),
                alone.get(row.line),
                row.is_used,
            )
            for row in fit.rows
        ),
        freedom,
        1 - float(rest @ rest) / total if total > 0 else None,
    )
