"""`python tests/oracles/residual_service.py 300`: does it help to count residual service?

Mean value analysis with first come first served and service of any variation: a customer who comes
to a station waits for what is left of the service that goes on, S (1 + cv^2)/2 (Reiser 1979;
Lazowska et al. 1984, p. 267), where QPS counts service as exponential. Both are held against
networks by chance of one class, played by a loop of their own with gamma laws: of which errors half
and 95 % are less, by how near the bottleneck is to its knee.
"""

from __future__ import annotations

import sys
from collections import deque
from heapq import heappop, heappush
from random import Random
from statistics import median

from msgspec import Struct

_EVENTS = 60_000
_VARIATIONS = (0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 4.0)
_NEAR_KNEE = (0.3, 0.6, 0.9, 1.2, 2.0)


class Network(Struct, frozen=True):
    """Customers who think and then visit each station once: its mean service, and its cv."""

    customers: int
    think: float
    stations: tuple[tuple[float, float], ...]
    fullness: float
    """What the customers would ask of the bottleneck, if nobody waited."""


def network(random: Random) -> Network:
    """Return a network by chance."""
    stations = tuple(
        (random.choice((0.1, 0.3, 1.0)), random.choice(_VARIATIONS))
        for _ in range(random.choice((1, 1, 2, 3)))
    )
    customers, fullness = random.choice((2, 4, 8, 16, 32)), random.choice(_NEAR_KNEE)
    most = max(service for service, _ in stations)
    think = customers * most / fullness - sum(service for service, _ in stations)
    return Network(customers, max(0.0, think), stations, fullness)


def analyzed(net: Network, *, residual: bool) -> tuple[float, float]:
    """Return the rate and the response time by mean value analysis."""
    held, busy = [0.0] * len(net.stations), [0.0] * len(net.stations)
    rate, stays = 0.0, [0.0]
    for customers in range(1, net.customers + 1):
        more = [(cv**2 - 1) / 2 if residual else 0.0 for _, cv in net.stations]
        result = zip(net.stations, held, busy, more, strict=True)
        stays = [
            service * (1 + found + at_work * left) for (service, _), found, at_work, left in result
        ]
        rate = customers / (net.think + sum(stays))
        held = [rate * stay for stay in stays]
        busy = [rate * service for service, _ in net.stations]
    return rate, sum(stays)


def played(net: Network, random: Random) -> tuple[float, float]:
    """Return the rate and the response time, but for a tenth at the start."""
    waiting: list[deque[int]] = [deque() for _ in net.stations]
    coming: list[tuple[float, int, int]] = []
    begun, ended, total = [0.0] * net.customers, 0, 0.0
    start = now = 0.0

    def serve(at: int) -> None:
        service, cv = net.stations[at]
        shape = 1 / cv**2
        heappush(coming, (now + random.gammavariate(shape, service / shape), waiting[at][0], at))

    def think(customer: int) -> None:
        pause = random.expovariate(1 / net.think) if net.think else 0.0
        heappush(coming, (now + pause, customer, -1))

    for customer in range(net.customers):
        think(customer)
    for event in range(_EVENTS):
        now, customer, at = heappop(coming)
        if event == _EVENTS // 10:
            start, ended, total = now, 0, 0.0
        if at < 0:
            begun[customer] = now
        else:
            waiting[at].popleft()
            if waiting[at]:
                serve(at)
        at += 1
        if at == len(net.stations):
            ended, total = ended + 1, total + now - begun[customer]
            think(customer)
            continue
        waiting[at].append(customer)
        if len(waiting[at]) == 1:
            serve(at)
    return ended / (now - start), total / ended


def main(count: int) -> None:
    """Print how far off both are."""
    random = Random(1)
    errors: dict[float, list[list[float]]] = {fullness: [] for fullness in _NEAR_KNEE}
    for _ in range(count):
        net = network(random)
        truth = played(net, random)
        both = [analyzed(net, residual=residual) for residual in (False, True)]
        off = [
            abs(values / true - 1) for one in both for values, true in zip(one, truth, strict=True)
        ]
        errors[net.fullness].append(off)
    rows = {f"fullness {fullness:g}": off for fullness, off in errors.items()}
    rows["all"] = [off for of in errors.values() for off in of]
    print("half, and 95 %, are off by less: rate and time as if exponential, then with residuals")
    for name, off in rows.items():
        columns = [sorted(column) for column in zip(*off, strict=True)]
        values = (f"{median(c):5.1%} {c[int(0.95 * len(c))]:6.1%}" for c in columns)
        print(f"{name:14} {len(off):4}", *values, sep="   ")
    better = sum(one[3] < one[1] for one in rows["all"])
    print(f"times are nearer with residuals in {better} of {count}")


if __name__ == "__main__":
    main(int(sys.argv[1]))
