"""How fast a station serves several requests together: the universal scalability law."""

from __future__ import annotations

from typing import Any

from msgspec import Struct


class ScalabilityLaw(Struct, frozen=True, kw_only=True):
    """A load-dependent station, and the delay of a cycle besides.

    `demand` (s) is the time that a request takes at the station while it is alone there, `delay`
    (s) the rest of its cycle. `contention` is the share of the work that is serialized, `coherency`
    the share that is exchanged between each two requests in service; `parallel` is how many are
    executed at once, None where no limit shows.

    The speed is the universal scalability law (N. J. Gunther, Guerrilla Capacity Planning, 2007,
    chapter 4), with a limit: of `j` requests in service, e = min(j, parallel) are executed at once,
    and

        speed(j) = e / (1 + contention (e - 1) + coherency e (j - 1))

    so that without a limit it is the law as published.
    """

    demand: float
    delay: float = 0.0
    contention: float = 0.0
    coherency: float = 0.0
    parallel: float | None = None

    def speed(self, count: int) -> float:
        """Return how fast so many requests, at least 1, are served together: 1 is one alone.

        >>> [ScalabilityLaw(demand=1.0, contention=0.25).speed(count) for count in (1, 2, 3)]
        [1.0, 1.6, 2.0]
        >>> [ScalabilityLaw(demand=1.0, coherency=0.1, parallel=2.0).speed(n) for n in (2, 3)]
        [1.6666666666666667, 1.4285714285714286]
        """
        return float(
            self.speed_of(count if self.parallel is None else min(count, self.parallel), count)
        )

    def speed_of(self, served: Any, present: Any) -> Any:
        """Return how fast `present` requests are served of which `served` are executed at once.

        Numbers, or arrays of as many.
        """
        slowed = (served - 1) * self.contention + served * (present - 1) * self.coherency
        return served / (slowed + 1)
