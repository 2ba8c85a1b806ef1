"""How far fitted numbers may be off, all of them together: a multivariate t distribution.

The numbers are those of least squares with noise that grows with the load, as measured loads have
it: its standard deviation is the same share of each, but for the smallest (A. C. Aitken, On least
squares and linear combination of observations, 1935). A textbook's
interval, for noise that is the same at all loads, holds four of five truths there where it says
nine of ten. Rows that are medians of repetitions count by how far these lie apart, too
(`repetitions`): the noise of each row follows from its weight.

What few rows do not show is expected as other tables have it: how large the noise is, and how far
costs bend between the rows (`noise_prior`). So two rows for two numbers have an interval, and four
that happen to lie on a line do not promise that others will.

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

from qps.compiler.measurement.fits import CostFit
from qps.compiler.measurement.least_squares import LeastSquares
from qps.compiler.measurement.noise_prior import (
    bend_covariance,
    expected_noise,
    row_places,
)
from qps.compiler.measurement.repetitions import Weighting
from qps.compiler.measurement.weighted_rows import (
    LEAST_SHARE,
    Matrix,
    Vector,
    noise_loads,
    products,
    weighted,
)
from qps.compiler.quantities.cholesky import cholesky

_FEWEST_IN_ORDER = 8
"""Rows from which it can be determined that residuals hang together."""
_CORRELATED = 1.96
"""Standard errors of the correlation of neighbors beyond which it is no chance."""
_MOST_ALIKE = 0.9
_NOTHING = 1e-24
"""Share of its squares that a load is missed by, where rounding is all there is."""


class FitDistribution(Struct, frozen=True, kw_only=True):
    """A multivariate t distribution about the numbers of a fit, first the fixed load if any.

    Those of its curves are the last.

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
def fit_spread(fit: CostFit, *, may_bend: bool = True) -> FitDistribution | None:
    """Return how far the numbers of a fit may be off, in their own units.

    They `may_bend` where they are used for other rates; not where two tables are compared at the
    same rates, as both bend alike.

    None where nothing is missed, though there are more distinct rows than numbers: such tables are
    computed.
    """
    runs = fit.runs
    unit = runs.load.unit
    count = len(fit.terms)
    scales = [float(unit)] * fit.has_fixed + [
        float(unit / rate.unit * (fit.cores if index < count else 1))
        for index, rate in enumerate(runs.rates)
    ]
    groups = None if runs.groups is None else [runs.groups[row] for row in runs.used]
    return spread(fit.squares, scales, groups, runs.labels, fit.weighting, may_bend=may_bend)


class _Rows(Struct, frozen=True, kw_only=True):
    """Distinct rows, column by column: these are orthonormal, and `missed` is what is left.

    `noise` is how far each row may be off, but for a factor, `copies` how often it is written;
    `places` are those of `row_places`, `loads` what they are shares of, times the weights, and
    `own_loads` the fitted loads.
    """

    columns: Matrix
    missed: Vector
    noise: Vector
    own_loads: Vector
    loads: Vector
    places: Matrix
    copies: list[int]
    labels: list[Hashable]


def spread(
    squares: LeastSquares,
    scales: Sequence[float],
    groups: Sequence[str] | None = None,
    settings: Sequence[Hashable] | None = None,
    weighting: Weighting | None = None,
    *,
    may_bend: bool = True,
) -> FitDistribution | None:
    """Return how far the numbers of least squares may be off, each in a unit of its own.

    Rows of a group miss together; without groups, those of a setting, which all columns identify
    unless said. With a `weighting` the rows of `squares` have been multiplied by their weights.
    """
    if settings is None:
        settings = list(zip(*squares.columns, strict=True))
    size = len(squares.columns)
    made, weights = squares.orthonormal
    errors = squares.own_errors
    fitted = [a + b for a, b in zip(squares.target, errors, strict=True)]
    copies = _copies(squares, groups)
    freedom = len(copies) - size
    is_exact = sum(map(mul, errors, errors)) <= _NOTHING * sum(map(mul, fitted, fitted))
    if freedom < 0 or (freedom > 0 and is_exact):
        return None
    rows = _rows(squares, (made, errors), weighting, copies, groups or settings)
    columns, residuals = weighted(rows.columns, rows.missed, rows.noise)
    within, between = _variances(columns, residuals, rows.labels) if freedom else (0.0, 0.0)
    number = len(set(rows.labels))
    is_grouped = groups is not None and number < len(copies)
    shown, correlation_factor = freedom, 1.0
    if not is_grouped and between == 0:
        order = sorted(range(len(copies)), key=rows.own_loads.__getitem__)
        correlation_factor = _correlation_factor([residuals[i] for i in order], size)
        if correlation_factor > 1:
            shown = max(1, floor(len(copies) / correlation_factor) - size)
    expected = expected_noise(within * shown, shown)
    within, freedom = expected.variance, expected.freedom
    if is_grouped:
        freedom = min(freedom, max(1, number - 1))
    elif between > 0:
        freedom = max(1, number - size)
    covariance = _covariance(rows, within * correlation_factor, between)
    if may_bend:
        covariance = _sum(covariance, _bent(rows, len(copies) - size, within), 1.0)
    root = cholesky(covariance)
    return FitDistribution(
        freedom=freedom,
        weights=tuple(
            tuple(
                scale * sum(weights[k][i] * root[k][j] for k in range(j, size)) for j in range(size)
            )
            for i, scale in enumerate(scales)
        ),
        is_grouped=between > 0,
        correlation_factor=correlation_factor,
        noise=sqrt(within + between + (0.0 if weighting is None else weighting.run)),
    )


