"""What is played over time: a network of stations, who sends requests, and what happens."""

from __future__ import annotations

from msgspec import Struct

from qps.simulation.simulated_model import SimulatedNetwork, Step
from qps.solver.incidents.incident_system import (
    CacheFlush,
    CapacityLoss,
    RetryPolicy,
    ScalingPolicy,
    TrafficChange,
    WarmingCache,
)

_CLEARED = 0.1
_CLEARED_PART = 0.002
"""A backlog of less than so many s, or than this part of the largest one, is none."""


class CourseStation(Struct, frozen=True, kw_only=True):
    """A station: so many servers on each machine of a node, and how many of these there are."""

    name: str
    node: str
    servers: float
    copies: float
    is_processor: bool


class ClientStream(Struct, frozen=True, kw_only=True):
    """Requests of one kind: `rate` a second, their steps, also those after a hit in a `cache`.

    Clients have a `retry` policy, or wait for ever; `limit` is the required response time.
    """

    name: str
    rate: float
    priority: float
    steps: tuple[Step, ...]
    steps_of_hit: tuple[Step, ...] = ()
    cache: str | None = None
    retry: RetryPolicy | None = None
    limit: float | None = None


class CourseInput(Struct, frozen=True, kw_only=True):
    """All that one run plays, from before time 0 `until` it is over, at the latest.

    It is over if nothing waits and nothing is lost for the time `calm`, after `end`.
    """

    network: SimulatedNetwork
    stations: tuple[CourseStation, ...]
    streams: tuple[ClientStream, ...]
    caches: tuple[WarmingCache, ...] = ()
    scalers: tuple[ScalingPolicy, ...] = ()
    capacity_changes: tuple[CapacityLoss, ...] = ()
    traffic_changes: tuple[TrafficChange, ...] = ()
    flushes: tuple[CacheFlush, ...] = ()
    lead: float
    """The time that is played before 0, in steady state."""
    end: float
    calm: float
    until: float
    width: float
    """The time between two points of the course."""

    @property
    def requests(self) -> float:
        """How many requests are sent first in a run that is played to its end."""
        whole = sum(one.rate for one in self.streams) * (self.lead + self.until)
        more = sum(
            one.rate * (change.factor - 1) * (min(change.end, self.until) - change.start)
            for change in self.traffic_changes
            for one in self.streams
            if one.name == change.stream
        )
        return whole + more


class RunPoint(Struct, frozen=True, kw_only=True):
    """A stretch of a run: how many requests, and what waits at its end, in s of its station."""

    at: float
    offered: int
    retries: int
    answered: int
    lost: int
    response_time: float
    """The mean of the requests that were answered."""
    backlogs: tuple[float, ...]
    machines: tuple[int, ...]
    hit_rates: tuple[float, ...]


class ClientOutcome(Struct, frozen=True, kw_only=True):
    """What became of the requests of a stream in a run, from time 0 on."""

    stream: str
    sent: int
    retries: int
    lost: int
    late: int
    worst: float


class CourseResult(Struct, frozen=True, kw_only=True):
    """One run: its course, and when it was over, None where that was not seen."""

    points: tuple[RunPoint, ...]
    streams: tuple[ClientOutcome, ...]
    over_at: float | None

    def cleared_at(self, station: int) -> float | None:
        """Return when nothing waited at a station after its largest backlog."""
        worst, at = self.worst_backlog(station)
        width = self.points[1].at - self.points[0].at
        limit = max(_CLEARED, _CLEARED_PART * worst)
        later = (
            one.at + width for one in self.points if one.at > at and one.backlogs[station] <= limit
        )
        return next(later, None)

    def worst_backlog(self, station: int) -> tuple[float, float]:
        """Return the largest backlog of a station, in s, and when it was there."""
        worst = max(self.points, key=lambda one: one.backlogs[station])
        return worst.backlogs[station], worst.at
