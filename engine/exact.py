"""Programs run on exact fractions, one row at a time: where floats cannot tell a sign."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import nan

import numpy as np

from qps.engine.operations import OPERATIONS, InexactError, NoValueError
from qps.engine.powers import TooLongError
from qps.engine.programs import INPUT, NUMBER, POWER, Program, Step
from qps.engine.running import in_floats

__all__ = ["InexactError", "NoValueError", "exact_values", "mixed_values"]


def exact_values(
    program: Program, outputs: tuple[int, ...], inputs: Mapping[str, Fraction], population: int
) -> dict[int, Fraction]:
    """Return the exact values of some steps; InexactError or NoValueError where none."""
    values: dict[int, Fraction] = {}
    for number in program.needed(outputs):
        values[number] = _value(program.steps[number], values, inputs, population)
    return values


def mixed_values(
    program: Program, outputs: tuple[int, ...], inputs: Mapping[str, Fraction], population: int
) -> dict[int, Fraction | float]:
    """Return values that are exact as far as they can be: floats from the first root on.

    So a load that is 1 is 1 for what waits for it, whatever floats make of it. Not-a-number
    where there is no finite value.
    """
    values: dict[int, Fraction | float] = {}
    with np.errstate(all="ignore"):
        for number in program.needed(outputs):
            step = program.steps[number]
            operands = [values[operand] for operand in step.operands]
            if all(isinstance(operand, Fraction) for operand in operands):
                try:
                    values[number] = _value(step, values, inputs, population)  # type: ignore[arg-type]
                    continue
                except InexactError:
                    pass
                except NoValueError:
                    values[number] = nan
                    continue
            values[number] = float(in_floats(step, [float(operand) for operand in operands]))
    return values


def _value(
    step: Step, values: Mapping[int, Fraction], inputs: Mapping[str, Fraction], population: int
) -> Fraction:
    operands = [values[number] for number in step.operands]
    row = OPERATIONS.get(step.word)
    if row is not None:
        try:
            found = row.exact(*operands)
        except TooLongError:
            raise InexactError from None
        if not isinstance(found, Fraction):
            raise InexactError  # infinite: what it means is for the one who asks
        return found
    if step.word == POWER:
        assert isinstance(step.value, int)
        if operands[0] == 0 and step.value < 0:
            raise NoValueError
        return operands[0] ** step.value
    if step.word == NUMBER:
        if not isinstance(step.value, Fraction):
            raise InexactError
        return step.value
    return inputs[str(step.value)] if step.word == INPUT else Fraction(population)
