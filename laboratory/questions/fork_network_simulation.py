"""The simulation that forks in series and within each other are held against.

It shares nothing with QPS: an event at a time, servers of exponential services, first come, first
served. Run `python laboratory/questions/fork_network_simulation.py [REQUESTS]` to print the mean
and percentiles of each way through forks, at several loads of each server.
"""

from __future__ import annotations

import heapq
import random
import sys
from collections import deque
from collections.abc import Callable, Sequence

Step = str | tuple[str, tuple["Step", ...]]
"""A server by its name, steps in a `row`, or those of a `fork` that are begun together."""
Then = Callable[[float], None]

LOADS = (0.3, 0.6, 0.8)
LEVELS = (0.5, 0.9, 0.95, 0.99)
REQUESTS = 300_000


def row(*steps: Step) -> Step:
    """Return steps one after the other."""
    return ("row", steps)


def fork(*steps: Step) -> Step:
    """Return steps that are begun together: behind them is who has passed all."""
    return ("fork", steps)


FORKS: dict[str, Step] = {
    "two forks": row(fork("a", "b"), fork("c", "d")),
    "two forks of the same servers": row(fork("a", "b"), fork("a", "b")),
    "a step and two forks": row("f", fork("a", "b"), fork("c", "d", "e")),
    "three forks": row(fork("a", "b"), fork("c", "d"), fork("e", "g")),
    "a fork within a fork": fork(row("a", fork("b", "c")), "d"),
    "forks and steps within a fork": fork(row(fork("a", "b"), "c"), row("d", "e")),
    "forks within both branches": fork(fork("a", "b"), row("e", fork("c", "d"))),
    "a fork within a fork, the same server": fork(row("a", fork("b", "c")), "b"),
}


def visits(step: Step) -> list[str]:
    """Return the servers that are visited, each as often as it is."""
    if isinstance(step, str):
        return [step]
    return [name for one in step[1] for name in visits(one)]


class Servers:
    """Servers of mean service 1, each with its line, and what happens next."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        self.events: list[tuple[float, int, Then]] = []
        self.lines: dict[str, deque[Then]] = {}
        self.count = 0

    def at(self, time: float, then: Then) -> None:
        """Have something happen at a time."""
        self.count += 1
        heapq.heappush(self.events, (time, self.count, then))

    def visit(self, name: str, now: float, then: Then) -> None:
        """Have a server serve someone more, behind those who are there."""
        line = self.lines.setdefault(name, deque())
        line.append(then)
        if len(line) == 1:
            self.serve(name, now)

    def serve(self, name: str, now: float) -> None:
        """Begin to serve the first of a line."""

        def served(end: float) -> None:
            line = self.lines[name]
            then = line.popleft()
            if line:
                self.serve(name, end)
            then(end)

        self.at(now + self.draw.expovariate(1.0), served)

    def passed(self, step: Step, now: float, then: Then) -> None:
        """Have a step passed from now on."""
        if isinstance(step, str):
            self.visit(step, now, then)
        elif step[0] == "row":
            self.in_row(step[1], now, then)
        else:
            left = len(step[1])

            def joined(end: float) -> None:
                nonlocal left
                left -= 1
                if not left:
                    then(end)

            for one in step[1]:
                self.passed(one, now, joined)

    def in_row(self, steps: Sequence[Step], now: float, then: Then) -> None:
        """Have steps passed one after the other."""
        if not steps:
            then(now)
        else:
            self.passed(steps[0], now, lambda end: self.in_row(steps[1:], end, then))


def times_of(step: Step, load: float, requests: int, seed: int = 1) -> list[float]:
    """Return how long each request takes, where the busiest server has a load."""
    servers, found, left = Servers(seed), list[float](), requests
    named = visits(step)
    rate = load / max(named.count(name) for name in named)

    def arrive(now: float) -> None:
        nonlocal left
        left -= 1
        servers.passed(step, now, lambda end: found.append(end - now))
        if left:
            servers.at(now + servers.draw.expovariate(rate), arrive)

    servers.at(0.0, arrive)
    while servers.events:
        time, _, then = heapq.heappop(servers.events)
        then(time)
    return found[requests // 20 :]


def closed_times_of(
    step: Step, users: int, think: float, requests: int, seed: int = 1
) -> list[float]:
    """Return how long each request takes of users who think for a random time behind each."""
    servers, found = Servers(seed), list[float]()

    def ask(now: float) -> None:
        def answered(end: float) -> None:
            found.append(end - now)
            think_until(end)

        servers.passed(step, now, answered)

    def think_until(now: float) -> None:
        servers.at(now + servers.draw.expovariate(1 / think), ask)

    for _ in range(users):
        think_until(0.0)
    while len(found) < requests:
        time, _, then = heapq.heappop(servers.events)
        then(time)
    return found[requests // 20 :]


def main() -> None:
    """Print what each way comes to."""
    requests = int(sys.argv[1]) if len(sys.argv) > 1 else REQUESTS
    for name, step in FORKS.items():
        for load in LOADS:
            times = sorted(times_of(step, load, requests))
            found = [f"mean {sum(times) / len(times):.4g}"]
            found += [f"p{level * 100:g} {times[int(level * len(times))]:.4g}" for level in LEVELS]
            print(f"{name}, {load:.0%}: {', '.join(found)}", flush=True)


if __name__ == "__main__":
    main()
