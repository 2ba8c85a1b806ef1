"""Quantiles of chi-squared, for many levels at once."""

from __future__ import annotations

from functools import lru_cache
from math import lgamma, log

import numpy as np

from qps.engine.distributions.gamma_arrays import (
    lower_share,
    normal_quantile,
    normal_tail,
    upper_share,
)
from qps.solver.matrix.limits.row_preparation import Floats

_NODES = 1025
_FARTHEST = 8.0
"""Standard deviations of a normal number, up to which levels are distinguished."""
_HALVINGS = 40


def chi_squared_quantile(levels: Floats, freedom: int) -> Floats:
    """Return what chi-squared stays below with some probabilities.

    Its logarithm is nearly straight in the normal number of the same level: it is interpolated
    between nodes so close that it is right to 1e-4.

    >>> [round(float(one), 3) for one in chi_squared_quantile(np.array([0.05, 0.5, 0.95]), 2)]
    [0.103, 1.386, 5.991]
    """
    numbers, logarithms = _nodes(freedom)
    return np.exp(np.interp(normal_quantile(levels), numbers, logarithms))


@lru_cache(maxsize=64)
def _nodes(freedom: int) -> tuple[Floats, Floats]:
    """Return normal numbers, and the logarithms of chi-squared at the same levels, by halving."""
    numbers = np.linspace(-_FARTHEST, _FARTHEST, _NODES)
    below, above = normal_tail(-numbers), normal_tail(numbers)
    shape = np.full(_NODES, freedom / 2)
    log_factorial = np.full(_NODES, lgamma(freedom / 2 + 1))
    # Below this there is less than the least level: the lower share is at most x^s / Gamma(s + 1).
    least = (log(float(below[0])) + lgamma(freedom / 2 + 1)) / (freedom / 2)
    low = np.full(_NODES, min(least, -1.0))
    high = np.full(_NODES, log(freedom / 2 + 100 + 20 * (freedom / 2) ** 0.5))
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        value = np.exp(middle)
        with np.errstate(over="ignore"):  # far from the mean: nothing is left there
            lower = lower_share(shape, value, log_factorial)
            upper = upper_share(shape, value, log_factorial)
        is_low = np.where(numbers < 0, lower < below, upper > above)
        low, high = np.where(is_low, middle, low), np.where(is_low, high, middle)
    return numbers, low + log(2)
