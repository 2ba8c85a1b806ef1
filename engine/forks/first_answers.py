"""The time until the first of many equal calls have answered, each of an exponential time.

While i of n calls are out, one comes back at the rate i r: the time until the first k are there is
a sum of independent exponential times, i = n - k + 1 .. n (Renyi 1953). So its transform is, with
z = s/r,

    the product of i/(i + z) = G(a + z) G(a + b)/(G(a) G(a + b + z)), a = n - k + 1, b = k,

with G of the gamma function: a few factors, and Stirling's series behind them.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from qps.engine.distributions.sum_transforms import Complex
from qps.engine.forks.phase_times import COLUMNS
from qps.engine.numerics.array_blocks import Array

_AWAY = 8
"""So far from zero Stirling's series has all digits."""
_SERIES = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360_360)
"""By what it counts odd powers."""


class FirstAnswers(Struct, frozen=True, kw_only=True):
    """The first `answers` of calls, each at a `rate`; `spare` are the others."""

    answers: Array
    spare: Array
    rate: Array

    @property
    def mass(self) -> Array:
        """The chance that it is taken."""
        return np.ones(self.rate.shape)

    @property
    def done(self) -> Array:
        """The chance that it takes no time."""
        return np.zeros(self.rate.shape)

    @property
    def nearest(self) -> Array:
        """How far left of zero there is no singularity."""
        return (self.spare + 1) * self.rate

    @property
    def mean(self) -> Array:
        """The sum of the means."""
        least = self.spare + 1
        found = np.zeros(self.rate.shape)
        for k in range(_AWAY):
            found = found + 1 / (least + k) - 1 / (least + self.answers + k)
        more = _digamma(least + self.answers + _AWAY) - _digamma(least + _AWAY)
        return np.asarray((found + more) / self.rate)

    def transform(self, at: Complex) -> Complex:
        """Return E exp(-s T); terms stand in rows, elements in columns."""
        count = at.shape[1]
        if count <= COLUMNS:
            return _transform(self, at)
        parts = [slice(k, k + COLUMNS) for k in range(0, count, COLUMNS)]
        return np.concatenate([_transform(self._of(one), at[:, one]) for one in parts], axis=1)

    def _of(self, part: slice) -> FirstAnswers:
        return FirstAnswers(
            answers=self.answers[part], spare=self.spare[part], rate=self.rate[part]
        )


def _transform(first: FirstAnswers, at: Complex) -> Complex:
    z, least = at * (1 / first.rate), first.spare + 1
    most = least + first.answers
    is_few = bool((first.answers < _AWAY).any())  # z may be as far left of zero as `least`
    found = np.ones_like(z)
    for k in range(0, _AWAY, 2):  # by twos: products of more have no end where times are short
        found *= _inverse((1 + z * (1 / (least + k))) * (1 + z * (1 / (least + k + 1))))
        if is_few:
            found *= (1 + z * (1 / (most + k))) * (1 + z * (1 / (most + k + 1)))
    return np.asarray(found * np.exp(_ratio(least + _AWAY, most + _AWAY * is_few, z)))


def _ratio(low: Array, high: Array, z: Complex) -> Complex:
    """Return log(G(low + z) G(high)/(G(low) G(high + z))), all of them far from zero."""
    away, first = high - low, low + z
    last = first + away
    found = (0.5 - first) * _log1p(away * _inverse(first)) - away * _log1p(z * (1 / high))
    found += (low - 0.5) * np.log1p(away / low) - _rest(1 / low) + _rest(1 / high)
    return np.asarray(found + _rest(_inverse(first)) - _rest(_inverse(last)))


def _log1p(z: Complex) -> Complex:
    """Return log(1 + z), right of -1: by real numbers, as of complex ones it takes far longer."""
    found = np.empty_like(z)
    found.real = np.log1p(z.real * (2 + z.real) + z.imag**2) / 2
    found.imag = np.arctan(z.imag / (1 + z.real))
    return found


def _inverse(z: Complex) -> Complex:
    return np.asarray(np.conj(z) * (1 / (z.real**2 + z.imag**2)))


def _rest(inverse: Array | Complex) -> Array | Complex:
    """Return Stirling's series at a number of that inverse."""
    square = inverse * inverse
    found = np.zeros_like(inverse)
    for one in reversed(_SERIES):
        found = found * square + one
    return found * inverse


def _digamma(x: Array) -> Array:
    """Return the slope of log G."""
    found = np.log(x) - 1 / (2 * x)
    for power, one in enumerate(_SERIES):
        found = found - one * (2 * power + 1) / x ** (2 * power + 2)
    return np.asarray(found)
