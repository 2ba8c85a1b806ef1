"""Balls: what is said of any number in them, and what functions on them are made of.

A ball is proven, to as many binary digits as flint works with.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from fractions import Fraction
from functools import reduce
from math import inf, isfinite, isnan
from typing import Any

from flint import arb, ctx, fmpq

from qps.engine.evaluators.on_intervals import monotone
from qps.engine.exact_algebra.exact_values import NoValueError
from qps.engine.numerics.sloped_intervals import ROUNDED_OFF, SlopedInterval, above, below

INFINITE = arb.pos_inf()
UNKNOWN = arb.nan()
"""Of what the digits say nothing."""

Falling = Callable[[arb], tuple[arb, arb]]
"""A function that falls, with its slope."""

_MOST_STEPS, _MOST_CROSSED = 40, 0.01


def is_infinite(value: arb) -> bool:
    """Return whether a ball is an infinity, which has no size."""
    return value in (INFINITE, -INFINITE)


def refuse(is_outside: bool) -> None:  # noqa: FBT001 - states the condition
    """Raise NoValueError where something is surely outside of what has a value."""
    if is_outside:
        raise NoValueError


def joined(*parts: arb) -> arb:
    """Return a ball that covers others."""
    return reduce(arb.union, parts)


def is_unknown(*operands: arb) -> bool:
    """Return whether one of some balls says nothing."""
    return any(operand.is_nan() for operand in operands)


def exactly(value: arb) -> Fraction | None:
    """Return what a ball is; None where that is not known to the last digit, or no number."""
    if not (value.is_finite() and value.is_exact()):
        return None
    mantissa, exponent = (int(part) for part in value.mid().man_exp())
    return mantissa * Fraction(2) ** exponent


def as_ball(value: Any) -> arb:
    """Return a fraction, a ball or an infinite float as a ball."""
    if isinstance(value, Fraction):
        return arb(fmpq(value.numerator, value.denominator))
    return INFINITE if isinstance(value, float) and not isnan(value) else value


def floors(value: arb) -> tuple[int, int]:
    """Return what a value rounded down is between."""
    ends = [end.floor().unique_fmpz() for end in (value.lower(), value.upper())]
    assert ends[0] is not None
    assert ends[1] is not None
    return int(ends[0]), int(ends[1])


def of_quantile(load: arb, level: arb) -> arb | None:
    """Return what a quantile is where that does not rest on its law, None where it does."""
    refuse(bool(load < 0) or bool(level < 0) or bool(level >= 1))
    if not (load >= 0 and (load < 1 or load >= 1) and level >= 0 and level < 1):
        return UNKNOWN
    return INFINITE if load >= 1 else None


# -- as the numbers in floats have it, or the values at the ends ---------------------------


def by_floats(
    number: Callable[..., float],
    grows: tuple[int, ...],
    *operands: arb,
    part: float = ROUNDED_OFF,
    error: float = 0.0,
) -> arb:
    """Return the bounds of what rises or falls with its operands, from its numbers in floats.

    Where the least is above the most, these are off by more than is known of them: by as much as
    they are apart, on both sides.
    """
    found = monotone(number, grows, (0.0, inf), (part, error))(*map(_interval, operands))
    if not (isfinite(found.low) and isfinite(found.high)):
        return UNKNOWN
    crossed = max(found.low - found.high, 0.0)
    if crossed > _MOST_CROSSED * found.low:
        return UNKNOWN
    return joined(arb(found.low + crossed), arb(max(found.high - crossed, 0.0)))


def _interval(value: arb) -> SlopedInterval:
    near = float(value.mid())
    if value.is_exact() and arb(near) == value:
        return SlopedInterval(near, near)
    low = below(float(value.lower()))
    return SlopedInterval(max(low, 0.0) if value >= 0 else low, above(float(value.upper())))


def at_ends(function: Callable[..., arb], *operands: arb, falls: Collection[int] = ()) -> arb:
    """Return the values of what rises with each of its operands, or falls with some."""
    low, high = (
        [
            one.upper() if (place in falls) != is_high else one.lower()
            for place, one in enumerate(operands)
        ]
        for is_high in (False, True)
    )
    return function(*low) if low == high else joined(function(*low), function(*high))


# -- roots -------------------------------------------------------------------------------


def root(function: Falling, start: float) -> arb:
    """Return a ball in which a falling function vanishes, near a start; unknown where not proved.

    Newton's steps find the place, and the signs on both sides of it prove it.
    """
    with ctx.extraprec(32):
        point = arb(start)
        nothing = arb(2) ** -(ctx.prec - 8)
        little = arb(2) ** -(ctx.prec // 2)  # of a step next to a root the square is left
        for _ in range(_MOST_STEPS):
            value, slope = function(point)
            step = (value / slope).mid()
            if not step.is_finite():
                return UNKNOWN
            point = (point - step).mid()
            if abs(step) <= abs(point) * little or value.contains(0):
                break
        value, slope = function(point)
        if not (value.is_finite() and slope.is_finite()):
            return UNKNOWN
        reach = 4 * abs(value / slope).upper() + point * nothing
        for _ in range(4):
            if function(point - reach)[0] > 0 and function(point + reach)[0] < 0:
                return joined(point - reach, point + reach)
            reach *= 1 << 10
    return UNKNOWN
