"""Bounds of values and of their slopes in the population, for many rows at once.

The bounds hold for every population between two ends and for every value of the inputs between
theirs. They prove that something never fails, or fails from some point on for good. Slopes are
those of chords, so that steps and kinks have them too. Bounds may be wide, never too narrow
(but for rounding in the last place); not-a-number proves nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from math import log

import numpy as np

from qps.engine.evaluators import (
    fork_join_bounds,
    load_dependent_bounds,
    multiclass_bounds,
    multiclass_load_dependent_bounds,
    on_arrays,
    population_bounds,
)
from qps.engine.evaluators.on_arrays import whole_power as powered
from qps.engine.evaluators.row_bounds import Bound, Bounds, is_zero, span
from qps.engine.numerics.sloped_intervals import SlopedInterval
from qps.engine.operand_groups import found_together, placed, repeated
from qps.engine.queueing_networks.load_dependent_arrays import rates_grow, times_grow
from qps.engine.queueing_networks.load_dependent_operands import GROUP

_PER_OCTAVE = 1.0 / log(2.0)


def total(*parts: Bounds) -> Bounds:
    """Return the bounds of a sum."""
    return reduce(_plus, parts)


def _plus(one: Bounds, other: Bounds) -> Bounds:
    return Bounds(
        one.low + other.low,
        one.high + other.high,
        one.slope_low + other.slope_low,
        one.slope_high + other.slope_high,
    )


def product(*parts: Bounds) -> Bounds:
    """Return the bounds of a product."""
    return reduce(_multiplied, parts)


def _multiplied(one: Bounds, other: Bounds) -> Bounds:
    low, high = span(one.low, one.high, other.low, other.high)
    slope: tuple[Bound, Bound] = (0.0, 0.0)
    for f, g in ((one, other), (other, one)):
        if not is_zero(g):
            part = span(f.low, f.high, g.slope_low, g.slope_high)
            slope = (slope[0] + part[0], slope[1] + part[1])
    return Bounds(low, high, *slope)


def _chained(low: Bound, high: Bound, inner: Bounds, steep_low: Bound, steep_high: Bound) -> Bounds:
    """Return a function of something, its own slopes being between two bounds."""
    if is_zero(inner):
        return Bounds(low, high)
    return Bounds(low, high, *span(inner.slope_low, inner.slope_high, steep_low, steep_high))


def power(base: Bounds, exponent: int) -> Bounds:
    """Return an integer power; the slope of a chord of x^k lies between those at its ends."""
    ends = powered(base.low, exponent), powered(base.high, exponent)
    low, high = np.minimum(*ends), np.maximum(*ends)
    inside = (base.low <= 0) & (base.high >= 0)
    if exponent < 0:
        low, high = np.where(inside, -np.inf, low), np.where(inside, np.inf, high)
    elif exponent % 2 == 0:
        low = np.where(inside, 0.0, low)
    if is_zero(base):
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


def ratio(above: Bounds, below: Bounds) -> Bounds:
    """Return a quotient; where the divisor may vanish it may be anything."""
    plain = product(above, power(below, -1))
    inside = (below.low <= 0) & (below.high >= 0)
    return Bounds(
        np.where(inside, -np.inf, plain.low),
        np.where(inside, np.inf, plain.high),
        np.where(inside, -np.inf, plain.slope_low),
        np.where(inside, np.inf, plain.slope_high),
    )


def maximum(*parts: Bounds) -> Bounds:
    """Return the bounds of the largest."""
    return reduce(_larger, parts)


def _larger(one: Bounds, other: Bounds) -> Bounds:
    first, second = one.low >= other.high, other.low >= one.high
    return Bounds(
        np.maximum(one.low, other.low),
        np.maximum(one.high, other.high),
        _chosen(first, second, one.slope_low, other.slope_low, np.minimum),
        _chosen(first, second, one.slope_high, other.slope_high, np.maximum),
    )


def minimum(*parts: Bounds) -> Bounds:
    """Return the bounds of the smallest."""
    return reduce(_smaller, parts)


def _smaller(one: Bounds, other: Bounds) -> Bounds:
    first, second = one.high <= other.low, other.high <= one.low
    return Bounds(
        np.minimum(one.low, other.low),
        np.minimum(one.high, other.high),
        _chosen(first, second, one.slope_low, other.slope_low, np.minimum),
        _chosen(first, second, one.slope_high, other.slope_high, np.maximum),
    )


def _chosen(
    first: Bound, second: Bound, one: Bound, other: Bound, join: Callable[..., Bound]
) -> Bound:
    return np.where(first, one, np.where(second, other, join(one, other)))


def negative(one: Bounds) -> Bounds:
    """Return bounds turned round."""
    return Bounds(-one.high, -one.low, -one.slope_high, -one.slope_low)


def absolute(one: Bounds) -> Bounds:
    """Return the bounds of a size without its sign."""
    return maximum(one, negative(one))


def rising(
    function: Callable[[Bound], Bound], slope: Callable[[Bound], Bound]
) -> Callable[[Bounds], Bounds]:
    """Return the bounds of a function that rises, its slope rising or falling throughout."""

    def bounds(one: Bounds) -> Bounds:
        low, high = function(one.low), function(one.high)
        if is_zero(one):
            return Bounds(low, high)
        ends = slope(one.low), slope(one.high)
        return _chained(low, high, one, np.minimum(*ends), np.maximum(*ends))

    return bounds


def stepped(function: Callable[[Bound], Bound]) -> Callable[[Bounds], Bounds]:
    """Return the bounds of what is rounded: flat, but where it jumps."""

    def bounds(one: Bounds) -> Bounds:
        return _chained(function(one.low), function(one.high), one, 0.0, np.inf)

    return bounds


def _lambert_slope(w: Bound) -> Bound:
    """Return the slope of Lambert's W where it is w: 1 / (exp(w) (1 + w))."""
    return 1.0 / (np.exp(w) * (1.0 + w))


