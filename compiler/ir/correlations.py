"""How uncertain numbers go together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction

from msgspec import Struct

from qps.compiler.diagnostics.source import Span
from qps.compiler.quantities.cholesky import cholesky

_LEAST = 1e-9
"""A variance that is left of a number by those before it, below which there is none."""


class Correlation(Struct, frozen=True, kw_only=True):
    """How two uncertain parameters go together: their normal scores, between -1 and 1."""

    one: str
    other: str
    value: Fraction
    span: Span


def correlated_weights(
    members: Mapping[str, int], stated: Iterable[Correlation]
) -> tuple[tuple[float, ...], ...] | None:
    """Return by what independent numbers are weighed to be correlated so, a row a number.

    `members` says which number each parameter is; correlations of others do not count. None where
    no numbers can be: the matrix of correlations is not positive definite.
    """
    count = len(set(members.values()))
    matrix = [[float(i == j) for j in range(count)] for i in range(count)]
    for one in stated:
        if one.one in members and one.other in members:
            i, j = members[one.one], members[one.other]
            matrix[i][j] = matrix[j][i] = float(one.value)
    weights = cholesky(matrix)
    is_possible = all(row[i] ** 2 >= _LEAST for i, row in enumerate(weights))
    return tuple(map(tuple, weights)) if is_possible else None
