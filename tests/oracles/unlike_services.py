"""`python tests/oracles/unlike_services.py 400`: how far off unlike and uneven services are told.

Networks by chance of one to three stations, first come first served, and of one to three classes:
users who wait for their answer, some beside open traffic. Each is predicted, and played by a loop
of its own; a line for each band tells of which errors 95 % are less.

`python tests/oracles/unlike_services.py 120 21000` draws so many from a seed on, and judges those
whose services are more than three times apart: by quantity, between limits of the unequal delay
by which errors go (`ErrorAxis.UNEQUAL_DELAY`), and how many are within what is stated. With a third
number there are as many times as many users, who think as many times as long:
`python tests/oracles/unlike_services.py 150 30000 12`.
"""

from __future__ import annotations

import sys
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from fractions import Fraction
from heapq import heappop, heappush
from itertools import pairwise
from math import inf
from pathlib import Path
from random import Random
from statistics import fmean

from msgspec import Struct

sys.path.insert(0, str(Path(__file__).parent.parent))

from helpers.specs import lowered
from qps.compiler.lower.response_time.class_response import StreamMeasures
from qps.compiler.quantities.certainty import Certainty, CertaintyKind
from qps.compiler.quantities.measured_errors import (
    FAR_UNEQUAL_SERVICES,
    ErrorAxis,
    ErrorQuantity,
)
from qps.engine.expressions.point_values import EvaluationPoint

_EVENTS = 60_000
_LEVELS = tuple(Fraction(one) for one in ("1/2", "9/10", "19/20", "99/100"))
_ENOUGH = 3000
_FAR_APART = 3.0
_FAR_LEVELS = _LEVELS[0], _LEVELS[2], _LEVELS[3]
_UNEQUAL_DELAYS = (0.0, 0.14, 0.3, 0.95, 1.1, 1.8, 4.9, 15.0, inf)
_WITH_FIRST = 2
"""Arguments without the seed of the first network."""
_BANDS = (1.0, 1.0001, 1.35, 2.0, 3.0, 5.0, 9.0, 17.0)
_QUEUEINGS = {
    ("fixed", 1): "md1",
    ("exponential", 1): "mm1",
    ("uneven", 1): "mg1 cv 2",
    ("uneven", 2): "mgc cv 2",
}
_LIKELY = 0.5 * (1 + 0.6**0.5)  # two exponential laws of balanced means, with a cv of 2


class Station(Struct, frozen=True):
    """Some servers, and the law of the times that they take."""

    servers: int
    law: str

    @property
    def queueing(self) -> str:
        """The same in a spec."""
        if self.law == "exponential" and self.servers > 1:
            return "mmc"
        return _QUEUEINGS[self.law, min(2, self.servers)]

    def time(self, mean: float, random: Random) -> float:
        """Return a time of service."""
        if self.law == "fixed":
            return mean
        if self.law == "exponential":
            return random.expovariate(1 / mean)
        likely = random.random() < _LIKELY
        return random.expovariate(2 * (_LIKELY if likely else 1 - _LIKELY) / mean)


class Users(Struct, frozen=True):
    """A class with its mean services, 0 where it does not come: `jobs` who think, or a `rate`."""

    services: tuple[float, ...]
    jobs: int = 0
    think: float = 0.0
    rate: float = 0.0


Net = tuple[tuple[Station, ...], tuple[Users, ...]]


def network(random: Random, times: int = 1) -> Net:
    """Return a network by chance, with so many times as many users who think as much longer."""
    stations = []
    for _ in range(random.choice((1, 1, 2, 3))):
        servers = random.choice((1, 1, 1, 2, 4))
        laws = ("fixed", "exponential", "exponential", "uneven")
        stations.append(Station(servers, random.choice(laws[servers > 1 :])))
    count, apart = random.choice((1, 2, 2, 3)), random.choice((1, 1, 1.3, 1.7, 2.5, 4, 8, 16))
    base = [random.uniform(0.01, 0.04) for _ in stations]
    is_mixed = count > 1 and random.random() < 0.4
    classes = []
    for at in range(count):
        services = [
            one * apart ** (random.random() if at > 1 else at)
            if len(stations) == 1 or random.random() < 0.75
            else 0.0
            for one in base
        ]
        services = services if any(services) else [base[0], *services[1:]]
        if is_mixed and at == count - 1:
            most = max(one / s.servers for one, s in zip(services, stations, strict=True))
            classes.append(Users(tuple(services), rate=random.uniform(0.05, 0.5) / most))
        else:
            jobs = random.choice((1, 2, 3, 5, 8, 14, 25))
            think = random.choice((0, 1, 3, 10, 30)) * sum(services)
            classes.append(Users(tuple(services), jobs=jobs * times, think=think * times))
    return tuple(stations), tuple(classes)