def lower_lambert(one: Bounds) -> Bounds:
    """Return the lower branch, which falls from -1 at -1/e; it is least steep where it is -2."""
    low, high = on_arrays.lower_lambert(one.high), on_arrays.lower_lambert(one.low)
    if is_zero(one):
        return Bounds(low, high)
    ends = _lambert_slope(low), np.where(high == -1.0, -np.inf, _lambert_slope(high))
    least_steep = np.where((low <= -2.0) & (high >= -2.0), -np.exp(2.0), np.maximum(*ends))  # noqa: PLR2004
    return _chained(low, high, one, np.minimum(*ends), least_steep)


floor, ceiling = stepped(on_arrays.floor), stepped(on_arrays.ceiling)
exponential = rising(np.exp, np.exp)
logarithm = rising(np.log, lambda x: 1.0 / np.where(x > 0, x, np.nan))
root = rising(np.sqrt, lambda x: 0.5 / np.sqrt(x))
lambert = rising(on_arrays.lambert, lambda x: _lambert_slope(on_arrays.lambert(x)))


def raised(base: Bounds, exponent: Bounds) -> Bounds:
    """Return the bounds of any power of something positive, as exp(y ln x)."""
    return exponential(product(exponent, logarithm(base)))


def mean(above: Bounds, below: Bounds) -> Bounds:
    """Return the bounds of a quotient that is 0 where its divisor vanishes."""
    return ratio(above, below)


