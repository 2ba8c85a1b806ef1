"""A simulation of pools, event by event: an oracle that shares nothing with QPS.

An item takes steps one after the other: ("take", pool), ("give", pool), ("work", station, mean),
exponential, or ("wait", time), fixed. Pools have places, stations servers with one queue; both are
first come, first served.
"""

from __future__ import annotations

import heapq
import random
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

Step = tuple[str, str, float]


@dataclass
class Simulated:
    """Means over all items that came after the warm-up; shares of time over all of it."""

    latency: float = 0.0
    waits: dict[str, float] = field(default_factory=dict)
    loads: dict[str, float] = field(default_factory=dict)
    latencies: list[float] = field(default_factory=list)

    def quantile(self, level: float) -> float:
        """Return the latency that a share of the items does not exceed."""
        return sorted(self.latencies)[int(level * len(self.latencies))]


def simulated(
    rate: float, steps: Sequence[Step], places: dict[str, int], items: int, seed: int = 1
) -> Simulated:
    """Simulate random arrivals; `places` has the places of pools and the servers of stations."""
    run = _Run(steps, places, items // 10, random.Random(seed))
    now, started = 0.0, 0
    run.schedule(run.chance.expovariate(rate), _ARRIVAL)
    while started < items or run.at:
        now, _, item = heapq.heappop(run.events)
        if item != _ARRIVAL:
            run.end_step(item, now)
            continue
        run.at[started] = (0, now, now)
        run.go_on(started, now)
        started += 1
        if started < items:
            run.schedule(now + run.chance.expovariate(rate), _ARRIVAL)
    found = Simulated(latencies=run.latencies)
    found.latency = sum(run.latencies) / len(run.latencies)
    found.waits = {name: run.waited[name] / n for name, n in run.counted.items() if n}
    found.loads = {name: run.busy[name] / now / places[name] for name in places}
    return found


_ARRIVAL = -1
"""Stands in events for the next item that arrives."""


class _Run:
    """The state of a simulation: who is at which step since when, and what was counted so far."""

    def __init__(
        self, steps: Sequence[Step], places: dict[str, int], warm_up: int, chance: random.Random
    ) -> None:
        self.steps, self.warm_up, self.chance = steps, warm_up, chance
        self.pools = {pool for kind, pool, _ in steps if kind == "take"}
        self.free, self.queues = dict(places), {name: deque[int]() for name in places}
        self.busy, self.waited = dict.fromkeys(places, 0.0), dict.fromkeys(places, 0.0)
        self.counted = dict.fromkeys(places, 0)
        self.events: list[tuple[float, int, int]] = []
        self.scheduled = 0
        self.at: dict[int, tuple[int, float, float]] = {}  # step, arrival, since when it waits
        self.latencies: list[float] = []

    def schedule(self, time: float, item: int) -> None:
        """Add an event of an item; of events at one time the first scheduled is the first."""
        heapq.heappush(self.events, (time, self.scheduled, item))
        self.scheduled += 1

    def end_step(self, item: int, now: float) -> None:
        """End a step that takes time, and go on."""
        step, arrival, _ = self.at[item]
        self.at[item] = (step + 1, arrival, now)
        if self.steps[step][0] == "work":
            self.release(self.steps[step][1], now)
        self.go_on(item, now)

    def go_on(self, item: int, now: float) -> None:
        """Take steps until one takes time or has to wait, or the item is done."""
        step, arrival, _ = self.at[item]
        while step < len(self.steps):
            kind, name, time = self.steps[step]
            if kind == "give":
                self.release(name, now)
            elif kind == "wait":
                self.at[item] = (step, arrival, now)
                self.schedule(now + time, item)
                return
            elif self.free[name] == 0:
                self.at[item] = (step, arrival, now)
                self.queues[name].append(item)
                return
            else:
                self.begin(item, step, arrival, now, now)
                if kind == "work":
                    return
            step += 1
        if item >= self.warm_up:
            self.latencies.append(now - arrival)
        del self.at[item]

    def begin(self, item: int, step: int, arrival: float, since: float, now: float) -> None:
        """Begin a step at a place that is free."""
        kind, name, time = self.steps[step]
        self.free[name] -= 1
        self.counted[name] += 1
        self.waited[name] += now - since
        self.at[item] = (step + (kind == "take"), arrival, now)
        if kind == "work":
            length = self.chance.expovariate(1 / time)
            self.busy[name] += length
            self.schedule(now + length, item)
        else:
            self.busy[name] -= now

    def release(self, name: str, now: float) -> None:
        """Give a place back; who waits first for it takes it."""
        self.free[name] += 1
        if name in self.pools:
            self.busy[name] += now
        if self.queues[name]:
            other = self.queues[name].popleft()
            step, arrival, since = self.at[other]
            self.begin(other, step, arrival, since, now)
            if self.steps[step][0] == "take":
                self.go_on(other, now)