def spec_of(net: Net) -> str:
    """Return the spec of a network."""
    stations, classes = net
    lines = ["users N in 1..2", "machine home { memory 1 GB }", "network wire { propagation 0 s }"]
    nodes = ["node h = home", *(f"node n{at} = m{at}" for at in range(len(stations)))]
    lines += [
        f"machine m{at} {{ cpu {one.servers} core, queueing {one.queueing} }}"
        for at, one in enumerate(stations)
    ]
    lines.append(f"topology {{ {'; '.join(nodes)}; link l = wire between all }}")
    for name, users in enumerate(classes):
        here = [at for at, one in enumerate(users.services) if one]
        lines += [
            f"component w{name}{at} {{ cpu {users.services[at]:.9f} s/request }}" for at in here
        ]
        calls = "; ".join(f"call n{at} {{ w{name}{at} }}" for at in here)
        comes = f"{users.jobs} request, think {users.think:.9f} s"
        if users.rate:
            comes = f"{users.rate:.9f} request/s"
        lines.append(f"stream s{name} in all {{ traffic {comes}; at h {{ {calls} }} }}")
    return "\n".join(lines)


def played(net: Net, random: Random, events: int = _EVENTS) -> list[tuple[float, list[float]]]:
    """Return the rate and the response times of each class, but for a tenth at the start."""
    stations, classes = net
    free = [one.servers for one in stations]
    waiting: list[deque[tuple[int, float]]] = [deque() for _ in stations]
    coming: list[tuple[float, int, int, int, float]] = []
    times: list[list[float]] = [[] for _ in classes]
    now = begun = 0.0

    def think(of: int) -> None:
        users = classes[of]
        pause = (
            random.expovariate(users.rate or 1 / users.think) if users.rate or users.think else 0
        )
        heappush(coming, (now + pause, random.getrandbits(62), of, -1, 0.0))

    def serve(of: int, at: int, since: float) -> None:
        end = now + stations[at].time(classes[of].services[at], random)
        heappush(coming, (end, random.getrandbits(62), of, at, since))

    for of, users in enumerate(classes):
        for _ in range(users.jobs or 1):
            think(of)
    for event in range(events):
        now, _, of, at, since = heappop(coming)
        if event == events // 10:
            begun, times = now, [[] for _ in classes]
        if at < 0:
            since = now
            if classes[of].rate:
                think(of)
        elif waiting[at]:
            serve(waiting[at][0][0], at, waiting[at].popleft()[1])
        else:
            free[at] += 1
        following = next((k for k in range(at + 1, len(stations)) if classes[of].services[k]), None)
        if following is None:
            times[of].append(now - since)
            if classes[of].jobs:
                think(of)
        elif free[following]:
            free[following] -= 1
            serve(of, following, since)
        else:
            waiting[following].append((of, since))
    return [(len(each) / (now - begun), sorted(each)) for each in times]


def times_apart(net: Net) -> float:
    """Return how many times as long as the shortest the longest service is, at any station."""
    visited = [
        [each for each in at if each] for at in zip(*(one.services for one in net[1]), strict=True)
    ]
    return max(max(each) / min(each) for each in visited if each)


def share_of_knee(net: Net) -> float:
    """Return how many users there are, as a part of those that stations serve at least."""
    stations, classes = net
    opened = [one for one in classes if one.rate]
    found = 0.0
    for users in classes:
        free = (
            s.servers - sum(one.rate * one.services[at] for one in opened)
            for at, s in enumerate(stations)
        )
        most = max(each / left for each, left in zip(users.services, free, strict=True))
        found += users.jobs * most / (users.think + sum(users.services))
    return found


class Off(Struct, frozen=True):
    """By which part of the truth a number is off, of a network, with its unequal delay."""

    off: float
    seed: int
    delay: float
    stated: float | None


def far_apart(seeds: range, times: int = 1) -> dict[ErrorQuantity, list[Off]]:
    """Return the errors of networks whose services are far apart, with as many times the users."""
    found = defaultdict[ErrorQuantity, list[Off]](list)
    for seed in seeds:
        net = network(Random(seed), times)
        if times_apart(net) <= _FAR_APART:
            continue
        graph, true = lowered(spec_of(net)), played(net, Random(seed))
        for at, (rate, latencies) in enumerate(true):
            if len(latencies) < _ENOUGH:
                continue
            stream = graph.streams[f"s{at}"]
            point = next(iter(stream.doubts.points), {})
            delay = point.get(ErrorAxis.UNEQUAL_DELAY, inf)
            for quantity, off, stated in _offs(stream, graph.at(1), rate, latencies):
                found[quantity].append(Off(off, seed, delay, stated))
    return found


