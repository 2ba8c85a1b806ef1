"""Panels in which the law of a time is smooth: where they begin, and the law between their nodes.

A law that is asked at many times is computed at the nodes of each panel once. Between these it is
the polynomial through them, in its barycentric form (Berrut and Trefethen 2004).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, lru_cache
from math import floor, log2

import numpy as np

from qps.engine.distributions.stage_tails import PhaseTimeDistribution
from qps.engine.distributions.stages import NARROW, OPERANDS
from qps.engine.distributions.sum_numbers import KINKED
from qps.engine.numerics.array_blocks import Array, gauss_rule

_LEAST_POWER, _MOST_POWER = -36, 36
"""Panels grow by two, from 2^-36 of the scale of a law at the least to 2^36 of it."""
_FINER = -8
"""Where a law begins smoothly they begin at 2^-8 of the shortest time that is in it."""
_KINKS = 3
"""So many kinks of a law of waits for what is nearly always the same are ends of panels."""
_FEW, _MANY = 16, 48


class PanelLaw:
    """A law between points: computed at the nodes of each panel, once this is asked for."""

    def __init__(self, law: PhaseTimeDistribution, points: Array) -> None:
        self._law, self._points = law, points
        self._places, self._by = _between(_rule(law))
        panels = max(0, len(points) - 1)
        self._is_known = np.zeros(panels, dtype=bool)
        self._values = np.empty((2, panels, len(self._places)))

    def longer(self, times: Array) -> tuple[Array, Array]:
        """Return which share takes longer than each time, and the density there."""
        points = self._points
        if len(points) < 2:  # noqa: PLR2004 - there is no panel
            return self._law.longer(times)
        panel = np.searchsorted(points, times, side="right") - 1
        is_within = (points[0] < times) & (times < points[-1])
        found = np.empty((2, times.size))
        if not is_within.all():
            found[:, ~is_within] = self._law.longer(times[~is_within])
        at = panel[is_within]
        self._learn(at)
        middle, half = self._panels
        away = ((times[is_within] - middle[at]) / half[at])[:, None] - self._places
        is_node = away == 0
        weights = self._by / np.where(is_node, 1.0, away)
        weights = np.where(is_node.any(axis=1)[:, None], is_node, weights)
        for row, values in zip(found, self._values, strict=True):
            row[is_within] = (weights * values[at]).sum(axis=1) / weights.sum(axis=1)
        return np.clip(found[0], 0.0, 1.0), np.maximum(found[1], 0.0)

    @cached_property
    def _panels(self) -> tuple[Array, Array]:
        begin, end = self._points[:-1], self._points[1:]
        return (begin + end) / 2, (end - begin) / 2

    def _learn(self, panels: Array) -> None:
        """Compute the law at the nodes of panels, of those that are not known."""
        is_needed = np.zeros(len(self._is_known), dtype=bool)
        is_needed[panels] = True
        is_needed &= ~self._is_known
        if not is_needed.any():
            return
        middle, half = (one[is_needed, None] for one in self._panels)
        times = middle + half * self._places
        for values, found in zip(self._values, self._law.longer(times.ravel()), strict=True):
            values[is_needed] = found.reshape(times.shape)
        self._is_known |= is_needed


def points_of(
    starts: Sequence[float], stages: Sequence[float], *, has_spare: bool = False
) -> Array:
    """Return points at which panels begin: away from each time at which a law starts, by powers.

    What varies more than an exponential time begins with no end of short ones, and the first of
    many calls are there far sooner than one. Laws of waits for what is nearly always the same have
    kinks.
    """
    groups = [stages[at : at + OPERANDS] for at in range(0, len(stages), OPERANDS)]
    times = [time for _, _, work, _, _, service, *_ in groups for time in (work, service) if time]
    scale = sum(times) or 1.0
    varies = max(max(spread, variation) for _, _, _, spread, _, _, variation, *_ in groups)
    most_servers = max(1.0, *(servers for _, _, _, _, servers, *_ in groups))
    shortest = min(times, default=1.0) / (scale * most_servers)
    is_smooth = varies <= 1 and not has_spare
    finest = floor(log2(shortest)) + _FINER if is_smooth else _LEAST_POWER
    away = scale * 2.0 ** np.arange(float(max(_LEAST_POWER, finest)), float(_MOST_POWER))
    each = np.arange(1, _KINKS + 1)
    kinks = [
        each * work / (servers or 1.0)
        for waits, _, work, spread, servers, *_ in groups
        if waits and work and spread < NARROW
    ]
    further = np.concatenate([away, *kinks])
    return np.unique(np.concatenate([np.array(starts), *(start + further for start in starts)]))


def nodes(points: Sequence[float], *laws: PhaseTimeDistribution) -> tuple[Array, Array]:
    """Return where, and with which weights, panels are summed: of narrow laws at more places."""
    at, by = gauss_rule(max(map(_rule, laws)))
    begin, end = np.array(points[:-1])[:, None], np.array(points[1:])[:, None]
    half = (end - begin) / 2
    return ((begin + end) / 2 + half * at).ravel(), (half * by).ravel()


def _rule(law: PhaseTimeDistribution) -> int:
    return _MANY if len(law.terms) == len(KINKED) else _FEW


@lru_cache(maxsize=4)
def _between(count: int) -> tuple[Array, Array]:
    """Return the nodes of a rule of Gauss and Legendre, and their barycentric weights."""
    at, by = gauss_rule(count)
    order = np.argsort(at)
    found = np.empty(count)
    found[order] = (-1.0) ** np.arange(count) * np.sqrt((1 - at[order] ** 2) * by[order])
    return at, found
