"""Cores of a host that serve until the quota of a period is used up: a CPU limit.

A period begins by the clock, whatever is there, as in the scheduler of Linux. What is left of a
quota when a period ends is lost.
"""

from __future__ import annotations

from heapq import heappop

import simpy

from qps.simulation.shared_server import SharedServer
from qps.simulation.stations import NORMAL, Happening, Schedule


class UnderQuota(SharedServer):
    """All who are there share the cores, and stand still while nothing is left of the quota.

    `_left_of_quota` is in s of a core. Periods begin at `phase` and each `period` after it.
    """

    def __init__(
        self,
        clock: simpy.Environment,
        schedule: Schedule,
        *,
        cores: int,
        quota: float,
        period: float,
        phase: float,
    ) -> None:
        super().__init__(clock, schedule)
        self._cores, self._quota, self._period = cores, quota, period
        self._left_of_quota, self._ends = quota, phase

    @property
    def _busy(self) -> int:
        """How many cores work."""
        return min(self._cores, len(self._there)) if self._left_of_quota > 0 else 0

    def _pass(self) -> None:
        """Let the time pass since the last look; nothing ends and begins in between but periods.

        Nobody is there, or all stand still, where a period ends without an event.
        """
        now, busy = self._clock.now, self._busy
        if busy:
            passed = now - self._at
            self._served += passed * busy / len(self._there)
            self._left_of_quota = max(0.0, self._left_of_quota - passed * busy)
        if now >= self._ends:
            self._ends += self._period * ((now - self._ends) // self._period + 1)
            self._left_of_quota = self._quota
        self._at = now

    def _next(self) -> None:
        """Plan what happens next: a visitor goes, the quota is used up, or a period begins."""
        self._plan += 1
        if not self._there:
            return
        busy, now = self._busy, self._clock.now
        then, what = self._ends - now, self._begins
        if busy:
            goes = (self._there[0][0] - self._served) * len(self._there) / busy
            ends = self._left_of_quota / busy
            if goes <= min(then, ends):
                then, what = goes, self._goes
            elif ends < then:
                then, what = ends, self._stops
        self._schedule(Happening((what,), self._plan), NORMAL, max(0.0, then))

    def _goes(self, happening: Happening) -> None:
        if happening.item != self._plan:
            return
        self._pass()
        self._served, _, visitor = heappop(self._there)
        self._next()
        visitor.then(visitor.item)

    def _stops(self, happening: Happening) -> None:
        if happening.item != self._plan:
            return
        ends = self._ends
        self._pass()
        if self._ends == ends:  # else a period has begun at the same time
            self._left_of_quota = 0.0
        self._next()

    def _begins(self, happening: Happening) -> None:
        if happening.item != self._plan:
            return
        ends = self._ends
        self._pass()
        if self._ends == ends:  # the clock is a rounding before the end
            self._ends += self._period
            self._left_of_quota = self._quota
        self._next()
