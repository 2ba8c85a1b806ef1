"""The first population at which something fails, for rows of which bounds do not prove it.

Each whole population is tried, as `solve` does where its boxes are inconclusive: what depends on
closed networks is computed for every number of customers at the price of one. Near the limit it is
decided exactly (`mode_rows`), so that what is almost on it counts as failing here.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from qps.engine.execution.programs import StraightLineProgram
from qps.engine.operations import OPERATIONS, ROUNDINGS
from qps.engine.queueing_networks.networks_row_by_row import is_row_by_row
from qps.solver.matrix.limits.failure_brackets import Excess
from qps.solver.matrix.limits.row_preparation import Bools, Floats, Ints, Rows

MOST_TRIED = 1 << 13
"""Populations that are tried."""
_DOUBT = 1e-9
_ROWS, _FEWEST, _TOGETHER = 64, 32, 1 << 15
"""Rows that are looked at together, populations of each that are first, and of all at once."""


def are_tried(program: StraightLineProgram, outputs: Iterable[int]) -> bool:
    """Return whether what gives some outputs may be tried: quick in arrays, and without jumps."""
    outputs = list(outputs)
    is_smooth = _varying(program, outputs).isdisjoint(ROUNDINGS)
    return is_smooth and not rests_on_single_networks(program, outputs)


def rests_on_single_networks(program: StraightLineProgram, outputs: Iterable[int]) -> bool:
    """Return whether what gives some outputs has networks that are solved one by one."""
    rows = map(OPERATIONS.get, _varying(program, outputs))
    return any(row is not None and is_row_by_row(row.array) for row in rows)


def _varying(program: StraightLineProgram, outputs: Iterable[int]) -> set[str]:
    """Return the words of what moves with the population."""
    return {program.steps[n].word for n in program.needed(outputs) if program.varies[n]}


def tried(rows: Rows, excess: Excess, low: Floats, end: Floats) -> tuple[Floats, Bools]:
    """Return the first population of each row that may fail, infinite for none.

    From `low` to `end`, both among them. Rows with more populations than are tried are left open.
    """
    found, is_open = np.full(rows.count, np.inf), end - low >= MOST_TRIED
    index = np.flatnonzero(~is_open)
    for start in range(0, index.size, _ROWS):
        some = index[start : start + _ROWS]
        found[some] = _first(rows.take(some), excess, low[some], end[some])
    return found, is_open


def _first(rows: Rows, excess: Excess, low: Floats, end: Floats) -> Floats:
    """Return the same of rows of which all are tried, in stretches that grow."""
    found, left = np.full(rows.count, np.inf), np.arange(rows.count)
    here, size = low.copy(), _FEWEST
    while left.size:
        size = min(size, max(1, _TOGETHER // left.size))
        at = here[left, None] + np.arange(size)
        value = _at(rows, excess, left, np.minimum(at, end[left, None]))
        may_fail = ~(value <= -_DOUBT) & (at <= end[left, None])
        fails = may_fail.any(axis=1)
        found[left[fails]] = at[fails, np.argmax(may_fail[fails], axis=1)]
        here[left] += size
        left = left[~fails & (here[left] <= end[left])]
        size *= 2
    return found


def _at(rows: Rows, excess: Excess, left: Ints, at: Floats) -> Floats:
    """Return by how much rows fail, each at several populations."""
    each = rows.take(np.repeat(left, at.shape[1]))
    return excess(each, at.ravel()).reshape(at.shape)
