"""A simulation of single requests during an incident, which shares nothing with QPS.

Requests arrive at random, wait first come, first served for one of the servers of a tier, and are
served for exponential times. Clients time out and retry; a cache is a list of the items that were
used last; an autoscaler looks every 15 s, by the rule in the documentation of Kubernetes.
"""

from __future__ import annotations

import heapq
import math
import random
from bisect import bisect_left
from collections import OrderedDict, deque
from dataclasses import dataclass, field
from itertools import accumulate, count


@dataclass
class Tier:
    """Servers that share a queue; `ready` machines have so many `cores` each."""

    service: float
    cores: int
    ready: int
    up: float = 1.0
    busy: int = 0
    queue: deque = field(default_factory=deque)
    busy_time: float = 0.0
    changed_at: float = 0.0

    @property
    def servers(self) -> int:
        return round(self.up * self.cores * self.ready)

    def account(self, now: float) -> None:
        self.busy_time += self.busy * (now - self.changed_at)
        self.changed_at = now


@dataclass
class Scaler:
    """The settings of an autoscaler of the first tier."""

    least: int
    most: int
    target: float
    startup: float
    count: int = 0
    recent: list = field(default_factory=list)


@dataclass
class Setting:
    """A front, and behind it a database that requests without a hit need; clients retry."""

    rate: float
    front: Tier | None
    database: Tier
    timeout: float
    retries: int
    backoff: float = 0.0
    budget: float | None = None
    down: tuple[float, float] = (0.0, 0.0)
    left: float = 0.0
    surge: tuple[float, float, float] = (1.0, 0.0, 0.0)
    items: int = 0
    exponent: float = 0.0
    size: int = 0
    empty_at: float | None = None
    scaler: Scaler | None = None


@dataclass
class Outcome:
    """What became of requests, second by second of when they were sent first."""

    sent: list[int]
    lost: list[int]
    worst: float = 0.0
    backlog: list[int] = field(default_factory=list)
    machines: list[int] = field(default_factory=list)
    hits: list[tuple[int, int]] = field(default_factory=list)
    cleared_at: float = math.inf

    def in_time_at(self, after: float, calm: int = 20) -> float:
        """Return from when on requests are answered, of those sent in at least `calm` seconds."""
        bad = [s for s in range(len(self.sent)) if self.lost[s] > 0.05 * max(1, self.sent[s])]
        if not bad:
            return 0.0
        last = bad[-1]
        return math.inf if last >= len(self.sent) - calm else max(after, last + 1.0)