def _offs(
    stream: StreamMeasures, there: EvaluationPoint, rate: float, times: Sequence[float]
) -> Iterator[tuple[ErrorQuantity, float, float | None]]:
    """Yield by which part of the truth numbers are off that such services have a part in.

    With what their labels state.
    """

    def is_theirs(known: Certainty) -> bool:
        return FAR_UNEQUAL_SERVICES in known.methods

    if is_theirs(stream.latency_certainty):
        off = abs(there.number(stream.mean_latency) / fmean(times) - 1)
        yield ErrorQuantity.LATENCY, off, stream.latency_certainty.error
    if is_theirs(stream.arriving_known):
        off = abs(there.number(stream.rate) / rate - 1)
        yield ErrorQuantity.RATE, off, stream.arriving_known.error
    for level in _FAR_LEVELS:
        time = times[int(level * len(times))]
        known = stream.quantile_certainty(level)
        if is_theirs(known) and known.kind is CertaintyKind.APPROXIMATION:
            quantile = there.number(stream.latency_quantile(level))
            yield ErrorQuantity.of_level(level), abs(quantile / time - 1), known.error
        share = there.number(stream.later(Fraction(time)))
        shares = [share] * len(stream.doubts.points)
        known = stream.share_certainty(ErrorQuantity.SHARE_BEYOND, shares)
        if is_theirs(known) and known.kind is CertaintyKind.APPROXIMATION:
            yield ErrorQuantity.SHARE_BEYOND, abs(share / float(1 - level) - 1), known.error


def print_far_apart(count: int, first: int, times: int = 1) -> None:
    """Print what 95 % of these errors are within, of networks from a seed on."""
    for quantity, offs in far_apart(range(first, first + count), times).items():
        for least, most in pairwise(_UNEQUAL_DELAYS):
            up_to = [one for one in offs if least <= one.delay < most]
            if up_to:
                networks = len({one.seed for one in up_to})
                within = _most([one.off for one in up_to])
                print(f"{quantity}, {least:g} to {most:g}: {networks} networks, {within}")
        states = [(one.off, one.stated) for one in offs if one.stated is not None]
        held = sum(off <= stated for off, stated in states)
        print(f"{quantity}: {len(states)} of {len(offs)} state an error, of which {held} hold")


def main() -> None:
    """Print the errors of so many networks by bands."""
    if len(sys.argv) > _WITH_FIRST:
        print_far_apart(*map(int, sys.argv[1:]))
        return
    below: list[tuple[float, float]] = []
    found = defaultdict[tuple[bool, bool, float], list[tuple[float, float]]](list)
    quantiles = defaultdict[tuple[bool, bool], list[float]](list)
    for seed in range(int(sys.argv[1])):
        net = network(Random(seed))
        graph = lowered(spec_of(net))
        is_exponential = all(one.law == "exponential" for one in net[0])
        band = max(low for low in _BANDS if low <= times_apart(net))
        for at, (rate, times) in enumerate(played(net, Random(seed))):
            stream, there = graph.streams[f"s{at}"], graph.at(1)
            if stream.latency_certainty.is_exact:
                continue
            time = there.number(stream.mean_latency)
            off = there.number(stream.rate) / rate - 1, time / fmean(times) - 1
            found[is_exponential, bool(net[1][at].jobs), band].append(off)
            if times_apart(net) > _FAR_APART and share_of_knee(net) <= 1:
                below.append(off)
            is_mixed = any(one.rate for one in net[1])
            for level in _LEVELS if len(times) >= _ENOUGH else ():
                if "closed-gamma" in stream.quantile_certainty(level).methods:
                    value = there.number(stream.latency_quantile(level))
                    late = value / times[int(level * len(times))] - 1
                    quantiles[is_mixed, times_apart(net) > _FAR_APART].append(late)
    for (is_mixed, is_far), lates in sorted(quantiles.items()):
        print(
            f"{'beside open traffic' if is_mixed else 'users who wait alone'}, services "
            f"{'more' if is_far else 'less'} than {_FAR_APART:g} times apart: {len(lates)} "
            f"quantiles, {_most(lates)}"
        )
    if below:
        rates, times = zip(*below, strict=True)
        print(
            f"services more than {_FAR_APART:g} times apart, up to the knee: {len(below)}, "
            f"rates {_most(rates)}, times {_most(times)}"
        )
    for low, high in pairwise(_BANDS):
        for is_exponential in (True, False):
            for is_closed in (True, False):
                offs = found[is_exponential, is_closed, low]
                if offs:
                    rates, times = zip(*offs, strict=True)
                    print(
                        f"{'exponential' if is_exponential else 'others'}, "
                        f"{'users who wait' if is_closed else 'open'}, services {low:g} to "
                        f"{high:g} times: {len(offs)}, rates {_most(rates)}, times {_most(times)}"
                    )


def _most(offs: Sequence[float]) -> str:
    each = sorted(map(abs, offs))
    return f"95 % within {each[int(0.95 * len(each))]:.0%}, all within {each[-1]:.0%}"


if __name__ == "__main__":
    main()
