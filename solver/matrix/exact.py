"""Programs run on exact fractions, one row at a time: where floats cannot tell a sign."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import ceil, floor

from qps.solver.matrix.program import Op, Operation, Program


class InexactError(Exception):
    """Raised where a value is no fraction: a root, a logarithm."""


class NoValueError(Exception):
    """Raised where there is no finite value."""


def exact_values(
    program: Program, outputs: tuple[int, ...], inputs: Mapping[str, Fraction], population: int
) -> dict[int, Fraction]:
    """Return the exact values of some operations; InexactError or NoValueError where none."""
    values: dict[int, Fraction] = {}
    for number in program.needed(outputs):
        values[number] = _value(program.operations[number], values, inputs, population)
    return values


def _value(
    operation: Operation,
    values: Mapping[int, Fraction],
    inputs: Mapping[str, Fraction],
    population: int,
) -> Fraction:
    operands = [values[number] for number in operation.operands]
    match operation.op:
        case Op.CONSTANT:
            assert isinstance(operation.value, Fraction)
            return operation.value
        case Op.INPUT:
            return inputs[str(operation.value)]
        case Op.POPULATION:
            return Fraction(population)
        case Op.ADD:
            return operands[0] + operands[1]
        case Op.MULTIPLY:
            return operands[0] * operands[1]
        case Op.POWER:
            assert isinstance(operation.value, int)
            if operands[0] == 0 and operation.value < 0:
                raise NoValueError
            return operands[0] ** operation.value
        case Op.RATIO:
            if operands[1] == 0:
                raise InexactError  # infinite: what it means is for the symbolic solver to say
            return operands[0] / operands[1]
        case Op.MAXIMUM:
            return max(operands)
        case Op.MINIMUM:
            return min(operands)
        case Op.ABSOLUTE:
            return abs(operands[0])
        case Op.FLOOR | Op.CEILING:
            rounded = floor if operation.op is Op.FLOOR else ceil
            return Fraction(rounded(operands[0]))
        case Op.ENDLESS if operands[0] < 1:
            return Fraction(0)
    raise InexactError
