"""Programs run on intervals: bounds of a value, and of its slope in the population.

The bounds hold for every population between two ends and for every value of the inputs between
theirs. They prove that something never fails, or fails from some point on for good. Slopes are
those of chords, so that steps and kinks have them too. Bounds may be wide, never too narrow
(but for rounding in the last place); not-a-number proves nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any, TypeAlias

import numpy as np

from qps.solver.compiled import rounded_in_arrays
from qps.solver.matrix.arrays import lower_lambert_w, powered, upper_lambert_w
from qps.solver.matrix.program import Op, Operation, Program

_Bound: TypeAlias = Any
"""A number, or an array of one for each row."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """Bounds of a value, and of its slope in the population."""

    low: _Bound
    high: _Bound
    slope_low: _Bound = 0.0
    slope_high: _Bound = 0.0


def bounds_of(
    program: Program,
    outputs: Iterable[int],
    known: Mapping[int, Bounds],
    inputs: Mapping[str, Bounds],
    population: tuple[_Bound, _Bound],
) -> dict[int, Bounds]:
    """Return bounds of operations, some being known, for populations between two ends."""
    found = dict(known)
    waiting = [number for number in outputs if number not in found]
    needed: set[int] = set()
    while waiting:
        number = waiting.pop()
        if number not in needed:
            needed.add(number)
            waiting += [o for o in program.operations[number].operands if o not in found]
    with np.errstate(all="ignore"):
        for number in sorted(needed):
            found[number] = _bounds(program.operations[number], found, inputs, population)
    return found


def _bounds(
    operation: Operation,
    found: Mapping[int, Bounds],
    inputs: Mapping[str, Bounds],
    population: tuple[_Bound, _Bound],
) -> Bounds:
    operands = [found[number] for number in operation.operands]
    match operation.op:
        case Op.CONSTANT:
            value = np.float64(operation.value)
            return Bounds(value, value)
        case Op.INPUT:
            return inputs[str(operation.value)]
        case Op.POPULATION:
            return Bounds(*population, 1.0, 1.0)
        case Op.POWER:
            assert isinstance(operation.value, int)
            return _power(operands[0], operation.value)
        case Op.RAISE:
            base, exponent = operands
            return _exp(_product(exponent, _log(base)))
    return _OPERATIONS[operation.op](*operands)


def _times(one: _Bound, other: _Bound) -> _Bound:
    """Return a product in which zero times infinity is zero: a slope of zero stays zero."""
    product = one * other
    return np.where((one == 0) | (other == 0), 0.0, product) if _infinite(product) else product


def _infinite(value: _Bound) -> bool:
    if isinstance(value, float):  # np.float64 too: most bounds are those of all rows
        return not isfinite(value)
    return not bool(np.all(np.isfinite(value)))


def _span(a: _Bound, b: _Bound, c: _Bound, d: _Bound) -> tuple[_Bound, _Bound]:
    """Return the least and the greatest product of two intervals, [a, b] and [c, d]."""
    products = (_times(a, c), _times(a, d), _times(b, c), _times(b, d))
    low = np.minimum(np.minimum(products[0], products[1]), np.minimum(products[2], products[3]))
    high = np.maximum(np.maximum(products[0], products[1]), np.maximum(products[2], products[3]))
    return low, high


def _is_zero(one: Bounds) -> bool:
    """True where a slope is zero throughout, as that of all that has no population in it."""
    return isinstance(one.slope_low, float) and one.slope_low == 0.0 == one.slope_high


def _sum(one: Bounds, other: Bounds) -> Bounds:
    return Bounds(
        one.low + other.low,
        one.high + other.high,
        one.slope_low + other.slope_low,
        one.slope_high + other.slope_high,
    )


def _product(one: Bounds, other: Bounds) -> Bounds:
    low, high = _span(one.low, one.high, other.low, other.high)
    slope: tuple[_Bound, _Bound] = (0.0, 0.0)
    for f, g in ((one, other), (other, one)):
        if not _is_zero(g):
            part = _span(f.low, f.high, g.slope_low, g.slope_high)
            slope = (slope[0] + part[0], slope[1] + part[1])
    return Bounds(low, high, *slope)


def _chained(
    low: _Bound, high: _Bound, inner: Bounds, steep_low: _Bound, steep_high: _Bound
) -> Bounds:
    """Return a function of something, its own slopes being between two bounds."""
    if _is_zero(inner):
        return Bounds(low, high)
    return Bounds(low, high, *_span(inner.slope_low, inner.slope_high, steep_low, steep_high))


def _power(base: Bounds, exponent: int) -> Bounds:
    """Return an integer power; the slope of a chord of x^k lies between those at its ends."""
    ends = powered(base.low, exponent), powered(base.high, exponent)
    low, high = np.minimum(*ends), np.maximum(*ends)
    inside = (base.low <= 0) & (base.high >= 0)
    if exponent < 0:
        low, high = np.where(inside, -np.inf, low), np.where(inside, np.inf, high)
    elif exponent % 2 == 0:
        low = np.where(inside, 0.0, low)
    if _is_zero(base):
        return Bounds(low, high)
    at_low = exponent * powered(base.low, exponent - 1) if exponent != 1 else 1.0
    at_high = exponent * powered(base.high, exponent - 1) if exponent != 1 else 1.0
    steep_low, steep_high = np.minimum(at_low, at_high), np.maximum(at_low, at_high)
    if exponent < 0:
        steep_low = np.where(inside, -np.inf, steep_low)
        steep_high = np.where(inside, np.inf, steep_high)
    elif exponent % 2:
        steep_low = np.where(inside, 0.0, steep_low)
    return _chained(low, high, base, steep_low, steep_high)


def _ratio(above: Bounds, below: Bounds) -> Bounds:
    """Return a quotient; where the divisor may vanish it may be anything."""
    plain = _product(above, _power(below, -1))
    inside = (below.low <= 0) & (below.high >= 0)
    return Bounds(
        np.where(inside, -np.inf, plain.low),
        np.where(inside, np.inf, plain.high),
        np.where(inside, -np.inf, plain.slope_low),
        np.where(inside, np.inf, plain.slope_high),
    )


def _maximum(one: Bounds, other: Bounds) -> Bounds:
    first, second = one.low >= other.high, other.low >= one.high
    return Bounds(
        np.maximum(one.low, other.low),
        np.maximum(one.high, other.high),
        _chosen(first, second, one.slope_low, other.slope_low, np.minimum),
        _chosen(first, second, one.slope_high, other.slope_high, np.maximum),
    )


def _minimum(one: Bounds, other: Bounds) -> Bounds:
    return _negative(_maximum(_negative(one), _negative(other)))


def _chosen(
    first: _Bound, second: _Bound, one: _Bound, other: _Bound, join: Callable[..., _Bound]
) -> _Bound:
    return np.where(first, one, np.where(second, other, join(one, other)))


def _negative(one: Bounds) -> Bounds:
    return Bounds(-one.high, -one.low, -one.slope_high, -one.slope_low)


def _absolute(one: Bounds) -> Bounds:
    return _maximum(one, _negative(one))


def _rising(
    function: Callable[[_Bound], _Bound], slope: Callable[[_Bound], _Bound]
) -> Callable[[Bounds], Bounds]:
    """Return the bounds of a function that rises, its slope rising or falling throughout."""

    def bounds(one: Bounds) -> Bounds:
        low, high = function(one.low), function(one.high)
        if _is_zero(one):
            return Bounds(low, high)
        ends = slope(one.low), slope(one.high)
        return _chained(low, high, one, np.minimum(*ends), np.maximum(*ends))

    return bounds


def _stepped(function: Callable[[_Bound], _Bound]) -> Callable[[Bounds], Bounds]:
    def bounds(one: Bounds) -> Bounds:
        return _chained(function(one.low), function(one.high), one, 0.0, np.inf)

    return bounds


def _lambert_slope(w: _Bound) -> _Bound:
    """Return the slope of Lambert's W where it is w: 1 / (exp(w) (1 + w))."""
    return 1.0 / (np.exp(w) * (1.0 + w))


