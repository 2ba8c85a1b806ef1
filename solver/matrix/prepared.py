"""Rows made ready: all that does not depend on the population is computed, the rest can be asked.

Also the criteria that rows are judged by, as operations of a program.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy
from numpy.typing import NDArray

from qps.solver.matrix.arrays import Runner, Values

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class CompiledCriterion:
    """A requirement: operations that give its two sides, and the same in symbols.

    `over` is above zero where it fails; its symbols are the population and the inputs.
    """

    name: str
    is_stated: bool
    is_strict: bool
    at_most: bool
    measure: int
    limit: int
    over: sympy.Expr


@dataclass(frozen=True)
class Rows:
    """Some rows with the values of all operations in which there is no population."""

    runner: Runner
    known: Values
    count: int

    def at(self, outputs: Iterable[int], population: Any) -> Values:
        """Return values of operations at populations, one for each row or one for all."""
        return self.runner.run(outputs, self.known, None, population)

    def take(self, index: Any) -> Rows:
        """Return some of the rows."""
        known = {n: v[index] if np.ndim(v) else v for n, v in self.known.items()}
        return Rows(self.runner, known, int(np.arange(self.count)[index].size))

    def column(self, outputs: Mapping[int, Any], number: int) -> Floats:
        """Return one of the values as a column, as long as there are rows."""
        return np.broadcast_to(np.asarray(outputs[number], dtype=float), (self.count,))


_FAILS = 2.0


def margins(
    rows: Rows, criteria: Iterable[CompiledCriterion], population: Any
) -> dict[CompiledCriterion, Any]:
    """Return how far each criterion is passed, from -1 (not at all) to 1 (beyond all measure).

    2 where a side has no finite value, which is a failure; 0 fails where a limit is strict.
    """
    wanted = list(criteria)
    sides = {number for criterion in wanted for number in (criterion.measure, criterion.limit)}
    values = rows.at(sides, population)
    found = {}
    for criterion in wanted:
        measure, limit = values[criterion.measure], values[criterion.limit]
        over = measure - limit if criterion.at_most else limit - measure
        scale = np.abs(measure) + np.abs(limit)
        margin = over / np.where(scale > 0, scale, 1.0)
        found[criterion] = np.where(np.isfinite(margin), margin, _FAILS)
    return found


def worst(rows: Rows, criteria: Iterable[CompiledCriterion], population: Any) -> Floats:
    """Return the margin of the criterion that is passed furthest: above zero fails."""
    total: Any = -1.0
    for criterion, margin in margins(rows, criteria, population).items():
        strictly = np.where(margin == 0, np.finfo(float).tiny, margin)
        total = np.maximum(total, strictly if criterion.is_strict else margin)
    return np.broadcast_to(np.asarray(total, dtype=float), (rows.count,))
