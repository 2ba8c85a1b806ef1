"""Stations that serve otherwise than in turn: shared, or some before others."""

from __future__ import annotations

from heapq import heappop, heappush
from itertools import count
from random import Random
from typing import Protocol

import simpy

from qps.compiler.quantities.disciplines import Service
from qps.simulation.shared_server import SharedServer
from qps.simulation.simulated_model import Station
from qps.simulation.stations import NORMAL, Happening, Schedule
from qps.simulation.throttled_processor import UnderQuota
from qps.simulation.visitor import Visitor


class StationMachine(Protocol):
    """One machine of a station."""

    @property
    def left(self) -> float:
        """The work that is there and not done yet, in s of one server."""

    def enter(self, visitor: Visitor) -> None:
        """Let somebody come."""


def machine_of(
    station: Station, clock: simpy.Environment, schedule: Schedule, random: Random
) -> StationMachine:
    """Return one machine of a station, empty; its periods begin at a time by chance."""
    if station.period is not None:
        return UnderQuota(
            clock,
            schedule,
            cores=station.host_cores,
            quota=station.servers * station.period,
            period=station.period,
            phase=station.period * random.random(),
        )
    servers = int(station.servers)
    if station.service is Service.SHARED:
        return SharingMachine(clock, schedule, servers, station.speeds)
    return Ranked(clock, schedule, servers, preempts=station.is_preemptive)


class SharingMachine(SharedServer):
    """All who are there are served, each equally fast: so who has least left is the next to go.

    Time goes by as fast as each is served: who comes with so much work goes when so much of it has.
    """

    def __init__(
        self,
        clock: simpy.Environment,
        schedule: Schedule,
        servers: int,
        speeds: tuple[float, ...],
    ) -> None:
        super().__init__(clock, schedule)
        self._servers, self._speeds = servers, speeds

    @property
    def _pace(self) -> float:
        there = len(self._there)
        if self._speeds:
            return self._speeds[min(there, len(self._speeds)) - 1] / there
        return min(1.0, self._servers / there)

    def _pass(self) -> None:
        now = self._clock.now
        if self._there:
            self._served += (now - self._at) * self._pace
        self._at = now

    def _next(self) -> None:
        """Plan who goes next; what was planned before is void."""
        self._plan += 1
        if self._there:
            left = max(0.0, self._there[0][0] - self._served)
            self._schedule(Happening((self._goes,), self._plan), NORMAL, left / self._pace)

    def _goes(self, happening: Happening) -> None:
        if happening.item != self._plan:
            return
        self._pass()
        _, _, visitor = heappop(self._there)
        self._next()
        visitor.then(visitor.item)


class Ranked:
    """Servers that take who goes before others: at the next turn, or at once."""

    def __init__(
        self, clock: simpy.Environment, schedule: Schedule, servers: int, *, preempts: bool
    ) -> None:
        self._clock, self._schedule = clock, schedule
        self._free, self._preempts = servers, preempts
        self._waiting: list[tuple[float, int, Visitor]] = []
        self._served: list[tuple[float, int, Visitor]] = []
        self._number = count()

    def enter(self, visitor: Visitor) -> None:
        """Let somebody come."""
        heappush(self._waiting, (visitor.priority, next(self._number), visitor))
        self._start()

    @property
    def left(self) -> float:
        """The work that is there and not done yet."""
        there = (entry[2].left for entry in (*self._waiting, *self._served))
        return sum(there) - sum(self._clock.now - one.since for _, _, one in self._served)

    def _start(self) -> None:
        while self._waiting:
            if self._free:
                self._free -= 1
            elif not (self._preempts and self._is_preempted()):
                return
            entry = heappop(self._waiting)
            self._served.append(entry)
            visitor = entry[2]
            visitor.since = self._clock.now
            happening = Happening((self._done,), (entry, visitor.since))
            self._schedule(happening, NORMAL, visitor.left)
            visitor.begins()

    def _is_preempted(self) -> bool:
        """Interrupt who goes last, where that is behind who waits; it goes on later."""
        last = max(self._served, key=lambda entry: entry[:2])
        if last[0] <= self._waiting[0][0]:
            return False
        self._served.remove(last)
        visitor = last[2]
        visitor.left -= self._clock.now - visitor.since
        visitor.since = -1.0
        heappush(self._waiting, last)
        return True

    def _done(self, happening: Happening) -> None:
        entry, since = happening.item
        visitor = entry[2]
        if visitor.since != since:
            return  # it was interrupted
        self._served.remove(entry)
        self._free += 1
        self._start()
        visitor.then(visitor.item)
