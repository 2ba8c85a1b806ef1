"""`python tests/oracles/closed/pooled_alternatives.py 60 7000`: unlike users who hold places.

Networks by chance of users who wait for their answer: each request is of one of some kinds, of its
own mean service at each station. It works at a front or none, takes a place of a pool, works at one
to three stations behind it, and gives the place back. Each is predicted, and played by a loop of
its own that shares nothing with the solver; a line for each number tells of which errors 95 % are
less, and a last one how many of the stated errors hold.
"""

from __future__ import annotations

import sys
from collections import defaultdict, deque
from fractions import Fraction
from heapq import heappop, heappush
from itertools import accumulate
from pathlib import Path
from random import Random
from statistics import fmean, median

from msgspec import Struct

sys.path.insert(0, str(Path(__file__).parents[2]))

from helpers.specs import lowered

LEVELS = tuple(Fraction(one) for one in ("1/2", "9/10", "19/20", "99/100"))
_REQUESTS = 60_000


class Net(Struct, frozen=True):
    """Users who think, kinds of requests with their shares, and stations with their servers.

    A kind has a mean service for each station. The first `outside` stations are visited before a
    place of the pool is taken, the others while it is held. Services are exponential.
    """

    jobs: int
    think: float
    places: int
    outside: int
    servers: tuple[int, ...]
    shares: tuple[float, ...]
    services: tuple[tuple[float, ...], ...]

    @property
    def times_apart(self) -> float:
        """How many times as long as the shortest the longest service is, at any station."""
        return max(max(each) / min(each) for each in zip(*self.services, strict=True))

    @property
    def demands(self) -> list[float]:
        """The mean service at each station, of all kinds."""
        return [
            sum(share * one for share, one in zip(self.shares, each, strict=True))
            for each in zip(*self.services, strict=True)
        ]


def network(random: Random) -> Net:
    """Return a network by chance."""
    outside, inside = random.choice((0, 1, 1)), random.choice((1, 2, 2, 3))
    servers = tuple(random.choice((1, 1, 2, 4)) for _ in range(outside + inside))
    rare, apart = random.choice((0.02, 0.05, 0.2, 0.4)), random.choice((2, 4, 8, 16, 40))
    shares = random.choice(((1 - rare, rare), (1 - rare, rare / 2, rare / 2)))
    short = [random.uniform(0.005, 0.03) for _ in servers]
    services = [tuple(short)]
    services += [
        tuple(
            one if random.random() < 0.25 else one * apart ** random.uniform(0.5, 1)
            for one in short
        )
        for _ in shares[1:]
    ]
    if max(max(each) / min(each) for each in zip(*services, strict=True)) < 1.5:
        services[1] = tuple(one * apart for one in short)
    places = random.choice((2, 4, 6, 10, 20, 40))
    net = Net(1, 0.0, places, outside, servers, shares, tuple(services))
    demands = net.demands
    slowest = max(one / many for one, many in zip(demands, servers, strict=True))
    limit = max(slowest, sum(demands[outside:]) / places)
    jobs = random.choice((5, 10, 20, 50, 100, 300))
    of_knee = random.choice((0.3, 0.5, 0.7, 0.85, 1.0, 1.2, 1.6))
    think = max(0.0, jobs * limit / of_knee - sum(demands))
    return Net(jobs, think, places, outside, servers, shares, tuple(services))


def spec_of(net: Net) -> str:
    """Return the spec of a network."""
    lines = ["users N in 1..2", "network wire { propagation 0 s }"]
    lines.append(f"machine front {{ memory 1 GB; connections {net.places} connection }}")
    lines += [
        f"machine m{at} {{ cpu {many} core, queueing {'mm1' if many == 1 else 'mmc'} }}"
        for at, many in enumerate(net.servers)
    ]
    nodes = "; ".join(
        ["node f = front", *(f"node n{at} = m{at}" for at in range(len(net.servers)))]
    )
    lines.append(f"topology {{ {nodes}; link l = wire between all }}")
    ways = []
    for kind, services in enumerate(net.services):
        for at, one in enumerate(services):
            lines.append(f"component w{kind}{at} {{ cpu {one:.9f} s/request }}")
        calls = [f"call n{at} {{ w{kind}{at} }}" for at in range(len(services))]
        steps = [*calls[: net.outside], "take connections", *calls[net.outside :]]
        word = "else" if kind == 0 else f"{100 * net.shares[kind]:.12f} %"
        ways.append(f"{word}: {{ {'; '.join(steps)}; give connections }}")
    lines.append(
        f"stream s in all {{ traffic {net.jobs} request, 1 bit/request, think {net.think:.9f} s; "
        f"at f {{ one of {{ {'; '.join([*ways[1:], ways[0]])} }} }} }}"
    )
    return "\n".join(lines)


