"""Quantiles of the answer of each row, where numbers of the spec are not known.

A row is solved once more for each sample: they are rows of a matrix with what is drawn as its last
axis, so that those of one row stand together. They are solved as those of an answer are, by what is
handed in with what is drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from math import floor, nan

import numpy as np
from msgspec import Struct

from qps.compiler import ir
from qps.solver.matrix.compilation.compiled_matrix import CompiledMatrix
from qps.solver.matrix.compilation.configuration_order import joined
from qps.solver.matrix.limits.row_preparation import Floats, Ints
from qps.solver.matrix.rows.exact_decisions import Index
from qps.solver.matrix.rows.row_block import NONE, RowBlock

QuantilesOf = Callable[[Index], Mapping[Fraction, Floats]]
"""The quantiles of some rows, by their levels: rows are known by their values along the axes."""

Solved = Callable[[int, int], list[RowBlock]]
"""Solves the samples from one to another, the second not included."""


class Drawing(Struct, frozen=True, kw_only=True):
    """What is not known in the rows of a matrix: samples as one more axis, and what solves them.

    `solver` is a function of a module, to be sent to other processes.
    """

    axis: ir.Axis
    solver: Callable[[CompiledMatrix], Solved]


_TOGETHER = 65_536
"""Samples that are solved in one go."""


class Quantiles:
    """Computes quantiles of the answers of rows; those that were requested last are kept."""

    def __init__(
        self,
        compiled: CompiledMatrix,
        sampled: CompiledMatrix,
        solved: Solved,
    ) -> None:
        self._levels = compiled.quantiles
        self._blocks = compiled.blocks
        self._of_samples = sampled.blocks
        self._solved = solved
        self._left_out: dict[tuple[int, int], float] = {}
        self._last: tuple[tuple[int, bytes], Mapping[Fraction, Floats]] | None = None

    def of(self, block: int, index: Index) -> Mapping[Fraction, Floats]:
        """Return the quantiles of rows of a block, 0 where none is acceptable.

        Not-a-number where no sample has an answer, or a fault of ours left one without.
        """
        counts = self._blocks[block].counts
        rows = joined(counts, index[: len(counts)])
        key = block, rows.tobytes()
        if self._last is None or self._last[0] != key:
            self._last = key, self._by_level(block, rows)
        return self._last[1]

    def left_out(self, block: int, start: int, count: int) -> Floats:
        """Return for solved rows which share of the samples has no answer.

        Not-a-number for none, and of rows that nobody requested. It is reported once.
        """
        shares = (self._left_out.pop((block, row), nan) for row in range(start, start + count))
        return np.fromiter(shares, dtype=float, count=count)

    def _by_level(self, block: int, rows: Ints) -> Mapping[Fraction, Floats]:
        found = {level: np.full(rows.size, nan) for level in self._levels}
        blocks = self._of_samples
        samples = blocks[block].counts[-1]
        start = sum(one.size for one in blocks[:block])
        for first, last in _stretches(rows, max(_TOGETHER // samples, 1)):
            at = start + int(rows[first]) * samples
            (solved,) = self._solved(at, at + (last - first) * samples)
            is_answered = solved.is_answered
            answers = np.where(solved.largest == NONE, 0, solved.largest)
            for row in range(last - first):
                own = slice(row * samples, (row + 1) * samples)
                in_order = np.sort(answers[own][is_answered[own]])
                if in_order.size < samples:
                    self._left_out[block, int(rows[first + row])] = 1 - in_order.size / samples
                if in_order.size and not solved.faulted[own].any():
                    for level, column in found.items():
                        column[first + row] = in_order[floor(level * in_order.size)]
        return found


def _stretches(rows: Ints, most: int) -> Iterator[tuple[int, int]]:
    """Yield where rows follow each other, as the first and the one after the last of some."""
    first = 0
    for place in range(1, rows.size + 1):
        is_end = place == rows.size or rows[place] != rows[place - 1] + 1
        if is_end or place - first == most:
            yield first, place
            first = place
