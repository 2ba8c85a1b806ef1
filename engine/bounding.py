"""Programs run on bounds: what steps can be while population and inputs are anywhere in a box."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from qps.engine.columns.on_bounds import Bounds, power
from qps.engine.leaves import INPUT, NUMBER, WHOLE_POWER
from qps.engine.operations import OPERATIONS
from qps.engine.programs import Program, Step


def bounds_of(
    program: Program,
    outputs: Iterable[int],
    known: Mapping[int, Bounds],
    inputs: Mapping[str, Bounds],
    population: tuple[Any, Any],
) -> dict[int, Bounds]:
    """Return bounds of steps, some being known, for populations between two ends."""
    found = dict(known)
    with np.errstate(all="ignore"):
        for number in program.needed(outputs, known):
            found[number] = _bounds(program.steps[number], found, inputs, population)
    return found


def _bounds(
    step: Step,
    found: Mapping[int, Bounds],
    inputs: Mapping[str, Bounds],
    population: tuple[Any, Any],
) -> Bounds:
    operands = [found[number] for number in step.operands]
    row = OPERATIONS.get(step.word)
    if row is not None:
        return row.bounds(*operands)
    if step.word == WHOLE_POWER:
        assert isinstance(step.value, int)
        return power(operands[0], step.value)
    if step.word == NUMBER:
        value = np.float64(step.value)
        return Bounds(value, value)
    return inputs[str(step.value)] if step.word == INPUT else Bounds(*population, 1.0, 1.0)
