"""Slopes of a formula by all of its symbols at a point: in one pass, from the whole to its parts.

By the chain rule, each part once (reverse accumulation): written out, the derivatives of a load
are many times as long as the load.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan

from qps.engine.formulas import Formula, parts_first
from qps.engine.operations import EXTREMES, OPERATIONS
from qps.engine.points import Point


def gradient(formula: Formula, point: Point) -> dict[Formula, float]:
    """Return the derivatives of a formula by its symbols at a point.

    Of a maximum or minimum the operand counts that is chosen there, of several the first. A
    derivative is not-a-number where there is none.
    """
    slopes = {formula: 1.0}
    for part in reversed(parts_first(formula)):
        own = slopes.get(part, 0.0)
        if own == 0 or part.is_constant or not part.operands:
            continue
        values = [point.number(operand) for operand in part.operands]
        for operand, slope in zip(part.operands, _local(part, values, point), strict=True):
            if slope and not operand.is_constant:
                slopes[operand] = slopes.get(operand, 0.0) + own * slope
    return {part: slope for part, slope in slopes.items() if part.is_symbol}


def _local(part: Formula, values: Sequence[float], point: Point) -> Sequence[float]:
    """Return the derivatives of an operation by its operands."""
    if part.word in EXTREMES:
        return _of_chosen(part, values, point)
    return OPERATIONS[part.word].slopes(*values)


def _of_chosen(part: Formula, values: Sequence[float], point: Point) -> Sequence[float]:
    """Return 1 for the operand that is chosen, 0 for the others."""
    if any(map(isnan, values)):
        return values
    choose = max if OPERATIONS[part.word].chooses > 0 else min
    exact = [point.exact(operand) for operand in part.operands]
    known = [value for value in exact if value is not None]
    compared = known if len(known) == len(exact) else values
    chosen = compared.index(choose(compared))
    return [float(index == chosen) for index in range(len(values))]