def played(net: Net, random: Random, requests: int = _REQUESTS) -> tuple[float, list[float]]:
    """Return the rate and the sorted response times, but for a tenth at the start."""
    free, places = list(net.servers), net.places
    waiting: list[deque[tuple[int, float]]] = [deque() for _ in free]
    for_place: deque[tuple[int, float]] = deque()
    coming: list[tuple[float, int, int, int, float]] = []
    odds = list(accumulate(net.shares))
    times: list[float] = []
    now = begun = 0.0

    def come(at: int, kind: int, since: float) -> None:
        if not free[at]:
            waiting[at].append((kind, since))
            return
        free[at] -= 1
        end = now + random.expovariate(1 / net.services[kind][at])
        heappush(coming, (end, random.getrandbits(62), at, kind, since))

    def think() -> None:
        pause = random.expovariate(1 / net.think) if net.think else 0.0
        heappush(coming, (now + pause, random.getrandbits(62), -1, 0, 0.0))

    for _ in range(net.jobs):
        think()
    while len(times) < requests:
        now, _, at, kind, since = heappop(coming)
        if at < 0:
            draw, since = random.random() * odds[-1], now
            kind = next(k for k, edge in enumerate(odds) if draw <= edge)
        else:
            free[at] += 1
            if waiting[at]:
                come(at, *waiting[at].popleft())
        following = at + 1
        if following == len(free):
            times.append(now - since)
            if len(times) == requests // 10:
                begun = now
            think()
            if for_place:
                come(net.outside, *for_place.popleft())
            else:
                places += 1
        elif following < net.outside or at >= net.outside:
            come(following, kind, since)
        elif places:
            places -= 1
            come(following, kind, since)
        else:
            for_place.append((kind, since))
    late = times[requests // 10 :]
    return len(late) / (now - begun), sorted(late)


class Number(Struct, frozen=True):
    """By which part of what is played a number is off, and what is stated of that."""

    off: float
    stated: float | None


def numbers_of(net: Net, rate: float, times: list[float]) -> dict[str, Number]:
    """Return how far off each number is."""
    graph = lowered(spec_of(net))
    stream, there = graph.streams["s"], graph.at(1)
    mean = there.number(stream.mean_latency)
    found = {
        "rate": Number(there.number(stream.rate) / rate - 1, stream.arriving_known.error),
        "mean": Number(mean / fmean(times) - 1, stream.latency_certainty.error),
    }
    for level in LEVELS:
        value, known = (
            there.number(stream.latency_quantile(level)),
            stream.quantile_certainty(level),
        )
        off = value / times[int(level * len(times))] - 1
        found[f"p{100 * float(level):g}"] = Number(off, known.error)
    return found


def main() -> None:
    """Print the errors of so many networks, from a seed on."""
    found = defaultdict[str, list[Number]](list)
    count, first = int(sys.argv[1]), int(sys.argv[2]) if sys.argv[2:] else 0
    for seed in range(first, first + count):
        net = network(Random(seed))
        numbers = numbers_of(net, *played(net, Random(seed)))
        for name, one in numbers.items():
            found[name].append(one)
        each = " ".join(f"{name} {one.off:+.3f}" for name, one in numbers.items())
        print(f"{seed} {net.times_apart:.1f} {net.servers} {net.places} {net.jobs}: {each}")
    for name, every in found.items():
        offs = sorted(abs(one.off) for one in every)
        stated = [one for one in every if one.stated is not None]
        held = sum(abs(one.off) <= one.stated for one in stated if one.stated is not None)
        print(
            f"{name}: median {median(offs):.1%}, 95 % within {offs[int(0.95 * len(offs))]:.1%}, "
            f"all within {offs[-1]:.1%}; {len(stated)} state an error, of which {held} hold"
        )


if __name__ == "__main__":
    main()
