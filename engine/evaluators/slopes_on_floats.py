"""Slopes of operations by each of their operands, of floats: a tuple, one for each operand.

A slope is not-a-number where there is none: at a kink or a jump, by what counts whole, and where
the value is infinite or there is none.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from itertools import accumulate
from math import exp, isfinite, nan, sin, sqrt
from operator import mul
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from qps.engine.evaluators import on_floats
from qps.engine.exact_algebra.exact_values import NoValueError

if TYPE_CHECKING:
    from flint import arb

Slopes = tuple[float, ...]

_BITS = 160
_STEP = 2.0**-36
"""How far apart, as a part of an operand, values are in balls: they have far more digits."""
_ENOUGH = 30
_STEP_IN_FLOATS = 1e-5
_LEAST, _MOST = 1e-9, 2.0**20
"""Densities of a time, as parts of one over it, that are no differences at a jump."""
_OF_A_FLOAT = 53
"""Binary digits of what is known in floats alone."""


def _finite(*slopes: float) -> Slopes:
    return tuple(slope if isfinite(slope) else nan for slope in slopes)


# -- arithmetic --------------------------------------------------------------------------


def total(*parts: float) -> Slopes:
    """Return the slopes of a sum."""
    return (1.0,) * len(parts)


def product(*parts: float) -> Slopes:
    """Return the slopes of a product: what is left without each of its factors."""
    before = accumulate(parts, mul, initial=1.0)
    behind = list(accumulate(reversed(parts), mul, initial=1.0))[-2::-1]
    return tuple(one * other for one, other in zip(before, behind, strict=False))


def raised(base: float, exponent: float) -> Slopes:
    """Return the slopes of a power."""
    by_base = 0.0 if exponent == 0 else exponent * on_floats.raised(base, exponent - 1)
    if base == 0 and exponent > 0:
        return by_base, 0.0
    return by_base, on_floats.raised(base, exponent) * on_floats.logarithm(base)


def ratio(above: float, below: float) -> Slopes:
    """Return the slopes of a quotient."""
    return (nan, nan) if below == 0 else (1 / below, -above / below / below)


mean = ratio


def waiting(work: float, load: float) -> Slopes:
    """Return the slopes of work/(1 - load)."""
    one = 1 / (1 - load) if load < 1 else nan
    return one, work * one * one


def maximum(*parts: float) -> Slopes:
    """Return the slopes of the largest: of several, of the first."""
    return _of_chosen(on_floats.maximum(*parts), parts)


def minimum(*parts: float) -> Slopes:
    """Return the slopes of the smallest: of several, of the first."""
    return _of_chosen(on_floats.minimum(*parts), parts)


def _of_chosen(chosen: float, parts: tuple[float, ...]) -> Slopes:
    if chosen not in parts:
        return (nan,) * len(parts)
    return tuple(float(place == parts.index(chosen)) for place in range(len(parts)))


def absolute(value: float) -> Slopes:
    """Return the slope of a size without its sign."""
    return (math.copysign(1.0, value) if value else nan,)


def floor(value: float) -> Slopes:
    """Return the slope of a value rounded down: none but where it jumps."""
    return (nan if on_floats.floor(value) == on_floats.ceiling(value) else 0.0,)


ceiling = floor


# -- functions ---------------------------------------------------------------------------


def root(value: float) -> Slopes:
    """Return the slope of a square root."""
    return (0.5 / sqrt(value) if value > 0 else nan,)


def exponential(value: float) -> Slopes:
    """Return the slope of e^x."""
    return _finite(on_floats.exponential(value))


def logarithm(value: float) -> Slopes:
    """Return the slope of ln x."""
    return (1 / value if value > 0 else nan,)


def cosine(value: float) -> Slopes:
    """Return the slope of a cosine."""
    return (-sin(value) if isfinite(value) else nan,)


def arc_cosine(value: float) -> Slopes:
    """Return the slope of an angle of which the cosine is known."""
    return (-1 / sqrt((1 - value) * (1 + value)) if -1 < value < 1 else nan,)


def lambert(value: float) -> Slopes:
    """Return the slope of the upper branch of Lambert's W."""
    return (_lambert_slope(on_floats.lambert(value)),)


