"""Functions of the population that jump: what is rounded up or down is fixed between two jumps.

Between two neighboring jumps a function of roundings and rational parts is a rational one, or
one of maxima and minima of such, whose roots are found exactly; at a jump itself its value is
exact. So where such a load first reaches a limit is exact, however many roundings jump together.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import ceil, floor, isfinite

from qps.engine.exact_algebra.exact_powers import PowerTooLongError
from qps.engine.expressions.algebraic_functions import is_algebraic, piecewise
from qps.engine.expressions.formula_parts import parts_first
from qps.engine.expressions.formulas import Formula, number
from qps.engine.expressions.point_values import EvaluationPoint
from qps.engine.expressions.substitution import substituted
from qps.engine.operations import OPERATIONS, ROUNDINGS
from qps.solver.search.bounds import BoundedFunction
from qps.solver.search.certain_signs import UndecidedLimitError, sign_at
from qps.solver.search.critical_points import critical_points
from qps.solver.search.first_crossing import CrossingPoint, first_in_pieces
from qps.solver.search.method import SearchMethod

_SMALL_SHARE = Fraction(1, 10**25)
"""Far more than what differs from zero at a root that is computed to 1e-40."""


@dataclass(frozen=True, slots=True)
class FirstOnStretch:
    """What a stretch came to: the first point in it, None for none."""

    first: CrossingPoint | None


class _UnableError(Exception):
    """A stretch on which there is no exact treatment."""


def is_stepped_rational(expr: Formula, population: Formula) -> bool:
    """Return whether an expression is made of rational functions, maxima, minima and roundings."""
    return all(_is_monotone(part, population) for part in parts_first(expr))


def _is_monotone(part: Formula, population: Formula) -> bool:
    if part.exact is not None or part is population or part.word in ROUNDINGS:
        return True
    # What is bounded by its ends is algebraic of a few operands at most.
    return bool(part.operands) and is_algebraic(part) and not OPERATIONS[part.word].by_ends


def without_jumps(curve: BoundedFunction) -> Formula:
    """Return a function with its roundings as they are in the box of the last request.

    None of them may jump there.
    """
    fixed = {}
    for rounding in curve.roundings():
        bounds = curve.part(rounding)
        assert bounds.low == bounds.high
        fixed[rounding] = number(int(bounds.low))
    return substituted(curve.expr, fixed)


def reached_between(
    curve: BoundedFunction, start: Fraction, end: Fraction, *, passes: bool
) -> FirstOnStretch | None:
    """Return the first point behind `start`, up to `end`, at which a function is zero or more.

    With `passes`, zero does not count: it is the infimum of those above zero. None where that
    cannot be determined exactly.
    """
    try:
        ends = start, end
        found = _first(curve.expr, curve.population, ends, passes=passes, is_closed=True)
        return FirstOnStretch(found)
    except (_UnableError, PowerTooLongError, UndecidedLimitError):
        return None


def _first(
    expr: Formula,
    population: Formula,
    ends: tuple[Fraction, Fraction],
    *,
    passes: bool,
    is_closed: bool,
) -> CrossingPoint | None:
    """Return the first point of a stretch, its end among them where it `is_closed`.

    An end at which something jumps belongs to the expression in which it still does.
    """
    roundings = _innermost(expr)
    if not roundings:
        return _first_of_rational(expr, population, ends, passes=passes, is_closed=is_closed)
    jumps = [_jumps(rounding, population, ends) for rounding in roundings]
    points = sorted({ends[0], ends[1], *(at for each in jumps for at in each)})
    for start, end in pairwise(points):
        middle = (start + end) / 2
        fixed = {r: _rounded(r, population, middle) for r in roundings}
        between = substituted(expr, fixed)
        found = _first(between, population, (start, end), passes=passes, is_closed=False)
        if found is not None:
            return found
        if end == ends[1] and not is_closed:
            return None
        at_end = {
            r: _at_jump(r, each, population, end) for r, each in zip(roundings, jumps, strict=True)
        }
        if _is_reached(substituted(expr, at_end), population, end, passes=passes):
            return CrossingPoint(end, SearchMethod.JUMP)
    return None


def _innermost(expr: Formula) -> list[Formula]:
    """Return the roundings of an expression in which nothing else is rounded."""
    found = [part for part in parts_first(expr) if part.word in ROUNDINGS]
    return [part for part in found if not part.operands[0].has(*ROUNDINGS)]


def _jumps(
    rounding: Formula, population: Formula, ends: tuple[Fraction, Fraction]
) -> dict[Fraction, int]:
    """Return where what is rounded is a whole number, and which; other points change nothing."""
    argument = rounding.operands[0]
    bounds = BoundedFunction(argument, population).over(float(ends[0]), float(ends[1]))
    if not (isfinite(bounds.low) and isfinite(bounds.high)):
        raise _UnableError
    found: dict[Fraction, int] = {}
    for whole in range(floor(bounds.low), ceil(bounds.high) + 1):
        points = critical_points(argument - whole, population, *ends)
        if points is None:
            raise _UnableError
        found |= {point: whole for point in points if ends[0] < point < ends[1]}
    return found


def _rounded(rounding: Formula, population: Formula, at: Fraction) -> Formula:
    value = EvaluationPoint({population: at}).exact(rounding)
    if not isinstance(value, Fraction):
        raise _UnableError
    return number(value)


def _at_jump(
    rounding: Formula, jumps: dict[Fraction, int], population: Formula, at: Fraction
) -> Formula:
    """Return a rounding at a point: where it jumps there, what is rounded is whole."""
    if at in jumps and _is_root(rounding.operands[0] - jumps[at], population, at):
        return number(jumps[at])
    return _rounded(rounding, population, at)


def _is_root(gap: Formula, population: Formula, at: Fraction) -> bool:
    """Return whether a critical point is a root, and no pole or kink."""
    value = EvaluationPoint({population: at}).exact(gap)
    return isinstance(value, Fraction) and abs(value) < _SMALL_SHARE


def _is_reached(expr: Formula, population: Formula, at: Fraction, *, passes: bool) -> bool:
    sign = sign_at(expr, population, at)
    if sign is None or sign > 0:
        # A point that is not rational stands beside itself.
        return sign is None or not passes or not _is_root(expr, population, at)
    return not passes and _is_root(expr, population, at)


def _first_of_rational(
    expr: Formula,
    population: Formula,
    ends: tuple[Fraction, Fraction],
    *,
    passes: bool,
    is_closed: bool,
) -> CrossingPoint | None:
    whole = piecewise(expr, population, *ends)
    if whole is None:
        raise _UnableError
    found = first_in_pieces(whole, passes=passes, is_closed=is_closed)
    is_jump = found is not None and found.at == ends[0]
    return CrossingPoint(ends[0], SearchMethod.JUMP) if is_jump else found
