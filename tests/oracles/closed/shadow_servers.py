"""`python tests/oracles/closed/shadow_servers.py 400`: how far off users behind others are.

Networks by chance of one to three servers at which some classes go before others, who give way at
once, of exponential, less and more varied services: two or three classes of users who wait for
their answer, some beside open traffic. Each is predicted, and simulated by a loop of its own; a
line for each range of the coefficient of variation says within which errors 95 % are.
"""

from __future__ import annotations

import sys
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from fractions import Fraction
from heapq import heappop, heappush
from pathlib import Path
from random import Random
from statistics import fmean

from msgspec import Struct

sys.path.insert(0, str(Path(__file__).parents[2]))

from helpers.specs import lowered
from qps.compiler.quantities.measured_errors import ErrorQuantity

_EVENTS = 60_000
_LEVELS = (Fraction(1, 2), Fraction(19, 20))
_ENOUGH = 1000
_VARIATIONS = (1, 1, 0.3, 0.5, 0.8, 1.5, 2, 2, 3)
RANGES = ((1.0, "exponential"), (2.0, "up to 2"), (3.0, "up to 3"))
"""Up to which coefficient of variation services are so; those of the first are exponential."""


class Users(Struct, frozen=True, kw_only=True):
    """A class with its mean services, 0 where it does not come: `jobs` who think, or a `rate`."""

    services: tuple[float, ...]
    rank: int
    jobs: int = 0
    think: float = 0.0
    rate: float = 0.0


class Net(Struct, frozen=True, kw_only=True):
    """Servers, each by the coefficient of variation of its services, and who comes there."""

    variations: tuple[float, ...]
    classes: tuple[Users, ...]

    @property
    def range(self) -> str:
        """In which range the services are: the widest of those of all servers."""
        if set(self.variations) == {1}:
            return RANGES[0][1]
        most = max(self.variations)
        return next(name for end, name in RANGES[1:] if most <= end)


def network(random: Random) -> Net:
    """Return a network by chance: users alone would take a tenth to more than all of a server."""
    count = random.choice((1, 1, 2, 3))
    is_exponential = random.random() < 0.2
    variations = tuple(1 if is_exponential else random.choice(_VARIATIONS) for _ in range(count))
    base = [random.uniform(0.01, 0.04) for _ in range(count)]
    classes = random.choice((2, 2, 3))
    apart = random.choice((1, 1, 1.3, 1.7, 2.5))
    opened = random.randrange(classes) if random.random() < 0.4 else None
    found = []
    for at in range(classes):
        services = tuple(
            one * apart ** random.uniform(-0.5, 0.5)
            if count == 1 or random.random() < 0.75
            else 0.0
            for one in base
        )
        if not any(services):
            services = (base[0], *services[1:])
        rank = at + 1 if at == 0 or random.random() < 0.75 else found[-1].rank
        if at == opened:
            rate = random.uniform(0.05, 0.4) / max(services)
            found.append(Users(services=services, rank=rank, rate=rate))
            continue
        jobs = random.choice((1, 2, 3, 5, 8, 14, 25))
        think = jobs * max(services) / random.uniform(0.1, 0.6)
        found.append(Users(services=services, rank=rank, jobs=jobs, think=think))
    return Net(variations=variations, classes=tuple(found))


def spec_of(net: Net) -> str:
    """Return the spec of a network."""
    lines = ["users N in 1..2", "machine home { memory 1 GB }", "network wire { propagation 0 s }"]
    nodes = ["node h = home"]
    for at, cv in enumerate(net.variations):
        law = "" if cv == 1 else f" cv {cv}"
        lines.append(f"machine m{at} {{ cpu 1 core, queueing priority preemptive{law} }}")
        nodes.append(f"node n{at} = m{at}")
    lines.append(f"topology {{ {'; '.join(nodes)}; link l = wire between all }}")
    for name, users in enumerate(net.classes):
        here = [at for at, one in enumerate(users.services) if one]
        lines += [
            f"component w{name}{at} {{ cpu {users.services[at]:.9f} s/request }}" for at in here
        ]
        calls = "; ".join(f"call n{at} {{ w{name}{at} }}" for at in here)
        comes = f"{users.jobs} request, think {users.think:.9f} s"
        if users.rate:
            comes = f"{users.rate:.9f} request/s"
        lines.append(
            f"stream s{name} in all {{ traffic {comes}; priority {users.rank}; "
            f"at h {{ {calls} }} }}"
        )
    return "\n".join(lines)


