"""One queue that items visit up to several times, each visit by a chance: played item by item."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Sequence
from heapq import heappop, heappush


def quantiles(
    rate: float,
    visits: Sequence[tuple[float, float]],
    levels: Sequence[float],
    items: int,
    seed: int = 1,
) -> list[float]:
    """Return quantiles of the time of all visits, each made by a chance, of a mean service.

    Arrivals are random, and services exponential at one server, first come first served.
    """
    chance = random.Random(seed)
    queue: deque[tuple[float, int]] = deque()
    times: list[float] = []
    events = [(chance.expovariate(rate), 0, True)]
    order = 1

    def next_visit(at: int) -> int:
        while at < len(visits) and chance.random() >= visits[at][0]:
            at += 1
        return at

    def serve(now: float) -> None:
        nonlocal order
        heappush(events, (now + chance.expovariate(1 / visits[queue[0][1]][1]), order, False))
        order += 1

    while len(times) < items:
        now, _, is_new = heappop(events)
        came, at = (now, -1) if is_new else queue.popleft()
        if is_new:
            heappush(events, (now + chance.expovariate(rate), order, True))
            order += 1
        at = next_visit(at + 1)
        if at < len(visits):
            queue.append((came, at))
        else:
            times.append(now - came)
        if queue and (not is_new or (len(queue) == 1 and at < len(visits))):
            serve(now)
    late = sorted(times[items // 10 :])
    return [late[int(level * len(late))] for level in levels]