def _rows(
    squares: LeastSquares,
    solved: tuple[Matrix, Vector],
    weighting: Weighting | None,
    copies: dict[int, int],
    labels: Sequence[Hashable],
) -> _Rows:
    """Return the distinct rows of least squares, those that are written first.

    `solved` has the orthonormal columns, and what each row is missed by.
    """
    assert squares.numbers is not None
    made, errors = solved
    loads, large, noise = _noise(squares.target, errors, weighting)
    counts = [_weight_of(weighting, i) for i in copies]
    return _Rows(
        columns=[[column[i] for i in copies] for column in made],
        missed=[errors[i] for i in copies],
        noise=[noise[i] for i in copies],
        own_loads=[loads[i] for i in copies],
        loads=[large[i] for i in copies],
        places=row_places(
            [large[i] / count for i, count in zip(copies, counts, strict=True)],
            [float(number) for number in squares.numbers],
            [
                [column[i] / count for i, count in zip(copies, counts, strict=True)]
                for column in squares.columns
            ],
        ),
        copies=list(copies.values()),
        labels=[labels[i] for i in copies],
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


def _weight_of(weighting: Weighting | None, row: int) -> int:
    """Return what a row was multiplied by."""
    return 1 if weighting is None else weighting.weights[row]


def _noise(
    target: Sequence[int], errors: Vector, weighting: Weighting | None
) -> tuple[Vector, Vector, Vector]:
    """Return the load of each row; of these none too small, as its weight counts; their noise."""
    weights = [_weight_of(weighting, row) for row in range(len(target))]
    loads = noise_loads(target, errors, weights)
    least = LEAST_SHARE * max(loads)
    large = [max(load, least) * weight for load, weight in zip(loads, weights, strict=True)]
    noise = large if weighting is None else list(map(mul, large, weighting.deviations))
    return loads, large, noise


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

    1 unless neighbors are alike by more than chance. Residuals about fitted numbers are less
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
    """Return the covariance of the coordinates that least squares finds."""
    weights = list(map(mul, rows.noise, rows.copies))
    moved = [list(map(mul, column, weights)) for column in rows.columns]
    found = [[within * value for value in row] for row in products(moved)]
    if between == 0:
        return found
    return _sum(found, products([_summed(column, rows.labels) for column in moved]), between)


def _bent(rows: _Rows, freedom: int, noise: float) -> Matrix:
    """Return what bends between the rows add to the covariance."""
    loads = list(map(mul, rows.loads, rows.copies))
    moved = [list(map(mul, column, loads)) for column in rows.columns]
    return bend_covariance(moved, rows.places, freedom, noise)


def _sum(matrix: Matrix, other: Matrix, factor: float) -> Matrix:
    return [
        [a + factor * b for a, b in zip(one, two, strict=True)]
        for one, two in zip(matrix, other, strict=True)
    ]


def _summed(column: Vector, labels: Sequence[Hashable]) -> Vector:
    """Return the sums of a column, group by group."""
    found: dict[Hashable, float] = {}
    for label, value in zip(labels, column, strict=True):
        found[label] = found.get(label, 0.0) + value
    return list(found.values())
