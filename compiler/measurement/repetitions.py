"""Weights of rows: by their loads, and of medians of repetitions by how far these lie apart.

Noise grows with the load: a row counts by one over the load that is fitted to it, but no load for
less than `LEAST_SHARE` of the largest. Of the tables that are listed in the documentation, rows
that were left out are predicted more closely so than by rows that count alike.

A row misses the truth by what its repetitions differ by, which their spread shows, and by what they
all have in common, which only other rows show: the line is not the whole truth. Its variance is the
sum of both, as in the random effects of a meta-analysis (R. DerSimonian and N. Laird, Meta-analysis
in clinical trials, 1986, with regressors: S. G. Thompson and S. J. Sharp, Explaining heterogeneity
in meta-analysis, 1999), and it counts by one over that. So a row never counts for all the others.
All this is in shares of the loads.

Three repetitions lie close together by luck, too. Their variance is therefore taken for the mean of
what they show and what all rows show, the latter counting as so many repetitions more (as the
variances of G. K. Smyth, Linear models and empirical Bayes methods, 2004, of a fixed weight).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import pi, sqrt
from operator import mul
from statistics import NormalDist

from msgspec import Struct

from qps.compiler.measurement.fit_columns import MARK
from qps.compiler.measurement.least_squares import LeastSquares
from qps.compiler.measurement.measured_tables import DataError, MeasuredTable, number
from qps.compiler.measurement.weighted_rows import LEAST_SHARE, noise_loads, weighted

_RANGE = (1.4142, 1.9116, 2.2389, 2.4813, 2.6724, 2.8297, 2.9630, 3.0779, 3.1794)
"""Root mean square of the range of 2, 3 … 10 numbers, as a multiple of their standard deviation
(from the table of H. L. Harter, Tables of range and studentized range, 1960)."""
_MEDIAN = (1.0, 0.5, 0.4487, 0.2982, 0.2868, 0.2147, 0.2104, 0.1682, 0.1661, 0.1383)
"""Variance of the median of 1, 2 … 10 normal numbers, as a part of that of one."""
_OTHERS = 2
"""Repetitions as many as which all rows count for, in what is taken of each of them."""
_PARTS = 10_000
"""Weights are whole numbers: the largest is this one."""
_MOST_REPETITIONS = 1_000_000
_MOST_SPREAD = 1_000
_EMPTY_CELLS = frozenset(["", "-"])


class Repetitions(Struct, frozen=True, kw_only=True):
    """Of each row how many repetitions it is the median of, and their range beside it (a share).

    A range is None where it is not given, as of a row that was not repeated.
    """

    counts: tuple[int, ...]
    spreads: tuple[float | None, ...]

    def picked(self, rows: Sequence[int]) -> Repetitions:
        """Return those of some of the rows."""
        return Repetitions(
            counts=tuple(self.counts[row] for row in rows),
            spreads=tuple(self.spreads[row] for row in rows),
        )


class Weighting(Struct, frozen=True, kw_only=True):
    """How much each row counts: its numbers are multiplied by `weights` before they are fitted.

    `deviations` explains how far each row may be off as a share of its load, but for a common
    factor: their mean square is 1. `run` is the variance, as a share of the load, that one more run
    has and a median has not.
    """

    weights: tuple[int, ...]
    deviations: tuple[float, ...]
    run: float


def repetitions_of(table: MeasuredTable) -> Repetitions | None:
    """Return how often each row was measured; None where no columns say so.

    DataError where a cell cannot be.
    """
    counted, ranged = MARK
    if not set(MARK) <= set(table.headings):
        return None
    counts = [_cell(table, counted, row) for row in range(len(table.lines))]
    spreads = [_cell(table, ranged, row) for row in range(len(table.lines))]
    for heading, cells, low, high in (
        (counted, counts, 1, _MOST_REPETITIONS),
        (ranged, spreads, 0, 100 * _MOST_SPREAD),
    ):
        for row, cell in enumerate(cells):
            if cell is None or (low <= cell <= high and (heading == ranged or cell == int(cell))):
                continue
            raise DataError(
                f"`{table.name}`, line {table.lines[row]}: "
                f"`{table.columns[heading][row]}` in column `{heading}` is invalid",
                "remove both columns if they are unknown",
            )
    whole = tuple(1 if count is None else int(count) for count in counts)
    return Repetitions(
        counts=whole,
        spreads=tuple(
            None if spread is None or count == 1 else float(spread / 100)
            for spread, count in zip(spreads, whole, strict=True)
        ),
    )


def _cell(table: MeasuredTable, heading: str, row: int) -> Fraction | None:
    cell = table.columns[heading][row]
    if cell in _EMPTY_CELLS:
        return None
    found = number(cell)
    if found is None:
        raise DataError(
            f"`{table.name}`, line {table.lines[row]}: `{cell}` in column `{heading}` is "
            "not a number",
            "write `-` for an unknown value",
        )
    return found


def weighting(squares: LeastSquares, repetitions: Repetitions | None) -> Weighting | None:
    """Return how much each row of ordinary least squares counts; None where nothing says it."""
    assert squares.numbers is not None
    size = len(squares.columns)
    errors = squares.own_errors
    fitted = noise_loads(squares.target, errors, (1,) * len(errors))
    largest = max(fitted)
    if len(errors) <= size or largest == 0:
        return None
    least = LEAST_SHARE * largest
    loads = [max(load, least) for load in fitted]
    deviations, run = _apart(squares, errors, loads, repetitions)
    noise = list(map(mul, loads, deviations))
    surest = min(noise)
    return Weighting(
        weights=tuple(max(1, round(_PARTS * surest / one)) for one in noise),
        deviations=deviations,
        run=run,
    )


def _apart(
    squares: LeastSquares,
    errors: Sequence[float],
    loads: Sequence[float],
    repetitions: Repetitions | None,
) -> tuple[tuple[float, ...], float]:
    """Return how far each row may be off beside the others, and one more run beside a median."""
    alike = (1.0,) * len(loads)
    if repetitions is None:
        return alike, 0.0
    least = LEAST_SHARE * max(loads)
    spreads = [
        None if load < least else spread
        for load, spread in zip(squares.target, repetitions.spreads, strict=True)
    ]
    each = _variances(repetitions.counts, spreads)
    if each is None:
        return alike, 0.0
    variances, pooled = each
    shares = [_of_median(count) for count in repetitions.counts]
    own = list(map(mul, variances, shares))
    shared = _shared(squares, errors, loads, own)
    deviations = [sqrt(shared + variance) for variance in own]
    mean_square = sqrt(sum(map(mul, deviations, deviations)) / len(deviations))
    return tuple(one / mean_square for one in deviations), pooled * (1 - sum(shares) / len(shares))


def _variances(
    counts: Sequence[int], spreads: Sequence[float | None]
) -> tuple[list[float], float] | None:
    """Return the variance of a single run of each row, and that of all rows together."""
    degrees = [
        (0, 0.0) if spread is None else (count - 1, (spread / _range(count)) ** 2)
        for count, spread in zip(counts, spreads, strict=True)
    ]
    freedom = sum(free for free, _ in degrees)
    pooled = sum(free * variance for free, variance in degrees) / freedom if freedom else 0.0
    if pooled == 0:
        return None
    return [
        (_OTHERS * pooled + free * variance) / (_OTHERS + free) for free, variance in degrees
    ], pooled


def _shared(
    squares: LeastSquares, errors: Sequence[float], loads: Sequence[float], own: Sequence[float]
) -> float:
    """Return the variance that all repetitions of a row share, as a part of its load.

    The weighted squares of residuals are what they are expected to be.
    """
    made, _ = squares.orthonormal
    noise = [load * sqrt(variance) for load, variance in zip(loads, own, strict=True)]
    columns, residuals = weighted(made, errors, noise)
    leverages = [sum(map(mul, row, row)) for row in zip(*columns, strict=True)]
    beyond: float = sum(map(mul, residuals, residuals)) - (len(errors) - len(columns))
    factor: float = sum(
        (1 - leverage) / variance for leverage, variance in zip(leverages, own, strict=True)
    )
    return max(0.0, beyond / factor)


def _range(count: int) -> float:
    """Return the root mean square of a range; of many numbers, by their expected extremes.

    G. Blom, Statistical estimates and transformed beta-variables, 1958.
    """
    if count - 2 < len(_RANGE):
        return _RANGE[count - 2]
    return 2 * NormalDist().inv_cdf((count - 0.375) / (count + 0.25))


def _of_median(count: int) -> float:
    return _MEDIAN[count - 1] if count <= len(_MEDIAN) else pi / 2 / (count + pi / 2 - 1)