def lower_lambert(value: float) -> Slopes:
    """Return the slope of the lower branch of Lambert's W."""
    return (_lambert_slope(on_floats.lower_lambert(value)),)


def _lambert_slope(w: float) -> float:
    return exp(-w) / (1 + w) if isfinite(w) and w != -1 else nan


def effective(cores: float, efficiency: float) -> Slopes:
    """Return the slopes of what cores do together, c e^(log2 c)."""
    if not (cores > 0 and efficiency > 0):
        return nan, nan
    together = on_floats.effective(cores, efficiency)
    by_cores = together / cores * (1 + math.log2(efficiency))
    return by_cores, together / efficiency * math.log2(cores)


# -- queues ------------------------------------------------------------------------------


class FiniteDifferences(Struct, frozen=True):
    """Slopes by differences: each takes as long as some values, so that few may be requested."""

    slope: Callable[[int, tuple[float, ...]], float]
    """By the operand in a place, of all operands."""
    together: Callable[[Sequence[int], tuple[float, ...]], Slopes | None] | None = None
    """By those in some places at once; None where each is found by itself."""

    def __call__(self, *operands: float) -> Slopes:
        """Return the slopes by all operands."""
        return self.at(range(len(operands)), operands)

    def at(self, places: Sequence[int], operands: tuple[float, ...]) -> Slopes:
        """Return the slopes by the operands in some places."""
        found = self.together(places, operands) if self.together else None
        return found or tuple(self.slope(place, operands) for place in places)


def by_differences(
    number: Callable[..., float],
    ball: Callable[..., arb],
    is_whole: Callable[[int], bool],
    array: Callable[..., Any] | None = None,
) -> FiniteDifferences:
    """Return the slopes of a function that has values in balls: quotients of small differences.

    Values in balls have digits enough for differences that are as small as the last ones of a
    float. By operands that count whole there is none. Where an `array` has the values of floats,
    and balls have no more digits than these, all differences are computed in one call.
    """

    def slope(place: int, operands: tuple[float, ...]) -> float:
        if is_whole(place) or not all(map(isfinite, operands)):
            return nan
        before, at, behind = operands[:place], operands[place], operands[place + 1 :]
        found = _difference_in_balls(
            lambda to: ball(*map(_ball, before), to, *map(_ball, behind)), at
        )
        return _in_floats(number, place, operands) if found is None else found

    def together(places: Sequence[int], operands: tuple[float, ...]) -> Slopes | None:
        assert array is not None
        moved = [place for place in places if not is_whole(place)]
        if len(moved) < 2 or not all(map(isfinite, operands)) or not _is_of_floats(ball, operands):  # noqa: PLR2004 - one is found as fast by itself
            return None
        found = dict(zip(moved, _in_arrays(array, moved, operands), strict=True))
        return tuple(found.get(place, nan) for place in places)

    return FiniteDifferences(slope, together if array else None)


def by_tail(
    quantile: FiniteDifferences,
    number: Callable[..., float],
    tail_along: Callable[..., Callable[..., arb]],
    is_whole: Callable[[int], bool],
) -> FiniteDifferences:
    """Return the slopes of a quantile: by how much a share is later there, over the density there.

    Of operands that hardly differ all tails are inverted `tail_along` one line of integration.
    A value of a tail takes a small part of the time of a quantile, which is sought by many of them.
    Where a share takes the very same time there is no density, and differences are used.
    """
    along = lru_cache(maxsize=4)(tail_along)

    @lru_cache(maxsize=64)
    def density(time: float, others: tuple[float, ...]) -> float | None:
        tail = along(time, *others)
        found = _difference_in_balls(lambda to: tail(to, *map(_ball, others)), time)
        return -found if found is not None and _LEAST < -found * time < _MOST else None

    def slope(place: int, operands: tuple[float, ...]) -> float:
        if is_whole(place) or not all(map(isfinite, operands)):
            return nan
        time, others = number(*operands), operands[1:]
        often = density(time, others) if isfinite(time) and time > 0 else None
        if often is None:
            return quantile.slope(place, operands)
        if place == 0:
            return 1 / often
        before, at, behind = (time, *others[: place - 1]), operands[place], others[place:]
        tail = along(time, *others)
        later = _difference_in_balls(
            lambda to: tail(*map(_ball, before), to, *map(_ball, behind)), at
        )
        return quantile.slope(place, operands) if later is None else later / often

    return FiniteDifferences(slope)


