"""Samples whose numbers go into the load graph: those with the same ones are solved together.

A priority that is drawn is such a number. Few load graphs are made; the samples beyond are solved
be left out. Which those are rests on the samples alone, whoever solves which stretch of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from qps.solver.matrix.compilation.compiled_matrix import CompiledGroup
from qps.solver.matrix.compilation.configuration_order import numbers_of
from qps.solver.matrix.limits.row_preparation import Ints
from qps.solver.matrix.matrix_compiler import compile_structure
from qps.solver.matrix.row_ranges import MatrixSolver
from qps.solver.matrix.rows.mode_rows import ModeSolver
from qps.solver.matrix.rows.row_block import RowBlock
from qps.solver.matrix.rows.scalar_fallback import refusing
from qps.solver.uncertainty.interval_result import ALONE

MOST_ALONE = 64
"""Load graphs that are made of samples, at most, for each configuration."""
_MANY = 100
"""Samples from which on it may pay to estimate some of them from others."""
_TRIED = 8
"""Samples that are examined for the numbers that go into their load graphs."""


@dataclass
class FewAlone(MatrixSolver):
    """Solves samples, the last axis of a matrix; few of those with a load graph of their own."""

    _numbers: dict[tuple[int, ...], tuple[str, ...]] = field(default_factory=dict, init=False)
    _ranks: dict[tuple[int, tuple[str, ...]], Ints] = field(default_factory=dict, init=False)
    _structures: dict[tuple[int, ...], tuple[CompiledGroup, list[ModeSolver]]] = field(
        default_factory=dict, init=False
    )

    def solve_each(self, rows: RowBlock, number: int, chosen: Ints) -> None:
        """Answer samples that have not one load graph: by one for all with the same numbers."""
        at = [axis[chosen] for axis in rows.index]
        configurations = np.stack([*at[:-1], np.zeros_like(chosen)])
        for configuration in np.unique(configurations, axis=1).T:
            of = tuple(configuration.tolist()[:-1])
            structures = self._structures.items()
            self._structures = {key: one for key, one in structures if key[:-1] == (number, *of)}
            mine = chosen[(configurations == configuration[:, None]).all(axis=0)]
            ranks = self._ranks_of(number, self._numbers_in(number, of))
            own = ranks[rows.index[-1][mine]]
            for rank in np.unique(own).tolist():
                self._of_rank(rows, number, mine[own == rank], (*of, rank))

    def solve_alone(self, rows: RowBlock, number: int, row: int) -> None:
        """Answer a sample by a load graph of its own, if it is one of the first."""
        if int(rows.index[-1][row]) < MOST_ALONE:
            super().solve_alone(rows, number, row)
        else:
            rows.texts[row] = ALONE

    def reason_of_no_value(self, rows: RowBlock, row: int) -> str | None:
        """Return why samples cannot be in which something has no value, by the first of them."""
        super().solve_alone(rows, rows.block, row)
        return None if rows.faulted[row] else rows.texts.get(row)

    def structures(self) -> Iterator[list[ModeSolver]]:
        """Yield what solves the modes of load graphs that samples have in common."""
        yield from (solvers for _, solvers in self._structures.values())

    def _of_rank(self, rows: RowBlock, number: int, left: Ints, key: tuple[int, ...]) -> None:
        """Answer samples of a configuration that have the same numbers in their load graph."""
        *of, rank = key
        if rank >= MOST_ALONE:
            for row in left.tolist():
                rows.texts[row] = ALONE
            return
        known = number, *key
        if known not in self._structures:
            names = self._numbers_in(number, tuple(of))
            alike = np.flatnonzero(self._ranks_of(number, names) == rank)
            solvers_of = self.solvers_alone if alike.size < _MANY else self.solvers_of
            with refusing({}, 0):  # each reports what is wrong with it
                group, options = compile_structure(self.compiled, number, (*of, int(alike[0])))
                if group.modes and options <= {*names}:
                    self._structures[known] = group, solvers_of(number, group)
        if known in self._structures:
            left = self.of_structure(rows, *self._structures[known], left)
        for row in left.tolist():
            self.solve_alone(rows, number, row)

    def _numbers_in(self, number: int, of: tuple[int, ...]) -> tuple[str, ...]:
        """Return the numbers that go into the load graphs of a configuration, by its samples."""
        if (number, *of) not in self._numbers:
            found: set[str] = set()
            count = self.compiled.blocks[number].structure.axes[-1].count
            for sample in range(min(_TRIED, count)):
                with refusing({}, 0):
                    found |= compile_structure(self.compiled, number, (*of, sample))[1]
            self._numbers[number, *of] = tuple(sorted(found))
        return self._numbers[number, *of]

    def _ranks_of(self, number: int, names: tuple[str, ...]) -> Ints:
        """Return of each sample, as how manyth of its numbers in load graphs these come first."""
        if (number, names) not in self._ranks:
            axis = self.compiled.blocks[number].structure.axes[-1]
            columns = [numbers_of(one) for one in axis.parameters if one.name in names]
            if columns:
                whole = np.stack(columns)
                _, first, which = np.unique(whole, axis=1, return_index=True, return_inverse=True)
                place = np.empty(first.size, dtype=np.int64)
                place[np.argsort(first)] = np.arange(first.size)
                self._ranks[number, names] = place[which.ravel()]
            else:
                self._ranks[number, names] = np.arange(axis.count)
        return self._ranks[number, names]