class Simulation:
    """One run of a setting for so many seconds, with a steady state before it."""

    def __init__(self, setting: Setting, seconds: float, seed: int) -> None:
        self.setting, self.seconds = setting, seconds
        self.random = random.Random(seed)
        self.events: list = []
        self.numbers = count()
        size = int(seconds) + 1
        self.outcome = Outcome([0] * size, [0] * size, hits=[(0, 0)] * size)
        self.tokens = 0.0
        self.cache: OrderedDict[int, None] = OrderedDict()
        weights = [(r + 1) ** -setting.exponent for r in range(setting.items)]
        self.cumulated = list(accumulate(weights))

    def at(self, time: float, what, *arguments) -> None:
        heapq.heappush(self.events, (time, next(self.numbers), what, arguments))

    def run(self) -> Outcome:
        s = self.setting
        if s.items:
            for _ in range(40 * s.size):  # warm
                self.look_up(self.item(), insert=True)
        self.at(0.0, self.arrive)
        start, end = s.down
        if end > start:
            self.at(start, self.change_database, s.left)
            self.at(end, self.change_database, 1.0)
        if s.empty_at is not None:
            self.at(s.empty_at, self.cache.clear)
        if s.scaler is not None:
            self.at(15.0, self.synchronize)
        for second in range(1, int(self.seconds)):
            self.at(float(second), self.observe)
        self.now = 0.0
        while self.events and self.events[0][0] <= self.seconds:
            self.now, _, what, arguments = heapq.heappop(self.events)
            what(*arguments)
        return self.outcome

    # -- requests

    def item(self) -> int:
        return bisect_left(self.cumulated, self.random.random() * self.cumulated[-1])

    def look_up(self, item: int, *, insert: bool) -> bool:
        if item in self.cache:
            self.cache.move_to_end(item)
            return True
        if insert:
            self.cache[item] = None
            if len(self.cache) > self.setting.size:
                self.cache.popitem(last=False)
        return False

    def arrive(self) -> None:
        s = self.setting
        factor, start, end = s.surge
        rate = s.rate * (factor if start <= self.now < end else 1.0)
        self.at(self.now + self.random.expovariate(rate), self.arrive)
        self.outcome.sent[int(self.now)] += 1
        if s.budget is not None:
            self.tokens = min(self.tokens + s.budget, max(1.0, s.budget * s.rate * 10))
        item = self.item() if s.items else -1
        self.attempt(item, self.now, 0)

    def attempt(self, item: int, first: float, number: int) -> None:
        request = [False, self.now, item]  # answered, sent at, item
        if self.setting.front is not None:
            self.enter(self.setting.front, request)
        else:
            self.enter(self.setting.database, request)
        self.at(self.now + self.setting.timeout, self.time_out, request, first, number)

    def time_out(self, request: list, first: float, number: int) -> None:
        s = self.setting
        if request[0]:
            return
        allowed = number < s.retries
        if allowed and s.budget is not None:
            allowed = self.tokens >= 1
            self.tokens -= allowed
        if allowed:
            self.at(self.now + s.backoff * 2**number, self.attempt, request[2], first, number + 1)
        else:
            self.outcome.lost[int(first)] += 1

    # -- tiers

    def enter(self, tier: Tier, request: list) -> None:
        tier.queue.append(request)
        self.serve(tier)

    def serve(self, tier: Tier) -> None:
        while tier.queue and tier.busy < tier.servers:
            tier.account(self.now)
            tier.busy += 1
            wait = self.random.expovariate(1 / tier.service)
            self.at(self.now + wait, self.served, tier, tier.queue.popleft())

    def served(self, tier: Tier, request: list) -> None:
        s = self.setting
        tier.account(self.now)
        tier.busy -= 1
        self.serve(tier)
        if tier is s.front:
            hit = s.items > 0 and self.look_up(request[2], insert=False)
            second = int(self.now)
            hits, all_ = self.outcome.hits[second]
            self.outcome.hits[second] = (hits + hit, all_ + 1)
            if not hit:
                self.enter(s.database, request)
                return
        elif s.items:
            self.look_up(request[2], insert=True)
        took = self.now - request[1]
        self.outcome.worst = max(self.outcome.worst, took)
        request[0] = took <= s.timeout

    def change_database(self, up: float) -> None:
        self.setting.database.up = up
        self.serve(self.setting.database)

    def observe(self) -> None:
        s = self.setting
        waiting = len(s.database.queue) + (len(s.front.queue) if s.front else 0)
        self.outcome.backlog.append(waiting)
        self.outcome.machines.append(s.front.ready if s.front else 0)

    # -- the autoscaler

    def synchronize(self) -> None:
        s, scaler = self.setting, self.setting.scaler
        front = s.front
        front.account(self.now)
        ready, current = front.ready, scaler.count
        usage = front.busy_time / (15.0 * front.cores * ready)
        front.busy_time = 0.0
        ratio = usage / scaler.target
        desired = current
        if ready < current and ratio > 1:
            ratio *= ready / current
            if ratio > 1.1:
                desired = math.ceil(ratio * current)
        elif abs(ratio - 1) > 0.1:
            desired = math.ceil(ratio * ready)
        desired = max(scaler.least, min(scaler.most, desired))
        scaler.recent = [one for one in scaler.recent if one[0] > self.now - 300]
        scaler.recent.append((self.now, desired))
        if desired > current:
            desired = min(desired, max(current + 4, 2 * current))
            scaler.count = desired
            self.at(self.now + scaler.startup, self.start, desired - current)
        elif desired < current:
            desired = min(current, max(many for _, many in scaler.recent))
            front.ready -= current - desired
            scaler.count = desired
        self.at(self.now + 15.0, self.synchronize)

    def start(self, many: int) -> None:
        self.setting.front.ready += many
        self.serve(self.setting.front)
