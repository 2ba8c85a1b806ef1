"""Times that are made of stages, each with a mean and a variation, as one operation takes them."""

from __future__ import annotations

from fractions import Fraction

from qps.engine.expressions.formulas import ONE, ZERO, Formula, apply, number

StageOperands = tuple[Formula, ...]


def gamma_stage(mean: Formula, variation: Formula, share: Formula = ONE) -> StageOperands:
    """Return a stage that takes a share of the visits a gamma distributed time."""
    return (ZERO, ZERO, ZERO, ZERO, ONE, mean, variation, share, ZERO)


def quantile_of(level: Fraction | Formula, *stages: StageOperands) -> Formula:
    """Return the quantile of independent stages, one after the other."""
    known = level if isinstance(level, Formula) else number(level)
    return apply("stages_quantile", known, *(one for stage in stages for one in stage))
