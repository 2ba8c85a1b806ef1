"""What is expected of a table before it is read: its noise, and how far it bends from a line.

A few rows show neither. So both have a prior, and they share a scale, as tables of careful runs
are straight as well: the noise, as a share of the load, is a lognormal variable about `NOISE`
with the standard deviation `SPREAD` of its logarithm, and the cost of an item is expected to change
along the load and along the mix of its causes as Brownian motion does: by `BEND` times the noise,
a standard deviation, over a load e times as large, or over as much of the mix. The mix is followed
by the logarithm of the odds of a cause: where nearly all of a load is that of the bytes, items ten
times as large have the same share of it, but not the same cost of a byte. Rows that show no bend
make it smaller, as if `BEND_ROWS` rows had shown what is expected.

A scaled inverse chi-squared prior, as conjugate as it is, does not expect tables ten times as noisy
or as exact as the usual one (A. Gelman, Prior distributions for variance parameters in hierarchical
models, 2006): of drawn tables with 5 % of noise its 90 % intervals held 75 %. What a row is missed
by has a mixture of normal distributions then; it is stated as the t distribution with the same
median and the same 90 % quantile of its size (`expected_noise`).

The numbers are those that predict rows left out best, over the tables that the documentation
lists; each table is also predicted by the numbers of all others (`tests/documents/fit_prior.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from math import erf, exp, log, sqrt

from msgspec import Struct

from qps.compiler.measurement.student_t import student_quantile

Vector = list[float]
Matrix = list[Vector]

NOISE = 0.008
"""Share of a load by which one run is expected to differ from the next: the median of tables."""
SPREAD = 1.6
"""Standard deviation of its logarithm, from table to table."""
BEND = 1.3
"""Costs are expected to change by so many times the noise over a load e times as large."""
BEND_ROWS = 3
"""How many rows that expectation counts as."""

_MOST_ROWS = 1000
"""From so many rows on what was expected of a bend makes no difference."""
_FARTHEST = (0.01, 0.99)
"""Between which the share of a cause counts: what is smaller shows no change of its cost."""
_EVEN = 0.25
"""By how much a share changes with the logarithm of its odds where it is a half."""
_ROUNDING = 1e-5
"""Share of a load by which a row is off where it is printed with five digits."""
_STEPS, _STEP = 24, 0.25
"""How far the noise is looked at on both sides of the likeliest one, in standard deviations."""
_HALVINGS = 60
_MEDIAN, _TAIL = 0.5, 0.9
_MOST_FREEDOM = 200


class Noise(Struct, frozen=True):
    """What one row is missed by, as a share of its load: a t distribution with `freedom`.

    Its scale squared is `variance`.
    """

    variance: float
    freedom: int


@lru_cache(maxsize=4096)
def expected_noise(
    squares: float, freedom: int, noise: float = NOISE, spread: float = SPREAD
) -> Noise:
    """Return what rows are missed by that are independent of those that were fitted.

    These were missed by `squares`, the sum of squares of shares, with so many degrees of freedom.

    >>> none, exact, noisy = (expected_noise(freedom * s**2, freedom) for freedom, s in
    ...     [(0, 0.0), (4, 0.0005), (4, 0.1)])
    >>> [(one.freedom, round(one.variance**0.5, 4)) for one in (none, exact, noisy)]
    [(1, 0.0075), (3, 0.0006), (5, 0.0887)]
    """
    mixed, _ = _mixture(squares + freedom * _ROUNDING**2, freedom, noise, spread)
    median, tail = _size(mixed, _MEDIAN), _size(mixed, _TAIL)
    own = _freedom(tail / median)
    return Noise(
        variance=(tail / student_quantile((1 + _TAIL) / 2, own)) ** 2,
        freedom=own,
    )


@lru_cache(maxsize=4096)
def noise_evidence(squares: float, rows: int, noise: float, spread: float) -> float:
    """Return the logarithm of how likely rows are, but for a constant, whatever the noise."""
    return _mixture(squares + rows * _ROUNDING**2, rows, noise, spread)[1]


def _mixture(
    squares: float, freedom: int, noise: float, spread: float
) -> tuple[list[tuple[float, float]], float]:
    """Return weights and scales of what one row is missed by, and the evidence of all rows."""
    middle, width = _likeliest(squares, freedom, noise, spread)
    logs = [middle + width * _STEP * k for k in range(-_STEPS, _STEPS + 1)]
    found = [_log_density(one, squares, freedom, noise, spread) for one in logs]
    top = max(found)
    weights = [exp(one - top) for one in found]
    total = sum(weights)
    mixed = [
        (weight / total, sqrt(2) * exp(one)) for weight, one in zip(weights, logs, strict=True)
    ]
    return mixed, top + log(total * width * _STEP / spread)


def _log_density(at: float, squares: float, freedom: int, noise: float, spread: float) -> float:
    """Return how likely a logarithm of the noise is: of the prior times the likelihood."""
    return -freedom * at - squares * exp(-2 * at) / 2 - ((at - log(noise)) / spread) ** 2 / 2


def _likeliest(squares: float, freedom: int, noise: float, spread: float) -> tuple[float, float]:
    """Return the likeliest logarithm of the noise, and how far it may be off."""
    if not freedom:
        return log(noise), spread
    shown = log(squares / freedom) / 2
    low, high = sorted((log(noise), shown))  # the density is log-concave: between both
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        slope = squares * exp(-2 * middle) - freedom - (middle - log(noise)) / spread**2
        low, high = (middle, high) if slope > 0 else (low, middle)
    return low, (2 * squares * exp(-2 * low) + spread**-2) ** -0.5


def _size(mixed: Sequence[tuple[float, float]], level: float) -> float:
    """Return what a mixture of normal variables is smaller than, in size, with a probability."""
    low, high = 0.0, 4 * max(scale for _, scale in mixed)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        share = sum(weight * erf(middle / scale) for weight, scale in mixed)
        low, high = (middle, high) if share < level else (low, middle)
    return high


def _freedom(ratio: float) -> int:
    """Return the degrees of freedom with which the tail of a t distribution is nearest to this."""

    def ratio_of(freedom: int) -> float:
        tail, median = (student_quantile((1 + at) / 2, freedom) for at in (_TAIL, _MEDIAN))
        return tail / median

    low, high = 1, _MOST_FREEDOM
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if ratio_of(middle) > ratio else (low, middle)
    return min((low, high), key=lambda one: abs(log(ratio_of(one) / ratio)))


def bend_covariance(
    moved: Sequence[Sequence[float]], places: Sequence[Sequence[float]], freedom: int, noise: float
) -> Matrix:
    """Return the covariance of what is fitted, as costs may bend between the rows of a table.

    `moved` says, number by number, by how much each row moves it; `places` are those of
    `row_places`; `noise` is the variance of a row, as a share of its load. The costs are those of
    the row of the largest load: of several, of each with the same probability.
    """
    size, count = len(moved), len(moved[0])
    total = [[0.0] * size for _ in range(size)]
    variance = BEND**2 * noise * BEND_ROWS / (BEND_ROWS + freedom)
    if count > _MOST_ROWS:
        return total
    of_load, *_ = places
    largest = max(of_load)
    share = 1 / sum(at == largest for at in of_load)
    for place in places:
        order = sorted(range(count), key=place.__getitem__)
        below, above, passed = [0.0] * size, [sum(row) for row in moved], 0.0
        for near, far in pairwise(order):
            below = [one + row[near] for one, row in zip(below, moved, strict=True)]
            above = [one - row[near] for one, row in zip(above, moved, strict=True)]
            passed += share * (of_load[near] == largest)
            step = variance * (place[far] - place[near])
            for side, weight in ((above, step * passed), (below, step * (1 - passed))):
                for j in range(size):
                    for k in range(size):
                        total[j][k] += weight * side[j] * side[k]
    return total


def row_places(
    loads: Sequence[float], numbers: Sequence[float], columns: Sequence[Sequence[float]]
) -> Matrix:
    """Return where rows lie along the logarithm of the load, and along the odds of each cause.

    Of more rows than may bend, there are none.
    """
    if len(loads) > _MOST_ROWS:
        return []
    found = [[log(load) for load in loads]]
    low, high = _FARTHEST
    if len(numbers) > 1:
        found += [
            [
                _EVEN * _logit(min(max(number * value / load, low), high))
                for value, load in zip(column, loads, strict=True)
            ]
            for number, column in zip(numbers, columns, strict=True)
        ]
    return found


def _logit(share: float) -> float:
    return log(share / (1 - share))