def _lower_lambert(one: Bounds) -> Bounds:
    """Return the lower branch, which falls from -1 at -1/e; it is least steep where it is -2."""
    low, high = lower_lambert_w(one.high), lower_lambert_w(one.low)
    if _is_zero(one):
        return Bounds(low, high)
    ends = _lambert_slope(low), np.where(high == -1.0, -np.inf, _lambert_slope(high))
    least_steep = np.where((low <= -2.0) & (high >= -2.0), -np.exp(2.0), np.maximum(*ends))  # noqa: PLR2004
    return _chained(low, high, one, np.minimum(*ends), least_steep)


def _endless(load: Bounds) -> Bounds:
    """Return nothing where a load stays below 1, and no end where it does not."""
    low, high = np.where(load.low < 1, 0.0, np.inf), np.where(load.high < 1, 0.0, np.inf)
    return _chained(low, high, load, 0.0, high)


_exp = _rising(np.exp, np.exp)
_log = _rising(np.log, lambda x: 1.0 / np.where(x > 0, x, np.nan))
_OPERATIONS: dict[Op, Callable[..., Bounds]] = {
    Op.ADD: _sum,
    Op.MULTIPLY: _product,
    Op.RATIO: _ratio,
    Op.MAXIMUM: _maximum,
    Op.MINIMUM: _minimum,
    Op.ABSOLUTE: _absolute,
    Op.SQRT: _rising(np.sqrt, lambda x: 0.5 / np.sqrt(x)),
    Op.EXP: _exp,
    Op.LOG: _log,
    Op.FLOOR: _stepped(lambda value: rounded_in_arrays(np.floor, value)),
    Op.CEILING: _stepped(lambda value: rounded_in_arrays(np.ceil, value)),
    Op.LAMBERT: _rising(upper_lambert_w, lambda x: _lambert_slope(upper_lambert_w(x))),
    Op.LOWER_LAMBERT: _lower_lambert,
    Op.ENDLESS: _endless,
}
