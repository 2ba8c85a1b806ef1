"""A system as an incident meets it: stations, the ways of requests through them, and what changes.

Times are in s from the start of the incident, rates in 1/s; work is in s of one server.
"""

from __future__ import annotations

from math import ceil, inf, prod

from msgspec import Struct, field
from msgspec.structs import asdict

_SEEN = 0.9
_GROWTH = 1e-3
"""A backlog grows if it is larger by this part than it was in nine tenths of what is followed."""


class FluidStation(Struct, frozen=True, kw_only=True):
    """A station: `servers` of all its copies together, of which a part is always in use."""

    name: str
    node: str
    servers: float
    background: float = 0.0
    variation: float = 0.0
    """The coefficient of variation of service times."""
    is_processor: bool = True


class WarmingCache(Struct, frozen=True, kw_only=True):
    """A least-recently-used cache of `size` of its items, which are requested by a Zipf law."""

    name: str
    items: int
    exponent: float
    size: int


class RequestRoute(Struct, frozen=True, kw_only=True):
    """The requests of a stream that visit the same stations in the same order.

    Their share is `share`, plus `per_hit` times the hit rate of a cache. `visits` are the numbers
    of stations with the work of a request there, `delays` the times at nodes in which nobody works.
    """

    share: float
    visits: tuple[tuple[int, float], ...]
    delays: tuple[tuple[str, float], ...] = ()
    has_parallel_calls: bool = False
    """Whether calls are made together: they are followed one after the other."""
    per_hit: float = 0.0


class RetryPolicy(Struct, frozen=True, kw_only=True):
    """What clients do without an answer in time: up to so many `retries`, each after a backoff.

    The backoff doubles with each retry. A `budget` limits retries to a part of the requests.
    """

    timeout: float
    retries: int
    backoff: float = 0.0
    budget: float | None = None


class RequestStream(Struct, frozen=True, kw_only=True):
    """A stream: its requests a second before the incident, their routes, and what clients do.

    `latency` is the mean response time before, `limit` the required one, None where there is none.
    """

    name: str
    rate: float
    routes: tuple[RequestRoute, ...]
    latency: float = 0.0
    cache: str | None = None
    retry: RetryPolicy | None = None
    limit: float | None = None


class ScalingPolicy(Struct, frozen=True, kw_only=True):
    """An autoscaler of a node by the rule of the Kubernetes HPA; `at_start` machines are there.

    `count` is the number of machines that the servers of its stations are stated for. In a
    `period`, it adds `step` machines, or the part `growth` of those that are there if that is more.
    """

    node: str
    count: float
    at_start: int
    least: int
    most: int
    target: float
    startup: float = 0.0
    sync: float = 15.0
    stabilization: float = 300.0
    tolerance: float = 0.1
    step: float = 4.0
    growth: float = 1.0
    period: float = 15.0


class CapacityLoss(Struct, frozen=True, kw_only=True):
    """The capacity of a node is multiplied by a factor between two times.

    Fewer machines serve as fast as before, while `is_slower` machines take longer for each request.
    Of an autoscaled node, up to `machines` of those that work then are lost. Where it
    `answers_errors`, the other machines get their share of the requests, and answer at once.
    """

    node: str
    factor: float
    start: float
    end: float
    is_slower: bool = False
    machines: int = 0
    answers_errors: bool = False


class TrafficChange(Struct, frozen=True, kw_only=True):
    """The requests of a stream are multiplied by a factor between two times."""

    stream: str
    factor: float
    start: float
    end: float


class CacheFlush(Struct, frozen=True):
    """A cache is emptied at a time."""

    cache: str
    at: float


