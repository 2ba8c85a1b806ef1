"""Correlations as weights of independent numbers: Cholesky's factor."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

_LEAST = 1e-9
"""A variance that is left of a number by those before it, below which there is none."""


def weights_of(correlations: Sequence[Sequence[float]]) -> tuple[tuple[float, ...], ...] | None:
    """Return by what independent numbers are weighed to be correlated so, a row a number.

    None where no numbers can be: the matrix, which has ones along its diagonal, is not positive
    definite.
    """
    rows: list[list[float]] = []
    for i, wanted in enumerate(correlations):
        row: list[float] = []
        for j in range(i):
            shared = sum(a * b for a, b in zip(row, rows[j], strict=False))
            row.append((wanted[j] - shared) / rows[j][j])
        left = 1 - sum(weight * weight for weight in row)
        if left < _LEAST:
            return None
        rows.append([*row, sqrt(left)])
    return tuple(tuple(row) for row in rows)
