"""Single requests at tiers of servers whose number changes over time, on a heap of events.

It shares nothing with QPS: see `time_simulation.py`.
"""

from __future__ import annotations

import heapq
import random
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from math import ceil, inf

Steps = list[tuple[float, float]]
"""Times in ascending order, from each of which on a value holds."""


@dataclass
class ServerTier:
    """Servers with one queue; their number changes over time."""

    service: float
    servers: Steps
    slower: Steps = field(default_factory=lambda: [(0.0, 1.0)])
    free: int = 0
    there: int = 0
    pace: float = 1.0
    queue: deque[list[float]] = field(default_factory=deque)
    most: int = 0
    """The longest queue."""
    most_at: float = 0.0
    busy: float = 0.0
    """Seconds of service that began from `counted` on."""


@dataclass
class RetryingClients:
    """What clients do without an answer: attempts again after a timeout and a doubling backoff."""

    timeout: float = inf
    retries: int = 0
    backoff: float = 0.0


@dataclass
class PodScaler:
    """The rule of the Kubernetes HPA for the first tier, of machines with some cores each.

    Within a period, at most `step` machines or as many as there are come along.
    """

    cores: int
    least: int
    most: int
    target: float
    startup: float
    sync: float = 15.0
    step: int = 4
    period: float = 15.0
    machines: int = 1
    ready: int = 1
    used: float = 0.0
    grown: list[tuple[float, int]] = field(default_factory=list)
    course: list[tuple[float, int]] = field(default_factory=list)


@dataclass
class RunOutcome:
    """What became of all requests."""

    sent: int = 0
    lost: int = 0
    retries: int = 0
    waits: list[tuple[float, float]] = field(default_factory=list)
    """When a request was answered that waited, and for how long it took."""
    over_at: float = 0.0
    """The last time at which somebody had waited for longer than `calm`, or was lost."""
    tiers: list[ServerTier] = field(default_factory=list)
    scaler: PodScaler | None = None


