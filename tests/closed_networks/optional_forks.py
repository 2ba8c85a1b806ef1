"""Users whose parallel calls are made by chance: random networks, simulated and solved.

The simulation shares nothing with QPS: an event at a time, exponential servers, first come, first
served. Run `python tests/closed_networks/optional_forks.py [NETWORKS [REQUESTS [FIRST]]]` to print
how far throughput, response times and percentiles are off.
"""

from __future__ import annotations

import heapq
import sys
from collections import deque
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import NamedTuple

Then = Callable[[float], None]

LEVELS = (0.5, 0.9, 0.95, 0.99)
REQUESTS = 200_000


class Branch(NamedTuple):
    """A call that is made by chance: to servers in a row, the last of them by chance."""

    chance: float
    servers: tuple[str, ...]
    last: float = 1.0


class Way(NamedTuple):
    """What a request does: each of its calls together by chance, after a first step."""

    services: dict[str, float]
    forks: tuple[tuple[float, tuple[Branch, ...]], ...]
    users: int
    think: float


def way_of(seed: int) -> Way:
    """Return a way by chance: of a third whole forks, of a third branches, of others all."""
    draw = Random(seed)
    kind = seed % 3
    names = iter("abcdefghijklmnopqrst")
    services = {"f": draw.uniform(0.005, 0.03)}

    def chance(*kinds: int) -> float:
        return round(draw.uniform(0.05, 0.95), 2) if kind in kinds else 1.0

    def server() -> str:
        name = f"n{next(names)}"
        services[name] = 0.02 * 10 ** draw.uniform(-0.5, 0.5)
        return name

    forks = []
    for _ in range(draw.choice((1, 1, 2))):
        branches = []
        for k in range(draw.choice((2, 2, 3, 3, 5))):
            on_way = tuple(server() for _ in range(draw.choice((1, 1, 2))))
            is_made = kind == 1 and k == 0
            is_drawn = is_made or draw.random() < 0.6
            last = chance(2) if len(on_way) > 1 else 1.0
            branches.append(Branch(chance(1, 2) if is_drawn else 1.0, on_way, last))
        forks.append((chance(0, 2), tuple(branches)))
    often = {"f": 1.0}
    for share, made in forks:
        for one in made:
            for k, name in enumerate(one.servers):
                is_last = k and k == len(one.servers) - 1
                often[name] = share * one.chance * (one.last if is_last else 1.0)
    busiest = max(often[name] * services[name] for name in services)
    think = 10 ** draw.uniform(-1.0, 0.3)
    users = max(1, round(draw.uniform(0.3, 1.3) * think / busiest))
    return Way(services, tuple(forks), users, think)


class Servers:
    """Servers, each with its line, and what happens next."""

    def __init__(self, services: dict[str, float], seed: int) -> None:
        self.draw = Random(seed)
        self.services = services
        self.events: list[tuple[float, int, Then]] = []
        self.lines: dict[str, deque[Then]] = {name: deque() for name in services}
        self.count = 0

    def at(self, time: float, then: Then) -> None:
        """Have something happen at a time."""
        self.count += 1
        heapq.heappush(self.events, (time, self.count, then))

    def visit(self, name: str, now: float, then: Then) -> None:
        """Have a server serve someone more, behind those who are there."""
        self.lines[name].append(then)
        if len(self.lines[name]) == 1:
            self._serve(name, now)

    def _serve(self, name: str, now: float) -> None:
        def served(end: float) -> None:
            line = self.lines[name]
            then = line.popleft()
            if line:
                self._serve(name, end)
            then(end)

        self.at(now + self.draw.expovariate(1 / self.services[name]), served)

    def run_until(self, is_over: Callable[[], bool]) -> None:
        """Have all happen until it is over."""
        while not is_over():
            time, _, then = heapq.heappop(self.events)
            then(time)


