"""Times with weights on panels, and fewer of them where a transform hardly turns on a panel.

The transform is the sum of weights w times exp(-s t). On a panel of length h that is a polynomial
of degree n - 1 in t, up to (|s| h/4)^n 2/n!: so n times at Chebyshev's places contain as much as
all others on it, each with the sum of the weights times its Lagrange polynomial.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from qps.engine.numerics.array_blocks import Array

_LEVELS = ((3, 1e-3), (8, 0.5), (16, 5.0), (32, 20.0), (64, 60.0))
"""So many times determine the transform on a panel where |s| h is at most that: to 1e-11 of it."""
_NOTHING = 1e-18
"""What counts for less of the transform than that is left out."""


class WeightedPanels(Struct, frozen=True, kw_only=True, dict=True):
    """Panels in rows: times and weights. They begin, and are so long, as their times say."""

    times: Array
    weights: Array

    @staticmethod
    def of(times: Array, weights: Array) -> WeightedPanels:
        """Return those panels of which some weigh something."""
        is_there = weights.any(axis=1)
        return WeightedPanels(times=times[is_there], weights=weights[is_there])

    def thinned(self, most: float, low: float, high: float) -> tuple[Array, Array]:
        """Return times and weights for transforms up to a size, of real parts between two."""
        begin, end = self.times[:, 0], self.times[:, -1]
        turns = most * (end - begin)
        counts = self._counts(low, high)
        times, weights = [], []
        last = -1.0
        for (_, until), (some, each) in zip(_LEVELS, self.levels, strict=False):
            among = counts & (turns > last) & (turns <= until)
            times.append(some[among].ravel())
            weights.append(each[among].ravel())
            last = until
        among = counts & (turns > last)
        times.append(self.times[among].ravel())
        weights.append(self.weights[among].ravel())
        return np.concatenate(times), np.concatenate(weights)

    def _counts(self, low: float, high: float) -> NDArray[np.bool_]:
        """Return which panels count at some real part between two."""
        sizes = np.log(np.maximum(np.abs(self.weights).sum(axis=1), 1e-300))
        begin, end = self.times[:, 0], self.times[:, -1]
        counts = np.zeros(sizes.shape, dtype=bool)
        for real in (low, high):
            least, most = (
                sizes - real * (end if real > 0 else begin),
                sizes - real * (begin if real > 0 else end),
            )
            counts |= most >= least.max() + np.log(_NOTHING)
        return counts

    @cached_property
    def levels(self) -> list[tuple[Array, Array]]:
        """The same by fewer times, for each of the levels that have fewer."""
        found = []
        begin, end = self.times[:, :1], self.times[:, -1:]
        middle, half = (begin + end) / 2, np.maximum((end - begin) / 2, 1e-300)
        place = (self.times - middle) / half
        for count, _ in _LEVELS:
            if count >= self.times.shape[1]:
                break
            angles = (np.arange(count) + 0.5) * np.pi / count
            orders = np.cos(np.arange(count)[:, None] * np.arccos(np.clip(place, -1, 1))[:, None])
            moments = (orders * self.weights[:, None]).sum(axis=2)
            moments[:, 1:] *= 2
            weights = moments @ np.cos(np.arange(count)[:, None] * angles) / count
            found.append((middle + half * np.cos(angles), weights))
        return found