class RequestRun:
    """One run of so many seconds."""

    def __init__(
        self,
        rates: Steps,
        tiers: list[ServerTier],
        seconds: float,
        *,
        clients: RetryingClients | None = None,
        scaler: PodScaler | None = None,
        calm: float = 1.0,
        kept_from: float = inf,
        seed: int = 1,
    ) -> None:
        self.rates, self.tiers, self.seconds = rates, tiers, seconds
        self.clients, self.scaler, self.calm = clients or RetryingClients(), scaler, calm
        self.kept_from = kept_from
        self.draw = random.Random(seed)
        self.events: list[tuple[float, int, Callable[..., None], tuple[object, ...]]] = []
        self.numbers = count()
        self.now, self.stage = 0.0, 0
        self.outcome = RunOutcome(tiers=tiers, scaler=scaler)

    def at(self, time: float, what: Callable[..., None], *rest: object) -> None:
        """Do something at a time."""
        heapq.heappush(self.events, (time, next(self.numbers), what, rest))

    def run(self) -> RunOutcome:
        """Follow all requests up to the end."""
        for tier in self.tiers:
            for time, servers in tier.servers:
                self.at(time, self.have, tier, int(servers))
            for time, slower in tier.slower:
                self.at(time, self.slow, tier, slower)
        if self.scaler is not None:
            self.at(self.scaler.sync, self.decide)
        self.at(0.0, self.next_arrival)
        while self.events and self.events[0][0] <= self.seconds:
            self.now, _, what, rest = heapq.heappop(self.events)
            what(*rest)
        return self.outcome

    def have(self, tier: ServerTier, servers: int) -> None:
        """Have so many servers from now on."""
        tier.free += servers - tier.there
        tier.there = servers
        self.serve(tier)

    def slow(self, tier: ServerTier, slower: float) -> None:
        """Let services that begin from now on take longer."""
        tier.pace = slower

    # -- requests

    def next_arrival(self) -> None:
        """Have the next request arrive at a random time."""
        while self.stage + 1 < len(self.rates) and self.rates[self.stage + 1][0] <= self.now:
            self.stage += 1
        rate = self.rates[self.stage][1]
        following = self.rates[self.stage + 1][0] if self.stage + 1 < len(self.rates) else inf
        time = self.now + (self.draw.expovariate(rate) if rate > 0 else inf)
        if time >= following:  # a draw without memory begins anew where the rate changes
            if following < inf:
                self.at(following, self.next_arrival)
            return
        self.at(time, self.arrive)

    def arrive(self) -> None:
        """Let a new request arrive."""
        self.outcome.sent += 1
        self.attempt(0)
        self.next_arrival()

    def attempt(self, number: int) -> None:
        """Send a request, and wait for its answer."""
        request = [self.now, 0.0, 0.0]  # sent at, tier, answered
        self.enter(request)
        if self.clients.timeout < inf:
            self.at(self.now + self.clients.timeout, self.give_up, request, number)

    def give_up(self, request: list[float], number: int) -> None:
        """Send a request again that was not answered in time, or lose it."""
        if request[2]:
            return
        self.outcome.over_at = self.now
        if number < self.clients.retries:
            self.outcome.retries += 1
            self.at(self.now + self.clients.backoff * 2**number, self.attempt, number + 1)
        else:
            self.outcome.lost += 1

    def enter(self, request: list[float]) -> None:
        """Let a request wait at its tier."""
        tier = self.tiers[int(request[1])]
        tier.queue.append(request)
        self.serve(tier)
        if len(tier.queue) > tier.most:
            tier.most, tier.most_at = len(tier.queue), self.now

    def serve(self, tier: ServerTier) -> None:
        """Serve those who came first, as long as servers are free."""
        while tier.queue and tier.free > 0:
            tier.free -= 1
            service = self.draw.expovariate(1 / tier.service) * tier.pace
            if self.now >= self.kept_from:
                tier.busy += service
            self.at(self.now + service, self.served, tier, tier.queue.popleft(), service)

    def served(self, tier: ServerTier, request: list[float], service: float) -> None:
        """Let a request go on, or be answered."""
        tier.free += 1
        if self.scaler is not None and tier is self.tiers[0]:
            self.scaler.used += service
        self.serve(tier)
        request[1] += 1
        if request[1] < len(self.tiers):
            self.enter(request)
            return
        took = self.now - request[0]
        request[2] = 1.0 if took <= self.clients.timeout else 0.0
        if took > self.calm:
            self.outcome.over_at = self.now
        if self.now >= self.kept_from or took > self.calm:
            self.outcome.waits.append((self.now, took))

    # -- the autoscaler

    def decide(self) -> None:
        """Decide once how many machines there are."""
        scaler = self.scaler
        assert scaler is not None
        usage = min(1.0, scaler.used / (scaler.sync * scaler.cores * scaler.ready))
        scaler.used = 0.0
        ratio, wanted = usage / scaler.target, scaler.machines
        if scaler.ready < scaler.machines and ratio > 1:
            ratio *= scaler.ready / scaler.machines
            wanted = ceil(ratio * scaler.machines) if ratio > 1.1 else wanted
        elif ratio > 1.1:
            wanted = ceil(ratio * scaler.ready)
        wanted = min(max(wanted, scaler.least), scaler.most)
        scaler.grown = [one for one in scaler.grown if one[0] > self.now - scaler.period + 1e-6]
        before = scaler.machines - sum(many for _, many in scaler.grown)
        wanted = min(wanted, max(before + scaler.step, 2 * before))
        if wanted > scaler.machines:
            many = wanted - scaler.machines
            scaler.grown.append((self.now, many))
            scaler.machines = wanted
            self.at(self.now + scaler.startup, self.start, many)
        self.at(self.now + scaler.sync, self.decide)

    def fail(self, many: int) -> None:
        """Let machines fail, or with a negative number work again: metrics lack them until then."""
        scaler = self.scaler
        assert scaler is not None
        scaler.ready -= many
        self.have(self.tiers[0], scaler.ready * scaler.cores)

    def start(self, many: int) -> None:
        """Let machines work that have started up."""
        scaler = self.scaler
        assert scaler is not None
        scaler.ready += many
        scaler.course.append((self.now, scaler.ready))
        self.have(self.tiers[0], scaler.ready * scaler.cores)
