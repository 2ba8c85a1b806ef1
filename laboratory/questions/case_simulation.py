"""The simulation that two cases of requests are held against: what a gateway and a cache answer.

It shares nothing with QPS. A gateway parses a request on one of three machines with two cores, asks
a cache, and by chance five servers at once, and merges what they answer; all service times are
exponential, all queues first come, first served. Of a cache alone, a request is looked up, and by
chance two servers are asked at once, which are never busy. Either one miss decides about all calls,
as an event does, or each call is drawn by itself. Run `python
laboratory/questions/case_simulation.py` to print percentiles in ms.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable
from random import Random

import numpy as np

REQUESTS = 300_000
MISSES = 0.15
LEVELS = (0.5, 0.9, 0.95)
_LAN = 0.0001
_SERVERS = {"gw0": 2, "gw1": 2, "gw2": 2, "cache": 1}
_SERVERS |= {"b1": 4, "b2": 4, "b3": 4, "b4": 4, "b5": 8}
Then = Callable[[float], None]


class Gateway:
    """A run of so many requests a second; `is_event` where one miss decides about all calls."""

    def __init__(self, rate: float, *, is_event: bool, seed: int = 1) -> None:
        self.random, self.rate, self.is_event = Random(seed), rate, is_event
        self.free = dict(_SERVERS)
        self.waiting: dict[str, deque[tuple[float, Then]]] = {name: deque() for name in _SERVERS}
        self.events: list[tuple[float, int, Then]] = []
        self.planned = 0
        self.times: list[float] = []

    def run(self, requests: int) -> list[float]:
        """Return the percentiles of the response time, in ms."""
        self.at(0.0, self.arrive)
        while len(self.times) < requests:
            now, _, then = heapq.heappop(self.events)
            then(now)
        return in_ms(np.array(self.times[requests // 10 :]))

    def at(self, time: float, then: Then) -> None:
        """Plan what happens at a time."""
        self.planned += 1
        heapq.heappush(self.events, (time, self.planned, then))

    def serve(self, now: float, name: str, mean: float, then: Then) -> None:
        """Serve a request as soon as a core is free, for an exponential time."""
        if not self.free[name]:
            self.waiting[name].append((mean, then))
            return
        self.free[name] -= 1

        def done(end: float) -> None:
            self.free[name] += 1
            if self.waiting[name]:
                self.serve(end, name, *self.waiting[name].popleft())
            then(end)

        self.at(now + self.random.expovariate(1 / mean), done)

    def misses(self) -> bool:
        """Draw a miss."""
        return self.random.random() < MISSES

    def arrive(self, begin: float) -> None:
        """Let a request arrive, and plan the next one."""
        self.at(begin + self.random.expovariate(self.rate), self.arrive)
        gateway, miss = f"gw{self.random.randrange(3)}", self.misses()

        def look(now: float) -> None:
            self.at(now + _LAN, lambda at: self.serve(at, "cache", 0.0001, found))

        def found(now: float) -> None:
            self.at(now + _LAN, fan_out)

        def fan_out(now: float) -> None:
            names = [f"b{k}" for k in range(1, 6) if (miss if self.is_event else self.misses())]
            left = len(names)
            if not left:
                merge(now)

            def back(now: float) -> None:
                nonlocal left
                left -= 1
                if not left:
                    merge(now)

            def ask(name: str) -> None:
                mean = 0.060 if name == "b5" else 0.010
                answered = lambda end: self.at(end + _LAN, back)  # noqa: E731 - of one line
                self.at(now + _LAN, lambda at: self.serve(at, name, mean, answered))

            for name in names:
                ask(name)

        def merge(now: float) -> None:
            if miss if self.is_event else self.misses():
                self.serve(now, gateway, 0.003, end)
            else:
                end(now)

        def end(now: float) -> None:
            self.times.append(now - begin)

        self.serve(begin, gateway, 0.0015, look)


def of_a_cache(*, is_event: bool, requests: int = 10 * REQUESTS, seed: int = 1) -> list[float]:
    """Return the percentiles of a look-up of 1 ms and two calls of 60 ms by chance, in ms."""
    draw = np.random.default_rng(seed)
    first = draw.random(requests) < MISSES
    second = first if is_event else draw.random(requests) < MISSES
    calls = draw.exponential(0.060, (2, requests)) * np.stack([first, second])
    return in_ms(draw.exponential(0.001, requests) + calls.max(axis=0))


def in_ms(times: np.ndarray[tuple[int], np.dtype[np.float64]]) -> list[float]:
    """Return the percentiles of times."""
    return [float(one) for one in 1000 * np.quantile(times, LEVELS)]


def main() -> None:
    """Print all of them."""
    for is_event in (True, False):
        drawn = "one miss" if is_event else "each call by itself"
        print(f"gateway, {drawn}: {Gateway(300, is_event=is_event).run(REQUESTS)}")
        print(f"cache, {drawn}: {of_a_cache(is_event=is_event)}")


if __name__ == "__main__":
    main()
