"""By how much the mean of the largest of independent times is above what is fixed of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from qps.engine.distributions.gamma_arrays import log_gamma, lower_share
from qps.engine.distributions.maximum_nodes import NODES

_TIMES, _WEIGHTS = np.array(NODES).T


def excess(least: float, laws: Sequence[Sequence[float]]) -> float:
    """Return by how much the mean of the largest of some times is above `least`.

    Each of `laws` is a fixed time of at most `least` and a gamma law of a mean and a squared
    variation, both above 0: in a row for each, times of the rule stand in columns.
    """
    fixed, mean, variation = np.array(laws).T[:, :, None]
    scale = (mean * np.maximum(1.0, variation)).max()
    shape = 1 / variation + np.zeros(len(_TIMES))
    log_factorial = log_gamma(1 / variation + 1) + np.zeros(len(_TIMES))
    value = shape * np.maximum(least - fixed + scale * _TIMES, 0.0) / mean
    with np.errstate(all="ignore"):  # far out nothing is left, and at 0 there is nothing yet
        each = lower_share(shape.ravel(), value.ravel(), log_factorial.ravel())
    within = np.where(value > 0, each.reshape(value.shape), 0.0)
    return float(scale * (_WEIGHTS * (1 - within.prod(axis=0))).sum())
