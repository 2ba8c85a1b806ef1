"""The simulation of one server that items come back to, a fixed time after they were served there.

It shares nothing with QPS. Run `python laboratory/questions/delayed_feedback_simulation.py [ITEMS]`
to print the mean wait of all passes together, as a multiple of that of random arrivals (Pollaczek
and Khinchine), for several times between passes as multiples of the mean service.
"""

from __future__ import annotations

import heapq
import random
import sys
from collections import deque

PASSES = ((1.0, 4.0), (1.0, 2.0, 2.0), (1.0, 1.0, 1.0, 1.0))
"""The mean services that each item asks for, one pass after the other."""
LOADS = (0.3, 0.6, 0.85)
BETWEEN = (0.0, 0.1, 0.3, 1.0, 3.0, 10.0)
_ARRIVAL, _BACK, _SERVED = range(3)


def waits(
    rate: float, services: tuple[float, ...], between: float, items: int, *, fixed: bool
) -> float:
    """Return the mean wait of an item, of all its passes together."""
    chance, count, total, done = random.Random(1), 0, 0.0, 0
    events = [(chance.expovariate(rate), 0, _ARRIVAL, 0)]
    line: deque[tuple[float, int]] = deque()
    is_busy = False
    while done < items:
        now, _, what, number = heapq.heappop(events)
        count += 1
        if what == _ARRIVAL:
            heapq.heappush(events, (now + chance.expovariate(rate), count, _ARRIVAL, 0))
            line.append((now, 0))
        elif what == _BACK or (number + 1 < len(services) and not between):
            is_busy &= what == _BACK
            line.append((now, number if what == _BACK else number + 1))
        else:
            is_busy = False
            if number + 1 < len(services):
                heapq.heappush(events, (now + between, count, _BACK, number + 1))
            else:
                done += 1
        if line and not is_busy:
            came, number = line.popleft()
            total, is_busy = total + now - came, True
            mean = services[number]
            service = mean if fixed else chance.expovariate(1 / mean)
            heapq.heappush(events, (now + service, -count, _SERVED, number))
    return total / items


def main(items: int = 60_000) -> None:
    """Print the waits for exponential and for fixed services."""
    print("services, load: waits by the time between passes:", *BETWEEN)
    for services in PASSES:
        for fixed in (False, True):
            for load in LOADS:
                rate, passes = load / sum(services), len(services)
                squares = sum(one * one for one in services) * (1 if fixed else 2)
                random_waits = rate * squares / 2 / (1 - load) * passes
                mean = sum(services) / passes
                found = [
                    waits(rate, services, times * mean, items, fixed=fixed) / random_waits
                    for times in BETWEEN
                ]
                kind = "fixed" if fixed else "exponential"
                each = "  ".join(f"{one:.2f}" for one in found)
                print(f"{'+'.join(f'{one:g}' for one in services)} {kind}, {load:.0%}: {each}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
