"""The law of the k-th shortest of n independent times: its mean, and its sum with another time."""

from __future__ import annotations

from collections.abc import Sequence
from math import log

import numpy as np
from msgspec import Struct

from qps.engine.distributions.order_levels import log_beta, share_of_orders
from qps.engine.distributions.stage_tails import Law
from qps.engine.distributions.stages import OPERANDS
from qps.engine.distributions.sum_numbers import KINKED
from qps.engine.numerics.array_blocks import Array

_DIGITS = 35.0
"""Shares of the longest times have digits down to e to the minus this."""
_NOTHING = 1e-14
_OTHER, _SMALL = 20.0, 1e-9
"""Of what is other, so many digits more than those of the share that is sought."""
_POWERS = np.arange(-36.0, 36.0)
"""Panels grow by two from 2^-36 of the scale of a law to 2^36 of it."""
_FEW, _MANY = np.polynomial.legendre.leggauss(16), np.polynomial.legendre.leggauss(48)
_SHARES = np.frompyfunc(share_of_orders, 3, 1)


class OrderLaw(Struct, frozen=True, kw_only=True):
    """The first `answers` of calls that take a time of a `law` each; `spare` are the others.

    `fixed` are the times at which it may jump, and `jumps` by how much; `points` are those between
    which panels lie, as far as it moves there.
    """

    law: Law
    answers: float
    spare: float
    fixed: tuple[float, ...]
    jumps: tuple[float, ...]
    points: tuple[float, ...]

    @staticmethod
    def of(stages: Sequence[float], answers: float, spare: float) -> OrderLaw | None:
        """Return the law of calls that pass stages, None where these have too many ways."""
        law = Law.of(stages, log(answers + spare) + _DIGITS)
        if law is None:
            return None
        jumps = []
        for time, share in law.fixed:
            after = law.longer(np.array([time * (1 + _NOTHING)]))[0]
            both = np.array([after[0] + share, after[0]])
            before, behind = _missing(np.minimum(both, 1.0), answers, spare)
            jumps.append(float(before - behind) if share > 0 else 0.0)
        fixed = tuple(time for time, _ in law.fixed)
        points = points_of(law, scale_of(stages))
        missing = _missing(law.longer(points)[0], answers, spare)
        is_first = np.append(missing[1:], 0.0) < 1 - _NOTHING
        is_last = np.insert(missing[:-1], 0, 1.0) > _NOTHING
        some = points[is_first & is_last]
        return OrderLaw(
            law=law,
            answers=answers,
            spare=spare,
            fixed=fixed,
            jumps=tuple(jumps),
            points=tuple(float(one) for one in some),
        )

    def missing(self, times: Array) -> Array:
        """Return with which probability answers are missing at each time."""
        return _missing(self.law.longer(times)[0], self.answers, self.spare)

    def mean(self) -> float:
        """Return the mean time until they are there."""
        if len(self.points) < 2:  # noqa: PLR2004 - it is always the same
            return self.fixed[0]
        times, weights = nodes(self.points, self.law)
        return self.points[0] + float((weights * self.missing(times)).sum())

    def longer_with(self, other: OtherTime, time: float) -> float:
        """Return which share takes longer than a time with an independent one besides."""
        least = other.least
        found = float(self.missing(np.array([time - least]))[0]) if time > least else 1.0
        for at, jump in zip(self.fixed, self.jumps, strict=True):
            if jump and at <= time - least:
                found += jump * float(other.law.longer(np.array([time - at]))[0][0])
        first, last = self.points[0] if self.points else time, time - least
        if first >= last:
            return min(1.0, found)
        inner = (p for p in (*self.points, *(time - p for p in other.points)) if first < p < last)
        times, weights = nodes(sorted({first, last, *inner}), self.law, other.law)
        shares, densities = self.law.longer(times)
        moves = (shares > 0) & (shares < 1) & (densities > 0)
        times, weights = times[moves], weights[moves]
        each = weights * order_density(shares[moves], self.answers, self.spare) * densities[moves]
        return min(1.0, found + float((each * other.law.longer(time - times)[0]).sum()))


class OtherTime(Struct, frozen=True, kw_only=True):
    """The time that is taken besides: at `least` so much, with the points between its panels."""

    law: Law
    least: float
    points: tuple[float, ...]

    @staticmethod
    def of(stages: Sequence[float], late: float) -> OtherTime | None:
        """Return that of stages, None where these have too many ways; a share `late` is sought."""
        law = Law.of(stages, -log(late) + _OTHER)
        if law is None:
            return None
        points = points_of(law, scale_of(stages))
        shares = law.longer(points)[0]
        is_first, is_last = np.append(shares[1:], 0.0), np.insert(shares[:-1], 0, 1.0)
        some = points[(is_first < 1 - _SMALL) & (is_last > _SMALL * late)]
        found = tuple(float(one) for one in some)
        return OtherTime(law=law, least=law.fixed[0][0], points=found)


def _missing(shares: Array, answers: float, spare: float) -> Array:
    if not spare:
        with np.errstate(divide="ignore"):
            return np.asarray(-np.expm1(answers * np.log1p(-shares)))
    return np.asarray(_SHARES(shares, answers, spare), dtype=float)


def order_density(shares: Array, answers: float, spare: float) -> Array:
    """Return the slope of the probability that answers are missing by the share of longer times."""
    a, b = spare + 1, answers
    logarithms = (a - 1) * np.log(shares) + (b - 1) * np.log1p(-shares) - log_beta(a, b)
    return np.asarray(np.exp(np.minimum(logarithms, 700.0)))


def scale_of(stages: Sequence[float]) -> float:
    """Return a time of the size of those that pass stages."""
    groups = [stages[at : at + OPERANDS] for at in range(0, len(stages), OPERANDS)]
    return sum(work + service for _, _, work, _, _, service, *_ in groups) or 1.0


def points_of(law: Law, scale: float) -> Array:
    """Return points at which panels begin: away from each time at which a law does, by powers."""
    starts = np.array([time for time, _ in law.fixed])
    away = scale * 2.0**_POWERS
    return np.unique(np.concatenate([starts, *(start + away for start in starts)]))


def nodes(points: Sequence[float], *laws: Law) -> tuple[Array, Array]:
    """Return where, and with which weights, panels are summed: of narrow laws at more places."""
    is_narrow = any(len(law.terms) == len(KINKED) for law in laws)
    at, by = _MANY if is_narrow else _FEW
    begin, end = np.array(points[:-1])[:, None], np.array(points[1:])[:, None]
    half = (end - begin) / 2
    return ((begin + end) / 2 + half * at).ravel(), (half * by).ravel()
