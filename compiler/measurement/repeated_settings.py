"""Rows that repeat a setting: what each is predicted to be by all rows of other settings.

A row that is left out by itself is predicted by its twins: where each setting was measured three
times, that says how well runs repeat, and nothing of settings that nobody measured. So all rows
of a setting are left out together: with the rows `Q` of orthonormal columns and the residuals `e`
of a setting, the fit to all others misses it by `e + Q (I - Q'Q)^-1 Q'e` (R. D. Cook and
S. Weisberg, Residuals and Influence in Regression, 1982, section 2.2.2, for several rows).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from operator import mul

from qps.compiler.measurement.fit_columns import SETTING
from qps.compiler.measurement.least_squares import LeastSquares
from qps.compiler.measurement.measured_tables import MeasuredTable
from qps.compiler.quantities.cholesky import cholesky

_PIVOTAL = 1e-9
"""What is left of a column without a setting, below which it alone decides a number."""
_REQUESTED = ("requested ", "asked ")
"""The headings of `qps measure`, and those of its former tables."""


def settings_of(table: MeasuredTable) -> tuple[tuple[str, ...], ...] | None:
    """Return at which setting each row was measured; None where no column says so.

    Such are `setting`, and what `qps measure` requested.
    """
    named = [h for h in table.headings if h == SETTING or h.startswith(_REQUESTED)]
    columns = [table.columns[heading] for heading in named]
    return tuple(zip(*columns, strict=True)) if columns else None


def errors_unseen(
    squares: LeastSquares, errors: Sequence[float], labels: Sequence[Hashable]
) -> list[float | None]:
    """Return by what fits to the other settings miss each row; None where one decides a number."""
    members: dict[Hashable, list[int]] = {}
    for index, label in enumerate(labels):
        members.setdefault(label, []).append(index)
    found: list[float | None] = [None] * len(errors)
    columns, _ = squares.orthonormal
    for own in members.values():
        rows = [[column[i] for column in columns] for i in own]
        missed = _missed(rows, [errors[i] for i in own])
        if missed is not None:
            for i, value in zip(own, missed, strict=True):
                found[i] = value
    return found


def _missed(rows: Sequence[Sequence[float]], errors: Sequence[float]) -> list[float] | None:
    size = len(rows[0])
    columns = list(zip(*rows, strict=True))
    left = [
        [float(i == j) - sum(map(mul, columns[i], columns[j])) for j in range(size)]
        for i in range(size)
    ]
    root = cholesky(left)
    if min(root[i][i] ** 2 for i in range(size)) <= _PIVOTAL:
        return None
    pulled = _solved(root, [sum(map(mul, column, errors)) for column in columns])
    return [error + sum(map(mul, row, pulled)) for error, row in zip(errors, rows, strict=True)]


def _solved(root: Sequence[Sequence[float]], right: Sequence[float]) -> list[float]:
    """Return what a lower triangle, times itself turned round, makes these of."""
    half: list[float] = []
    for i, value in enumerate(right):
        half.append((value - sum(map(mul, root[i], half))) / root[i][i])
    found = [0.0] * len(right)
    for i in reversed(range(len(right))):
        above = sum(root[j][i] * found[j] for j in range(i + 1, len(right)))
        found[i] = (half[i] - above) / root[i][i]
    return found
