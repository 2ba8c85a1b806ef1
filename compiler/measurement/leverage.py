"""How far rates are from those that a fit has seen, all columns together.

Each rate may lie within what was measured, and all of them be like no row: there the fit's line is
drawn on, too (hidden extrapolation; R. D. Cook and S. Weisberg, Residuals and Influence in
Regression, 1982, section 2.2.1; D. C. Montgomery and others, Introduction to Linear Regression
Analysis, section 3.8). It is shown by the leverage: the variance of a fitted load, as a part of
that of a measured one.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from math import sqrt

from qps.compiler.measurement.fits import Fit


def relative_uncertainty(fit: Fit, rates: Mapping[str, float]) -> float:
    """Return how unsure a fit is of a load, as a multiple of where it is least sure of its rows.

    `rates` are those of the whole machine by item, in base units; where one is missing there is
    none. It concerns the line alone: that the truth goes on as a line is taken for granted.
    """
    weights, largest = _seen(fit)
    row = [1.0] * fit.has_fixed + [
        rates.get(term.item, 0.0) / float(column.unit)
        for term, column in zip(fit.terms, fit.runs.rates, strict=True)
    ]
    along = (sum(a * b for a, b in zip(own, row, strict=True)) for own in weights)
    return sqrt(sum(part * part for part in along) / largest)


@lru_cache(maxsize=16)
def _seen(fit: Fit) -> tuple[list[list[float]], float]:
    """Return what makes the columns orthonormal, and the largest leverage of rows of weight 1."""
    squares = fit.squares
    return squares.orthonormal[1], max(
        leverage / weight**2
        for leverage, weight in zip(squares.leverages(), fit.weights, strict=True)
    )
