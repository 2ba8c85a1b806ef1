"""Sums by windows of time, in bounded memory: how far a mean may be off, load and all.

Requests that come close to each other wait for the same reasons, so their times say less than as
many independent ones would. Means of windows do not depend on each other in that way: how much they
vary says how certain the mean of all is.
"""

from __future__ import annotations

from collections.abc import Collection
from math import sqrt

from msgspec import Struct, field

from qps.compiler.measurement.student_t import student_quantile

LEVEL = 0.975
FEWEST = 3
_MOST = 16
_NARROWEST = 1_000_000_000


class TimeWindows(Struct, kw_only=True):
    """Sums of weights and values by windows of `width` ns, which grow as time goes on."""

    width: int = _NARROWEST
    sums: dict[int, tuple[float, float]] = field(default_factory=dict)

    def add(self, at: int, value: float, weight: float) -> None:
        """Count a value at a time in ns."""
        number = at // self.width
        while number not in self.sums and len(self.sums) >= _MOST:
            self._widen()
            number = at // self.width
        weights, values = self.sums.get(number, (0.0, 0.0))
        self.sums[number] = (weights + weight, values + value * weight)

    def _widen(self) -> None:
        old, self.sums = self.sums, {}
        self.width *= 2
        for number, (weights, values) in old.items():
            others = self.sums.get(number // 2, (0.0, 0.0))
            self.sums[number // 2] = (others[0] + weights, others[1] + values)

    @property
    def spread(self) -> float | None:
        """How far the mean may be off (95 %), relative; None where there are too few windows."""
        return ratio_spread(self.sums.values())


def ratio_spread(windows: Collection[tuple[float, float]]) -> float | None:
    """Return how far the ratio of sums may be off (95 %), relative, by the windows added up.

    Each has the amount below the line and the amount above it; None for fewer than three.
    """
    count = len(windows)
    below, above = (sum(one[place] for one in windows) for place in (0, 1))
    if count < FEWEST or below <= 0 or above <= 0:
        return None
    ratio = above / below
    squares = sum((value - ratio * weight) ** 2 for weight, value in windows) / (count - 1)
    return student_quantile(LEVEL, count - 1) * sqrt(squares * count) / above
