"""Quantiles of wait plus service, and of the normal law, on arrays, with their slopes.

As `queue_numbers` has them. A quantile t solves S(t) = 1 - p for the share S that takes longer. The
logarithm of S is nearly straight, so that Newton's steps on it are few; and t changes with any
argument as S does at t, over the density there.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from qps.engine.distributions import gamma_arrays
from qps.engine.distributions.gamma_arrays import (
    inverse_poisson,
    log_gamma,
    lower_share,
    upper_share,
)
from qps.engine.numerics.array_blocks import (
    Array,
    falling_root,
    filled,
    in_blocks,
    triple_in_blocks,
)
from qps.engine.queueing.fluid_decay_arrays import decay, log_growth, log_growth_by_load
from qps.engine.queueing.md1_arrays import md1_quantile, md1_quantile_slopes

_SMALL = 0.5
_TERMS = 18
_LEAST_VARIATION = 1e-6
_NUDGE = 0.004
_STENCIL = ((2.0, -1 / 12), (1.0, 2 / 3), (-1.0, -2 / 3), (-2.0, 1 / 12))
_HALF = 0.5
_LARGEST = 700.0
"""Of larger numbers exponentials are beyond all floats."""


def sojourn_quantile(waiting: ArrayLike, rate: ArrayLike, level: ArrayLike) -> Array:
    """Return the quantile of wait plus service: service is exponential with mean 1.

    A share `waiting` waits, an exponential time of that rate.
    """
    return in_blocks(_sojourn, waiting, rate, level)


def sojourn_quantile_slopes(
    waiting: ArrayLike, rate: ArrayLike, level: ArrayLike
) -> tuple[Array, Array, Array]:
    """Return the derivatives of `sojourn_quantile` by the share, the rate and the level."""
    return triple_in_blocks(_sojourn_slopes, waiting, rate, level)


def gamma_quantile(load: ArrayLike, variation: ArrayLike, level: ArrayLike) -> Array:
    """Return an upper bound of the quantile of wait plus service in M/G/1, service times gamma."""
    return in_blocks(_gamma, load, variation, level)


def gamma_quantile_slopes(
    load: ArrayLike, variation: ArrayLike, level: ArrayLike
) -> tuple[Array, Array, Array]:
    """Return the derivatives of `gamma_quantile` by the load, the variation and the level.

    By the load not-a-number at no load, where the bound jumps to what is exact; by the variation
    at none.
    """
    return triple_in_blocks(_gamma_slopes, load, variation, level)


def normal_tail(distance: ArrayLike) -> Array:
    """Return the share of a normal law that lies more than so many deviations above its mean."""
    return in_blocks(gamma_arrays.normal_tail, distance)


def normal_tail_slopes(distance: ArrayLike) -> tuple[Array]:
    """Return the derivative of `normal_tail`."""
    return (in_blocks(lambda x: -_gaussian(x), distance),)


def normal_quantile(level: ArrayLike) -> Array:
    """Return how many deviations above its mean a normal law has a share below it."""
    return in_blocks(gamma_arrays.normal_quantile, level)


def normal_quantile_slopes(level: ArrayLike) -> tuple[Array]:
    """Return the derivative of `normal_quantile`."""
    return (in_blocks(lambda p: 1 / _gaussian(gamma_arrays.normal_quantile(p)), level),)


def _gaussian(distance: Array) -> Array:
    bell: Array = np.exp(-distance * distance / 2) / np.sqrt(2 * np.pi)
    return bell


# -- exponential service -----------------------------------------------------------------


def _sojourn(waiting: Array, rate: Array, level: Array) -> Array:
    found = np.full(level.shape, np.nan)
    is_share = (level >= 0) & (level < 1)
    is_plain = is_share & (rate > 0) & (waiting >= 0) & (waiting <= 1)
    filled(is_plain, found, _sojourn_root, waiting, rate, level)
    found[is_share & (rate <= 0) & ~np.isnan(waiting)] = np.inf
    return found


def _sojourn_root(waiting: Array, rate: Array, level: Array) -> Array:
    goal, slower = -np.log1p(-level), np.minimum(1.0, rate)
    # S is at least exp(-t), and by Chernoff's bound at most 4 exp(-s t/2).
    low, high = goal, 2 * (goal + np.log(4)) / slower
    late = waiting * np.minimum(goal / slower, 1 / np.abs(rate - 1))
    start = np.where(rate < 1, goal + np.log(late), goal + np.log1p(late)) / slower
    start = np.clip(np.nan_to_num(start, neginf=0.0), low, high)
    found = falling_root(_sojourn_excess, low, high, start, waiting, rate, goal)
    return np.where(level == 0, 0.0, found)


def _sojourn_excess(time: Array, waiting: Array, rate: Array, goal: Array) -> tuple[Array, Array]:
    """Return log S + goal, and its slope."""
    served, late = np.exp(-time), waiting * _wait_share(time, rate)
    within = -np.expm1(-time) - late
    logarithm = np.where(within < _HALF, np.log1p(-within), np.log(served + late))
    return logarithm + goal, -_sojourn_density(time, waiting, rate) / (served + late)


def _wait_share(time: Array, rate: Array) -> Array:
    """Return how much more than a service the time is, in share, where all wait."""
    apart = np.abs(rate - 1) * time
    mixed = np.where(apart > 0, time * (-np.expm1(-apart) / apart), time)
    return np.exp(-np.minimum(1.0, rate) * time) * mixed


def _sojourn_density(time: Array, waiting: Array, rate: Array) -> Array:
    late = np.where(np.isinf(rate), np.exp(-time), rate * _wait_share(time, rate))
    return (1 - waiting) * np.exp(-time) + waiting * late


def _sojourn_slopes(waiting: Array, rate: Array, level: Array) -> tuple[Array, Array, Array]:
    time = _sojourn(waiting, rate, level)
    time = np.where(np.isfinite(time), time, np.nan)
    density = _sojourn_density(time, waiting, rate)
    apart = np.abs(rate - 1) * time
    series, power = np.zeros(time.shape), np.full(time.shape, 1.0)
    is_faster = rate >= 1
    factor = 1.0
    for n in range(2, _TERMS):
        factor /= n
        series += np.where(is_faster, 1 - n, -1) * factor * power
        power = power * -apart
    fading = np.exp(-apart)
    above = np.where(is_faster, (1 + apart) * fading - 1, 1 - apart - fading)
    bent = np.where(apart < _SMALL, series, above / (apart * apart))
    by_rate = waiting * np.exp(-np.minimum(1.0, rate) * time) * time * time * bent / density
    by_share, by_level = _wait_share(time, rate) / density, 1 / density
    return by_share, by_rate, by_level


# -- gamma service -----------------------------------------------------------------------


def _gamma(load: Array, variation: Array, level: Array) -> Array:
    found = np.full(level.shape, np.nan)
    is_there = (level >= 0) & (level < 1) & (load >= 0) & (variation >= 0)
    is_there &= np.isfinite(variation)
    is_plain = is_there & (load > 0) & (load < 1) & (variation > 0)
    filled(is_plain, found, _gamma_root, load, variation, level)
    is_idle = is_there & (load == 0) & (variation > 0)
    filled(is_idle, found, _idle, variation, level)
    is_even = is_there & (load < 1) & (variation == 0)
    filled(is_even, found, lambda r, p: 1 + md1_quantile(r, p), load, level)
    found[is_there & (load >= 1)] = np.inf
    return found


def _idle(variation: Array, level: Array) -> Array:
    """Return what a share of service times lies below; from where Wilson and Hilferty see it."""
    shape, goal, far = 1 / variation, -np.log1p(-level), -variation * np.log1p(-level)
    high = 1 + np.sqrt(2 * far) + far  # by Chernoff's bound
    start = 1 - variation / 9 + gamma_arrays.normal_quantile(level) * np.sqrt(variation / 9)
    low = np.exp((np.log(level) + log_gamma(shape + 1)) / shape) / shape
    start = np.minimum(np.where(start > 0, start**3, low), high)
    found = falling_root(_idle_excess, np.zeros(level.shape), high, start, shape, level, goal)
    return np.where(level == 0, 0.0, found)


def _idle_excess(time: Array, shape: Array, level: Array, goal: Array) -> tuple[Array, Array]:
    """Return by how much the smaller of both shares is over what it is to be, and its slope."""
    is_low = level < _HALF
    share = np.where(is_low, lower_share(shape, shape * time), upper_share(shape, shape * time))
    value = np.where(is_low, np.log(level / share), np.log(share) + goal)
    value = np.where((share > 0) & (time > 0), value, np.where(is_low, np.inf, -np.inf))
    return value, -_density(shape, time) / share


def _density(shape: Array, time: Array) -> Array:
    """Return the density of a gamma law of mean 1."""
    return shape / inverse_poisson(shape, shape * time) / time


def _gamma_root(load: Array, variation: Array, level: Array) -> Array:
    variation = np.maximum(variation, _LEAST_VARIATION)  # more of it waits longer
    growth, goal = log_growth(load, variation), -np.log1p(-level)
    high = (growth + goal) / decay(growth, variation)  # by Chernoff's bound
    low = np.zeros(load.shape)
    known = log_gamma(1 / variation + 1)
    found = falling_root(_gamma_excess, low, high, high, growth, variation, goal, known)
    return np.where(level == 0, 0.0, found)


def _gamma_excess(
    time: Array, growth: Array, variation: Array, goal: Array, log_factorial: Array
) -> tuple[Array, Array]:
    """Return log S + goal, and its slope."""
    longer, late = _gamma_parts(time, growth, variation, log_factorial)
    total = longer + late
    return np.log(total) + goal, -decay(growth, variation) * late / total


def _gamma_parts(
    time: Array, growth: Array, variation: Array, log_factorial: Array | None = None
) -> tuple[Array, Array]:
    """Return the share in which service alone takes longer, and that in which it does not.

    S is the law of a service and an exponential time of rate z: -z times the second is its slope.
    """
    shape, tilt = 1 / variation, np.exp(-variation * growth)
    grown = np.exp(np.minimum(growth - decay(growth, variation) * time, _LARGEST))
    within = lower_share(shape, shape * time * tilt, log_factorial)
    return upper_share(shape, shape * time, log_factorial), grown * within


def _gamma_slopes(load: Array, variation: Array, level: Array) -> tuple[Array, Array, Array]:
    time = _gamma(load, variation, level)
    slopes = tuple(np.full(time.shape, np.nan) for _ in range(3))
    is_plain = np.isfinite(time) & (load > 0) & (variation > 0)
    for is_among, function in (
        (is_plain, _gamma_root_slopes),
        (np.isfinite(time) & (load == 0) & (variation > 0), _idle_slopes),
        (np.isfinite(time) & (variation == 0), _even_slopes),
    ):
        if is_among.any():
            parts = function(*(one[is_among] for one in (load, variation, level, time)))
            for into, part in zip(slopes, parts, strict=True):
                into[is_among] = part
    return slopes[0], slopes[1], slopes[2]


def _gamma_root_slopes(
    load: Array, variation: Array, _level: Array, time: Array
) -> tuple[Array, Array, Array]:
    variation = np.maximum(variation, _LEAST_VARIATION)
    growth = log_growth(load, variation)
    falling, tilt, shape = decay(growth, variation), np.exp(-variation * growth), 1 / variation
    _, late = _gamma_parts(time, growth, variation)
    density = falling * late
    inner = lower_share(shape + 1, shape * time * tilt) / tilt
    by_decay = np.exp(growth - falling * time) * inner - time * late
    by_load = by_decay * (tilt * log_growth_by_load(load, variation, growth)) / density

    def share(other: Array) -> Array:
        longer, late = _gamma_parts(time, log_growth(load, other), other)
        return longer + late

    return by_load, _by_variation(share, variation) / density, 1 / density


def _by_variation(share: Callable[[Array], Array], variation: Array) -> Array:
    """Return the slope by the variation, of which gamma functions have no formula.

    By differences of fourth order, in steps that suit how narrow the law is: to ten digits.
    """
    step = variation * (_NUDGE / (1 + 1 / np.sqrt(variation)))
    total = np.zeros(variation.shape)
    for steps, weight in _STENCIL:
        total += weight * share(variation + steps * step)
    return total / step


def _idle_slopes(
    load: Array, variation: Array, _level: Array, time: Array
) -> tuple[Array, Array, Array]:
    shape = 1 / variation
    density = _density(shape, time)

    def share(other: Array) -> Array:
        return upper_share(1 / other, time / other)

    by_variation = np.where(time > 0, _by_variation(share, variation) / density, 0.0)
    return np.full(load.shape, np.nan), by_variation, 1 / density


def _even_slopes(
    load: Array, _variation: Array, level: Array, _time: Array
) -> tuple[Array, Array, Array]:
    by_load, by_level = md1_quantile_slopes(load, level)
    return by_load, np.full(load.shape, np.nan), by_level
