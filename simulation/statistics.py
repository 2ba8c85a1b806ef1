"""Results of independent runs: means with intervals, by Student's t, and where to cut warming up.

One cut is common to all runs: cut run by run, busy stretches are deleted, and the tail reads low.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from msgspec import Struct

from qps.compiler.measurement.student_t import student_quantile

_ROUNDINGS = 1e-7
"""Times are differences of what a clock shows, which is large."""
_NEARLY_BEST = 1.25
"""Where nothing warms up, the best cut is one by chance, and costs what it cuts."""


class Estimate(Struct, frozen=True):
    """A mean over runs, its standard error, and how many runs it is of."""

    mean: float
    error: float
    runs: int

    def half_width(self, level: float = 0.95) -> float:
        """Return half the width of the interval that covers the truth so often."""
        if self.error == 0:
            return 0.0
        return student_quantile(1 - (1 - level) / 2, self.runs - 1) * self.error


def estimate(values: Sequence[float]) -> Estimate:
    """Return the results of runs together; each of them counts alike."""
    count = len(values)
    mean = math.fsum(values) / count
    if count == 1:
        return Estimate(mean, math.inf, 1)
    # What comes of roundings is no spread. Squares of times may be beyond all floats.
    deviation = math.hypot(*(value - mean for value in values)) / math.sqrt(count - 1)
    if deviation <= _ROUNDINGS * abs(mean):
        deviation = 0.0
    return Estimate(mean, deviation / math.sqrt(count), count)


def warm_up(series: Sequence[Sequence[float]], least: float, most: float) -> float:
    """Return the share of a run that is cut, for all runs, by MSER on the mean over the runs.

    That is the first cut at which the mean of what is left is known nearly as well as at the best
    one (White, Cobb and Spratt 2000), between two shares.
    """
    count = min(len(one) for one in series)
    if count == 0:
        return least
    means = [math.fsum(one[k] for one in series) / len(series) for k in range(count)]
    first, last = math.ceil(least * count), math.floor(most * count)
    scores: dict[int, float] = {}
    for cut in range(first, max(first, last) + 1):
        rest = means[cut:]
        if len(rest) < 2:  # noqa: PLR2004
            break
        middle = math.fsum(rest) / len(rest)
        scores[cut] = math.hypot(*(value - middle for value in rest)) / len(rest)
    if not scores:
        return least
    best = min(scores.values())
    found = next(cut for cut, score in scores.items() if score <= math.sqrt(_NEARLY_BEST) * best)
    return max(least, found / count)
