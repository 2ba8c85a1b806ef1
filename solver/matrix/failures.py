"""The first population at which a criterion fails, for many rows at once.

Where it is proved for all rows that what once fails never holds again, the first failure is
bracketed and closed in on: by the secant where it serves, else by halves. Where it is not, each
row's range is cut into pieces for which it can be proved. What cannot be proved in a bounded
number of steps is left to the symbolic solver.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from qps.engine.columns.on_bounds import Bounds
from qps.solver.matrix.closing_in import closed_in
from qps.solver.matrix.prepared import FAILS, Bools, CompiledCriterion, Floats, Ints, Rows, worst
from qps.solver.matrix.proofs import shape_of

_MOST_PIECES = 400


@dataclass(frozen=True, slots=True)
class Failures:
    """The first failure of each row, the end of its range where there is none.

    `is_open` tells of rows for which it could not be proved.
    """

    first: Ints
    is_open: Bools


def first_failures(
    rows: Rows,
    proven: Sequence[CompiledCriterion],
    others: Sequence[CompiledCriterion],
    low: int,
    end: Ints,
) -> Failures:
    """Return the first population from `low` on, before `end`, at which a criterion fails.

    `proven` are the criteria that fail from some point on for good, or never, or only at first.
    """
    first = _bracketed(rows, proven, np.full(rows.count, low, dtype=np.int64), end)
    is_open = np.zeros(rows.count, dtype=bool)
    if others:
        index = np.flatnonzero(first > low)
        found = _by_pieces(rows.take(index), others, low, first[index])
        first[index], is_open[index] = found.first, found.is_open
    return Failures(first, is_open)


def _bracketed(rows: Rows, criteria: Sequence[CompiledCriterion], low: Ints, end: Ints) -> Ints:
    """Return the first failures in rows where what fails at one population fails ever after."""
    first = end.copy()
    if not criteria or not rows.count:
        return first
    index = np.flatnonzero(low < end)
    rows = rows.take(index) if index.size < rows.count else rows
    below, above = low[index], end[index] - 1
    at_below = worst(rows, criteria, below.astype(float))
    at_above = worst(rows, criteria, above.astype(float))
    fails = at_below > 0
    first[index[fails]] = below[fails]
    between = ~fails & (at_above > 0)
    chosen = np.flatnonzero(between)
    index, rows = index[chosen], rows.take(chosen)
    excess = partial(_excess, criteria)
    ends = below[chosen].astype(np.float64), above[chosen].astype(np.float64)
    found = closed_in(rows, excess, *ends, is_whole=True)
    first[index] = found.astype(np.int64)
    return first


def _excess(criteria: Sequence[CompiledCriterion], rows: Rows, population: Floats) -> Floats:
    """Return the margin of what is passed furthest; how far tells nothing from `FAILS` on."""
    value = worst(rows, criteria, population)
    return np.where(value >= FAILS, np.inf, value)


def _by_pieces(rows: Rows, criteria: Sequence[CompiledCriterion], low: int, end: Ints) -> Failures:
    """Return first failures where nothing is known of the criteria beforehand."""
    count = rows.count
    first, is_open = end.copy(), np.zeros(count, dtype=bool)
    here = np.full(count, low, dtype=np.int64)
    fails = worst(rows, criteria, here.astype(float)) > 0
    first[fails] = low
    active = np.flatnonzero(~fails & (end - 1 > low))
    length = end - 1 - low
    for _ in range(_MOST_PIECES):
        if not active.size:
            return Failures(first, is_open)
        some = rows.take(active)
        start = here[active]
        stop = np.minimum(start + length[active], end[active] - 1)
        is_simple = _is_simple(some, criteria, start, stop) | (stop - start <= 1)
        holds = worst(some, criteria, stop.astype(float)) <= 0
        found = np.flatnonzero(is_simple & ~holds)
        first[active[found]] = _bracketed(some.take(found), criteria, start[found], stop[found] + 1)
        passed = is_simple & holds
        here[active[passed]] = stop[passed]
        length[active] = np.where(is_simple, 2 * (stop - start), (stop - start) // 2)
        is_over = (is_simple & ~holds) | (passed & (stop == end[active] - 1))
        active = active[~is_over]
    is_open[active] = True
    return Failures(first, is_open)


def _is_simple(rows: Rows, criteria: Sequence[CompiledCriterion], start: Ints, stop: Ints) -> Bools:
    """Return for which rows it is proved that what fails between two populations stays so."""
    known = {number: Bounds(value, value) for number, value in rows.known.items()}
    sides = {number for c in criteria for number in (c.measure, c.limit)}
    program = rows.runner.program
    ends = start.astype(float), stop.astype(float)
    found = rows.runner.bounds(sides, known, {}, ends)
    simple = np.ones(rows.count, dtype=bool)
    for criterion in criteria:
        simple &= shape_of(program, criterion, found).is_simple
    return simple
