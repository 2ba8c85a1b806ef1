"""Users of whom some are held up where no queueing is stated: a simulation, and errors of QPS.

`python tests/oracles/saturated_users.py 40 1000` draws so many networks from a seed on, and prints
errors of means, and of the 50th, 95th and 99th percentile. Two kinds of users meet at a
station, in some of them while they hold a place of a pool; one kind, or both, also asks for a
resource that states no queueing and serves no more than it can. The simulation shares nothing with
QPS: each user goes its steps, ("work", station, mean), exponential, ("take", pool), ("give", pool),
or ("limit", resource, time), a fixed time after what was asked for before is done.
"""

from __future__ import annotations

import heapq
import sys
from collections import deque
from collections.abc import Sequence
from fractions import Fraction
from random import Random

Step = tuple[str, str, float]
LEVELS = (0.5, 0.95, 0.99)
SLACK = 100
"""A resource without a queue makes up for so many visits that it was idle for."""


class Users:
    """Closed classes at work: who waits for which servers or places, and how long cycles took."""

    def __init__(
        self,
        classes: Sequence[tuple[int, float, Sequence[Step]]],
        servers: dict[str, int],
        seed: int,
    ) -> None:
        self.chance, self.classes = Random(seed), classes
        self.free, self.queues = dict(servers), {name: deque[int]() for name in servers}
        self.done = dict[str, float]()
        self.events: list[tuple[float, int, int]] = []
        self.kind = [k for k, (count, _, _) in enumerate(classes) for _ in range(count)]
        self.step, self.began = [0] * len(self.kind), [0.0] * len(self.kind)
        self.found: list[list[float]] = [[] for _ in classes]
        for user, kind in enumerate(self.kind):
            self.sleep(user, 0.0, self.chance.expovariate(1 / classes[kind][1]))

    def sleep(self, user: int, now: float, time: float) -> None:
        heapq.heappush(self.events, (now + time, len(self.events), user))

    def run(self, until: float, warm_up: float) -> list[float]:
        """Return the mean time of the cycles of each class without thinking."""
        is_warm = False
        while self.events[0][0] < until:
            now, _, user = heapq.heappop(self.events)
            if now > warm_up and not is_warm:
                is_warm = True
                for each in self.found:
                    each.clear()
            self.advance(user, now)
        return [sum(each) / len(each) for each in self.found]

    def percentiles(self, level: float) -> list[float]:
        """Return a percentile of the time of the cycles of each class, once they have run."""
        return [sorted(each)[int(len(each) * level)] for each in self.found]

    def advance(self, user: int, now: float) -> None:
        """End the step that a user is at, and begin the next ones."""
        _, _, steps = self.classes[self.kind[user]]
        if self.step[user] == 0:
            self.began[user] = now
        elif steps[self.step[user] - 1][0] == "work":
            self.release(steps[self.step[user] - 1][1], now)
        self.go_on(user, now)

    def go_on(self, user: int, now: float) -> None:
        _, think, steps = self.classes[self.kind[user]]
        while self.step[user] < len(steps):
            kind, name, time = steps[self.step[user]]
            if kind in ("work", "take"):
                if self.free[name] == 0:
                    self.queues[name].append(user)
                    return
                self.free[name] -= 1
            self.step[user] += 1
            if kind == "work":
                self.sleep(user, now, self.chance.expovariate(1 / time))
                return
            if kind == "limit":
                begin = max(self.done.get(name, 0.0), now - SLACK * time)
                self.done[name] = begin + time
                self.sleep(user, now, max(0.0, begin - now) + time)
                return
            if kind == "give":
                self.release(name, now)
        self.found[self.kind[user]].append(now - self.began[user])
        self.step[user] = 0
        self.sleep(user, now, self.chance.expovariate(1 / think))

    def release(self, name: str, now: float) -> None:
        """Give a server or a place back; who waits first takes it."""
        self.free[name] += 1
        if self.queues[name]:
            self.go_on(self.queues[name].popleft(), now)


SPEC = """
users N in 1..1000
unit thread
machine front {{ cpu {cores} core, queueing mmc{pool} }}
machine back {{ cpu 1 core }}
component work(s) {{ cpu s }}
network wire {{ propagation 1 us }}
topology {{ node a = front; node b = back; link lan = wire between a, b }}
stream one for each user {{ traffic 1 request, think {thinks[0]} s; at a {{ {steps[0]} }} }}
stream two for each user {{ traffic 1 request, think {thinks[1]} s; at a {{ {steps[1]} }} }}
require {{ one.latency <= 1000 s; two.latency <= 1000 s; one.rate >= 0 request/s }}
"""


