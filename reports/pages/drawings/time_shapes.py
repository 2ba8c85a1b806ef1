"""What both drawings of a request consist of: stops with their times, and segments of bars.

The picture of the system has a bar in each box, the strip one in each row.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite

from msgspec import Struct

from qps.compiler.lower.response_time.response_stages import TimeSpent
from qps.reports.text.words.phrases import phrase

SPENT = {word: phrase(f"page.spent.{word}") for word in ("work", "wait", "delay")}
"""What time is spent with, and how that is reported."""

SPENT_WITH = {
    TimeSpent.WORK.value: "work",
    TimeSpent.TRANSFER.value: "work",
    TimeSpent.WAIT.value: "wait",
    TimeSpent.DELAY.value: "delay",
}
"""Which of these each kind of a step is."""

_LEAST_SHARE = 1e-6
"""Of the latency: what is less is not drawn."""


class Stop(Struct, frozen=True, kw_only=True):
    """A stop of a request on its path with the time there, in s, by what it is spent with."""

    name: str
    depth: int
    spent: Mapping[str, float]

    @property
    def value(self) -> float:
        """All of it, in s."""
        return sum(self.spent.values())


class Segment(Struct, frozen=True):
    """A part of a bar, and what its time is spent with."""

    spent: str
    x: float
    width: float


def is_drawn(total: float, duration: float) -> bool:
    """Return whether a time, in s, is a part of a latency that is worth drawing."""
    return duration > (_LEAST_SHARE * total if isfinite(total) else 0)


def share_of(total: float, duration: float) -> float:
    """Return which share of a latency a time is; all of an infinite one is what is infinite.

    >>> share_of(2.0, 0.5), share_of(0.0, 0.0), share_of(float("inf"), float("inf"))
    (0.25, 0.0, 1.0)
    """
    if not isfinite(total):
        return float(duration == total)
    return duration / total if total else 0.0