def _in_floats(number: Callable[..., float], place: int, operands: tuple[float, ...]) -> float:
    before, at, behind = operands[:place], operands[place], operands[place + 1 :]
    step = _step_in_floats(at)
    more, less = (number(*before, to, *behind) for to in (at + step, at - step))
    return _finite((more - less) / (2 * step))[0]


def _in_arrays(
    array: Callable[..., Any], places: Sequence[int], operands: tuple[float, ...]
) -> Slopes:
    """Return what `_in_floats` returns for each place, of a function of arrays."""
    import numpy as np  # noqa: PLC0415 - what has values of arrays alone needs it anyway

    steps = [_step_in_floats(operands[place]) for place in places]
    rows = np.tile(operands, (2, len(places), 1))
    for row, (place, step) in enumerate(zip(places, steps, strict=True)):
        rows[:, row, place] += step, -step
    more, less = array(*np.moveaxis(rows, -1, 0))
    return _finite(*((more - less) / (2 * np.array(steps))).tolist())


def _step_in_floats(at: float) -> float:
    return (abs(at) or 1.0) * _STEP_IN_FLOATS


def _is_of_floats(ball: Callable[..., arb], operands: tuple[float, ...]) -> bool:
    """Return whether a value in balls has no more digits than one of floats."""
    from flint import ctx  # noqa: PLC0415 - seldom needed

    digits = ctx.prec
    ctx.prec = _BITS
    try:
        found = ball(*map(_ball, operands))
    except NoValueError:
        return False
    finally:
        ctx.prec = digits
    return not found.is_zero() and found.rel_accuracy_bits() <= _OF_A_FLOAT


def _ball(value: float) -> arb:
    from flint import arb  # noqa: PLC0415 - seldom needed

    return arb(value)


def _difference_in_balls(function: Callable[[arb], arb], at: float) -> float | None:
    """Return a slope; None where balls are too wide."""
    from flint import ctx  # noqa: PLC0415 - seldom needed

    digits = ctx.prec
    ctx.prec = _BITS
    try:
        step = _ball((abs(at) or 1.0) * _STEP)
        more = function(_ball(at) + step)
        if not more.is_zero() and more.rel_accuracy_bits() <= _OF_A_FLOAT:
            return None  # what is taken from it has none left
        found = (more - function(_ball(at) - step)) / (2 * step)
    except NoValueError:
        return nan
    finally:
        ctx.prec = digits
    if not found.is_finite():
        return None
    if found.mid() == 0:
        return 0.0  # not one of all digits moved
    return float(found.mid()) if found.rel_accuracy_bits() >= _ENOUGH else None


def _in_networks(number: Callable[..., float]) -> FiniteDifferences:
    """Return the slopes of a function that has values in floats alone, or wide balls."""
    return FiniteDifferences(partial(_in_floats, number))


class_rate = _in_networks(on_floats.class_rate)
class_wait = _in_networks(on_floats.class_wait)
class_open_wait = _in_networks(on_floats.class_open_wait)
class_quantile = _in_networks(on_floats.class_quantile)
nested_rate = _in_networks(on_floats.nested_rate)
nested_time = _in_networks(on_floats.nested_time)
nested_wait = _in_networks(on_floats.nested_wait)
forked_rate = _in_networks(on_floats.forked_rate)
forked_time = _in_networks(on_floats.forked_time)
forked_wait = _in_networks(on_floats.forked_wait)
shared_rate = _in_networks(on_floats.shared_rate)
shared_time = _in_networks(on_floats.shared_time)
shared_wait = _in_networks(on_floats.shared_wait)
