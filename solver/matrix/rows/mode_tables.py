"""What of a mode does not depend on the population: values for all rows, and guards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from typing import Any

import numpy as np

from qps.compiler import ir
from qps.engine.execution.array_runs import Runner
from qps.solver.matrix.compilation.compiled_matrix import CompiledMode
from qps.solver.matrix.compilation.configuration_order import RowAxes, indices, joined
from qps.solver.matrix.compilation.row_guards import SOUND, broken
from qps.solver.matrix.limits.row_preparation import Floats, Ints, Rows, sides_of, tight_sides_of
from qps.solver.matrix.rows.exact_decisions import Decider, Index

_LARGEST_TABLE = 32_768
_LARGEST_VERDICTS = 262_144


@dataclass(kw_only=True)
class ModeTables:
    """Prepares rows of one mode; what depends on few axes is computed once for all rows."""

    mode: CompiledMode
    axes: tuple[ir.Axis, ...]
    runner: Runner = field(init=False)
    decider: Decider = field(init=False)

    def __post_init__(self) -> None:
        self.runner = Runner(self.mode.program)
        self._along = RowAxes(self.axes, self.mode.leaves)
        self.decider = Decider(mode=self.mode, along=self._along, runner=self.runner)

    @cached_property
    def _requested(self) -> frozenset[int]:
        """All operations that are ever requested."""
        mode = self.mode
        criteria = (*mode.criteria, *mode.impossible, *(r.criterion for r in mode.resources))
        found = sides_of(criteria) | tight_sides_of(criteria)
        found |= {
            n for r in mode.resources for n in (r.load, r.demand, r.target, *(r.quadratic or ()))
        }
        pairs = (*mode.comparisons, *mode.excluded)
        others = [mode.quality, mode.cost, mode.running_cost, *mode.columns]
        others += [side for pair in pairs for side in pair]
        return frozenset(found | {number for number in others if number is not None})

    @cached_property
    def _fixed(self) -> list[int]:
        """The operations without a population or an answer that others rest on."""
        program, answers = self.mode.program, frozenset(self.mode.answers)
        found: set[int] = set()
        seen: set[int] = set()
        waiting = list(self._requested)
        while waiting:
            number = waiting.pop()
            if number in seen:
                continue
            seen.add(number)
            if (
                program.varies[number]
                or program.inputs[number] & answers
                or number in self._too_long
            ):
                waiting += program.steps[number].operands
            else:
                found.add(number)
        return sorted(found)

    @cached_property
    def _too_long(self) -> frozenset[int]:
        """Operations without a population that are not computed before they are requested."""
        return frozenset()

    @cached_property
    def _tables(self) -> dict[tuple[int, ...], dict[int, Any]]:
        """Values of operations that rest on few axes, for all combinations of these."""
        program = self.mode.program
        wanted: dict[tuple[int, ...], set[int]] = {}
        seen: set[int] = set()
        waiting = list(self._fixed)
        while waiting:
            number = waiting.pop()
            if number in seen:
                continue
            seen.add(number)
            own = self._own(number)
            if prod(self._along.counts[i] for i in own) <= _LARGEST_TABLE or (
                len(own) == 1 and not program.steps[number].operands
            ):
                wanted.setdefault(own, set()).add(number)
            else:
                waiting += program.steps[number].operands
        tables = {}
        for own, numbers in wanted.items():
            with np.errstate(all="ignore"):
                tables[own] = self.runner.run(numbers, {}, self._grid(own))
        return tables

    def _own(self, number: int) -> tuple[int, ...]:
        """Return the axes that an operation rests on."""
        return tuple(sorted({self._along.position[n] for n in self.mode.program.inputs[number]}))

    def _grid(self, own: Sequence[int]) -> dict[str, Floats]:
        """Return all combinations of the values of some axes, as columns."""
        counts = [self._along.counts[i] for i in own]
        index = indices(counts, np.arange(prod(counts), dtype=np.int64))
        return self._along.values(dict(zip(own, index, strict=True)))

    def prepared(self, index: Index, count: int) -> Rows:
        """Return rows with all values that do not depend on the population."""
        known: dict[int, Any] = {}
        for own, table in self._tables.items():
            place = None
            for number, values in table.items():
                if not np.ndim(values) or not own:
                    known[number] = values
                    continue
                if place is None:
                    place = joined([self._along.counts[i] for i in own], [index[i] for i in own])
                known[number] = values.take(place)
        with np.errstate(all="ignore"):
            return Rows(self.runner, self.runner.run(self._fixed, known), count)

    @cached_property
    def _guarded(self) -> dict[tuple[int, ...], tuple[list[tuple[int, Any]], Ints | None]]:
        """The guards by the axes that they rest on, with their verdicts where those are few."""
        by_axes: dict[tuple[int, ...], list[tuple[int, Any]]] = {}
        for number, guard in enumerate(self.mode.guards):
            by_axes.setdefault(self._own(guard.value), []).append((number, guard))
        found = {}
        for own, guards in by_axes.items():
            counts = [self._along.counts[i] for i in own]
            verdicts = None
            if prod(counts) <= _LARGEST_VERDICTS:
                verdicts = broken(
                    guards,
                    self.decider.exact,
                    self._grid(own),
                    prod(counts),
                    lambda rows, own=own, counts=counts: self.decider.inputs(  # type: ignore[misc]
                        dict(zip(own, indices(counts, rows), strict=True))
                    ),
                )
            found[own] = (guards, verdicts)
        return found

    def _inputs(self, index: Index) -> dict[str, Floats]:
        return self._along.values(dict(enumerate(index)))

    def verdicts(self, index: Index, count: int) -> Ints:
        """Return for each row whether its inputs are sound."""
        found = np.full(count, SOUND, dtype=np.int64)
        for own, (guards, verdicts) in self._guarded.items():
            if verdicts is not None:
                place = joined([self._along.counts[i] for i in own], [index[i] for i in own])
                found = np.minimum(found, verdicts[place])
            else:
                own_verdicts = broken(
                    guards,
                    self.decider.exact,
                    self._inputs(index),
                    count,
                    lambda rows: self.decider.inputs(
                        {i: values[rows] for i, values in enumerate(index)}
                    ),
                )
                found = np.minimum(found, own_verdicts)
        return found

    def excluded(self, index: Index, count: int) -> list[tuple[Floats, Floats]]:
        """Return both sides of the comparisons by which rows are left out beforehand."""
        numbers = {n for pair in self.mode.excluded for n in pair if n is not None}
        values = self.runner.run(numbers, {}, self._inputs(index))

        def column(number: int | None) -> Floats:
            value = np.nan if number is None else np.asarray(values[number], dtype=float)
            return np.broadcast_to(value, (count,))

        return [(column(left), column(right)) for left, right in self.mode.excluded]
