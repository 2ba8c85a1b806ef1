"""Calls that come together at the cores of one machine: random ones, simulated, and predicted.

`python tests/stages/batches_on_cores.py COUNT SEED` draws so many fan-outs to one machine with
several cores and exponential services, simulates each by a heap of when cores are free, and prints
predicted over simulated values, and how many are within the error that is stated. With `fixed`
or `varied` as well, services are fixed, or gamma distributed with any coefficient of variation;
with `machines` the calls are divided among 2 to 20 machines of 1 to 8 cores, and services are
exponential or fixed.
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
machine box {{ cpu {cores} core, queueing {queueing} }}
network lan {{ propagation 0 s }}
component look {{ cpu 10 ms/request }}
topology {{ node root = plain; node leaf = box * {machines}; link net = lan between all }}
stream asks for each user {{
  traffic {rate} request/s
  at root {{ together {calls} {{ call leaf {{ look }} }} }}
}}
require {{ asks.latency <= 1 hour }}
"""
_JOBS = 600_000
_VARIATIONS = {"": [1], "fixed": [0], "varied": [0, 0, 0.3, 0.5, 1.5, 2]}
"""Coefficients of variation of services."""


class Fan(Struct, frozen=True):
    """So many calls, made at once to a machine of so many cores, at a load."""

    calls: int
    cores: int
    load: float
    variation: float = 1
    machines: int = 1

    @property
    def queueing(self) -> str:
        """The discipline of its services."""
        varied = "mdc" if self.variation == 0 else f"mgc cv {self.variation}"
        found = "mmc" if self.variation == 1 else varied
        return found.replace("c", "1", 1) if self.cores == 1 else found

    @property
    def rate(self) -> float:
        """How many requests come each second."""
        return self.load * self.cores * self.machines / self.calls / 0.01

    def service(self, chance: Random) -> float:
        """Return a random service, of 10 ms on average (s)."""
        if self.variation == 0:
            return 0.01
        shape = 1 / self.variation**2
        return chance.gammavariate(shape, 0.01 / shape)


def drawn(chance: Random, kind: str = "") -> Fan:
    """Return a random fan-out of 2 to 32 calls to 2 to 32 cores."""
    calls = round(2 * 16 ** chance.random())
    cores, load = round(2 * 16 ** chance.random()), chance.choice([0.1, 0.3, 0.5, 0.7, 0.85])
    if kind == "machines":
        machines = round(2 * 10 ** chance.random())
        calls = round(machines * (1 + 1 / machines) * 8 ** chance.random())
        return Fan(calls, chance.choice([1, 2, 4, 8]), load, chance.choice([0, 1]), machines)
    return Fan(calls, cores, load, chance.choice(_VARIATIONS[kind]))


def simulated(fan: Fan, seed: int) -> tuple[float, ...]:
    """Return percentiles of the response time, and its mean (s)."""
    chance, now, found = Random(seed), 0.0, list[float]()
    machines = [[0.0] * fan.cores for _ in range(fan.machines)]
    each, more = divmod(fan.calls, fan.machines)
    for _ in range(_JOBS // fan.calls):
        now += chance.expovariate(fan.rate)
        ends = []
        if more:
            chance.shuffle(machines)
        for machine, free in enumerate(machines):
            for _ in range(each + (machine < more)):
                ends.append(max(now, heappop(free)) + fan.service(chance))
                heappush(free, ends[-1])
        found.append(max(ends) - now)
    found = sorted(found[len(found) // 20 :])
    return (*(found[int(float(p) * len(found))] for p in LEVELS), sum(found) / len(found))


def predicted(fan: Fan) -> list[tuple[float, Certainty]]:
    """Return the same by formulas, with what is stated of each."""
    text = _SPEC.format(
        cores=fan.cores,
        calls=fan.calls,
        machines=fan.machines,
        rate=f"{fan.rate:.9f}",
        queueing=fan.queueing,
    )
    return stated_numbers(text, "asks", LEVELS)


def main(count: int, seed: int, kind: str = "") -> None:
    """Print predicted over simulated values."""
    held = stated = 0
    for index in range(count):
        fan = drawn(Random(seed + index), kind)
        line = []
        for (value, known), truth in zip(predicted(fan), simulated(fan, seed + index), strict=True):
            line.append(f"{value / truth:.3f}")
            if known.error is not None:
                stated += 1
                held += abs(value / truth - 1) <= known.error
        shape = fan.calls, fan.machines, fan.cores, fan.load, fan.variation
        print(*shape, *line, flush=True)
    print(f"{held} of {stated} within the stated error")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:])