class _Server:
    """Serves who is of the lowest rank, of those the first who came; others give way at once."""

    def __init__(self, ranks: Sequence[int]) -> None:
        self.waiting: dict[int, deque[tuple[int, float, float]]] = {
            rank: deque() for rank in sorted(set(ranks))
        }
        self.ranks = ranks
        self.serving: tuple[int, float, float] | None = None
        """The class, when its item came into the network, and when it will have been served."""
        self.version = 0

    def come(self, of: int, since: float, work: float, now: float) -> None:
        """Let an item come that needs so much work."""
        if self.serving is not None:
            other, its_since, end = self.serving
            if self.ranks[of] >= self.ranks[other]:
                self.waiting[self.ranks[of]].append((of, since, work))
                return
            self.waiting[self.ranks[other]].appendleft((other, its_since, end - now))
        self._serve(of, since, now + work)

    def leave(self, now: float) -> None:
        """Let the item that was served go, and serve the next one."""
        self.serving = None
        for each in self.waiting.values():
            if each:
                of, since, work = each.popleft()
                self._serve(of, since, now + work)
                return

    def _serve(self, of: int, since: float, end: float) -> None:
        self.serving = (of, since, end)
        self.version += 1


def simulated(net: Net, random: Random, events: int = _EVENTS) -> list[tuple[float, list[float]]]:
    """Return the rate and the response times of each class, without a tenth at the start."""
    classes = net.classes
    servers = [_Server([one.rank for one in classes]) for _ in net.variations]
    coming: list[tuple[float, int, int, int, int]] = []
    times: list[list[float]] = [[] for _ in classes]
    now = begun = 0.0

    def push(when: float, of: int, at: int, version: int) -> None:
        heappush(coming, (when, random.getrandbits(62), of, at, version))

    def think(of: int) -> None:
        users = classes[of]
        push(now + random.expovariate(users.rate or 1 / users.think), of, -1, 0)

    def announce(at: int, before: int) -> None:
        server = servers[at]
        if server.serving is not None and server.version != before:
            push(server.serving[2], server.serving[0], at, server.version)

    for of, users in enumerate(classes):
        for _ in range(users.jobs or 1):
            think(of)
    for event in range(events):
        now, _, of, at, version = heappop(coming)
        if event == events // 10:
            begun, times = now, [[] for _ in classes]
        since = now
        if at < 0:
            if classes[of].rate:
                think(of)
        else:
            serving = servers[at].serving
            if serving is None or servers[at].version != version:
                continue  # it gave way meanwhile
            since = serving[1]
            servers[at].leave(now)
            announce(at, version)
        services = classes[of].services
        following = next((k for k in range(at + 1, len(services)) if services[k]), None)
        if following is None:
            times[of].append(now - since)
            if classes[of].jobs:
                think(of)
            continue
        before = servers[following].version
        work = _time(services[following], net.variations[following], random)
        servers[following].come(of, since, work, now)
        announce(following, before)
    return [(len(each) / (now - begun), sorted(each)) for each in times]


def _time(mean: float, cv: float, random: Random) -> float:
    """Return a time of service of a gamma law."""
    return random.gammavariate(1 / cv**2, mean * cv**2)


class Compared(Struct, frozen=True, kw_only=True):
    """By how much a number of users was off, and which error its label states."""

    quantity: str
    off: float
    error: float | None

    @property
    def holds(self) -> bool:
        """Whether it is as near as its label says."""
        return self.error is None or abs(self.off) <= self.error


def compared(net: Net, random: Random, events: int = _EVENTS) -> Iterator[Compared]:
    """Yield what is predicted of users, against a simulation."""
    graph = lowered(spec_of(net))
    there = graph.at(1)
    for at, (rate, times) in enumerate(simulated(net, random, events)):
        stream = graph.streams[f"s{at}"]
        if net.classes[at].rate or stream.latency_certainty.is_exact:
            continue
        found = [
            ("rate", stream.rate, rate, stream.arriving_known),
            ("latency", stream.mean_latency, fmean(times), stream.latency_certainty),
        ]
        for level in _LEVELS if len(times) >= _ENOUGH else ():
            value, known = stream.latency_quantile(level), stream.quantile_certainty(level)
            quantity = str(ErrorQuantity.of_level(level))
            found.append((quantity, value, times[int(level * len(times))], known))
        for quantity, formula, truth, known in found:
            off = there.number(formula) / truth - 1
            yield Compared(quantity=quantity, off=off, error=known.error)


def main() -> None:
    """Print the errors of so many networks by ranges, from a first seed on."""
    count, first = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    found = defaultdict[tuple[str, str], list[tuple[int, Compared]]](list)
    for seed in range(first, first + count):
        net = network(Random(seed))
        for one in compared(net, Random(seed)):
            found[net.range, one.quantity].append((seed, one))
    for (of, quantity), each in sorted(found.items()):
        offs = sorted(abs(one.off) for _, one in each)
        stating = [one for _, one in each if one.error is not None]
        print(
            f"{of}, {quantity}: {len(each)} numbers of {len({seed for seed, _ in each})} networks, "
            f"95 % within {offs[int(0.95 * len(offs))]:.1%}, all within {offs[-1]:.1%}; "
            f"{len(stating)} state an error, of which {sum(one.holds for one in stating)} hold"
        )


if __name__ == "__main__":
    main()