def simulated(way: Way, requests: int, seed: int = 1) -> tuple[float, list[float]]:
    """Return how many requests end in a second, and how long each takes, in order of length."""
    servers, found, ends = Servers(way.services, seed), list[float](), list[float]()

    def on(names: tuple[str, ...], now: float, then: Then) -> None:
        if not names:
            then(now)
        else:
            servers.visit(names[0], now, lambda end: on(names[1:], end, then))

    def from_fork(k: int, now: float, then: Then) -> None:
        if k == len(way.forks):
            then(now)
            return
        share, branches = way.forks[k]
        made = [b for b in branches if servers.draw.random() < b.chance]
        if servers.draw.random() >= share or not made:
            from_fork(k + 1, now, then)
            return
        left = len(made)

        def joined(end: float) -> None:
            nonlocal left
            left -= 1
            if not left:
                from_fork(k + 1, end, then)

        for one in made:
            is_whole = one.last == 1 or servers.draw.random() < one.last
            on(one.servers if is_whole else one.servers[:-1], now, joined)

    def think(now: float) -> None:
        def ask(begun: float) -> None:
            def answered(end: float) -> None:
                found.append(end - begun)
                ends.append(end)
                think(end)

            servers.visit("f", begun, lambda end: from_fork(0, end, answered))

        servers.at(now + servers.draw.expovariate(1 / way.think), ask)

    for _ in range(way.users):
        think(0.0)
    servers.run_until(lambda: len(found) >= requests)
    first = requests // 10
    return (requests - first) / (ends[-1] - ends[first]), sorted(found[first:])


def text_of(way: Way) -> str:
    """Return the spec of a way."""
    lines = [f"users N in 1..{max(way.users, 2)}", "network wire { propagation 0 s }"]
    for name, service in way.services.items():
        lines.append(f"machine m{name} {{ cpu 1 core, queueing mm1 }}")
        lines.append(f"component c{name} {{ cpu {service:.9f} s/request }}")
    nodes = "; ".join(f"node {name} = m{name}" for name in way.services)
    lines.append(f"topology {{ {nodes}; link l = wire between all }}")
    steps = []
    for share, branches in way.forks:
        calls = []
        for one in branches:
            inner = ""
            if len(one.servers) > 1:
                last = one.servers[1]
                often = "" if one.last == 1 else f" * {one.last * 100:g} %"
                inner = f"; call {last}{often} {{ c{last} }}"
            often = "" if one.chance == 1 else f" * {one.chance * 100:g} %"
            calls.append(f"call {one.servers[0]}{often} {{ c{one.servers[0]}{inner} }}")
        before = "" if share == 1 else f"{share * 100:g} %: "
        steps.append(f"{before}together {{ {'; '.join(calls)} }}")
    way_text = "; ".join(["cf", *steps])
    lines.append(
        f"stream job for each user {{ traffic 1 request, think {way.think:.9f} s; "
        f"at f {{ {way_text} }} }}"
    )
    lines.append("require { job.latency <= 1 hour }")
    return "\n".join(lines)


class Quotient(NamedTuple):
    """By which factor QPS is off, and the error that it states."""

    factor: float
    stated: float | None

    @property
    def holds(self) -> bool:
        """Whether it is within the error that is stated, and 2 % of the simulation."""
        return self.stated is None or abs(self.factor - 1) <= self.stated + _NOISE


_NOISE = 0.02


def quotients(way: Way, requests: int) -> dict[str, Quotient]:
    """Return by which factors QPS is off: throughput, mean response time, percentiles."""
    from helpers.specs import lowered

    graph = lowered(text_of(way))
    there, job = graph.at(way.users), graph.streams["job"]
    rate, times = simulated(way, requests)
    throughput = there.number(graph.closed["job"].throughput)
    found = {
        "throughput": Quotient(throughput / rate, job.rate_known.error),
        "mean": Quotient(
            there.number(job.mean_latency) / (sum(times) / len(times)),
            job.latency_certainty.error,
        ),
    }
    for level in LEVELS:
        share = Fraction(level).limit_denominator(100)
        value = there.number(job.latency_quantile(share)) / times[int(level * len(times))]
        found[f"p{level * 100:g}"] = Quotient(value, job.quantile_certainty(share).error)
    return found


def main() -> None:
    """Print how far each network is off, and the largest of all."""
    networks, requests, first = [*map(int, sys.argv[1:]), *(40, REQUESTS, 0)[len(sys.argv) - 1 :]]
    all_of: dict[str, list[Quotient]] = {}
    for seed in range(first, first + networks):
        found = quotients(way_of(seed), requests)
        print(
            seed, " ".join(f"{k} {v.factor:.3f} ({v.stated})" for k, v in found.items()), flush=True
        )
        for name, value in found.items():
            all_of.setdefault(name, []).append(value)
    for name, values in all_of.items():
        factors = [one.factor for one in values]
        held = sum(one.holds for one in values)
        print(f"{name}: {min(factors):.3f} to {max(factors):.3f}; {held} of {len(values)} hold")


if __name__ == "__main__":
    tests = Path(__file__).parents[1]
    sys.path[:0] = [str(tests), str(tests.parent / "src")]
    main()