def waiting(work: Bounds, load: Bounds) -> Bounds:
    """Return the bounds of work/(1 - load), infinite from load 1 on.

    It rises with both where the work is not negative; where the load may reach 1, so does it.
    """
    one = Bounds(1.0, 1.0)
    plain = product(work, power(total(one, negative(load)), -1))
    is_wait = work.low >= 0
    is_short = load.high < 1
    rises = is_wait & (work.slope_low >= 0) & (load.slope_low >= 0)
    low, high = on_arrays.waiting(work.low, load.low), on_arrays.waiting(work.high, load.high)
    return Bounds(
        np.where(is_wait, low, np.where(is_short, plain.low, -np.inf)),
        np.where(is_wait, high, np.where(is_short, plain.high, np.inf)),
        np.where(is_short, plain.slope_low, np.where(rises, 0.0, -np.inf)),
        np.where(is_short, plain.slope_high, np.inf),
    )


def effective(cores: Bounds, efficiency: Bounds) -> Bounds:
    """Return the bounds of what cores do together, c e^(log2 c)."""
    doublings = product(logarithm(cores), Bounds(_PER_OCTAVE, _PER_OCTAVE))
    return product(cores, raised(efficiency, doublings))


def cosine(one: Bounds) -> Bounds:
    """Return the bounds of a cosine; its slope is a cosine, too, a quarter of a turn later."""
    quarter = np.pi / 2
    slopes = _cosines(one.low + quarter, one.high + quarter)
    return _chained(*_cosines(one.low, one.high), one, *slopes)


def _cosines(low: Bound, high: Bound) -> tuple[Bound, Bound]:
    """Return the least and the greatest cosine between two angles: 1 at whole turns, -1 between."""
    ends = np.cos(low), np.cos(high)
    first, last = low / (2 * np.pi), high / (2 * np.pi)
    has_least = np.ceil(first - 0.5) <= np.floor(last - 0.5)
    has_most = np.ceil(first) <= np.floor(last)
    least = np.where(has_least, -1.0, np.minimum(*ends))
    return least, np.where(has_most, 1.0, np.maximum(*ends))


def arc_cosine(one: Bounds) -> Bounds:
    """Return the bounds of an angle of which the cosine is known: it falls."""
    low, high = np.arccos(one.high), np.arccos(one.low)
    far = np.maximum(np.abs(one.low), np.abs(one.high))
    return _chained(low, high, one, -1.0 / np.sqrt(1.0 - far * far), -1.0)


def monotone(
    function: Callable[..., Bound],
    grows: tuple[int, ...],
    repeats: int = 0,
    gammas: tuple[int, ...] = (),
    waits: int | None = None,
    highest: Callable[..., Bound] | None = None,
) -> Callable[..., Bounds]:
    """Return the bounds of a function that rises (1) or falls (-1) with each of its operands.

    Where `grows` is 0 it may do either: nothing is known then but of a fixed one.
    Of the last operands come more groups of so many as it `repeats`. Of `gammas`, `waits` and
    `highest` see `on_intervals.monotone`.
    """

    def bounds(*operands: Bounds) -> Bounds:
        pairs = list(zip(repeated(grows, repeats, len(operands)), operands, strict=True))
        for first, second, both, servers in found_together(waits, repeats, len(pairs)):
            one, part, whole = operands[first], operands[second], operands[both]
            is_part = (operands[servers].high == 0) & (whole.high > 0)
            rest = np.maximum(whole.low - part.low, 0.0), np.maximum(whole.high - part.high, 0.0)
            of_rest, plain = (*rest, 0.0, 0.0), (one.low, one.high, one.slope_low, one.slope_high)
            both_ends = zip(of_rest, plain, strict=True)
            pairs[first] = 1, Bounds(*(np.where(is_part, *ends)[()] for ends in both_ends))
        ordered = placed(gammas, len(grows), repeats, len(pairs))
        least = [o.high if g < 0 else o.low for g, o in pairs]
        most = [o.low if g < 0 else o.high for g, o in pairs]
        for place in ordered:
            one = pairs[place][1]
            with np.errstate(divide="ignore", invalid="ignore"):
                wider = np.where(one.low == one.high, 1.0, np.divide(one.high, one.low))
            least[place], most[place] = one.high, one.low
            least[place - 1] = least[place - 1] / wider
            most[place - 1] = most[place - 1] * wider
        low, high = function(*least), (highest or function)(*most)
        slope: tuple[Bound, Bound] = (0.0, 0.0)
        for place, (sign, operand) in enumerate(pairs):
            if not sign and place in ordered:
                is_bounded = (operand.low > 0) | (operand.low == operand.high)
                low = np.where(is_bounded, low, -np.inf)
                high = np.where(is_bounded, high, np.inf)
            elif not sign:
                is_fixed = operand.low == operand.high
                low = np.where(is_fixed, low, -np.inf)
                high = np.where(is_fixed, high, np.inf)
            if not is_zero(operand):
                rate = (0.0 if sign > 0 else -np.inf, 0.0 if sign < 0 else np.inf)
                moved = span(operand.slope_low, operand.slope_high, *rate)
                slope = (slope[0] + moved[0], slope[1] + moved[1])
        return Bounds(low, high, *slope)

    return bounds


