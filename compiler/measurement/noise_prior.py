"""What is expected of a table before it is read: its noise, and how far it bends from a line.

A few rows show neither. So both have a prior: the variance of the noise is a scaled inverse
chi-squared variable with `NOISE_ROWS` degrees of freedom (A. Gelman and others, Bayesian Data
Analysis, section 2.6; as in G. K. Smyth, Linear models and empirical Bayes methods, 2004), and the
cost of an item is expected to change along the load and along the mix of its causes as Brownian
motion does: by `BEND`, a standard deviation, over a load e times as large, or from one cause to
another. Rows that show no bend make it smaller, as they do the noise.

The numbers are those that predict rows left out best, over the tables that the documentation
lists; each table is also predicted by the numbers of all others (`tests/documents/fit_prior.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import log

Vector = list[float]
Matrix = list[Vector]

NOISE = 0.02
"""Share of a load by which one run is expected to differ from the next."""
NOISE_ROWS = 3
"""How many rows that expectation counts as."""
BEND = 0.06
"""Share by which costs are expected to change over a load e times as large, or another mix."""

_MOST_ROWS = 1000
"""From so many rows on what was expected of a bend makes no difference."""
_FARTHEST = (-1.0, 2.0)
"""Between which the share of a cause counts; beyond are tables with numbers below zero."""


def expected_within(within: float, freedom: int) -> float:
    """Return the variance of rows, as shares of their loads, with what is expected of it."""
    return (NOISE_ROWS * NOISE**2 + freedom * within) / (NOISE_ROWS + freedom)


def bend_covariance(
    moved: Sequence[Sequence[float]], places: Sequence[Sequence[float]], freedom: int
) -> Matrix:
    """Return the covariance of what is fitted, as costs may bend between the rows of a table.

    `moved` says, number by number, by how much each row moves it; `places` are those of
    `row_places`.
    """
    size = len(moved)
    total = [[0.0] * size for _ in range(size)]
    variance = BEND**2 * NOISE_ROWS / (NOISE_ROWS + freedom)
    if len(moved[0]) > _MOST_ROWS:
        return total
    for place in places:
        for side in (1, -1):
            far = sorted(
                ((side * at, i) for i, at in enumerate(place) if side * at > 0), reverse=True
            )
            beyond = [0.0] * size
            for (at, i), (nearer, _) in pairwise([*far, (0.0, -1)]):
                beyond = [sum_ + row[i] for sum_, row in zip(beyond, moved, strict=True)]
                step = variance * (at - nearer)
                for j in range(size):
                    for k in range(size):
                        total[j][k] += step * beyond[j] * beyond[k]
    return total


def row_places(
    loads: Sequence[float], numbers: Sequence[float], columns: Sequence[Sequence[float]]
) -> Matrix:
    """Return where rows lie from the one of the largest load: along the load, and each cause.

    A cause counts by its share of the load.
    """
    top = max(range(len(loads)), key=loads.__getitem__)
    found = [[log(load / loads[top]) for load in loads]]
    low, high = _FARTHEST
    if len(numbers) > 1:
        for number, column in zip(numbers, columns, strict=True):
            shares = [
                min(max(number * value / load, low), high)
                for value, load in zip(column, loads, strict=True)
            ]
            found.append([share - shares[top] for share in shares])
    return found
