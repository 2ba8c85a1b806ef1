"""One server to which items come back at once: waits by passes, simulated and iterated."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Sequence

Kinds = Sequence[tuple[float, Sequence[float]]]
"""The share of each kind of items, and the mean services that it asks for in a row."""


def exponential(chance: random.Random, mean: float) -> float:
    """Draw a time."""
    return chance.expovariate(1 / mean)


def fixed(_chance: random.Random, mean: float) -> float:
    """Return a time that is always the same."""
    return mean


def simulated(
    rate: float,
    kinds: Kinds,
    draw: Callable[[random.Random, float], float],
    items: int,
    seed: int = 1,
) -> list[list[float]]:
    """Return the mean wait of each pass of each kind; arrivals are random, all in order."""
    chance = random.Random(seed)
    now, next_arrival = 0.0, chance.expovariate(rate)
    waiting: deque[tuple[float, int, int]] = deque()
    sums = [[0.0] * len(services) for _, services in kinds]
    counts = [[0] * len(services) for _, services in kinds]
    left = items
    while left:
        if not waiting:
            now = next_arrival
        while next_arrival <= now:
            kind = chance.choices(range(len(kinds)), [share for share, _ in kinds])[0]
            waiting.append((next_arrival, kind, 0))
            next_arrival += chance.expovariate(rate)
        came, kind, at = waiting.popleft()
        sums[kind][at] += now - came
        counts[kind][at] += 1
        end = now + draw(chance, kinds[kind][1][at])
        while next_arrival <= end:
            new = chance.choices(range(len(kinds)), [share for share, _ in kinds])[0]
            waiting.append((next_arrival, new, 0))
            next_arrival += chance.expovariate(rate)
        now = end
        if at + 1 < len(kinds[kind][1]):
            waiting.append((now, kind, at + 1))
        else:
            left -= 1
    return [
        [one / many for one, many in zip(each, counted, strict=True)]
        for each, counted in zip(sums, counts, strict=True)
    ]


def iterated(rate: float, kinds: Kinds, variation: float = 1) -> list[list[float]]:
    """Return the same as the numbers tell that items find in each pass, again and again."""
    waits = [[0.0] * len(services) for _, services in kinds]
    for _ in range(5000):
        new = []
        for _, services in kinds:
            own: list[float] = []
            for k in range(len(services)):
                found = 0.0
                for (share, others), known in zip(kinds, waits, strict=True):
                    for m, service in enumerate(others[: len(others) - k]):
                        there = rate * share * (known[m] + service)
                        found += there * others[m + k]
                        if k == 0:
                            found -= rate * share * service**2 * (1 - variation**2) / 2
                    for j in range(k):
                        if k - j - 1 < len(others):
                            came = rate * share * (own[j] + services[j])
                            found += came * others[k - j - 1]
                own.append(found)
            new.append(own)
        waits = new
    return waits
