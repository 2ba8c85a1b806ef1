"""Rows made ready: all that does not depend on the population is computed, the rest on request.

Also the criteria that rows are judged by, as operations of a program.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qps.compiler.quantities.certainty import EXACT, Certainty
from qps.engine.evaluators.row_bounds import Bounds
from qps.engine.execution.array_runs import Runner, Values
from qps.engine.expressions.formulas import Formula

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledCriterion:
    """A requirement: operations that give its two sides, and the same in symbols.

    `tight` are others that give them, whose bounds are tight. `over` is above zero where it fails.
    """

    name: str
    is_stated: bool
    is_strict: bool
    at_most: bool
    measure: int
    limit: int
    tight: tuple[int, int]
    over: Formula
    known: Certainty = EXACT


@dataclass(frozen=True)
class Rows:
    """Some rows with the values of all operations in which there is no population."""

    runner: Runner
    known: Values
    count: int

    def at(self, outputs: Iterable[int], population: Any) -> Values:
        """Return values of operations at populations, one for each row or one for all."""
        return self.runner.run(outputs, self.known, None, population)

    @property
    def each(self) -> Boxes:
        """Each row as a box of its own."""
        known = {number: Bounds(value, value) for number, value in self.known.items()}
        return Boxes(self.runner, known, self.count)

    def boxes(self, first: Ints, alone: Ints) -> Boxes:
        """Return boxes of rows that follow each other, then some rows each as one of its own.

        `first` are the first rows of boxes.
        """
        known = {}
        for number, value in self.known.items():
            low = high = value
            if np.ndim(value):
                low = np.concatenate((np.minimum.reduceat(value, first), value[alone]))
                high = np.concatenate((np.maximum.reduceat(value, first), value[alone]))
            known[number] = Bounds(low, high)
        return Boxes(self.runner, known, first.size + alone.size)

    def only(self, outputs: Iterable[int]) -> Rows:
        """Return the rows with no more values than some operations rest on."""
        rests_on = self.runner.program.rests_on(outputs, self.known)
        return Rows(self.runner, {n: self.known[n] for n in rests_on}, self.count)

    def take(self, index: Any) -> Rows:
        """Return some of the rows."""
        known = {n: v[index] if np.ndim(v) else v for n, v in self.known.items()}
        return Rows(self.runner, known, int(np.arange(self.count)[index].size))

    def of_each(self, number: Any) -> Ints:
        """Return a number of each row, of one for all of them or for each."""
        return np.broadcast_to(np.asarray(number, dtype=np.int64), (self.count,))

    def column(self, outputs: Mapping[int, Any], number: int) -> Floats:
        """Return one of the values as a column, as long as there are rows."""
        return np.broadcast_to(np.asarray(outputs[number], dtype=float), (self.count,))


@dataclass(frozen=True)
class Boxes:
    """Boxes of rows: bounds of all operations in which there is no population."""

    runner: Runner
    known: dict[int, Bounds]
    count: int

    def bounds(self, outputs: Iterable[int], low: Floats, high: Floats) -> dict[int, Bounds]:
        """Return bounds of operations between two populations of each box."""
        return self.runner.bounds(outputs, self.known, {}, (low, high))


FAILS = 2.0
"""The margin of what has no finite value, or is passed further than this."""


def sides_of(criteria: Iterable[CompiledCriterion]) -> set[int]:
    """Return the operations that give both sides of criteria."""
    return {number for criterion in criteria for number in (criterion.measure, criterion.limit)}


def tight_sides_of(criteria: Iterable[CompiledCriterion]) -> set[int]:
    """Return the operations that give both sides of criteria with tight bounds."""
    return {number for criterion in criteria for number in criterion.tight}


def margin_of(criterion: CompiledCriterion, values: Values) -> Any:
    """Return how far a criterion is passed, as a part of its limit: above zero it fails.

    Not-a-number where a side has no value, which is a failure; 0 fails where a limit is strict.
    """
    measure, limit = values[criterion.measure], values[criterion.limit]
    scale = np.abs(limit)
    scale = np.where(scale > 0, scale, 1.0) if np.ndim(scale) else scale or 1.0
    return (measure - limit) / scale if criterion.at_most else (limit - measure) / scale


def worst(rows: Rows, criteria: Iterable[CompiledCriterion], population: Any) -> Floats:
    """Return the margin of the criterion that is passed furthest: above zero fails."""
    wanted = list(criteria)
    values = rows.at(sides_of(wanted), population)
    total: Any = -1.0
    for criterion in wanted:
        margin = margin_of(criterion, values)
        if criterion.is_strict:
            margin = np.where(margin == 0, np.finfo(float).tiny, margin)
        total = np.maximum(total, margin)
    total = np.where(total <= FAILS, total, FAILS)
    return np.broadcast_to(np.asarray(total, dtype=float), (rows.count,))
