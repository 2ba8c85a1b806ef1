"""Programs run on arrays: a value for each row, in chunks that stay in the cache."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from qps.engine.columns import on_bounds
from qps.engine.columns.on_arrays import whole_power
from qps.engine.columns.on_bounds import Bounds
from qps.engine.exactness import as_float
from qps.engine.leaves import NUMBER
from qps.engine.operations import OPERATIONS
from qps.engine.programs import Plan, Program, Step

Values = dict[int, Any]
"""What steps came to: arrays, or plain numbers where all rows are alike."""


@dataclass
class Runner:
    """Runs one program; what is to be done for which outputs is worked out once."""

    program: Program
    _plans: dict[tuple[frozenset[int], frozenset[int]], Plan] = field(default_factory=dict)

    def run(
        self,
        outputs: Iterable[int],
        known: Mapping[int, Any],
        inputs: Mapping[str, Any] | None = None,
        population: Any = None,
    ) -> Values:
        """Return the values of some steps, those of others being known."""
        wanted = frozenset(outputs)
        plan = self._plan(wanted, known)
        values: Values = {**known, **plan.constants}
        for number, name in plan.inputs.items():
            assert inputs is not None
            values[number] = inputs[name]
        for number in plan.populations:
            values[number] = population
        for number, row, step, unused in plan.steps:
            operands = [values[operand] for operand in step.operands]
            values[number] = _powered(step, operands) if row is None else row.array(*operands)
            for done in unused:
                del values[done]
        return {number: values[number] for number in wanted}

    def bounds(
        self,
        outputs: Iterable[int],
        known: Mapping[int, Bounds],
        inputs: Mapping[str, Bounds],
        population: tuple[Any, Any],
    ) -> dict[int, Bounds]:
        """Return bounds of steps, some being known, for populations between two ends.

        Those of what they rest on are told, too.
        """
        plan = self._plan(frozenset(outputs), known)
        found = dict(known)
        for number, value in plan.constants.items():
            found[number] = Bounds(value, value)
        for number, name in plan.inputs.items():
            found[number] = inputs[name]
        for number in plan.populations:
            found[number] = Bounds(*population, 1.0, 1.0)
        with np.errstate(all="ignore"):
            for number, row, step, _ in plan.steps:
                operands = [found[operand] for operand in step.operands]
                if row is None:
                    assert isinstance(step.value, int)
                    found[number] = on_bounds.power(operands[0], step.value)
                else:
                    found[number] = row.bounds(*operands)
        return found

    def _plan(self, outputs: frozenset[int], known: Mapping[int, object]) -> Plan:
        key = (outputs, frozenset(known))
        if key not in self._plans:
            plan = self._plans[key] = self.program.plan(outputs, known)
            plan.constants = {number: np.float64(own) for number, own in plan.constants.items()}
        return self._plans[key]


def _powered(step: Step, operands: Sequence[Any]) -> Any:
    assert isinstance(step.value, int)
    return whole_power(operands[0], step.value)


def in_floats(step: Step, operands: Sequence[Any]) -> Any:
    """Return what a step gives that is neither an input nor the population, on floats or arrays."""
    row = OPERATIONS.get(step.word)
    if row is not None:
        return row.array(*operands)
    if step.word != NUMBER:
        return _powered(step, operands)
    assert isinstance(step.value, Fraction | float)
    return np.float64(as_float(step.value))
