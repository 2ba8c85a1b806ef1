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


def simulated(  # noqa: C901, PLR0915 - one loop over events, with what it does to each
    rate: float, steps: Sequence[Step], places: dict[str, int], items: int, seed: int = 1
) -> Simulated:
    """Play items that arrive at random; `places` has those of pools and the servers of stations."""
    chance = random.Random(seed)
    free, queues = dict(places), {name: deque[int]() for name in places}
    busy = dict.fromkeys(places, 0.0)
    waited = dict.fromkeys(places, 0.0)
    counted = dict.fromkeys(places, 0)
    events: list[tuple[float, int, int]] = []
    at: dict[int, tuple[int, float, float]] = {}  # step, arrival, since when it waits
    now, started, ends = 0.0, 0, 0
    found = Simulated()
    warm = items // 10
    heapq.heappush(events, (chance.expovariate(rate), 0, -1))

    def go_on(item: int) -> None:
        nonlocal ends
        step, arrival, _ = at[item]
        while step < len(steps):
            kind, name, time = steps[step]
            if kind == "give":
                release(name)
                step += 1
                continue
            if kind == "wait":
                at[item] = (step, arrival, now)
                heapq.heappush(events, (now + time, ends, item))
                ends += 1
                return
            if free[name] == 0:
                at[item] = (step, arrival, now)
                queues[name].append(item)
                return
            begin(item, step, arrival, now)
            if kind == "work":
                return
            step += 1
        if item >= warm:
            found.latencies.append(now - arrival)
        del at[item]

    def begin(item: int, step: int, arrival: float, since: float) -> None:
        nonlocal ends
        kind, name, time = steps[step]
        free[name] -= 1
        counted[name] += 1
        waited[name] += now - since
        at[item] = (step + (kind == "take"), arrival, now)
        if kind == "work":
            length = chance.expovariate(1 / time)
            busy[name] += length
            heapq.heappush(events, (now + length, ends, item))
            ends += 1
        else:
            busy[name] -= now

    def release(name: str) -> None:
        free[name] += 1
        if steps_taking(name):
            busy[name] += now
        if queues[name]:
            other = queues[name].popleft()
            step, arrival, since = at[other]
            begin(other, step, arrival, since)
            if steps[step][0] == "take":
                go_on(other)

    def steps_taking(name: str) -> bool:
        return any(kind == "take" and pool == name for kind, pool, _ in steps)

    while started < items or at:
        now, _, item = heapq.heappop(events)
        if item < 0:
            at[started] = (0, now, now)
            go_on(started)
            started += 1
            if started < items:
                ends += 1
                heapq.heappush(events, (now + chance.expovariate(rate), ends, -1))
            continue
        step, arrival, _ = at[item]
        kind, name, _ = steps[step]
        at[item] = (step + 1, arrival, now)
        if kind == "work":
            release(name)
        go_on(item)
    found.latency = sum(found.latencies) / len(found.latencies)
    found.waits = {name: waited[name] / counted[name] for name in places if counted[name]}
    found.loads = {name: busy[name] / now / places[name] for name in places}
    return found
