"""`python tests/oracles/closed_alternatives.py 100`: users whose requests are short or long.

Networks by chance of users who wait for their answer: each request works at a front, and calls one
of some services by chance, whose times may be far apart. Each is predicted, and played by a loop of
its own; a line for each number tells of which errors 95 % are less.
"""

from __future__ import annotations

import sys
from collections import defaultdict, deque
from collections.abc import Sequence
from fractions import Fraction
from heapq import heappop, heappush
from itertools import accumulate
from pathlib import Path
from random import Random
from statistics import fmean, median

from msgspec import Struct

sys.path.insert(0, str(Path(__file__).parent.parent))

from helpers.specs import lowered

LEVELS = tuple(Fraction(one) for one in ("1/2", "9/10", "19/20", "99/100"))
_REQUESTS = 80_000


class Way(Struct, frozen=True):
    """What happens to a share of the requests: a service of some length at one of the stations."""

    share: float
    station: int
    service: float


class Users(Struct, frozen=True):
    """Users who think, work at a front, station 0, and go one of some ways."""

    jobs: int
    think: float
    front: float
    ways: tuple[Way, ...]


class Net(Struct, frozen=True):
    """Servers at each station, how services there vary, and the users who visit them.

    Services are gamma distributed, with a coefficient of variation of `varies`.
    """

    servers: tuple[int, ...]
    users: Users
    varies: tuple[float, ...]

    @property
    def times_apart(self) -> float:
        """How many times as long as the shortest the longest service is, at any station."""
        each: dict[int, list[float]] = {}
        for way in self.users.ways:
            each.setdefault(way.station, []).append(way.service)
        return max(max(times) / min(times) for times in each.values())


def network(random: Random) -> Net:
    """Return a network by chance."""
    stations = random.choice((2, 2, 3))
    servers = tuple(random.choice((1, 1, 2, 4)) for _ in range(stations))
    short, apart = random.uniform(0.01, 0.05), random.choice((2, 5, 10, 30, 60))
    rare = random.choice((0.01, 0.05, 0.2))
    left = 1 - rare
    ways = [Way(rare, 1, short * apart), Way(left, 1, short)]
    if stations > 2:  # some of the short ones go elsewhere
        part = left * random.uniform(0.2, 0.6)
        other = Way(part, 2, random.uniform(0.01, 0.1))
        ways[1:] = [other, Way(left - part, 1, short)]
    front, load = random.uniform(0.005, 0.05), random.uniform(0.2, 0.95)
    demand = [front / servers[0], *(0.0 for _ in servers[1:])]
    for way in ways:
        demand[way.station] += way.share * way.service / servers[way.station]
    jobs = random.choice((2, 5, 10, 20, 40))
    alone = front + sum(way.share * way.service for way in ways)
    think = max(0.0, jobs * max(demand) / load - alone)
    users = Users(jobs, think, front, tuple(ways))
    varies = tuple(random.choice((1, 1, 1, 1, 1.5, 2, 3, 4)) for _ in servers)
    return Net(servers, users, varies)


def _queueing(servers: int, varies: float) -> str:
    if varies == 1:
        return "mm1" if servers == 1 else "mmc"
    return f"{'mg1' if servers == 1 else 'mgc'} cv {varies:g}"


def spec_of(net: Net) -> str:
    """Return the spec of a network."""
    lines = ["users N in 1..2", "network wire { propagation 0 s }"]
    lines += [
        f"machine m{at} {{ cpu {many} core, queueing {_queueing(many, varies)} }}"
        for at, (many, varies) in enumerate(zip(net.servers, net.varies, strict=True))
    ]
    nodes = "; ".join(f"node n{at} = m{at}" for at in range(len(net.servers)))
    lines.append(f"topology {{ {nodes}; link l = wire between all }}")
    users, ways = net.users, []
    lines.append(f"component front {{ cpu {users.front:.9f} s/request }}")
    for at, way in enumerate(users.ways):
        lines.append(f"component w{at} {{ cpu {way.service:.9f} s/request }}")
        word = "else" if at == len(users.ways) - 1 else f"{100 * way.share:.12f} %"
        ways.append(f"{word}: call n{way.station} {{ w{at} }}")
    lines.append(
        f"stream s in all {{ traffic {users.jobs} request, 1 bit/request, think "
        f"{users.think:.9f} s; at n0 {{ front; one of {{ {'; '.join(ways)} }} }} }}"
    )
    return "\n".join(lines)


def played(net: Net, random: Random, requests: int = _REQUESTS) -> tuple[float, list[float]]:
    """Return the rate and the sorted response times, but for a tenth at the start."""
    users, free = net.users, list(net.servers)
    waiting: list[deque[tuple[float, float]]] = [deque() for _ in free]
    coming: list[tuple[float, int, int, float]] = []
    odds = list(accumulate(way.share for way in users.ways))
    times: list[float] = []
    now = begun = 0.0

    def come(at: int, mean: float, since: float) -> None:
        if not free[at]:
            waiting[at].append((mean, since))
            return
        free[at] -= 1
        shape = net.varies[at] ** -2
        end = now + random.gammavariate(shape, mean / shape)
        heappush(coming, (end, random.getrandbits(62), at, since))

    def think() -> None:
        pause = random.expovariate(1 / users.think) if users.think else 0.0
        heappush(coming, (now + pause, random.getrandbits(62), -1, 0.0))

    for _ in range(users.jobs):
        think()
    while len(times) < requests:
        now, _, at, since = heappop(coming)
        if at < 0:
            come(0, users.front, now)
            continue
        free[at] += 1
        if waiting[at]:
            come(at, *waiting[at].popleft())
        if at == 0:
            draw = random.random() * odds[-1]
            way = next(w for w, edge in zip(users.ways, odds, strict=True) if draw <= edge)
            come(way.station, way.service, since)
            continue
        times.append(now - since)
        if len(times) == requests // 10:
            begun = now
        think()
    late = times[requests // 10 :]
    return len(late) / (now - begun), sorted(late)


def errors_of(net: Net, seed: int) -> dict[str, float]:
    """Return by which part of what is played each number is off."""
    rate, times = played(net, Random(seed))
    graph = lowered(spec_of(net))
    stream, there = graph.streams["s"], graph.at(1)
    found = {
        "rate": there.number(stream.rate) / rate - 1,
        "mean": there.number(stream.mean_latency) / fmean(times) - 1,
    }
    for level in LEVELS:
        value = there.number(stream.latency_quantile(level))
        found[f"p{100 * float(level):g}"] = value / times[int(level * len(times))] - 1
    return found


def main() -> None:
    """Print the errors of so many networks, from a seed on."""
    found = defaultdict[str, list[float]](list)
    count, first = int(sys.argv[1]), int(sys.argv[2]) if sys.argv[2:] else 0
    for seed in range(first, first + count):
        net = network(Random(seed))
        errors = errors_of(net, seed)
        for name, off in errors.items():
            found[name].append(off)
        each = " ".join(f"{name} {off:+.3f}" for name, off in errors.items())
        print(f"{seed} {net.times_apart:.1f} {net.servers} {net.varies} {net.users.jobs}: {each}")
    for name, offs in found.items():
        print(f"{name}: {_most(offs)}")


def _most(offs: Sequence[float]) -> str:
    each = sorted(map(abs, offs))
    return (
        f"median {median(each):.1%}, 95 % within {each[int(0.95 * len(each))]:.1%}, "
        f"all within {each[-1]:.1%}"
    )


if __name__ == "__main__":
    main()
