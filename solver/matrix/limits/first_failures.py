"""The first population at which a criterion fails, for many rows at once.

What is not proved in a bounded number of steps is left to the functions for one row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from qps.engine.execution.programs import StraightLineProgram
from qps.solver.matrix.limits import failure_search
from qps.solver.matrix.limits.every_population import (
    MOST_TRIED,
    are_tried,
    rests_on_single_networks,
    tried,
)
from qps.solver.matrix.limits.failure_brackets import Excess
from qps.solver.matrix.limits.failure_search import FirstPoints, Sought
from qps.solver.matrix.limits.late_shares import LateShare, latest
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
from qps.solver.matrix.limits.values_before import PriorPopulations

_PIECES, _PIECES_OF_SHORT = 16, 3
"""Pieces of a range that are proved before rows are looked for by their values: of a long range,
and of one that is short enough for all of it, or of networks that are solved one by one."""


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
        ends = np.full(index.size, float(low)), (first[index] - 1).astype(np.float64)
        some = rows.only(sides_of(criteria) | tight_sides_of(criteria))
        some = some.take(index) if index.size < rows.count else some
        found = _of_criteria(some, criteria, simple, ends)
        fails = np.isfinite(found.at)
        first[index[fails]] = found.at[fails].astype(np.int64)
        is_open[index] |= found.is_open
    return Failures(first, is_open)


_IsSimple = Callable[[Boxes, Floats, Floats], Bools]


def _of_criteria(
    rows: Rows,
    criteria: Sequence[CompiledCriterion],
    is_simple: _IsSimple,
    ends: tuple[Floats, Floats],
) -> FirstPoints:
    """Return the first points at which criteria fail.

    First by quantiles alone: what may only be less than one of them is looked at where it fails.
    """
    late = _late_shares(rows.runner.program, criteria)
    guarded = [share for share in late.values() if share.guards]
    alone = Sought(excess=partial(_excess, criteria, late, _latest), is_simple=is_simple)
    found = _searched(rows, criteria, alone, ends)
    fails = np.flatnonzero(np.isfinite(found.at)) if guarded else np.zeros(0, dtype=np.int64)
    if not fails.size:
        return found
    some, at = rows.take(fails), found.at[fails]
    holds = fails[~np.all([share.guard(some, at) > 0 for share in guarded], axis=0)]
    if holds.size:
        sought = replace(alone, excess=partial(_excess, criteria, late, _each))
        rows, ends = rows.take(holds), (ends[0][holds], ends[1][holds])
        again = _searched(rows, criteria, sought, ends)
        found.at[holds], found.is_open[holds] = again.at, again.is_open
    return found


def _searched(
    rows: Rows,
    criteria: Sequence[CompiledCriterion],
    sought: Sought,
    ends: tuple[Floats, Floats],
) -> FirstPoints:
    """Return the first points of what is sought: by pieces, and then in another way, if any.

    What is slow is looked for in the other way first.
    """
    other, pieces, is_slow = _otherwise(rows, criteria, *ends)
    by_pieces = partial(failure_search.first_failures, sought=replace(sought, pieces=pieces))
    if other is None:
        return by_pieces(rows, low=ends[0], end=ends[1])
    if not is_slow:
        found = by_pieces(rows, low=ends[0], end=ends[1])
        left = np.flatnonzero(found.is_open)
        if left.size:
            points = other(rows.take(left), sought.excess, found.proven[left], ends[1][left])
            found.at[left], found.is_open[left] = points
        return found
    found = FirstPoints(*other(rows, sought.excess, *ends), proven=ends[0].copy())
    left = np.flatnonzero(found.is_open)
    if left.size:
        again = by_pieces(rows.take(left), low=ends[0][left], end=ends[1][left])
        found.at[left], found.is_open[left] = again.at, again.is_open
    return found


_FirstOf = Callable[[Rows, Excess, Floats, Floats], tuple[Floats, Bools]]


def _otherwise(
    rows: Rows, criteria: Sequence[CompiledCriterion], low: Floats, end: Floats
) -> tuple[_FirstOf | None, int | None, bool]:
    """Return what looks for rows that pieces leave open, and so many pieces are worth a trial.

    The last tells whether that is to be asked first, as pieces take long.
    """
    program = rows.runner.program
    if rests_on_single_networks(program, sides_of(criteria)):
        return None, _PIECES_OF_SHORT, False
    if not are_tried(program, sides_of(criteria)):
        return None, None, False
    before = PriorPopulations.of(program, criteria)
    if before is None:
        return tried, _PIECES, False
    is_short = bool((end - low < MOST_TRIED).all())
    pieces = _PIECES_OF_SHORT if is_short else _PIECES
    return before.first, pieces, before.is_slow(rows, low)


_LateShares = Mapping[int, LateShare]
"""The shares that are late, of criteria that limit a quantile, by their place."""


def _late_shares(
    program: StraightLineProgram, criteria: Sequence[CompiledCriterion]
) -> _LateShares:
    found = {k: LateShare.of(program, criterion) for k, criterion in enumerate(criteria)}
    return {k: late for k, late in found.items() if late is not None}


_Margins = Iterator[tuple[list[int], Floats]]


def _latest(late: _LateShares, rows: Rows, population: Floats) -> _Margins:
    """Yield the criteria that limit one quantile, and what the first of them has."""
    places: dict[object, list[int]] = {}
    for k, share in late.items():
        places.setdefault(share.quantile, []).append(k)
    for among in places.values():
        yield among, latest([late[k] for k in among], rows, population)


def _each(late: _LateShares, rows: Rows, population: Floats) -> _Margins:
    """Yield each criterion, with what may be less than a quantile."""
    for k, share in late.items():
        yield [k], share.at(rows, population)


def _excess(
    criteria: Sequence[CompiledCriterion],
    late: _LateShares,
    margins: Callable[[_LateShares, Rows, Floats], _Margins],
    rows: Rows,
    population: Floats,
) -> Floats:
    """Return the margin of what is passed furthest; how far means nothing from `FAILS` on."""
    by_sides = [criterion for k, criterion in enumerate(criteria) if k not in late]
    value = worst(rows, by_sides, population)
    for among, found in margins(late, rows, population):
        margin = np.broadcast_to(found, value.shape)
        undecided = np.flatnonzero(np.isnan(margin))
        if undecided.size:
            margin = margin.copy()
            at = np.broadcast_to(population, value.shape)[undecided]
            own = [criteria[k] for k in among]
            margin[undecided] = worst(rows.take(undecided), own, at)
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
