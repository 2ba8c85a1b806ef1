"""Programs run on plain floats, one row at a time: where arrays would only be in the way."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction

from qps.engine.exact_algebra.exact_values import as_float
from qps.engine.execution.program_builder import ProgramBuilder
from qps.engine.execution.programs import ProgramStep
from qps.engine.expressions.formulas import Formula
from qps.engine.leaves import NUMBER, POPULATION, WHOLE_POWER
from qps.engine.operations import OPERATIONS, POWER


def number_function(argument: Formula, formula: Formula) -> Callable[[float], float]:
    """Return a formula of one symbol as a function of a float; not-a-number without a value."""
    applied = numbers_function(argument, (formula,))
    return lambda at: applied(at)[0]


def numbers_function(
    argument: Formula, formulas: Iterable[Formula], values: Mapping[Formula, Formula] | None = None
) -> Callable[[float], list[float]]:
    """Return several formulas as one function, with `values` of all symbols but the argument."""
    builder = ProgramBuilder(argument, values or {}, {})
    outputs = [builder.build(formula) for formula in formulas]
    program = builder.program()
    needed = program.needed(outputs)

    def applied(at: float) -> list[float]:
        known: dict[int, float] = {}
        for number in needed:
            step = program.steps[number]
            known[number] = _value(step, [known[operand] for operand in step.operands], at)
        return [known[output] for output in outputs]

    return applied


def _value(step: ProgramStep, operands: Sequence[float], at: float) -> float:
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
