"""Jobs on the cores of a host under a CPU limit, simulated by itself: it shares nothing with QPS.

All times are in periods, all work is in seconds of a core over the period.
"""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush
from random import Random


def response_times(
    *, cores: int, limit: float, rate: float, work: Callable[[Random], float], jobs: int, seed: int
) -> list[float]:
    """Return the response times of jobs that arrive at random, sorted.

    All jobs that are there share the cores, one core each at most. In each period they get `limit`
    seconds of a core, and stand still when these are used up.
    """
    random = Random(seed)
    found: list[float] = []
    there: list[tuple[float, float]] = []  # what each job is done at, of `served`, and its arrival
    now = served = 0.0
    left, ends = limit, 1.0
    arrives = random.expovariate(rate)
    while len(found) < jobs:
        speed = min(cores, len(there)) if left > 0 else 0
        at = min(arrives, ends)
        if speed:
            done = now + (there[0][0] - served) * len(there) / speed
            stops = now + left / speed
            at = min(at, done, stops)
            served += (at - now) * speed / len(there)
            left = 0.0 if at == stops else left - (at - now) * speed
            if at == done:
                served, came = heappop(there)
                found.append(at - came)
        now = at
        if at == ends:
            left, ends = limit, ends + 1
        if at == arrives:
            heappush(there, (served + work(random), now))
            arrives = now + random.expovariate(rate)
    return sorted(found[jobs // 20 :])
