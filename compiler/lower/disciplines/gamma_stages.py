"""Times that are made of stages, each with a mean and a variation, as one operation takes them."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from qps.compiler.lower.queues.stage_law import StageLaw
from qps.engine.expressions.formulas import (
    ONE,
    ZERO,
    Formula,
    apply,
    maximum,
    minimum,
    number,
    square_root,
)

StageOperands = tuple[Formula, ...]

_NARROW = number(Fraction(1, 100))
_LEAST_OF_NARROW = number(Fraction(1, 20))


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


def gamma_law(mean: Formula, variation: Formula, counted: Formula) -> StageLaw:
    """Return a stage of a gamma law of that mean and squared variation.

    One that varies less than a tenth of its mean is that of what varies so much, beyond a time that
    is always the same: of nearly no width, its transform gives no quantiles.
    """
    varies = mean
    if variation is not ONE:
        share = minimum(ONE, square_root(variation) / square_root(_NARROW))
        varies, variation = mean * maximum(_LEAST_OF_NARROW, share), maximum(_NARROW, variation)
    return StageLaw(
        waits=ZERO,
        work=ZERO,
        service=varies,
        variation=variation,
        counted=counted - (mean - varies),
    )
