"""How far off the numbers of a law may be as other choices of numbers fit a table nearly as well.

A table seldom shows which numbers a station has: contention and a limit of requests in service fit
the same rows, and differ beyond them. So the interval of a chosen law has two parts: what noise
leaves open within it, and by how much the other choices are elsewhere, each with its weight by the
information criterion (K. P. Burnham and D. R. Anderson, Model selection and multimodel inference,
2002, section 4.3). The second part is stated in the numbers of the chosen law: for each other
choice, by how much these have to move until the law has its throughputs.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

LEAST_WEIGHT = 1e-3
"""Of a choice: others make no difference."""
_BELOW, _ABOVE = 8, 2
"""Throughputs are compared down to so many times fewer clients than were measured, and up to so
many times as many."""
_POINTS = 12


def compared_clients(least: int, most: int) -> NDArray[np.int64]:
    """Return the numbers of clients at which laws are compared, evenly in ratio.

    >>> compared_clients(1, 2).tolist()
    [1, 2, 3, 4]
    """
    counts = np.geomspace(max(1.0, least / _BELOW), _ABOVE * most, _POINTS)
    return np.unique(counts.round().astype(np.int64))


def choice_weights(criteria: Sequence[float]) -> NDArray[np.float64]:
    """Return how likely each choice is by its information criterion.

    >>> choice_weights([10.0, 10.0, 12.0]).round(3).tolist()
    [0.422, 0.422, 0.155]
    """
    least = min(criteria)
    weights = np.array([exp((least - one) / 2) for one in criteria])
    found: NDArray[np.float64] = weights / weights.sum()
    return found


def choice_covariance(
    slopes: NDArray[np.float64],
    differences: NDArray[np.float64],
    weights: NDArray[np.float64],
    precision: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the covariance of numbers as other choices have other throughputs.

    `slopes` says by how much each number moves the logarithm of each throughput, in units of the
    noise; `differences` has a row for each other choice, in the same units; `precision` is what is
    expected of the numbers without any row.
    """
    moved = np.linalg.pinv(slopes.T @ slopes + precision) @ slopes.T @ differences.T
    found: NDArray[np.float64] = (moved * weights) @ moved.T
    return found
