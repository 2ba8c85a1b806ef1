"""What rests on few of the axes: computed once for each combination of their values."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from math import prod

import numpy as np

from qps.engine.execution.programs import StraightLineProgram
from qps.solver.matrix.compilation.configuration_order import RowAxes, joined
from qps.solver.matrix.limits.row_preparation import Bools, Floats, Ints
from qps.solver.matrix.rows.exact_decisions import Index

_LARGEST = 32_768
_FEWER = 4
"""Combinations that are kept; as many times fewer than rows they are to be."""


@dataclass
class AxisCache:
    """Points by combinations of the values of some axes; open ones are undecided."""

    axes: tuple[int, ...]
    counts: tuple[int, ...]
    _at: Floats = field(init=False)
    _is_open: Bools = field(init=False)
    _is_known: Bools = field(init=False)

    def __post_init__(self) -> None:
        self._at = np.zeros(prod(self.counts))
        self._is_open, self._is_known = np.zeros((2, prod(self.counts)), dtype=bool)

    def points(
        self, index: Index, rows: Ints, compute: Callable[[Ints], tuple[Floats, Bools]]
    ) -> tuple[Floats, Bools]:
        """Return the points of some rows; `compute` gives those of one row of each combination."""
        place = joined(self.counts, [index[axis][rows] for axis in self.axes])
        place = np.broadcast_to(place, rows.shape)  # of no axes it is a single one
        left = np.flatnonzero(~self._is_known[place])
        if left.size:
            new, first = np.unique(place[left], return_index=True)
            self._at[new], self._is_open[new] = compute(rows[left[first]])
            self._is_known[new] = True
        return self._at[place], self._is_open[place]


def axis_cache(
    program: StraightLineProgram, steps: Iterable[int], along: RowAxes
) -> AxisCache | None:
    """Return where to keep what rests on some steps; None where it is of about as many as rows."""
    names = frozenset[str]().union(*(program.inputs[step] for step in steps))
    own = tuple(sorted({along.position[name] for name in names}))
    counts = tuple(along.counts[axis] for axis in own)
    rows = prod(count for count, has in zip(along.counts, along.columns, strict=True) if has)
    return AxisCache(own, counts) if prod(counts) <= min(_LARGEST, rows // _FEWER) else None
