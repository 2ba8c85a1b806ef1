"""The first population at which a criterion fails, for many rows at once.

What is not proved in a bounded number of steps is left to the functions for one row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from qps.engine.execution.programs import Program
from qps.solver.matrix.limits import failure_search
from qps.solver.matrix.limits.every_population import are_tried, tried
from qps.solver.matrix.limits.failure_search import Sought
from qps.solver.matrix.limits.late_shares import LateShare
from qps.solver.matrix.limits.range_proofs import shape_of
from qps.solver.matrix.limits.row_preparation import (
    FAILS,
    Bools,
    Boxes,
    CompiledCriterion,
    Floats,
    Ints,
    Rows,
    sides_of,
    tight_sides_of,
    worst,
)


@dataclass(frozen=True, slots=True)
class Failures:
    """The first failure of each row, the end of its range where there is none.

    `is_open` are rows for which it could not be proved.
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
    first, is_open = end.copy(), np.zeros(rows.count, dtype=bool)
    for criteria, is_proven in ((proven, True), (others, False)):
        index = np.flatnonzero(first > low) if criteria else np.zeros(0, dtype=np.int64)
        if not index.size:
            continue
        simple = partial(_all_simple if is_proven else _is_simple, criteria)
        split = _split(rows.runner.program, criteria)
        may_try = are_tried(rows.runner.program, sides_of(criteria))
        sought = Sought(
            excess=partial(_excess, split), is_simple=simple, is_whole=True, are_tried=may_try
        )
        some = rows.only(sides_of(criteria) | tight_sides_of(criteria))
        some = some.take(index) if index.size < rows.count else some
        ends = np.full(index.size, float(low)), (first[index] - 1).astype(np.float64)
        found = failure_search.first_failures(some, sought, *ends)
        left = np.flatnonzero(found.is_open)
        if left.size and may_try:
            left_ends = (end[left] for end in ends)
            found.at[left], found.is_open[left] = tried(some.take(left), sought.excess, *left_ends)
        fails = np.isfinite(found.at)
        first[index[fails]] = found.at[fails].astype(np.int64)
        is_open[index] |= found.is_open
    return Failures(first, is_open)


_Split = tuple[list[CompiledCriterion], list[tuple[CompiledCriterion, LateShare]]]
"""Criteria that are compared by their sides, and those by the share that is late."""


def _split(program: Program, criteria: Sequence[CompiledCriterion]) -> _Split:
    found = [(criterion, LateShare.of(program, criterion)) for criterion in criteria]
    by_sides = [criterion for criterion, late in found if late is None]
    return by_sides, [(criterion, late) for criterion, late in found if late is not None]


def _excess(split: _Split, rows: Rows, population: Floats) -> Floats:
    """Return the margin of what is passed furthest; how far means nothing from `FAILS` on."""
    by_sides, by_late = split
    value = worst(rows, by_sides, population)
    for criterion, late in by_late:
        margin = np.broadcast_to(late.at(rows, population), value.shape)
        undecided = np.flatnonzero(np.isnan(margin))
        if undecided.size:
            margin = margin.copy()
            at = np.broadcast_to(population, value.shape)[undecided]
            margin[undecided] = worst(rows.take(undecided), [criterion], at)
        value = np.maximum(value, margin)
    return np.where(value >= FAILS, np.inf, value)


def _all_simple(_: object, rows: Boxes, _start: Floats, _stop: Floats) -> Bools:
    return np.ones(rows.count, dtype=bool)


def _is_simple(
    criteria: Sequence[CompiledCriterion], rows: Boxes, start: Floats, stop: Floats
) -> Bools:
    """Return for which rows it is proved that what fails between two populations stays so."""
    found = rows.bounds(tight_sides_of(criteria), start, stop)
    simple = np.ones(rows.count, dtype=bool)
    for criterion in criteria:
        simple &= shape_of(rows.runner.program, criterion, found).is_simple
    return simple
