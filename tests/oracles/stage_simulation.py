"""A network of queues with exponential services, played item by item: it judges sums."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Sequence
from heapq import heappop, heappush


def quantiles(
    rate: float,
    route: Sequence[int],
    stations: Sequence[tuple[int, float]],
    levels: Sequence[float],
    items: int,
    seed: int = 1,
) -> list[float]:
    """Return quantiles of the time from arrival to the end of a route through stations.

    A station is its servers and the mean of its service times. Arrivals are random.
    """
    chance = random.Random(seed)
    free = [servers for servers, _ in stations]
    waiting: list[deque[tuple[int, int]]] = [deque() for _ in stations]
    came: list[float] = []
    times: list[float] = []
    events = [(chance.expovariate(rate), 0, -1, 0)]  # when, in what order, who, how far
    order = 1

    def serve(now: float, at: int) -> None:
        nonlocal order
        while free[at] and waiting[at]:
            who, step = waiting[at].popleft()
            free[at] -= 1
            heappush(events, (now + chance.expovariate(1 / stations[at][1]), order, who, step))
            order += 1

    while len(times) < items:
        now, _, who, step = heappop(events)
        if who < 0:
            came.append(now)
            waiting[route[0]].append((len(came) - 1, 0))
            serve(now, route[0])
            heappush(events, (now + chance.expovariate(rate), order, -1, 0))
            order += 1
            continue
        at = route[step]
        free[at] += 1
        if step + 1 < len(route):
            waiting[route[step + 1]].append((who, step + 1))
            serve(now, route[step + 1])
        else:
            times.append(now - came[who])
        serve(now, at)
    late = sorted(times[items // 10 :])
    return [late[int(level * len(late))] for level in levels]
