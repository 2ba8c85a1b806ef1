"""The gamma law on arrays: how much of it lies below a value, and above; and the normal law.

What is computed is the smaller of the two, as terms of one sign, so that no digits are lost: of few
below the mean a series, far from the mean a continued fraction, next to it an integral by Gauss's
rule, in the logarithm of what is integrated over: that is smooth, and falls all the way.
"""

from __future__ import annotations

from collections.abc import Callable
from math import erfc, inf, lgamma, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qps.engine.distributions import normal_numbers
from qps.engine.numerics.array_blocks import Array, filled, gauss_rule

_FEW = 24.0
"""Up to such a shape series are fastest."""
_FAR, _FAR_OF_FEW = 4.5, 3.0
"""So many deviations from the mean, of few one and so much more, fractions end."""
_FRACTIONS = 26
_NOTHING = 38.0
_POINTS = 24
"""Of Gauss's rule, so many."""
_STRAIGHT = 0.05
"""Up to there e^w - 1 - w is added up: as it stands it has lost too many digits."""
_LAST = 1e-17
_LARGEST = 1e300
"""Nothing of any law lies above: so is infinity."""


def lower_share(shape: Array, value: Array, log_factorial: Array | None = None) -> Array:
    """Return how much of a gamma law of mean `shape` lies below a value that is not negative.

    `log_factorial` is that of the shape, where it is known.
    """
    share, is_above = _smaller_share(shape, value, log_factorial)
    return np.where(is_above, 1 - share, share)


def upper_share(shape: Array, value: Array, log_factorial: Array | None = None) -> Array:
    """Return how much of a gamma law of mean `shape` lies above a value that is not negative."""
    share, is_above = _smaller_share(shape, value, log_factorial)
    return np.where(is_above, share, 1 - share)


def upper_integral(shape: Array, value: Array) -> Array:
    """Return the integral of (t/x)^s e^(x - t)/t over t from x on: Gamma(s, x) x^-s e^x."""
    beside, is_above = _integral_beyond_mean(shape, value)

    def rest(below: Array, shape: Array, value: Array) -> Array:
        return inverse_poisson(shape, value) / shape - below

    filled(~is_above, beside, rest, beside, shape, value)
    return beside


def _smaller_share(
    shape: Array, value: Array, log_factorial: Array | None
) -> tuple[Array, NDArray[np.bool_]]:
    value = np.minimum(value, _LARGEST)
    beside, is_above = _integral_beyond_mean(shape, value)
    return beside * shape / inverse_poisson(shape, value, log_factorial), is_above


def _integral_beyond_mean(shape: Array, value: Array) -> tuple[Array, NDArray[np.bool_]]:
    """Return the integral on the side of x away from the mean, and whether that is above x."""
    is_above, is_few = value > np.maximum(shape, 1.0), shape <= _FEW
    deviation = np.sqrt(shape)
    is_far = np.abs(value - shape) > np.where(is_few, deviation + _FAR_OF_FEW, _FAR * deviation)
    beside = np.full(shape.shape, np.nan)
    for is_among, function in (
        (is_above & is_far, lambda s, x: 1 / (x - s + 1 + rest_of_fraction(s - 1, x))),
        (~is_above & is_few, lambda s, x: series(s, x) / s),
        (~is_above & ~is_few & is_far, lambda s, x: 1 / (s - x + _rest_below(s, x))),
        (~is_far & ~(is_few & ~is_above), _outward),
    ):
        filled(is_among, beside, function, shape, value)
    return beside, is_above


def rest_of_fraction(less: Array, value: Array) -> Array:
    """Return R of Legendre's continued fraction 1/(x - c + R), c being one less than the shape."""
    rest = np.zeros(less.shape)
    apart = value - less
    for k in range(_FRACTIONS, 0, -1):
        rest = k * (less + 1 - k) / (apart + 2 * k + rest)
    return rest


def _rest_below(shape: Array, value: Array) -> Array:
    """Return the same of the fraction below the mean, 1/(s - x + R)."""
    rest = np.zeros(shape.shape)
    apart = shape - value
    for k in range(_FRACTIONS, 0, -1):
        rest = k * value / (apart + k + rest)
    return rest


def series(shape: Array, value: Array) -> Array:
    """Return the sum of x^n/((s + 1) … (s + n)), of which there are few up to the mean."""
    total = term = np.ones(shape.shape)
    at = shape
    while (term > _LAST * total).any():
        at = at + 1
        term = term * (value / at)
        total = total + term
    return total


