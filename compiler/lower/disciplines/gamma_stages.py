"""Times that are made of stages, each with a mean and a variation, as one operation takes them."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from qps.compiler.lower.queues.stage_law import StageLaw
from qps.engine.expressions.formulas import ONE, ZERO, Formula, apply, number

StageOperands = tuple[Formula, ...]


def gamma_stage(mean: Formula, variation: Formula, share: Formula = ONE) -> StageOperands:
    """Return a stage that takes a share of the visits a gamma distributed time."""
    return (ZERO, ZERO, ZERO, ZERO, ONE, mean, variation, share, ZERO)


def quantile_of(level: Fraction | Formula, *stages: StageOperands) -> Formula:
    """Return the quantile of independent stages, one after the other."""
    known = level if isinstance(level, Formula) else number(level)
    return apply("stages_quantile", known, *(one for stage in stages for one in stage))


def one_of(laws: Iterable[tuple[Formula, StageLaw]]) -> StageOperands:
    """Return one of some laws, each with its chance; what these leave takes no time."""
    operands = [law.operands(chance) for chance, law in laws]
    either = StageLaw(waits=ZERO, work=ZERO).operands(inside=-len(operands))
    return (*either, *(one for each in operands for one in each))
