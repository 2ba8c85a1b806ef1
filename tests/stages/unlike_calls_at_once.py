"""Unlike calls at once to one machine: random ones, simulated, and predicted.

`python tests/stages/unlike_calls_at_once.py COUNT SEED` draws 2 to 8 calls of exponential services,
which differ up to ten times, to a machine of 1 to 16 cores; simulates each by a heap of when cores
are free, in the order in which they are written; and prints predicted over simulated values, and
how many are within the error that is stated.
"""

from __future__ import annotations

import sys
from heapq import heapify, heappop, heappush
from random import Random

from msgspec import Struct

from helpers.stated_numbers import stated_numbers
from qps.compiler.quantities.certainty import Certainty

LEVELS = ("0.5", "0.95", "0.99")
_SPEC = """users N in 1..1
machine plain {{ }}
machine box {{ cpu {cores} core, queueing {queueing} }}
network lan {{ propagation 0 s }}
{components}
topology {{ node root = plain; node leaf = box; link net = lan between all }}
stream asks for each user {{
  traffic {rate:.9f} request/s
  at root {{ together {{ {calls} }} }}
}}
require {{ asks.latency <= 1 hour }}
"""

_BUSY = 0.8
"""At higher loads what is simulated varies more from run to run."""


class Calls(Struct, frozen=True):
    """Mean services (ms) of calls that are made at once, to so many cores, at a load."""

    services: tuple[float, ...]
    cores: int
    load: float

    @property
    def rate(self) -> float:
        """Requests in a second."""
        return 1000 * self.load * self.cores / sum(self.services)


def drawn(chance: Random) -> Calls:
    """Return random calls."""
    count, cores = chance.choice([2, 3, 4, 6, 8]), chance.choice([1, 1, 2, 4, 8, 16])
    apart, load = chance.choice([1.5, 3, 10]), chance.choice([0.1, 0.3, 0.5, 0.7, 0.85])
    services = (round(10 * apart ** chance.random(), 2) for _ in range(count))
    return Calls(tuple(services), cores, load)


def simulated(calls: Calls, seed: int) -> tuple[float, ...]:
    """Return percentiles of the response time, and its mean (s)."""
    chance, now, free, found = Random(seed), 0.0, [0.0] * calls.cores, []
    heapify(free)
    jobs = 2_000_000 if calls.load > _BUSY else 400_000
    for _ in range(jobs // len(calls.services)):
        now += chance.expovariate(calls.rate)
        ends = []
        for service in calls.services:
            ends.append(max(now, heappop(free)) + chance.expovariate(1000 / service))
            heappush(free, ends[-1])
        found.append(max(ends) - now)
    found = sorted(found[len(found) // 20 :])
    return (*(found[int(float(p) * len(found))] for p in LEVELS), sum(found) / len(found))


def predicted(calls: Calls) -> list[tuple[float, Certainty]]:
    """Return the same by formulas, with what is stated of each."""
    each = enumerate(calls.services)
    text = _SPEC.format(
        cores=calls.cores,
        queueing="mm1" if calls.cores == 1 else "mmc",
        components="\n".join(f"component c{at} {{ cpu {ms} ms/request }}" for at, ms in each),
        rate=calls.rate,
        calls="; ".join(f"call leaf {{ c{at} }}" for at in range(len(calls.services))),
    )
    return stated_numbers(text, "asks", LEVELS)


def main(count: int, seed: int) -> None:
    """Print predicted over simulated values."""
    held = stated = 0
    for index in range(count):
        calls = drawn(Random(seed + index))
        line = []
        truths = simulated(calls, seed + index)
        for (value, known), truth in zip(predicted(calls), truths, strict=True):
            error = "" if known.error is None else f"({float(known.error):.2f})"
            line.append(f"{value / truth:.3f}{error}")
            if known.error is not None:
                stated += 1
                held += abs(value / truth - 1) <= known.error
        print(calls.services, calls.cores, calls.load, *line, flush=True)
    print(f"{held} of {stated} within the stated error")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
