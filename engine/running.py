"""Programs run on arrays: a value for each row, in chunks that stay in the cache."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from qps.engine.columns.on_arrays import whole_power
from qps.engine.leaves import INPUT, NUMBER, POPULATION, WHOLE_POWER
from qps.engine.operations import OPERATIONS
from qps.engine.programs import Program, Step

Values = dict[int, Any]
"""What steps came to: arrays, or plain numbers where all rows are alike."""


@dataclass
class Runner:
    """Runs one program; what is to be done for which outputs is worked out once."""

    program: Program
    _plans: dict[tuple[frozenset[int], frozenset[int]], list[_Planned]] = field(
        default_factory=dict
    )

    def run(
        self,
        outputs: Iterable[int],
        known: Mapping[int, Any],
        inputs: Mapping[str, Any] | None = None,
        population: Any = None,
    ) -> Values:
        """Return the values of some steps, those of others being known."""
        wanted = frozenset(outputs)
        values: Values = dict(known)
        for planned in self._plan(wanted, frozenset(known)):
            values[planned.number] = _done(planned.step, values, inputs, population)
            for number in planned.last_used:
                del values[number]
        return {number: values[number] for number in wanted}

    def _plan(self, outputs: frozenset[int], known: frozenset[int]) -> list[_Planned]:
        key = (outputs, known)
        if key not in self._plans:
            self._plans[key] = _plan(self.program, outputs, known)
        return self._plans[key]


@dataclass(frozen=True, slots=True)
class _Planned:
    """A step to do, and which values nobody needs after it."""

    number: int
    step: Step
    last_used: tuple[int, ...]


def _plan(program: Program, outputs: frozenset[int], known: frozenset[int]) -> list[_Planned]:
    """Return the steps to do, in order."""
    order = program.needed(outputs, known)
    last: dict[int, int] = {}
    for number in order:
        for operand in program.steps[number].operands:
            last[operand] = number
    unused: dict[int, list[int]] = {}
    for operand, number in last.items():
        if operand not in outputs:
            unused.setdefault(number, []).append(operand)
    return [_Planned(n, program.steps[n], tuple(unused.get(n, ()))) for n in order]


def _done(step: Step, values: Values, inputs: Mapping[str, Any] | None, population: Any) -> Any:
    """Return what a step gives."""
    if step.word == INPUT:
        assert inputs is not None
        return inputs[str(step.value)]
    if step.word == POPULATION:
        return population
    return in_floats(step, [values[number] for number in step.operands])


def in_floats(step: Step, operands: Sequence[Any]) -> Any:
    """Return what a step gives that is neither an input nor the population, on floats or arrays."""
    row = OPERATIONS.get(step.word)
    if row is not None:
        return row.array(*operands)
    if step.word == WHOLE_POWER:
        assert isinstance(step.value, int)
        return whole_power(operands[0], step.value)
    assert step.word == NUMBER
    return np.float64(step.value)