def _outward(shape: Array, value: Array) -> Array:
    """Return the integral from x on away from s.

    With t = x e^w what is integrated has the logarithm -|s - x| |w| - x (e^w - 1 - w).
    """
    side = np.where(value > shape, 1.0, -1.0)
    apart, wide = np.abs(value - shape), _NOTHING / value
    root = np.sqrt(2 * wide)
    # Where x (e^w - 1 - w) alone has fallen to nothing, or the other part alone.
    end = np.where(side > 0, np.minimum(root, np.log1p(wide + root)), root + wide / 3)
    half = np.minimum(end, _NOTHING / apart) / 2
    total = np.zeros(shape.shape)
    for node, weight in zip(*gauss_rule(_POINTS), strict=True):
        w = half * (1 + node)
        total += weight * np.exp(-apart * w - value * _bent(side * w))
    return total * half


def _bent(w: Array) -> Array:
    """Return e^w - 1 - w."""
    found = np.expm1(w) - w
    filled(np.abs(w) < _STRAIGHT, found, _bent_little, w)
    return found


def _bent_little(w: Array) -> Array:
    total = np.ones(w.shape)
    for k in range(9, 2, -1):
        total = 1 + total * (w / k)
    return total * (w * w / 2)


def inverse_poisson(shape: Array, value: Array, log_factorial: Array | None = None) -> Array:
    """Return s! x^-s e^x, to all digits of many by Stirling's series."""
    found = np.empty(shape.shape)
    is_few = shape <= _FEW
    if is_few.any():
        known = log_gamma(shape[is_few] + 1) if log_factorial is None else log_factorial[is_few]
        of_few, at = shape[is_few], value[is_few]
        found[is_few] = np.exp(known - of_few * np.log(at) + at)
    filled(~is_few, found, _inverse_poisson_of_many, shape, value)
    return found


def _inverse_poisson_of_many(shape: Array, value: Array) -> Array:
    inverse = 1 / shape
    square = inverse * inverse
    tail = 1 / 1680 - square / 1188
    for coefficient in (1 / 1260, 1 / 360, 1 / 12):
        tail = coefficient - square * tail
    apart = (value - shape) * inverse
    # Far below, 1 + apart has lost digits that the ratio has.
    less = np.where(apart < -0.5, np.log(value / shape) - apart, log1p_less(apart))  # noqa: PLR2004
    exponent = tail * inverse - shape * less
    return np.sqrt(2 * np.pi * shape) * np.exp(exponent)


def log1p_less(value: Array) -> Array:
    """Return log(1 + x) - x, to all digits for small x."""
    ratio = value / (2 + value)
    square = ratio * ratio
    series = np.full(value.shape, 2 / 19)
    for odd in range(17, 1, -2):
        series = series * square + 2 / odd
    near = ratio * (series * square - value)
    return np.where(np.abs(value) < 0.3, near, np.log1p(value) - value)  # noqa: PLR2004


def normal_quantile(level: Array) -> Array:
    """Return what a share of the normal law lies below, as `normal_numbers` has it."""
    tail = np.minimum(level, 1 - level)
    t = np.sqrt(-2 * np.log(tail))
    found = t - normal_numbers.less_than_root(t)
    for _ in range(2):
        over = (normal_tail(found) - tail) * np.sqrt(2 * np.pi)
        step = over * np.exp(np.minimum(found * found / 2, 700))
        found = found + step / (1 - found * step / 2)
    found = np.where(level > tail, found, np.where(level == tail, -found, np.nan))
    return np.where(level == 1 / 2, 0.0, np.where(tail > 0, found, np.nan))


def _one_by_one(function: Callable[[float], float]) -> Callable[[Array], Array]:
    """Return a function of C on arrays: numpy has none such."""
    each: Any = np.frompyfunc(function, 1, 1)
    return lambda values: np.asarray(each(values), dtype=float)


def _log_gamma(value: float) -> float:
    try:
        return lgamma(value)
    except OverflowError:
        return inf


log_gamma = _one_by_one(_log_gamma)
_erfc = _one_by_one(erfc)


def normal_tail(distance: Array) -> Array:
    """Return the share of the normal law that lies more than so far above its mean."""
    return _erfc(distance / sqrt(2)) / 2