class IncidentSystem(Struct, frozen=True, kw_only=True):
    """All that the course of an incident follows from."""

    stations: tuple[FluidStation, ...]
    streams: tuple[RequestStream, ...]
    caches: tuple[WarmingCache, ...] = ()
    scalers: tuple[ScalingPolicy, ...] = ()
    capacity_changes: tuple[CapacityLoss, ...] = ()
    traffic_changes: tuple[TrafficChange, ...] = ()
    flushes: tuple[CacheFlush, ...] = ()
    counts: dict[str, int] = field(default_factory=dict)
    """How many machines of each node there are."""
    mode: str = ""
    """The mode in which it happens; empty where the spec has only one."""
    moment: str = ""
    """The time of the profiles at which it happens: `18:00`; empty where only one is compared."""

    @property
    def start(self) -> float:
        """When the first change begins."""
        starts = [one.start for one in self.capacity_changes]
        starts += [one.start for one in self.traffic_changes]
        return min((*starts, *(one.at for one in self.flushes)), default=0.0)

    @property
    def end(self) -> float:
        """When the last change has ended."""
        ends = [one.end for one in self.capacity_changes]
        ends += [one.end for one in self.traffic_changes]
        return max((*ends, *(one.at for one in self.flushes)), default=0.0)

    def scaler_of(self, node: str) -> ScalingPolicy | None:
        """Return the autoscaler of a node."""
        return next((one for one in self.scalers if one.node == node), None)

    def usual_capacity(self, station: FluidStation) -> float:
        """Return how much work a station does in a second before anything happens."""
        scaler = self.scaler_of(station.node)
        machines = 1.0 if scaler is None else scaler.at_start / scaler.count
        return station.servers * (1 - station.background) * machines

    def capacity_factor(self, node: str, now: float) -> float:
        """Return which part of the capacity of a node is left at a time."""
        own = [one for one in self.capacity_changes if one.node == node]
        return prod(one.factor for one in own if one.start <= now < one.end)

    def error_share(self, node: str, now: float) -> float:
        """Return which part of the requests that come to a node is answered with an error."""
        own = [one for one in self.capacity_changes if one.node == node and one.answers_errors]
        return 1 - prod(one.factor for one in own if one.start <= now < one.end)

    def machines_lost(self, node: str, now: float) -> int:
        """Return how many machines of an autoscaled node have failed at a time, at most."""
        own = [one for one in self.capacity_changes if one.node == node]
        return sum(one.machines for one in own if one.start <= now < one.end)

    def traffic_factor(self, stream: str, now: float) -> float:
        """Return how many times its usual requests a stream sends at a time."""
        own = [one for one in self.traffic_changes if one.stream == stream]
        return prod(one.factor for one in own if one.start <= now < one.end)


class CoursePoint(Struct, frozen=True, kw_only=True):
    """A moment of the course: rates in 1/s, backlogs in s of their station's work, all machines.

    `loads` are the work that comes to stations, and `capacities` what they can do, both as parts of
    their capacity before the incident. `wait` is the longest delay of a request that is answered
    then, beside that of a steady state.
    """

    at: float
    offered: float
    retries: float
    answered: float
    failed: float
    wait: float
    backlogs: tuple[float, ...]
    loads: tuple[float, ...]
    capacities: tuple[float, ...]
    utilizations: tuple[float, ...]
    machines: tuple[int, ...]
    hit_rates: tuple[float, ...]


class StreamTally(Struct, kw_only=True):
    """What is counted of the requests of a stream while they are followed."""

    sent: float = 0.0
    retries: float = 0.0
    lost: float = 0.0
    late: float = 0.0
    worst: float = 0.0
    worst_at: float = 0.0


class StreamOutcome(Struct, frozen=True, kw_only=True):
    """What became of the requests of a stream: how many were sent, are lost, and came late.

    Those are `lost` whose clients gave up, after all retries; `late` are answered after the limit
    that the requirements state. `worst` is the longest response time.
    """

    stream: str
    sent: float
    retries: float
    lost: float
    late: float
    worst: float
    worst_at: float

    @classmethod
    def of(cls, stream: str, counts: StreamTally) -> StreamOutcome:
        """Return an outcome of what was counted."""
        return cls(stream=stream, **asdict(counts))


class FluidCourse(Struct, frozen=True, kw_only=True):
    """The course of an incident.

    It returns at `cleared_at`: no request waits beyond a steady state, and none is lost; infinite
    where that is never so without help. Requests that are sent from `in_time_at` on are answered,
    though some of them at a retry;
    infinite where that was not seen. Requests are counted until `counted_until`: all of them, or
    those so far of a course that `is_extrapolated` or does not return.
    """

    step: float
    points: tuple[CoursePoint, ...]
    streams: tuple[StreamOutcome, ...]
    cleared_at: float
    in_time_at: float
    counted_until: float
    is_extrapolated: bool = False

    @property
    def returns(self) -> bool:
        """Whether the system returns by itself."""
        return self.cleared_at < inf

    @property
    def is_partial(self) -> bool:
        """Whether requests are counted so far only: more of them follow."""
        return self.is_extrapolated or not self.returns

    def is_growing(self, place: int) -> bool:
        """Whether the backlog of a station still grows where it is no longer followed."""
        backlogs = [one.backlogs[place] for one in self.points]
        earlier = max(backlogs[: ceil(len(backlogs) * _SEEN)], default=0.0)
        return not self.returns and backlogs[-1] > (1 + _GROWTH) * earlier

    @property
    def lost(self) -> float:
        """How many requests are lost."""
        return sum(one.lost for one in self.streams)

    @property
    def late(self) -> float:
        """How many requests are late."""
        return sum(one.late for one in self.streams)
