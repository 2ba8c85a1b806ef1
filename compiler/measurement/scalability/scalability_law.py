"""How fast a station serves several requests together: the universal scalability law."""

from __future__ import annotations

from typing import Any

from msgspec import Struct


class ScalabilityLaw(Struct, frozen=True, kw_only=True):
    """A load-dependent station, and the delay of a cycle besides.

    `demand` (s) is the time that a request takes at the station while it is alone there, `delay`
    (s) the rest of its cycle. `contention` is the share of the work that is serialized, `coherency`
    the share that is exchanged between each two requests in service; `parallel` is how many are
    executed at full speed at once, None where no limit shows. Beyond it, up to twice as many are
    executed at the share `bonus` of that speed: hardware threads that share a core.

    The speed is the universal scalability law (N. J. Gunther, Guerrilla Capacity Planning, 2007,
    chapter 4), with a limit: of `j` requests in service,

        e = min(j, parallel) + bonus min(max(j - parallel, 0), parallel)

    are executed at once, and

        speed(j) = e / (1 + contention (e - 1) + coherency e (j - 1))

    so that without a limit it is the law as published.
    """

    demand: float
    delay: float = 0.0
    contention: float = 0.0
    coherency: float = 0.0
    parallel: float | None = None
    bonus: float = 0.0

    def speed(self, count: int) -> float:
        """Return how fast so many requests, at least 1, are served together: 1 is one alone.

        >>> [ScalabilityLaw(demand=1.0, contention=0.25).speed(count) for count in (1, 2, 3)]
        [1.0, 1.6, 2.0]
        >>> [ScalabilityLaw(demand=1.0, coherency=0.1, parallel=2.0).speed(n) for n in (2, 3)]
        [1.6666666666666667, 1.4285714285714286]
        >>> [ScalabilityLaw(demand=1.0, parallel=2.0, bonus=0.25).speed(n) for n in (2, 3, 4, 5)]
        [2.0, 2.25, 2.5, 2.5]
        """
        served: float = count
        if self.parallel is not None:
            shared = min(max(count - self.parallel, 0.0), self.parallel)
            served = min(count, self.parallel) + self.bonus * shared
        return float(served / self.slowed(served, count))

    def slowed(self, served: Any, present: Any) -> Any:
        """Return by how much `present` requests slow each other of which `served` are executed.

        Numbers, or arrays of as many.
        """
        return (served - 1) * self.contention + served * (present - 1) * self.coherency + 1
