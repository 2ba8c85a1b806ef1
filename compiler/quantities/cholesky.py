"""Covariances as weights of independent numbers: Cholesky's factor."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from operator import mul


def cholesky(covariance: Sequence[Sequence[float]]) -> list[list[float]]:
    """Return the lower triangle that gives a covariance, times itself turned round.

    What is nothing but what those before it are has zeros from its diagonal on.
    """
    size = len(covariance)
    root = [[0.0] * size for _ in range(size)]
    for i in range(size):
        for j in range(i + 1):
            rest = covariance[i][j] - sum(map(mul, root[i][:j], root[j][:j]))
            if i == j:
                root[i][i] = sqrt(max(rest, 0.0))
            elif root[j][j] > 0:
                root[i][j] = rest / root[j][j]
    return root
