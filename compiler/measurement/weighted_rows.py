"""Rows that count by how well each is known: columns and residuals over the noise of each row."""

from __future__ import annotations

from collections.abc import Sequence
from operator import mul, truediv

from qps.compiler.quantities.cholesky import cholesky

Vector = list[float]
Matrix = list[Vector]

LEAST_SHARE = 0.05
"""Of the largest load that is fitted: noise does not shrink with the load below it."""


def weighted(
    columns: Sequence[Sequence[float]], missed: Sequence[float], noise: Sequence[float]
) -> tuple[Matrix, Vector]:
    """Return the columns over the noise, made orthonormal, and what they leave of the residuals.

    These are of weighted least squares.
    """
    found = [list(map(truediv, column, noise)) for column in columns]
    found = solved(cholesky(products(found)), found)
    left = list(map(truediv, missed, noise))
    for column in found:
        along = sum(map(mul, column, left))
        left = [value - along * part for value, part in zip(left, column, strict=True)]
    return found, left


def noise_loads(target: Sequence[int], errors: Vector, weights: Sequence[int]) -> Vector:
    """Return the load of each row, of which its noise is a share: what is fitted.

    The rows of least squares are multiplied by their `weights`. Where all of a table have the same
    load, it is that of a full machine, and known: only the rates are measured.
    """
    if all(
        load * weights[0] == target[0] * weight
        for load, weight in zip(target, weights, strict=True)
    ):
        return [abs(target[0] / weights[0])] * len(target)
    return [abs((a + b) / weight) for a, b, weight in zip(target, errors, weights, strict=True)]


def products(columns: Matrix) -> Matrix:
    """Return the sums of the products of each two columns."""
    return [[sum(map(mul, one, other)) for other in columns] for one in columns]


def solved(root: Matrix, columns: Matrix) -> Matrix:
    """Return the columns of which a lower triangle makes these."""
    found: Matrix = []
    for row, column in zip(root, columns, strict=True):
        rest = column
        for weight, known in zip(row, found, strict=False):
            rest = [a - weight * b for a, b in zip(rest, known, strict=True)]
        found.append([value / row[len(found)] for value in rest])
    return found
