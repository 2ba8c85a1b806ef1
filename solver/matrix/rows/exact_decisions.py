"""Whether a criterion fails in rows in which floats do not decide: by exact fractions.

What is no fraction, and comes so near to its limit that floats do not decide either, is decided by
the symbolic solver.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from qps.compiler import ir
from qps.engine.exact_algebra.exact_values import as_float
from qps.engine.execution.array_runs import Runner
from qps.engine.execution.exact_runs import Exact, ExactColumns, ExactRunner, exact
from qps.engine.expressions.formulas import number
from qps.engine.expressions.substitution import Substitution
from qps.solver.matrix.compilation.compiled_matrix import CompiledMode
from qps.solver.matrix.compilation.configuration_order import RowAxes
from qps.solver.matrix.limits.row_preparation import Bools, CompiledCriterion, Floats, Ints
from qps.solver.search.whole_populations import fails

DOUBTFUL = 1e-9
"""A margin, as a part of both sides, within which floats do not determine a sign."""
_FEW = 8
"""Rows that are decided exactly in less time than their bounds take."""

Index = tuple[Ints, ...]
"""For each axis, which of its values the rows have."""


@dataclass(kw_only=True)
class Decider:
    """Decides about rows of one mode; the exact numbers of the axes are kept."""

    mode: CompiledMode
    along: RowAxes
    runner: Runner
    exact: ExactRunner = field(init=False)
    _listed: dict[str, dict[int, Exact]] = field(default_factory=dict)
    _put_in: tuple[tuple[int, ...], Substitution] | None = None

    def __post_init__(self) -> None:
        self.exact = ExactRunner(self.mode.program, self.runner)

    def inputs(self, index: Mapping[int, Ints]) -> ExactColumns:
        """Return the exact numbers of inputs, of rows with some values of axes."""
        return ExactColumns(lambda name: self._column(name, index[self.along.position[name]]))

    def _column(self, name: str, index: Ints) -> list[Exact]:
        """Return the exact numbers of an input at some values of its axis."""
        numbers = self.along.numbers(name)
        if isinstance(numbers, ir.Steps):
            low, step = exact(numbers.low), exact(numbers.step)
            return [low + at * step for at in index.tolist()]
        known, places = self._listed.setdefault(name, {}), index.tolist()
        for at in set(places).difference(known):  # a few of 10,000 samples, as a rule
            known[at] = exact(numbers[at])
        return [known[at] for at in places]

    def columns(
        self, index: Index, outputs: Sequence[int], rows: Ints, population: Floats | Ints | None
    ) -> dict[int, list[Exact]]:
        """Return exact values of operations in some rows, at a population of each."""
        own = {i: values[rows] for i, values in enumerate(index)}
        floats = self._floats(outputs, own)
        return self.exact.columns(outputs, self.inputs(own), population, rows.size, floats)

    def _floats(self, outputs: Iterable[int], index: Mapping[int, Ints]) -> dict[str, Floats]:
        """Return the numbers of inputs as floats, of rows with some values of axes."""
        names = frozenset().union(*(self.mode.program.inputs[number] for number in outputs))
        places = {name: self.along.position[name] for name in names}
        return {name: self.along.columns[i][name][index[i]] for name, i in places.items()}

    def fails(
        self, criterion: CompiledCriterion, index: Index, rows: Ints, population: Ints
    ) -> Bools:
        """Return in which of some rows a criterion fails at a population, exactly."""
        if not rows.size:
            return np.zeros(0, dtype=bool)
        if rows.size < _FEW:
            return self._fails_exactly(criterion, index, rows, population)
        found, is_proven = self._proven(criterion, index, rows, population)
        left = np.flatnonzero(~is_proven)
        if left.size:
            found[left] = self._fails_exactly(criterion, index, rows[left], population[left])
        return found

    def _proven(
        self, criterion: CompiledCriterion, index: Index, rows: Ints, population: Ints
    ) -> tuple[Bools, Bools]:
        """Return where a criterion fails, and where that is proved by what floats round off."""
        sides = criterion.measure, criterion.limit
        floats = self._floats(sides, {i: values[rows] for i, values in enumerate(index)})
        values = self.runner.rounded(sides, floats, population.astype(float))
        least, most = (values[side] for side in (sides if criterion.at_most else sides[::-1]))
        with np.errstate(invalid="ignore"):
            fails = (least.low > most.high) | ((least.low >= most.high) & criterion.is_strict)
            holds = (least.high < most.low) | ((least.high <= most.low) & (not criterion.is_strict))
        wide = np.zeros(rows.size, dtype=bool)
        return fails | wide, fails | holds | wide

    def _fails_exactly(
        self, criterion: CompiledCriterion, index: Index, rows: Ints, population: Ints
    ) -> Bools:
        found = np.zeros(rows.size, dtype=bool)
        sides = criterion.measure, criterion.limit
        values = self.columns(index, sides, rows, population)
        for row, (measure, limit) in enumerate(zip(*(values[s] for s in sides), strict=True)):
            if not isinstance(measure, float) and not isinstance(limit, float):
                if measure == limit:
                    found[row] = criterion.is_strict
                else:
                    found[row] = (measure > limit) == criterion.at_most
                continue
            over = as_float(measure) - as_float(limit)
            if abs(over) > DOUBTFUL * abs(as_float(limit)):  # not so of what is not-a-number
                found[row] = (over > 0) == criterion.at_most
            else:
                symbol, at = self.mode.population, int(population[row])
                put_in = self.put_in(index, int(rows[row]))(criterion.over)
                found[row] = fails(put_in, symbol, at, strict=criterion.is_strict)
        return found

    def put_in(self, index: Index, row: int) -> Substitution:
        """Return what puts the numbers of a row in for all symbols but the population."""
        key = tuple(int(axis[row]) for axis in index)
        if self._put_in is None or self._put_in[0] != key:
            position, number_at = self.along.position, self.along.number
            inputs = {
                symbol: number(number_at(name, key[position[name]]))
                for name, symbol in self.mode.symbols
            }
            self._put_in = key, Substitution(dict(self.mode.numbers) | inputs)
        return self._put_in[1]