def _row_by_row(function: Callable[..., SlopedInterval]) -> Callable[..., Bounds]:
    """Return the bounds of many rows of what has those of one."""

    def bounds(*operands: Bounds) -> Bounds:
        ends = [(o.low, o.high, o.slope_low, o.slope_high) for o in operands]
        wide = np.broadcast_arrays(*(np.asarray(end, dtype=float) for one in ends for end in one))
        shape, rows = wide[0].shape, zip(*(column.ravel().tolist() for column in wide), strict=True)
        each = [
            function(*(SlopedInterval(*row[at : at + 4]) for at in range(0, len(row), 4))).sound()
            for row in rows
        ]
        found = ([getattr(one, end) for one in each] for end in ("low", "high", "slow", "steep"))
        return Bounds(*(np.array(column).reshape(shape)[()] for column in found))

    return bounds


class_rate = _row_by_row(multiclass_bounds.class_rate)
class_wait = _row_by_row(multiclass_bounds.class_wait)
class_open_wait = _row_by_row(multiclass_bounds.class_open_wait)
class_quantile = _row_by_row(multiclass_bounds.class_quantile)
forked_rate = _row_by_row(fork_join_bounds.forked_rate)
forked_time = _row_by_row(fork_join_bounds.forked_time)
forked_wait = _row_by_row(fork_join_bounds.forked_wait)
shared_rate = _row_by_row(multiclass_load_dependent_bounds.shared_rate)
shared_time = _row_by_row(multiclass_load_dependent_bounds.shared_time)
shared_wait = _row_by_row(multiclass_load_dependent_bounds.shared_wait)
nested_wait = _row_by_row(load_dependent_bounds.nested_wait)

ONE_BY_ONE = {class_rate, class_wait, class_open_wait, class_quantile, forked_rate, forked_time}
ONE_BY_ONE |= {forked_wait, shared_rate, shared_time, shared_wait, nested_wait}  # of each row

_RATE_OF_ANY = _row_by_row(load_dependent_bounds.nested_rate)
_TIME_OF_ANY = _row_by_row(load_dependent_bounds.nested_time)
_GROWING_RATE = monotone(on_arrays.nested_rate, (1, -1, 0, -1, 1, -1, 1), GROUP)
_GROWING_TIME = monotone(on_arrays.nested_time, (0, 1, *(0,) * (1 + GROUP)), GROUP)


def nested_rate(*operands: Bounds) -> Bounds:
    """Return between which rates those of networks lie: at the ends of what moves, if it may."""
    found = population_bounds.nested_rate(*operands)
    if found is not None:
        return found
    return (_GROWING_RATE if rates_grow(operands[2:]) else _RATE_OF_ANY)(*operands)


def nested_time(*operands: Bounds) -> Bounds:
    """Return between which times those at a place lie: by those of fewest and most customers."""
    found = population_bounds.nested_time(*operands)
    if found is not None:
        return found
    return (_GROWING_TIME if times_grow(operands[3:]) else _TIME_OF_ANY)(*operands)
