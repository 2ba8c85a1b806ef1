"""Servers that take who came first, and of which there are more or fewer over time."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from math import ceil
from typing import Any, Protocol

from qps.simulation.items import Go, Item, of_item
from qps.simulation.stations import NORMAL, Happening, Schedule

_ROUNDING = 1e-9


class ErrorAnswers(Protocol):
    """Whether a machine answers a request with an error, at once; it deals with it then."""

    def __call__(self, item: Item) -> bool:
        """Return whether a request is refused that arrives."""


class ChangingServers:
    """All servers of a station, of all its machines together, with one queue.

    A part of a server is a slower one. Who is served when servers go is served to the end.
    """

    __slots__ = (
        *("_busy", "_changed_at", "_clock", "_queue", "_refuse", "_schedule", "_servers"),
        *("_served_of", "_speed", "busy_time", "work"),
    )

    def __init__(
        self, clock: Any, schedule: Schedule, capacity: float, refuse: ErrorAnswers | None = None
    ) -> None:
        self._clock, self._schedule, self._refuse = clock, schedule, refuse
        self._queue: deque[tuple[float, Go, Item, bool]] = deque()
        self._busy, self._changed_at = 0, clock.now
        self.busy_time = self.work = 0.0
        self._served_of = (self._end_service,)
        self._servers, self._speed = 0, 1.0
        self.change(capacity)

    def change(self, capacity: float, speed: float = 1.0) -> None:
        """Have another capacity from now on, in servers, each of another speed."""
        self._servers = ceil(capacity - _ROUNDING) if speed > 0 else 0
        self._speed = speed * capacity / self._servers if self._servers else 0.0
        self._start()

    def entrance(self, then: Go, draw: Callable[[], float], *, overlaps: bool) -> Go:
        """Return what lets an item be served for a time that is drawn, and go on."""

        def enter(item: Item) -> None:
            if self._refuse is not None and self._refuse(item):
                return
            service = draw()
            self._queue.append((service, then, item, overlaps))
            self.work += service
            self._start()

        return enter

    def refuse_waiting(self) -> None:
        """Have all that waits answered with errors that would be if it came now."""
        if self._refuse is None:
            return
        waiting = [entry for entry in self._queue if not self._refuse(entry[2])]
        self._queue.clear()
        self._queue.extend(waiting)
        self.work = sum(service for service, *_ in waiting)

    def used(self) -> float:
        """Return for how long servers have been busy since this was last item."""
        self._account()
        used, self.busy_time = self.busy_time, 0.0
        return used

    def _account(self) -> None:
        now = self._clock.now
        self.busy_time += self._busy * (now - self._changed_at)
        self._changed_at = now

    def _start(self) -> None:
        queue = self._queue
        while queue and self._busy < self._servers:
            service, then, item, overlaps = queue.popleft()
            self.work = self.work - service if queue else 0.0
            self._account()
            self._busy += 1
            if overlaps:
                self._schedule(Happening((of_item(then),), item), NORMAL, 0.0)
            happening = Happening(self._served_of, (None if overlaps else then, item))
            self._schedule(happening, NORMAL, service / self._speed)

    def _end_service(self, happening: Any) -> None:
        then, item = happening.item
        self._account()
        self._busy -= 1
        self._start()
        if then is not None:
            then(item)
