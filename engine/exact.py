"""Programs run on exact fractions, one row at a time: where floats cannot tell a sign."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from qps.engine.operations import OPERATIONS, InexactError, NoValueError
from qps.engine.programs import INPUT, NUMBER, POWER, Program, Step

__all__ = ["InexactError", "NoValueError", "exact_values"]


def exact_values(
    program: Program, outputs: tuple[int, ...], inputs: Mapping[str, Fraction], population: int
) -> dict[int, Fraction]:
    """Return the exact values of some steps; InexactError or NoValueError where none."""
    values: dict[int, Fraction] = {}
    for number in program.needed(outputs):
        values[number] = _value(program.steps[number], values, inputs, population)
    return values


def _value(
    step: Step, values: Mapping[int, Fraction], inputs: Mapping[str, Fraction], population: int
) -> Fraction:
    operands = [values[number] for number in step.operands]
    row = OPERATIONS.get(step.word)
    if row is not None:
        if row.exact is None:
            raise InexactError
        return row.exact(*operands)
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
