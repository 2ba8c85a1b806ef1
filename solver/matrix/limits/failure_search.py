"""The first point at which something fails, for many rows at once: a population, whole or real.

Each row's range is cut into pieces for which bounds prove that what once fails there stays so, as
far as the piece goes: it is left behind where it holds at its end, else closed in on. What is not
proved in so many pieces is left open.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from qps.solver.matrix.limits.failure_brackets import Excess, closed_in
from qps.solver.matrix.limits.neighboring_rows import first_failing
from qps.solver.matrix.limits.row_preparation import Bools, Boxes, Floats, Ints, Rows

_MOST_PIECES = 1000
_PIECES_FOR_ONE, _PIECES_FOR_ANY, _PIECES_FOR_EACH = 3, 45, 25
"""A row that is solved one by one takes as long as so many pieces, at least: one alone, as a few.
Where that many have decided none of the rows that are left, these are solved so."""
_FEW, _TOGETHER, _SEARCH_LIMITS = 1024, 32, 12
"""Rows up to which each is proved by itself; rows that are proved together beyond that; pieces of a
row that are judged by another's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sought:
    """What is looked for: where `excess` is above zero.

    `is_simple` says of which boxes of rows it is proved that between two populations all failures
    lie behind one point, if it holds at the first of them. What `is_shared` is found for other
    rows, too. Where so many `pieces` have decided none, rows are looked for in another way, if any.
    """

    excess: Excess
    is_simple: Callable[[Boxes, Floats, Floats], Bools]
    is_whole: bool = True
    is_shared: bool = False
    pieces: int | None = None


@dataclass(frozen=True, slots=True)
class FirstPoints:
    """The first point of each row, infinite for none; open rows are undecided.

    Everything holds before `proven`.
    """

    at: Floats
    is_open: Bools
    proven: Floats


def first_failures(rows: Rows, sought: Sought, low: Floats, end: Floats) -> FirstPoints:
    """Return the first points from `low` to `end`, both among them."""
    at, is_open = np.full(rows.count, np.inf), np.zeros(rows.count, dtype=bool)
    here, at_here, length = low.copy(), sought.excess(rows, low).copy(), end - low
    fails = at_here > 0
    at[fails] = low[fails]
    active = np.flatnonzero(~fails & (low < end))
    taken_for = np.zeros(rows.count, dtype=np.int64)
    is_alone = rows.count == 1 and not sought.is_shared
    few = _PIECES_FOR_ONE if is_alone else _PIECES_FOR_ANY
    each = _PIECES_FOR_EACH
    if sought.pieces is not None:
        few, each = sought.pieces, 0
    count, since = active.size, 0
    for piece in range(_MOST_PIECES):
        if active.size < count:
            count, since = active.size, piece
        if not count or piece - since >= few + each * (count - 1):
            break
        some = rows.take(active) if active.size < rows.count else rows
        start, stop = here[active], np.minimum(here[active] + length[active], end[active])
        is_simple = _proved(some, sought, (start, stop), taken_for, active)
        if sought.is_whole:
            is_simple = is_simple | (stop - start <= 1)
        elif not piece:  # where a piece as long as the range is simple, it is mostly over soon
            index = np.flatnonzero(is_simple)
            at_low = at_here[active[index]]
            octaves = _octaves(some.take(index), sought, (start[index], stop[index]), at_low)
            start[index], stop[index], at_here[active[index]] = octaves
        at_start, at_stop = at_here[active], sought.excess(some, stop)
        crosses, is_past = is_simple & (at_stop > 0), is_simple & (at_stop <= 0)
        index = np.flatnonzero(crosses)
        ends, values = (start[index], stop[index]), (at_start[index], at_stop[index])
        close_in = first_failing if sought.is_whole else partial(closed_in, is_whole=False)
        at[active[index]] = close_in(some.take(index), sought.excess, ends, values)
        here[active] = np.where(is_past, stop, start)
        at_here[active] = np.where(is_past, at_stop, at_start)
        long = stop - start
        length[active] = np.where(is_past, 2 * long, _shorter(long, start, sought))
        active = active[~(crosses | (is_past & (stop >= end[active])))]
    is_open[active] = True
    return FirstPoints(at, is_open, here)


def _proved(
    rows: Rows, sought: Sought, ends: tuple[Floats, Floats], status: Ints, active: Ints
) -> Bools:
    """Return for which rows a piece is proved simple.

    Rows that follow each other are mostly alike: they are proved together, and if that fails one
    of them is taken for all; but not often, as they may not be.
    """
    if rows.count < _FEW:
        return sought.is_simple(rows.each, *ends)
    first = np.arange(0, rows.count, _TOGETHER)
    middle = np.minimum(first + _TOGETHER // 2, rows.count - 1)
    start = np.concatenate((np.minimum.reduceat(ends[0], first), ends[0][middle]))
    stop = np.concatenate((np.maximum.reduceat(ends[1], first), ends[1][middle]))
    simple = sought.is_simple(rows.boxes(first, middle), start, stop)
    of = np.arange(rows.count) // _TOGETHER
    found, is_hopeful = simple[: first.size][of], simple[first.size :][of]
    is_taken = ~is_hopeful & (status[active] < _SEARCH_LIMITS)
    status[active[is_taken]] += 1
    left = np.flatnonzero(~found & ~is_taken)
    if left.size:
        found[left] = sought.is_simple(rows.take(left).each, *(end[left] for end in ends))
    return found


def _shorter(length: Floats, start: Floats, sought: Sought) -> Floats:
    """Return how long a piece is to be that was too long: in real ranges, by octaves first."""
    if sought.is_whole:
        return np.floor(length / 2)
    first = np.maximum(1.0, start)
    return np.where(length > 4 * first, first, length / 2)


def _octaves(
    rows: Rows, sought: Sought, ends: tuple[Floats, Floats], at_low: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return points in which it holds, and points of twice their size in which it no longer does.

    The second is the end where it holds that far; the third are the excesses at the first. There
    are few octaves, however long a range is: the one in which it begins to fail is found by halves.
    """
    low, end = ends
    below, above, at_below = low.copy(), end.copy(), at_low.copy()
    where = np.flatnonzero(sought.excess(rows, end) > 0)
    rows, low, end = rows.take(where), low[where], end[where]
    first = np.maximum(low, 1.0)
    holds, fails = np.zeros(where.size), np.ceil(np.log2(end / first))
    at_holds = at_low[where]
    while (fails - holds > 1).any():
        middle = np.floor((holds + fails) / 2)
        value = sought.excess(rows, np.minimum(first * 2.0**middle, end))
        goes_on = (middle > holds) & (value <= 0)
        fails = np.where((middle > holds) & ~goes_on, middle, fails)
        holds, at_holds = np.where(goes_on, middle, holds), np.where(goes_on, value, at_holds)
    below[where] = np.where(holds > 0, first * 2.0**holds, low)
    above[where], at_below[where] = np.minimum(first * 2.0**fails, end), at_holds
    return below, above, at_below
