"""The simulation that pools of users who think are held against, who wait for nothing meanwhile.

It shares nothing with QPS: users think for an exponential time, wait for one of some places, first
come, first served, hold it for a time of which a part is fixed, and the rest exponential, and think
again. A quarter of the cycles comes before the others count. Run `python
laboratory/questions/closed_pool_simulation.py` to print a line of JSON for each part that is fixed,
each number of places, each mean time to think in holding times, and each number of users in those
at which the asymptotes meet: throughput and mean response time, beside those of exponential holding
times by birth and death (the machine repair model, M/M/c//N). With a number as argument, so many
times as many cycles.
"""

from __future__ import annotations

import heapq
import json
import sys
from itertools import product
from random import Random

FIXED = (1.0, 0.7, 0.4)
PLACES = (1, 2, 5, 10, 20, 50)
THINKING = (0.5, 2, 10, 50)
USERS = (0.3, 0.6, 0.8, 0.9, 1, 1.1, 1.25, 1.5, 2)
CYCLES = 150_000


def played(
    users: int, places: int, think: float, cycles: int, fixed: float = 1.0
) -> tuple[float, float]:
    """Return the throughput and the mean response time, in holding times."""
    random = Random(f"{users}/{places}/{think}")
    asks = [random.expovariate(1 / think) for _ in range(users)]
    free = [0.0] * places
    heapq.heapify(asks)
    first, begin, total = cycles // 4, 0.0, 0.0
    for cycle in range(cycles):
        at = heapq.heappop(asks)
        if cycle == first:
            begin = at
        hold = fixed + (random.expovariate(1 / (1 - fixed)) if fixed < 1 else 0.0)
        end = max(at, heapq.heappop(free)) + hold
        heapq.heappush(free, end)
        heapq.heappush(asks, end + random.expovariate(1 / think))
        if cycle >= first:
            total += end - at
    counted = cycles - first
    return counted / (at - begin), total / counted


def repaired(users: int, places: int, think: float) -> tuple[float, float]:
    """Return the same of exponential holding times, by birth and death."""
    weights = [1.0]
    for there in range(1, users + 1):
        weights.append(weights[-1] * (users - there + 1) / think / min(there, places))
        if weights[-1] > 1e200:
            weights = [one / 1e200 for one in weights]
    busy = sum(min(there, places) * one for there, one in enumerate(weights)) / sum(weights)
    return busy, users / busy - think


def main(longer: float) -> None:
    """Print all of them."""
    for fixed, places, think in product(FIXED, PLACES, THINKING):
        for users in sorted({max(1, round(one * places * (1 + think))) for one in USERS}):
            rate, time = played(users, places, think, int(longer * CYCLES), fixed)
            of_rate, of_time = repaired(users, places, think)
            told = {"fixed": fixed, "places": places, "think": think, "users": users}
            told |= {"rate": rate, "time": time}
            told |= {"exponential rate": of_rate, "exponential time": of_time}
            print(json.dumps(told), flush=True)


if __name__ == "__main__":
    main(*map(float, sys.argv[1:2] or ["1"]))
