"""Slopes of a formula by all of its symbols at a point: in one pass, from the whole to its parts.

By the chain rule, each part once (reverse accumulation): written out, the derivatives of a load
are many times as long as the load.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import isnan

from qps.engine.evaluators.slopes_on_floats import FiniteDifferences
from qps.engine.expressions.formula_parts import parts_first
from qps.engine.expressions.formulas import Formula
from qps.engine.expressions.point_values import EvaluationPoint
from qps.engine.operations import EXTREMES, OPERATIONS


def gradient(
    formula: Formula, point: EvaluationPoint, by: Collection[str] | None = None
) -> dict[Formula, float]:
    """Return the derivatives of a formula at a point: by its symbols, or by those of some names.

    Of a maximum or minimum the operand counts that is chosen there, of several the first. A
    derivative is not-a-number where there is none.
    """
    parts = parts_first(formula)
    slopes = {formula: 1.0}
    moving = {part for part in parts if part.is_symbol and (by is None or part.name in by)}
    for part in parts:
        if not moving.isdisjoint(part.operands):
            moving.add(part)
    for part in reversed(parts):
        own = slopes.get(part, 0.0)
        if own == 0 or part not in moving or not part.operands:
            continue
        values = [point.number(operand) for operand in part.operands]
        places = [place for place, operand in enumerate(part.operands) if operand in moving]
        for place, slope in zip(places, _local(part, values, places, point), strict=True):
            if slope:
                operand = part.operands[place]
                slopes[operand] = slopes.get(operand, 0.0) + own * slope
    return {part: slope for part, slope in slopes.items() if part.is_symbol and part in moving}


def _local(
    part: Formula, values: Sequence[float], places: Sequence[int], point: EvaluationPoint
) -> Sequence[float]:
    """Return the derivatives of an operation by its operands in some places."""
    if part.word in EXTREMES:
        found = _of_chosen(part, values, point)
    else:
        slopes = OPERATIONS[part.word].slopes
        if isinstance(slopes, FiniteDifferences):
            return slopes.at(places, tuple(values))
        found = slopes(*values)
    return [found[place] for place in places]


def _of_chosen(part: Formula, values: Sequence[float], point: EvaluationPoint) -> Sequence[float]:
    """Return 1 for the operand that is chosen, 0 for the others."""
    if any(map(isnan, values)):
        return values
    choose = max if OPERATIONS[part.word].chooses > 0 else min
    exact = [point.exact(operand) for operand in part.operands]
    known = [value for value in exact if value is not None]
    compared = known if len(known) == len(exact) else values
    chosen = compared.index(choose(compared))
    return [float(index == chosen) for index in range(len(values))]
