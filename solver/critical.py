"""Where a function of the population can change its sign: roots, poles and kinks.

Between two neighbouring critical points the sign is constant, so that a few exact
evaluations settle a question about every N in a range, monotone or not.
"""

from __future__ import annotations

from fractions import Fraction

from qps.engine.formulas import INFINITY, MAXIMUM, MINIMUM, ONE, Formula, parts_first
from qps.engine.pieces import roots_on
from qps.engine.substitution import substituted
from qps.solver.piecewise import piecewise
from qps.solver.rational import as_rational_function

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
    return tuple(sorted({*whole.seams, *roots}))


def _alternatives(kink: Formula) -> tuple[Formula, ...]:
    """Return what a kinked function compares: where two of these meet, it may change its form."""
    if kink.word == "abs":
        return kink.operands[0], -kink.operands[0]
    if kink.word == "waiting":
        return kink.operands[1], ONE
    return kink.operands


def _innermost_kink(expr: Formula) -> Formula | None:
    """Return a maximum, minimum, absolute value or wait with none of these inside."""
    return next((part for part in parts_first(expr) if part.word in _KINKED), None)


def _active(
    kink: Formula,
    alternatives: tuple[Formula, ...],
    population: Formula,
    at: Fraction,
) -> Formula | None:
    """Return what a maximum (minimum, absolute value, wait) is at a point."""
    values: list[tuple[Fraction, Formula]] = []
    for alternative in alternatives:
        function = as_rational_function(alternative, population)
        value = None if function is None else function.at(at)
        if value is None:
            return None
        values.append((value, alternative))
    if kink.word == "waiting":
        work, load = kink.operands
        return work / (1 - load) if values[0][0] < 1 else INFINITY
    choose = min if kink.word == MINIMUM else max
    return choose(values, key=lambda pair: pair[0])[1]


def piece_at(expr: Formula, population: Formula, at: Fraction) -> Formula | None:
    """Return an expression with the alternatives that are in force at a point put in.

    None where that cannot be told: it is not made of rational functions, maxima and minima.
    """
    while (kink := _innermost_kink(expr)) is not None:
        active = _active(kink, _alternatives(kink), population, at)
        if active is None:
            return None
        expr = substituted(expr, {kink: active})
    return expr
