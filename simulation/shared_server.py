"""A server that all who are there share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from heapq import heappush
from itertools import count

import simpy

from qps.simulation.stations import Schedule
from qps.simulation.visitor import Visitor


class SharedServer(ABC):
    """Serves all who are there, each equally fast.

    `_served` is what each that is there all along was served for; who comes goes when it has
    grown by the work.
    """

    def __init__(self, clock: simpy.Environment, schedule: Schedule) -> None:
        self._clock, self._schedule = clock, schedule
        self._there: list[tuple[float, int, Visitor]] = []
        self._number = count()
        self._served = self._at = 0.0
        self._plan = 0

    def enter(self, visitor: Visitor) -> None:
        """Let somebody come: all others are slower from now on."""
        self._pass()
        heappush(self._there, (self._served + visitor.left, next(self._number), visitor))
        self._next()
        visitor.begins()

    @property
    def left(self) -> float:
        """The work that is there and not done yet, in s of one server."""
        self._pass()
        return sum(until - self._served for until, _, _ in self._there)

    @abstractmethod
    def _pass(self) -> None:
        """Let the time pass since the last look."""

    @abstractmethod
    def _next(self) -> None:
        """Plan what happens next; what was planned before is void."""
