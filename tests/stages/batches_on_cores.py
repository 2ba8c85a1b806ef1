"""Calls that come together at the cores of one machine: random ones, simulated, and predicted.

`python tests/stages/batches_on_cores.py COUNT SEED` draws so many fan-outs to one machine with
several cores and exponential services, simulates each by a heap of when cores are free, and prints
predicted over simulated values, and how many are within the error that is stated.
"""

from __future__ import annotations

import sys
from fractions import Fraction
from heapq import heapify, heappop, heappush
from random import Random

from msgspec import Struct

from helpers.specs import lowered
from qps.compiler.quantities.certainty import Certainty

LEVELS = ("0.5", "0.95", "0.99")
_SPEC = """users N in 1..1
machine plain {{ }}
machine box {{ cpu {cores} core, queueing mmc }}
network lan {{ propagation 0 s }}
component look {{ cpu 10 ms/request }}
topology {{ node root = plain; node leaf = box; link net = lan between all }}
stream asks for each user {{
  traffic {rate} request/s
  at root {{ together {calls} {{ call leaf {{ look }} }} }}
}}
require {{ asks.latency <= 1 hour }}
"""
_JOBS = 600_000


class Fan(Struct, frozen=True):
    """So many calls, made at once to a machine of so many cores, at a load."""

    calls: int
    cores: int
    load: float


def drawn(chance: Random) -> Fan:
    """Return a random fan-out of 2 to 32 calls to 2 to 32 cores."""
    calls = round(2 * 16 ** chance.random())
    return Fan(calls, round(2 * 16 ** chance.random()), chance.choice([0.1, 0.3, 0.5, 0.7, 0.85]))


def simulated(fan: Fan, seed: int) -> tuple[float, ...]:
    """Return percentiles of the response time, and its mean (s)."""
    chance, now, free, found = Random(seed), 0.0, [0.0] * fan.cores, []
    rate = fan.load * fan.cores / fan.calls / 0.01
    heapify(free)
    for _ in range(_JOBS // fan.calls):
        now += chance.expovariate(rate)
        ends = []
        for _ in range(fan.calls):
            ends.append(max(now, heappop(free)) + chance.expovariate(100))
            heappush(free, ends[-1])
        found.append(max(ends) - now)
    found = sorted(found[len(found) // 20 :])
    return (*(found[int(float(p) * len(found))] for p in LEVELS), sum(found) / len(found))


def predicted(fan: Fan) -> list[tuple[float, Certainty]]:
    """Return the same by formulas, with what is stated of each."""
    rate = fan.load * fan.cores / fan.calls / 0.01
    graph = lowered(_SPEC.format(cores=fan.cores, calls=fan.calls, rate=f"{rate:.9f}"))
    asks, at = graph.streams["asks"], graph.at(1)
    found = [
        (
            float(at.number(asks.latency_quantile(Fraction(level)))),
            asks.quantile_certainty(Fraction(level)),
        )
        for level in LEVELS
    ]
    return [*found, (float(at.number(asks.mean_latency)), asks.latency_certainty)]


def main(count: int, seed: int) -> None:
    """Print predicted over simulated values."""
    held = stated = 0
    for index in range(count):
        fan = drawn(Random(seed + index))
        line = []
        for (value, known), truth in zip(predicted(fan), simulated(fan, seed + index), strict=True):
            line.append(f"{value / truth:.3f}")
            if known.error is not None:
                stated += 1
                held += abs(value / truth - 1) <= known.error
        print(fan.calls, fan.cores, fan.load, *line, flush=True)
    print(f"{held} of {stated} within the stated error")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