class Drawn:
    """A network of two classes: its spec, its steps, and how many users of each there are."""

    def __init__(self, seed: int) -> None:
        draw = Random(seed)
        self.seed, self.users = seed, round(5 * 40 ** draw.random())
        self.cores = draw.choice([1, 1, 2, 4])
        self.places = draw.choice(
            [0, 0, draw.randint(self.cores, 3 * self.cores + self.users // 4)]
        )
        self.thinks = [round(10 ** draw.uniform(-0.3, 0.7), 3) for _ in range(2)]
        demanded = self.users / sum(self.thinks) * 2
        work = draw.uniform(0.2, 0.9) * self.cores / demanded
        self.is_shared = draw.random() < 0.4
        asks = [True, self.is_shared]
        # So often as much is demanded of the resource as it can do.
        often, share = draw.uniform(0.6, 3), 1 / sum(asks)
        rates = [self.users / think for think in self.thinks]
        self.limits = [
            often * share / rate if asks_too else 0.0
            for asks_too, rate in zip(asks, rates, strict=True)
        ]
        self.work = round(work, 5)
        self.limits = [round(each, 5) for each in self.limits]

    @property
    def spec(self) -> str:
        def steps(at: int) -> str:
            found = f"work({self.work} s/request)"
            if self.limits[at]:
                found += f"; call b {{ work({self.limits[at]} s/request) }}"
            return f"take threads; {found}; give threads" if self.places else found

        return SPEC.format(
            cores=self.cores,
            pool=f"; threads {self.places} thread" if self.places else "",
            thinks=self.thinks,
            steps=[steps(0), steps(1)],
        )

    def simulated(self, cycles: int) -> list[list[float]]:
        """Return the latencies of both classes: means, and each of the percentiles."""
        classes = []
        for at in range(2):
            steps: list[Step] = [("work", "a", self.work)]
            if self.limits[at]:
                steps.append(("limit", "b", self.limits[at]))
            if self.places:
                steps = [("take", "threads", 0.0), *steps, ("give", "threads", 0.0)]
            classes.append((self.users, self.thinks[at], steps))
        servers = {"a": self.cores, "threads": self.places}
        length = cycles * max(*self.thinks, self.users * max(self.limits)) * 2 / self.users
        users = Users(classes, servers, self.seed)
        return [users.run(length, length / 5), *map(users.percentiles, LEVELS)]


def main(count: int, first: int = 0, cycles: int = 30_000) -> None:
    """Print the errors of latencies in drawn networks."""
    errors: list[list[float]] = [[] for _ in range(1 + len(LEVELS))]
    for seed in range(first, first + count):
        drawn = Drawn(seed)
        print(
            seed,
            f"N={drawn.users} c={drawn.cores} p={drawn.places} shared={drawn.is_shared}",
            end=" ",
        )
        pairs = zip(errors, predicted(drawn), drawn.simulated(cycles), strict=True)
        for found, answer, true in pairs:
            off = [p / t - 1 for p, t in zip(answer, true, strict=True)]
            found.append(max(map(abs, off)))
            print(
                [f"{p:.4g}/{t:.4g} {o:+.1%}" for p, t, o in zip(answer, true, off, strict=True)],
                end=" ",
            )
        print(flush=True)
    for name, found in zip(("mean", *LEVELS), errors, strict=True):
        found.sort()
        print(name, [f"{found[int(len(found) * at)]:.1%}" for at in (0.5, 0.8, 0.9, 0.95, 0.99)])


def predicted(drawn: Drawn) -> list[list[float]]:
    """Return the latencies of both classes as QPS has them: means, and percentiles."""
    from helpers.specs import lowered

    graph = lowered(drawn.spec)
    there = graph.at(drawn.users)
    streams = [graph.streams[name] for name in ("one", "two")]
    return [
        [float(there.number(one.mean_latency)) for one in streams],
        *(
            [float(there.number(one.latency_quantile(Fraction(str(level))))) for one in streams]
            for level in LEVELS
        ),
    ]


if __name__ == "__main__":
    sys.path.insert(0, "tests")
    main(*map(int, sys.argv[1:]))
