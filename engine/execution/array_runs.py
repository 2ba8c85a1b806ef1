"""Programs run on arrays: a value for each row, in chunks that stay in the cache."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial, reduce
from math import isfinite
from typing import Any

import numpy as np

from qps.engine.evaluators import on_bounds
from qps.engine.evaluators.on_arrays import whole_power
from qps.engine.evaluators.row_bounds import Bounds
from qps.engine.exact_algebra.exact_values import as_float
from qps.engine.execution.programs import EvaluationPlan, ProgramStep, StraightLineProgram
from qps.engine.leaves import NUMBER
from qps.engine.operation_rows import Operation
from qps.engine.operations import OPERATIONS

_PLAIN = 1e-12
"""The part of a value that floats round off in arithmetic."""
_LEAST = 1e-300
"""What is nearer to nothing than this may be lost."""

Values = dict[int, Any]
"""What steps came to: arrays, or plain numbers where all rows are alike."""


@dataclass
class Runner:
    """Runs one program; what is to be done for which outputs is worked out once."""

    program: StraightLineProgram
    _plans: dict[tuple[frozenset[int], frozenset[int]], EvaluationPlan] = field(
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

        Those of what they rest on are reported, too.
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

    def rounded(
        self, outputs: Iterable[int], inputs: Mapping[str, Any], population: Any
    ) -> dict[int, Bounds]:
        """Return between which numbers some steps lie, whatever floats round off on the way.

        The population is a whole number. Not-a-number where there may be no value.
        """
        wanted = frozenset(outputs)
        plan = self._plan(wanted, {})
        found: dict[int, Bounds] = {}
        for number, value in plan.constants.items():
            is_exact = isfinite(value) and self.program.steps[number].value == Fraction(value)
            found[number] = Bounds(value, value) if is_exact else _around(Bounds(value, value))
        for number, name in plan.inputs.items():
            found[number] = _around(Bounds(inputs[name], inputs[name]))
        for number in plan.populations:
            found[number] = Bounds(population, population)
        with np.errstate(all="ignore"):
            for number, row, step, unused in plan.steps:
                operands = [found[operand] for operand in step.operands]
                if row is not None and row.chooses:
                    found[number] = row.bounds(*operands)  # one of them: nothing is rounded
                elif row is not None and row.takes_more:
                    found[number] = reduce(partial(_rounded, row, step), operands)
                else:
                    found[number] = _rounded(row, step, *operands)
                for done in unused:
                    del found[done]
        return {number: found[number] for number in wanted}

    def _plan(self, outputs: frozenset[int], known: Mapping[int, object]) -> EvaluationPlan:
        key = (outputs, frozenset(known))
        if key not in self._plans:
            plan = self._plans[key] = self.program.plan(outputs, known)
            plan.constants = {number: np.float64(own) for number, own in plan.constants.items()}
        return self._plans[key]


def _rounded(row: Operation | None, step: ProgramStep, *operands: Bounds) -> Bounds:
    """Return the bounds of a step, rounded outwards; not-a-number where there may be no value.

    What is infinite is so surely, or is not known; so is what rests on such a one.
    """
    if row is None:
        assert isinstance(step.value, int)
        own = on_bounds.power(operands[0], step.value)
    else:
        own = row.bounds(*operands)
    is_known = np.isfinite(own.low) & np.isfinite(own.high)
    for operand in operands:
        is_known &= np.isfinite(operand.low)
    around = own if row and row.rounds else _around(own, row)
    if np.all(is_known):
        return around
    at_low = [operand.low for operand in operands]
    value = _powered(step, at_low) if row is None else row.array(*at_low)
    is_same = np.isinf(value) & (own.low == value) & (own.high == value)
    infinite = np.where(is_same, value, np.nan)
    return Bounds(*(np.where(is_known, end, infinite) for end in (around.low, around.high)))


def _around(own: Bounds, row: Operation | None = None) -> Bounds:
    """Return wider bounds: values are off by a part of themselves, and by an error besides."""
    part, error = (row.part, row.error) if row and row.by_ends else (_PLAIN, 0.0)
    room = error + _LEAST
    low = own.low - (part * np.abs(own.low) + room)
    return Bounds(low, own.high + (part * np.abs(own.high) + room))


def _powered(step: ProgramStep, operands: Sequence[Any]) -> Any:
    assert isinstance(step.value, int)
    return whole_power(operands[0], step.value)


def in_floats(step: ProgramStep, operands: Sequence[Any]) -> Any:
    """Return what a step gives that is neither an input nor the population, on floats or arrays."""
    row = OPERATIONS.get(step.word)
    if row is not None:
        return row.array(*operands)
    if step.word != NUMBER:
        return _powered(step, operands)
    assert isinstance(step.value, Fraction | float)
    return np.float64(as_float(step.value))
