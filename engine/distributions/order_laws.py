"""The law of the k-th shortest of n independent times: its mean, and its sum with another time."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, log

import numpy as np
from msgspec import Struct

from qps.engine.distributions.order_levels import log_beta, share_of_orders
from qps.engine.distributions.panel_laws import PanelLaw, nodes, points_of
from qps.engine.distributions.stage_tails import PhaseTimeDistribution
from qps.engine.numerics.array_blocks import Array

_DIGITS = 35.0
"""Shares of the longest times have digits down to e to the minus this."""
_NOTHING = 1e-14
_OTHER, _SMALL = 20.0, 1e-9
"""Of what is other, so many digits more than those of the share that is sought."""
_SHARES = np.frompyfunc(share_of_orders, 3, 1)


class OrderLaw(Struct, frozen=True, kw_only=True):
    """The first `answers` of calls that take a time of a `law` each; `spare` are the others.

    `fixed` are the times at which it may jump, and `jumps` by how much; `points` are those between
    which panels lie, as far as it moves there. `panels` have the law of a call between these.
    """

    law: PhaseTimeDistribution
    panels: PanelLaw
    answers: float
    spare: float
    fixed: tuple[float, ...]
    jumps: tuple[float, ...]
    points: tuple[float, ...]

    @staticmethod
    def of(stages: Sequence[float], answers: float, spare: float) -> OrderLaw | None:
        """Return the law of calls that pass stages, None where these have too many ways."""
        law = PhaseTimeDistribution.of(stages, log(answers + spare) + _DIGITS)
        if law is None:
            return None
        jumps = []
        for time, share in law.fixed:
            after = law.longer(np.array([time * (1 + _NOTHING)]))[0]
            both = np.array([after[0] + share, after[0]])
            before, behind = _missing(np.minimum(both, 1.0), answers, spare)
            jumps.append(float(before - behind) if share > 0 else 0.0)
        fixed = tuple(time for time, _ in law.fixed)
        points = points_of(fixed, stages, has_spare=spare > 0)
        missing = _missing(law.longer(points)[0], answers, spare)
        is_first = np.append(missing[1:], 0.0) < 1 - _NOTHING
        is_last = np.insert(missing[:-1], 0, 1.0) > _NOTHING
        some = points[is_first & is_last]
        return OrderLaw(
            law=law,
            panels=PanelLaw(law, some),
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

    def longer_with(self, other: OtherTime, time: float) -> tuple[float, float]:
        """Return which share takes longer than a time with an independent one besides.

        The second is the density there.
        """
        least, after = other.least, np.array([time - at for at, _ in other.law.fixed])
        found = float(self.missing(after[:1])[0]) if time > least else 1.0
        density = sum(
            share * one
            for (_, share), one in zip(other.law.fixed, self.density(after), strict=True)
        )
        for at, jump in zip(self.fixed, self.jumps, strict=True):
            if jump and at <= time - least:
                late, moves = other.law.longer(np.array([time - at]))
                found += jump * float(late[0])
                density += jump * float(moves[0])
        if not self.points:
            return min(1.0, found), density
        # Beyond these points either of both is next to never.
        furthest = other.points[-1] if other.points else inf
        first, last = max(self.points[0], time - furthest), min(time - least, self.points[-1])
        if first >= last:
            return min(1.0, found), density
        inner = (p for p in (*self.points, *(time - p for p in other.points)) if first < p < last)
        times, weights = nodes(sorted({first, last, *inner}), self.law, other.law)
        each = weights * self.density(times)
        late, moves = other.panels.longer(time - times)
        return min(1.0, found + float((each * late).sum())), density + float((each * moves).sum())

    def density(self, times: Array) -> Array:
        """Return the density of the time until answers are there, but for what it jumps by."""
        shares, densities = self.panels.longer(times)
        moves = (times > self.fixed[0]) & (shares > 0) & (shares < 1) & (densities > 0)
        found = np.zeros(times.shape)
        by = order_density(shares[moves], self.answers, self.spare)
        found[moves] = by * densities[moves]
        return found


class OtherTime(Struct, frozen=True, kw_only=True):
    """The time that is taken besides: at `least` so much, with the points between its panels."""

    law: PhaseTimeDistribution
    panels: PanelLaw
    least: float
    points: tuple[float, ...]

    @staticmethod
    def of(stages: Sequence[float], late: float) -> OtherTime | None:
        """Return that of stages, None where these have too many ways; a share `late` is sought."""
        law = PhaseTimeDistribution.of(stages, -log(late) + _OTHER)
        if law is None:
            return None
        points = points_of([time for time, _ in law.fixed], stages)
        shares = law.longer(points)[0]
        is_first, is_last = np.append(shares[1:], 0.0), np.insert(shares[:-1], 0, 1.0)
        some = points[(is_first < 1 - _SMALL) & (is_last > _SMALL * late)]
        found = tuple(float(one) for one in some)
        panels = PanelLaw(law, some)
        return OtherTime(law=law, panels=panels, least=law.fixed[0][0], points=found)


def _missing(shares: Array, answers: float, spare: float) -> Array:
    if not spare:
        with np.errstate(divide="ignore"):
            return np.asarray(-np.expm1(answers * np.log1p(-shares)))
    return shares_of_orders(shares, answers, spare)


def shares_of_orders(shares: Array, answers: float | Array, spare: float | Array) -> Array:
    """Return with which probability answers are missing where so many calls still go on."""
    return np.asarray(_SHARES(shares, answers, spare), dtype=float)


def order_density(shares: Array, answers: float, spare: float) -> Array:
    """Return the slope of the probability that answers are missing by the share of longer times."""
    a, b = spare + 1, answers
    logarithms = (a - 1) * np.log(shares) + (b - 1) * np.log1p(-shares) - log_beta(a, b)
    return np.asarray(np.exp(np.minimum(logarithms, 700.0)))
