"""How long operations take of many samples, about: whether each of these can be computed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from qps.engine.execution.array_runs import Runner
from qps.engine.operations import OPERATIONS
from qps.solver.matrix.compilation.compiled_matrix import CompiledMode
from qps.solver.matrix.compilation.configuration_order import RowAxes

_MOST_SECONDS = 1.0
_OF_A_ROW, _OF_AN_OPERAND = 1e-3, 3e-7
"""Seconds that steps take, about: what is computed row by row, and each operand of what is slow."""


@dataclass(frozen=True, kw_only=True)
class StepTimes:
    """Tells which operations of a mode take long, of so many samples together."""

    mode: CompiledMode
    along: RowAxes
    runner: Runner
    samples: int

    def are_long(self, numbers: Iterable[int], times: int = 1) -> bool:
        """Return whether it takes long to compute some operations so many times."""
        seconds = sum(self._seconds(number) for number in numbers)
        return seconds * self.samples * times > _MOST_SECONDS

    @cached_property
    def long_without_population(self) -> frozenset[int]:
        """Operations without a population that take long, with those that rest on them."""
        program, found = self.mode.program, set[int]()
        for number, inputs in enumerate(program.inputs):
            if not inputs or program.varies[number]:
                continue
            operands = program.steps[number].operands
            if self.are_long([number]) or not found.isdisjoint(operands):
                found.add(number)
        return frozenset(found)

    def _seconds(self, number: int) -> float:
        step = self.mode.program.steps[number]
        operation = OPERATIONS.get(step.word)
        if operation is None or not operation.is_slow:
            return 0.0
        if operation.row_by_row and not self._has_single_servers(operation.servers, step.operands):
            return _OF_A_ROW
        return _OF_AN_OPERAND * len(step.operands)

    def _has_single_servers(self, servers: tuple[int, int] | None, operands: Sequence[int]) -> bool:
        """Return whether the stations of a network have one server each, in the first sample."""
        if servers is None:
            return False
        own = operands[servers[0] :: servers[1]]
        first = np.zeros(1, dtype=np.int64)
        inputs = self.along.values(dict.fromkeys(range(len(self.along.counts)), first))
        with np.errstate(all="ignore"):
            values = self.runner.run(own, {}, inputs, float(self.mode.low))
        return all(bool(np.all(values[number] == 1)) for number in own)
