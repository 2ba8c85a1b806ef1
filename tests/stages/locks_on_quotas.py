"""Locks held on a CPU with a limit: random ones, simulated, and predicted.

`python tests/stages/locks_on_quotas.py COUNT SEED` draws so many specs with a step, a lock and a
step while it is held; simulates each by processor sharing of the host's cores until the quota of a
period is used up, with a lock first come, first served; and prints predicted over simulated
percentiles and means, how much of the time is throttled, and how many are within the stated error.
"""

from __future__ import annotations

import sys
from collections import deque
from math import inf
from random import Random

from msgspec import Struct

from helpers.stated_numbers import stated_numbers
from qps.compiler.quantities.certainty import Certainty

LEVELS = ("0.5", "0.95", "0.99")
_PERIOD = 0.1
_SPEC = """users N in 1..1
unit mutex
machine pod {{ cpu {cores} core, queueing quota per 100 ms on {host} core; lock 1 mutex }}
component parse {{ cpu {step} ms/request }}
component critical {{ cpu {held} ms/request }}
component collect {{ cpu {pause} ms/request }}
topology {{ node web = pod }}
stream asks for each user {{
  traffic {rate:.9f} request/s
  at web {{ parse; {collect} take lock; critical; give lock }}
}}
require {{ asks.p99 <= 1 hour }}
"""


class Pod(Struct, frozen=True, kw_only=True):
    """A limit in cores of a host, exponential services (ms), and the load of the limit.

    One request in a hundred has a service of twenty steps as well where there are `pauses`.
    """

    cores: float
    host: int
    step: float
    held: float
    pauses: bool
    load: float

    @property
    def rate(self) -> float:
        """Requests in a second."""
        work = self.step + self.held + (0.2 * self.step if self.pauses else 0)
        return 1000 * self.load * self.cores / work

    @property
    def text(self) -> str:
        """The spec of it."""
        return _SPEC.format(
            cores=self.cores,
            host=self.host,
            step=self.step,
            held=self.held,
            pause=20 * self.step,
            rate=self.rate,
            collect="1 %: collect;" if self.pauses else "",
        )


def drawn(chance: Random) -> Pod:
    """Return a random pod, of which the lock is busy for less than 60 % of the time."""
    while True:
        step = chance.choice([1, 3, 10])
        found = Pod(
            cores=chance.choice([0.5, 1, 2, 4]),
            host=chance.choice([4, 8, 16]),
            step=step,
            held=round(step * chance.choice([0.1, 0.3, 0.5]), 3),
            pauses=chance.random() < 1 / 3,
            load=chance.choice([0.3, 0.5, 0.7, 0.85]),
        )
        if found.rate * found.held < 600:
            return found


class _Job(Struct):
    begun: float
    left: float
    holds: bool = False


def simulated(pod: Pod, seed: int, requests: int = 20_000) -> tuple[float, ...]:
    """Return percentiles of the response time, its mean (s), and the share of time throttled."""
    chance, now, ends, quota = Random(seed), 0.0, _PERIOD, pod.cores * _PERIOD
    jobs: list[_Job] = []
    line: deque[_Job] = deque()
    found: list[float] = []
    is_held, throttled, upcoming = False, 0.0, chance.expovariate(pod.rate)
    while len(found) < requests:
        speed = min(1, pod.host / len(jobs)) if jobs and quota > 0 else 0
        first = min(jobs, key=lambda job: job.left, default=None)
        done = now + first.left / speed if first is not None and speed else inf
        used = now + quota / (speed * len(jobs)) if speed else inf
        event = min(upcoming, done, used, ends)
        work = (event - now) * speed
        throttled += event - now if jobs and not speed else 0
        for job in jobs:
            job.left -= work
        quota -= work * len(jobs)
        now = event
        if event == ends:
            ends, quota = ends + _PERIOD, pod.cores * _PERIOD
        elif event == used:
            quota = 0
        elif event == upcoming:
            service = chance.expovariate(1000 / pod.step)
            if pod.pauses and chance.random() < 0.01:
                service += chance.expovariate(50 / pod.step)
            jobs.append(_Job(now, service))
            upcoming = now + chance.expovariate(pod.rate)
        else:
            assert first is not None
            jobs.remove(first)
            if first.holds:
                found.append(now - first.begun)
                is_held = False
            else:
                line.append(first)
            if line and not is_held:
                is_held = True
                jobs.append(_Job(line.popleft().begun, chance.expovariate(1000 / pod.held), True))
    found = sorted(found[requests // 20 :])
    levels = (found[int(float(level) * len(found))] for level in LEVELS)
    return (*levels, sum(found) / len(found), throttled / now)


def predicted(pod: Pod) -> list[tuple[float, Certainty]]:
    """Return the same by formulas, with what is stated of each."""
    return stated_numbers(pod.text, "asks", LEVELS)


def main(count: int, seed: int) -> None:
    """Print predicted over simulated values."""
    held = stated = 0
    for index in range(count):
        pod = drawn(Random(seed + index))
        *truths, throttled = simulated(pod, seed + index)
        line = []
        for (value, known), truth in zip(predicted(pod), truths, strict=True):
            line.append(f"{value / truth:.2f}")
            if known.error is not None:
                stated += 1
                held += abs(value / truth - 1) <= known.error
        print(pod, f"{throttled:.4f}", *line, flush=True)
    print(f"{held} of {stated} within the stated error")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
