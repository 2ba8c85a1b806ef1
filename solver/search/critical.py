"""Where a function of the population can change its sign: roots, poles and kinks.

Between two neighbouring critical points the sign is constant, so that a few exact
evaluations settle a question about every N in a range, monotone or not.
"""

from __future__ import annotations

from fractions import Fraction

from qps.engine.formulas import INFINITY, MAXIMUM, MINIMUM, ONE, Formula, parts_first, remade
from qps.engine.pieces import roots_on
from qps.solver.search.piecewise import piecewise
from qps.solver.search.rational import as_rational_function

_KINKED = (MAXIMUM, MINIMUM, "abs", "waiting")


def critical_points(
    expr: Formula, population: Formula, low: Fraction, high: Fraction | None
) -> tuple[Fraction, ...] | None:
    """Return every critical point in [low, high], ascending; `high` None means no bound.

    None where the expression is not made of rational functions, maxima and minima.
    """
    whole = piecewise(expr, population, low, high)
    if whole is None:
        return None
    roots = (root for piece in whole.pieces for root in roots_on(piece))
    return tuple(sorted({*whole.breakpoints, *roots}))


def piece_at(expr: Formula, population: Formula, at: Fraction) -> Formula | None:
    """Return an expression with the alternatives that are in force at a point put in.

    None where that cannot be told: it is not made of rational functions, maxima and minima.
    """
    known: dict[Formula, Formula] = {}
    for part in parts_first(expr):
        made = remade(part, tuple(known[operand] for operand in part.operands))
        active = _active(made, population, at) if made.word in _KINKED else made
        if active is None:
            return None
        known[part] = active
    return known[expr]


def _active(kink: Formula, population: Formula, at: Fraction) -> Formula | None:
    """Return what a maximum, minimum, absolute value or wait is at a point."""
    values: dict[Formula, Fraction] = {}
    for alternative in _alternatives(kink):
        function = as_rational_function(alternative, population)
        value = None if function is None else function.at(at)
        if value is None:
            return None
        values[alternative] = value
    if kink.word == "waiting":
        work, load = kink.operands
        return work / (1 - load) if values[load] < 1 else INFINITY
    choose = min if kink.word == MINIMUM else max
    return choose(values, key=values.__getitem__)


def _alternatives(kink: Formula) -> tuple[Formula, ...]:
    """Return what a kinked function compares: where two of these meet, it may change its form."""
    if kink.word == "abs":
        return kink.operands[0], -kink.operands[0]
    if kink.word == "waiting":
        return kink.operands[1], ONE
    return kink.operands
