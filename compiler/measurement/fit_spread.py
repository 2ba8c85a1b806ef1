"""How far fitted numbers may be off, all of them together: a multivariate t distribution.

The numbers are those of ordinary least squares; standard errors are those for noise that grows with
the load, as measured loads have it: its standard deviation is the same share of each. So the
variance is that of ordinary least squares under such noise, whose size is estimated by weighted
ones (A. C. Aitken, On least squares and linear combination of observations, 1935). A textbook's
interval, for noise that is the same at all loads, holds four of five truths there where it says
nine of ten.

Rows that are medians of repetitions count by how far these lie apart (`repetitions`): then the
numbers are those of weighted least squares, and the noise of each row follows from its weight.

Three things make it wider. Rows that are one measurement (equal in every digit) count once. Rows of
one machine, host, run or day, and rows that repeat the same rates, miss together by what the group
has of its own: the two variances are found by equating two quadratic forms with what they are
expected to be (C. R. Henderson, Estimation of variance and covariance components, 1953), and there
are only as many degrees of freedom as groups allow. And where residuals hang together along the
load, so that a straight line is not the truth, they are fewer than they seem (M. S. Bartlett, Some
aspects of the time-correlation problem, 1935).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from functools import lru_cache
from math import floor, sqrt
from operator import mul

from msgspec import Struct

from qps.compiler.measurement.fits import Fit
from qps.compiler.measurement.least_squares import LeastSquares
from qps.compiler.measurement.repetitions import Weighting
from qps.compiler.measurement.weighted_rows import LEAST_SHARE, Matrix, Vector, products, weighted
from qps.compiler.quantities.cholesky import cholesky

_FEWEST_IN_ORDER = 8
"""Rows from which it can be determined that residuals hang together."""
_CORRELATED = 1.96
"""Standard errors of the correlation of neighbours beyond which it is no chance."""
_MOST_ALIKE = 0.9
_NOTHING = 1e-24
"""Share of its squares that a load is missed by, where rounding is all there is."""


class Spread(Struct, frozen=True, kw_only=True):
    """A multivariate t distribution about the numbers of a fit, first the fixed load if any.

    Each number is off by its row of `weights` times independent standard normal numbers, all of
    these over one root of chi-squared over `freedom`. `is_grouped` says that rows of a group miss
    together, `correlation_factor` by how many times the variance is larger as residuals are
    correlated. One more run is off from the true value by `noise`, as a share of its load (a
    standard deviation).
    """

    freedom: int
    weights: tuple[tuple[float, ...], ...]
    is_grouped: bool
    correlation_factor: float
    noise: float


@lru_cache(maxsize=16)
def fit_spread(fit: Fit) -> Spread | None:
    """Return how far the numbers of a fit may be off, in their own units.

    None where the table does not show it: there are no more distinct rows than numbers, or nothing
    is missed.
    """
    runs = fit.runs
    unit = runs.load.unit
    scales = [float(unit)] * fit.has_fixed + [
        float(unit / rate.unit * fit.cores) for rate in runs.rates
    ]
    groups = None if runs.groups is None else [runs.groups[row] for row in runs.used]
    return spread(fit.squares, scales, groups, runs.labels, fit.weighting)


class _Rows(Struct, frozen=True, kw_only=True):
    """Distinct rows, column by column: these are orthonormal, and `missed` is what is left.

    `noise` is how far each row may be off, but for a factor, `copies` how often it is written.
    """

    columns: Matrix
    missed: Vector
    noise: Vector
    copies: list[int]
    labels: list[Hashable]


def spread(
    squares: LeastSquares,
    scales: Sequence[float],
    groups: Sequence[str] | None = None,
    settings: Sequence[Hashable] | None = None,
    weighting: Weighting | None = None,
) -> Spread | None:
    """Return how far the numbers of least squares may be off, each in a unit of its own.

    Rows of a group miss together; without groups, those of a setting, which all columns identify
    unless said. With a `weighting` the rows of `squares` have been multiplied by their weights.
    """
    if settings is None:
        settings = list(zip(*squares.columns, strict=True))
    size = len(squares.columns)
    made, weights = squares.orthonormal
    errors = squares.errors(squares.columns, squares.target)
    fitted = [a + b for a, b in zip(squares.target, errors, strict=True)]
    copies = _copies(squares, groups)
    freedom = len(copies) - size
    if freedom <= 0 or sum(map(mul, errors, errors)) <= _NOTHING * sum(map(mul, fitted, fitted)):
        return None
    loads, noise = _noise(fitted, weighting)
    rows = _Rows(
        columns=[[column[i] for i in copies] for column in made],
        missed=[errors[i] for i in copies],
        noise=[noise[i] for i in copies],
        copies=list(copies.values()),
        labels=[settings[i] if groups is None else groups[i] for i in copies],
    )
    columns, residuals = weighted(rows.columns, rows.missed, rows.noise)
    within, between = _variances(columns, residuals, rows.labels)
    number = len(set(rows.labels))
    correlation_factor = 1.0
    if groups is not None and number < len(copies):
        freedom = min(freedom, max(1, number - 1))
    elif between > 0:
        freedom = max(1, number - size)
    else:
        order = sorted(range(len(copies)), key=[loads[i] for i in copies].__getitem__)
        correlation_factor = _correlation_factor([residuals[i] for i in order], size)
        if correlation_factor > 1:
            freedom = max(1, floor(len(copies) / correlation_factor) - size)
    root = cholesky(_covariance(rows, within * correlation_factor, between))
    return Spread(
        freedom=freedom,
        weights=tuple(
            tuple(
                scale * sum(weights[k][i] * root[k][j] for k in range(j, size)) for j in range(size)
            )
            for i, scale in enumerate(scales)
        ),
        is_grouped=between > 0,
        correlation_factor=correlation_factor,
        noise=sqrt(
            within * correlation_factor + between + (0.0 if weighting is None else weighting.run)
        ),
    )


def _copies(squares: LeastSquares, groups: Sequence[str] | None) -> dict[int, int]:
    """Return the first of all rows that are equal, with how many of them there are."""
    first_of: dict[Hashable, int] = {}
    copies: dict[int, int] = {}
    keys = zip(squares.target, *squares.columns, groups or squares.target, strict=True)
    for index, key in enumerate(keys):
        first = first_of.setdefault(key, index)
        copies[first] = copies.get(first, 0) + 1
    return copies


def _noise(fitted: Vector, weighting: Weighting | None) -> tuple[Vector, Vector]:
    """Return the load of each row, and how far it may be off as its weight counts."""
    counts = (1,) * len(fitted) if weighting is None else weighting.weights
    loads = [abs(load) / weight for load, weight in zip(fitted, counts, strict=True)]
    least = LEAST_SHARE * max(loads)
    noise = [max(load, least) * weight for load, weight in zip(loads, counts, strict=True)]
    return loads, noise if weighting is None else list(map(mul, noise, weighting.deviations))


def _variances(
    columns: Matrix, residuals: Vector, labels: Sequence[Hashable]
) -> tuple[float, float]:
    """Return the variance that each row has of its own, and the one that those of a group share.

    Two sums of squares are what they are expected to be: of all residuals, and of those added up
    group by group.
    """
    size, count = len(columns), len(residuals)
    freedom = count - size
    total: float = sum(map(mul, residuals, residuals))
    sizes = list(Counter(labels).values())
    if len(sizes) in (1, count):
        return total / freedom, 0.0
    summed = [_summed(column, labels) for column in columns]
    shares = [sum(value * value for value in row) for row in zip(*summed, strict=True)]
    of_groups = _summed(residuals, labels)
    grouped: float = sum(map(mul, of_groups, of_groups))
    first = count - sum(shares)
    second = (
        sum(map(mul, sizes, sizes))
        - 2 * sum(map(mul, sizes, shares))
        + sum(value * value for row in products(summed) for value in row)
    )
    determinant = freedom * second - first * first
    between = freedom * grouped - first * total
    if determinant <= _NOTHING * freedom * second or between <= 0:
        return total / freedom, 0.0
    within = max(0.0, (total * second - grouped * first) / determinant)
    return within, between / determinant if within else grouped / second


def _correlation_factor(residuals: Vector, size: int) -> float:
    """Return by how many times fewer rows say as much as these, which are in order of the load.

    1 unless neighbours are alike by more than chance. Residuals about fitted numbers are less
    alike than errors, by about one share in so many rows for each number.
    """
    count = len(residuals)
    if count < _FEWEST_IN_ORDER:
        return 1.0
    alike: float = sum(map(mul, residuals, residuals[1:])) / sum(map(mul, residuals, residuals))
    if alike * sqrt(count) <= _CORRELATED:
        return 1.0
    alike = min(alike + size / count, _MOST_ALIKE)
    return (1 + alike) / (1 - alike)


def _covariance(rows: _Rows, within: float, between: float) -> Matrix:
    """Return the covariance of the coordinates that ordinary least squares finds."""
    weights = list(map(mul, rows.noise, rows.copies))
    moved = [list(map(mul, column, weights)) for column in rows.columns]
    found = [[within * value for value in row] for row in products(moved)]
    if between == 0:
        return found
    shared = products([_summed(column, rows.labels) for column in moved])
    return [
        [a + between * b for a, b in zip(one, other, strict=True)]
        for one, other in zip(found, shared, strict=True)
    ]


def _summed(column: Vector, labels: Sequence[Hashable]) -> Vector:
    """Return the sums of a column, group by group."""
    found: dict[Hashable, float] = {}
    for label, value in zip(labels, column, strict=True):
        found[label] = found.get(label, 0.0) + value
    return list(found.values())
