"""The Linearizer of closed networks: many classes with many customers, nearly.

What a class finds with one of its own less is told by the shares of classes at stations, and by how
these shares change; the change is taken to be the same with one less of any class (Chandy and
Neuse 1982). Sums over classes are taken once (de Souza e Silva and Muntz 1990). What is waited at
several servers, where so many are found, is what is waited where an open flow finds as many.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from math import exp

from qps.engine.class_networks import Network, Place
from qps.engine.queue_numbers import erlang_c

_TURNS, _MOST_STEPS, _ENOUGH = 3, 1000, 1e-13
_JUMPS, _SLOWEST = 6, 0.995
_POINTS, _FARTHEST = 240, 20.0

Shares = list[list[float]]
"""Of each station, of each class."""


def linearized(network: Network) -> tuple[list[tuple[float, ...]], list[float]]:
    """Return waits of classes over what they ask, and those of open visits, at each station."""
    waits = [_waiting(place) for place in network.places]
    customers = network.customers
    counts = range(len(customers)), range(len(network.places))
    none = [[[0.0 for _ in counts[0]] for _ in counts[0]] for _ in counts[1]]
    change = none
    shares = [[1 / (len(network.places) + 1) for _ in counts[0]] for _ in counts[1]]
    of_less: dict[int, Shares] = {}
    for turn in range(_TURNS):
        shares, own, beside = _core(network, customers, change, waits, shares)
        if turn == _TURNS - 1:
            break
        after = [[*one] for one in none]
        for k in counts[0]:
            if customers[k] < 1:
                continue
            fewer = (*customers[:k], customers[k] - 1, *customers[k + 1 :])
            of_less[k] = less = _core(network, fewer, change, waits, of_less.get(k, shares))[0]
            for i in counts[1]:
                after[i][k] = [one - of for one, of in zip(less[i], shares[i], strict=True)]
        change = after
    return own, beside


def _core(
    network: Network,
    customers: Sequence[float],
    change: Sequence[Shares],
    waits: Sequence[Callable[[float], float]],
    shares: Shares,
) -> tuple[Shares, list[tuple[float, ...]], list[float]]:
    """Return shares of classes at stations, with waits, for how these change with one less.

    They are looked for from some that are near.
    """
    places, classes = network.places, range(len(customers))
    moved = [
        [
            sum((customers[j] - (j == k)) * one[k][j] for j in classes if customers[j])
            for k in classes
        ]
        for one in change
    ]
    last = 0.0
    for step in range(1, _MOST_STEPS + 1):
        found = [sum(map(float.__mul__, map(float, customers), one)) for one in shares]
        seen = [
            [
                waits[i](
                    max(found[i] - (customers[k] and shares[i][k]) + moved[i][k], 0.0)
                    / place.copies
                )
                for k in classes
            ]
            for i, place in enumerate(places)
        ]
        times = [
            [asked * (1 + wait) for asked, wait in zip(place.asked, own, strict=True)]
            for place, own in zip(places, seen, strict=True)
        ]
        cycles = [network.think[k] + sum(time[k] for time in times) for k in classes]
        after = [[time[k] / cycles[k] if cycles[k] else 0.0 for k in classes] for time in times]
        off = max(
            (
                abs(b - a)
                for x, y in zip(shares, after, strict=True)
                for a, b in zip(x, y, strict=True)
            ),
            default=0.0,
        )
        slower = off / last if last else 1.0
        if step % _JUMPS == 0 and slower < _SLOWEST and off > _ENOUGH:
            after = _ahead(shares, after, slower)
        shares, last = after, off
        if off <= _ENOUGH:
            break
    found = [sum(map(float.__mul__, map(float, customers), one)) for one in shares]
    beside = [
        wait(held / place.copies) for wait, held, place in zip(waits, found, places, strict=True)
    ]
    return shares, [tuple(own) for own in seen], beside


def _ahead(before: Shares, after: Shares, slower: float) -> Shares:
    """Return where steps lead of which each is so much shorter than the last (Aitken)."""
    by = slower / (1 - slower)
    return [
        [max(new + by * (new - old), 0.0) for old, new in zip(x, y, strict=True)]
        for x, y in zip(before, after, strict=True)
    ]


def _waiting(place: Place) -> Callable[[float], float]:
    """Return the wait where so many closed customers are found at a copy."""
    if place.servers == 1:
        return lambda held: (place.load + held) / (1 - place.load)
    spare = place.servers - place.load
    found, waits = [], []
    for k in range(_POINTS + 1):
        left = exp(-_FARTHEST * k / _POINTS)
        flow = spare * (1 - left)
        wait = erlang_c(place.servers, place.load + flow) / (spare * left)
        found.append(flow * (1 + wait))
        waits.append(wait)

    def wait_of(held: float) -> float:
        at = min(max(bisect_right(found, held), 1), _POINTS)
        part = (held - found[at - 1]) / (found[at] - found[at - 1])
        return waits[at - 1] + part * (waits[at] - waits[at - 1])

    return wait_of
