"""Runs against stated costs, in numbers: which cost would explain what is missed, and since when.

From when on is the best place to cut the runs in two, with the confidence set of B. E. Hansen,
Sample splitting and threshold estimation, Econometrica 68, 2000.
"""

from __future__ import annotations

from datetime import datetime
from math import sqrt

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from qps.compiler.measurement.fits import CostFit
from qps.solver.claims.chances import f_chance
from qps.solver.claims.stated_costs import StatedCosts

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

LEAST_SHARE = 0.05
"""Of the largest load: noise does not shrink with the load below it."""
_CUT = 7.35
"""Hansen 2000, table 1: the likelihood ratio that a true place is within, 95 times of 100."""
_CORRELATED = 1.96
_MOST_ALIKE = 0.9
_WORSE = 0.01
"""How likely it is by chance, where one number alone is to explain less than all do."""


class ChangeTime(Struct, frozen=True, kw_only=True):
    """When it began: between two times 95 times of 100. It may have before the first run, too."""

    at: datetime
    earliest: datetime
    latest: datetime
    may_be_before: bool


class RunsInNumbers(Struct, frozen=True):
    """Runs in numbers: what each number of the spec is multiplied with, the load, and weights."""

    matrix: Matrix
    load: Vector
    weights: Vector


def runs_in_numbers(fit: CostFit, stated: StatedCosts) -> RunsInNumbers:
    """Return runs so that what is multiplied with the numbers of the spec adds up to a load.

    What is always there is left out where the spec says nothing of it. Weights are one over the
    variance of noise that grows with the load.
    """
    used = list(fit.runs.used)
    by_item = {
        term.counted: np.array([float(rate[row]) for row in used]) / float(fit.cores)
        for term, rate in zip(fit.terms, fit.runs.rates, strict=True)
    }
    ones = np.ones(len(used))
    columns = [ones if item is None else by_item[item] for item in stated.items]
    load = np.array([float(fit.runs.load[row]) for row in used])
    if None not in stated.items:  # what is always there is nobody's claim
        load -= float(fit.fixed)
    matrix = np.column_stack(columns)
    size = np.maximum(np.abs(load), LEAST_SHARE * float(np.max(np.abs(load)) or 1.0))
    return RunsInNumbers(matrix, load, 1 / size**2)


class SingleCause(Struct, frozen=True):
    """By how much a number is more, if it alone is; whether that leaves no more than noise."""

    item: str | None
    moved: float
    left: float
    explains: bool


def explained_alone(rows: RunsInNumbers, stated: StatedCosts) -> list[SingleCause]:
    """Return for each number what it explains by itself of what is missed, the best first.

    It explains that where it leaves no more than all numbers together, but for noise (an F test).
    """
    missed = rows.load - rows.matrix @ np.array(stated.values)
    root = np.sqrt(rows.weights)
    best, *_ = np.linalg.lstsq(rows.matrix * root[:, None], missed * root, rcond=None)
    least = float(rows.weights @ (missed - rows.matrix @ best) ** 2)
    count, size = rows.matrix.shape
    found = []
    for place, item in enumerate(stated.items):
        column = rows.matrix[:, place]
        square = float(rows.weights @ column**2)
        moved = float(rows.weights @ (column * missed)) / square if square > 0 else 0.0
        left = float(rows.weights @ (missed - moved * column) ** 2)
        explains = moved != 0 and _is_as_good(left, least, size - 1, count - size)
        found.append(SingleCause(item, moved, left, explains))
    return sorted(found, key=lambda one: one.left)


def _is_as_good(left: float, least: float, fewer: int, freedom: int) -> bool:
    if fewer == 0 or freedom <= 0:
        return True
    if least <= 0:
        return left <= 0
    return f_chance((left - least) / fewer / (least / freedom), fewer, freedom) > _WORSE


def since(
    rows: RunsInNumbers, before: Vector, place: int, times: list[datetime]
) -> ChangeTime | None:
    """Return from when on one number is another, all runs in order of time."""
    missed = rows.load - rows.matrix @ before
    column, count = rows.matrix[:, place], len(times)
    # Of all rows from each one on: what is missed, and what one number would explain of it.
    along = np.cumsum((rows.weights * column * missed)[::-1])[::-1]
    square = np.cumsum((rows.weights * column**2)[::-1])[::-1]
    gains = np.divide(along**2, square, out=np.zeros(count), where=square > 0)
    left = float(rows.weights @ missed**2) - gains
    cut = int(np.argmin(left))
    if left[cut] <= 0:
        return _cut(times, cut, cut, cut)
    still = missed.copy()
    still[cut:] -= along[cut] / square[cut] * column[cut:]
    ratios = count / _correlation_factor(still * np.sqrt(rows.weights)) * np.log(left / left[cut])
    possible = np.flatnonzero(ratios <= _CUT)
    first, last = int(possible[0]), int(possible[-1])
    return _cut(times, cut, first, last)


def _cut(times: list[datetime], cut: int, first: int, last: int) -> ChangeTime:
    """Return places of cuts as times: a cut lies between a run and the one before it."""
    return ChangeTime(
        at=times[cut],
        earliest=times[max(first - 1, 0)],
        latest=times[last],
        may_be_before=first == 0,
    )


def _correlation_factor(missed: Vector) -> float:
    """Return by how many times fewer runs say as much as these, which are correlated in time.

    As for fits along the load (`fit_spread`): M. S. Bartlett 1935.
    """
    square = float(missed @ missed)
    alike = float(missed[:-1] @ missed[1:]) / square if square > 0 else 0.0
    if alike * sqrt(len(missed)) <= _CORRELATED:
        return 1.0
    alike = min(alike, _MOST_ALIKE)
    return (1 + alike) / (1 - alike)
