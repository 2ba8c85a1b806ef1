"""How far rates are from those that a fit has seen, all columns together.

Each rate may lie within what was measured, and all of them be like no row: there the fit's line is
drawn on, too (hidden extrapolation; R. D. Cook and S. Weisberg, Residuals and Influence in
Regression, 1982, section 2.2.1; D. C. Montgomery and others, Introduction to Linear Regression
Analysis, section 3.8). It is shown by the leverage: the variance of a fitted load, as a part of
that of a measured one. As noise is a share of the load, both are shares of their loads.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from math import prod, sqrt

from qps.compiler.measurement.fit_terms import FitTerm
from qps.compiler.measurement.fits import CostFit
from qps.compiler.measurement.weighted_rows import LEAST_SHARE


def relative_uncertainty(
    fit: CostFit, rates: Mapping[str, float], factors: Mapping[str, float] | None = None
) -> float:
    """Return how unsure a fit is of a load, as a multiple of where it is least sure of its rows.

    `rates` are those of the whole machine by item, in base units; where one is missing there is
    none. `factors` are the columns by which they are multiplied. It concerns the line alone: that
    the truth goes on as a line is taken for granted.
    """
    weights, numbers, least, largest = _seen(fit)
    values = factors or {}
    bases = [rates.get(term.item, 0.0) * _multiple(term, values) for term in fit.terms]
    made, slopes = [], []
    for term, base in zip(fit.terms, bases, strict=True):
        curve = term.curve
        along = 0.0 if curve is None else values.get(curve.name, 0.0)
        made.append(base if curve is None else base * curve.at(along))
        if curve is not None:
            slopes.append(float(term.value / fit.cores) * base * curve.slope(along))
    row = [1.0] * fit.has_fixed + [
        value / float(column.unit)
        for value, column in zip([*made, *slopes], fit.runs.rates, strict=True)
    ]
    shares = (sum(a * b for a, b in zip(own, row, strict=True)) for own in weights)
    load = max(abs(sum(a * b for a, b in zip(numbers, row, strict=True))), least)
    return sqrt(sum(part * part for part in shares) / largest) / load


def _multiple(term: FitTerm, factors: Mapping[str, float]) -> float:
    """Return by what the rate of a number is multiplied."""
    values = [(factors.get(one.name, 0.0), one.exponent) for one in term.factors]
    return prod(value**exponent if value else 0.0 for value, exponent in values)


@lru_cache(maxsize=16)
def _seen(fit: CostFit) -> tuple[list[list[float]], list[float], float, float]:
    """Return what makes the columns orthonormal, the numbers, and the largest of the rows.

    That is the leverage of a row of weight 1 over the square of its load, which is none too small.
    """
    squares = fit.squares
    assert squares.numbers is not None
    errors = squares.own_errors
    rows = zip(squares.target, errors, fit.weights, strict=True)
    loads = [abs(target + error) / weight for target, error, weight in rows]
    least = LEAST_SHARE * max(loads)
    largest = max(
        leverage / (weight * max(load, least)) ** 2
        for leverage, weight, load in zip(squares.leverages(), fit.weights, loads, strict=True)
    )
    return squares.orthonormal[1], [float(number) for number in squares.numbers], least, largest
