"""Programs run on plain floats, one row at a time: where arrays would only be in the way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from qps.engine.building import Builder
from qps.engine.exactness import as_float
from qps.engine.formulas import Formula
from qps.engine.leaves import NUMBER, POPULATION, WHOLE_POWER
from qps.engine.operations import OPERATIONS, POWER
from qps.engine.programs import Step


def number_function(argument: Formula, formula: Formula) -> Callable[[float], float]:
    """Return a formula of one symbol as a function of a float; not-a-number without a value."""
    builder = Builder(argument, {}, {})
    output = builder.build(formula)
    program = builder.program()
    needed = program.needed((output,))

    def applied(at: float) -> float:
        values: dict[int, float] = {}
        for number in needed:
            step = program.steps[number]
            values[number] = _value(step, [values[operand] for operand in step.operands], at)
        return values[output]

    return applied


def _value(step: Step, operands: Sequence[float], at: float) -> float:
    if step.word == POPULATION:
        return at
    if step.word == NUMBER:
        assert isinstance(step.value, Fraction | float)
        return as_float(step.value)
    if step.word == WHOLE_POWER:
        assert isinstance(step.value, int)
        operands = (operands[0], float(step.value))
        return OPERATIONS[POWER].number(*operands)
    return OPERATIONS[step.word].number(*operands)
