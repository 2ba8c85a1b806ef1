"""Calls of which some are slow by chance, in a row or at once to one server, simulated.

`python tests/stages/alternatives_at_once.py COUNT SEED` simulates so many random ones by a clock
for when the server is free, and prints predicted over simulated percentiles and mean, each with
the error that is stated.
"""

from __future__ import annotations

import sys
from heapq import heappop, heappush
from random import Random

from msgspec import Struct

from helpers.stated_numbers import stated_numbers
from qps.compiler.quantities.certainty import Certainty

LEVELS = ("0.5", "0.95", "0.99")
_SPEC = """users N in 1..1
machine plain {{ }}
machine box {{ cpu 1 core, queueing mm1 }}
network lan {{ propagation 0 s }}
component fast {{ cpu 1 ms/request }}
component slow {{ cpu {apart} ms/request }}
topology {{ node root = plain; node db = box; link net = lan between all }}
stream asks for each user {{
  traffic {rate:.9f} request/s
  at root {{ {calls} }}
}}
require {{ asks.latency <= 1 hour }}
"""


class Calls(Struct, frozen=True):
    """So many calls to one server, of which a percentage is so many times as long."""

    count: int
    percent: int
    apart: int
    load: float
    are_at_once: bool

    @property
    def rate(self) -> float:
        """Requests in a second."""
        chance = self.percent / 100
        return 1000 * self.load / self.count / (1 - chance + chance * self.apart)

    def service(self, chance: Random) -> float:
        """Return a random service (s)."""
        mean = self.apart if chance.random() * 100 < self.percent else 1
        return chance.expovariate(1000 / mean)


def drawn(chance: Random) -> Calls:
    """Return random calls."""
    return Calls(
        chance.choice([2, 3, 5, 8]),
        chance.choice([1, 5, 20]),
        chance.choice([2, 5, 10, 20, 50, 100]),
        chance.choice([0.1, 0.3, 0.5, 0.7]),
        chance.random() < 0.5,
    )


def simulated(calls: Calls, seed: int, requests: int = 150_000) -> tuple[float, ...]:
    """Return percentiles of the response time, and its mean (s)."""
    chance, free, found = Random(seed), 0.0, list[float]()
    waiting: list[tuple[float, float, int]] = []
    upcoming = chance.expovariate(calls.rate)
    while len(found) < requests:
        if not waiting or upcoming < waiting[0][0]:
            heappush(waiting, (upcoming, upcoming, calls.count))
            upcoming += chance.expovariate(calls.rate)
            continue
        now, begun, left = heappop(waiting)
        if not left:
            found.append(now - begun)
            continue
        made = left if calls.are_at_once else 1
        for _ in range(made):
            free = max(now, free) + calls.service(chance)
        heappush(waiting, (free, begun, left - made))
    found = sorted(found[len(found) // 20 :])
    return (*(found[int(float(p) * len(found))] for p in LEVELS), sum(found) / len(found))


def predicted(calls: Calls) -> list[tuple[float, Certainty]]:
    """Return the same by formulas, with what is stated of each."""
    one = f"{{ one of {{ {calls.percent} %: slow; else: fast }} }}"
    at_once, in_a_row = f"together {calls.count} {{ call db {one} }}", f"call db * {calls.count}"
    made = at_once if calls.are_at_once else f"{in_a_row} {one}"
    return stated_numbers(
        _SPEC.format(apart=calls.apart, rate=calls.rate, calls=made), "asks", LEVELS
    )


def main(count: int, seed: int) -> None:
    """Print predicted over simulated values."""
    held = stated = 0
    for index in range(count):
        calls = drawn(Random(seed + index))
        line = []
        truths = simulated(calls, seed + index)
        for (value, known), truth in zip(predicted(calls), truths, strict=True):
            ratio = value / truth
            line.append(f"{ratio:.3f}" + ("" if known.error is None else f"({known.error:.2f})"))
            if known.error is not None:
                stated += 1
                held += abs(ratio - 1) <= known.error
        print(calls, *line, flush=True)
    print(f"{held} of {stated} within the stated error")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
