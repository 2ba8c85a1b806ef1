"""Numbers of closed networks of several classes with speeds and pools that they share.

What goes on within a pool is computed for one class, whose cycles are those of all classes, in the
shares in which these end (`service_rate_stays`); how many of each class are at each pool and
station comes from the Linearizer. Both are iterated in turns: shares, then how they change with one
less of a class.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import zip_longest
from math import ceil, floor, inf, nan
from typing import Any, NamedTuple

from qps.engine.queueing_networks.linearizer import Linearizer, one_by_one
from qps.engine.queueing_networks.load_dependent_mva import MOST_PLACES
from qps.engine.queueing_networks.load_dependent_operands import (
    SPEED,
    Place,
    Station,
    counted,
    every,
    never_ends,
    places_of,
)
from qps.engine.queueing_networks.multiclass_load_dependent_operands import (
    MulticlassNetwork,
    between,
    holding_alone,
    merged,
    shared_of,
)
from qps.engine.queueing_networks.product_form import alone
from qps.engine.queueing_networks.service_rate_stays import Stays, stays_at

_MOST_TURNS, _ENOUGH = 60, 1e-12
_FIRST_ONE = 1e-9
"""Customers of a class that has none: what its first one would find."""

# -- rows of the table ---------------------------------------------------------------------


def shared_rate(classes: float, of: float, *operands: float) -> float:
    """Return how many cycles all customers of one class end in a time; 0 where some never end."""
    network = _read(classes, operands)
    if network is None or not _is_one(of, classes):
        return nan
    return between(lambda whole: solved(whole).rates[int(of) - 1], network)


def shared_time(classes: float, of: float, which: float, *operands: float) -> float:
    """Return how long a cycle of a class is at the place of a group, or waits for a pool there."""
    network = _read(classes, operands)
    if network is None or not _is_one(of, classes) or not _is_place(which, network):
        return nan
    return between(lambda whole: solved(whole).times[int(which)][int(of) - 1], network)


def shared_wait(classes: float, which: float, *operands: float) -> float:
    """Return the mean wait of an open visit at a station, in mean service times."""
    network = _read(classes, operands)
    if network is None or not _is_place(which, network):
        return nan
    return between(lambda whole: solved(whole).open_waits.get(int(which), nan), network)


def _read(classes: float, operands: Sequence[float]) -> MulticlassNetwork | None:
    network = shared_of(classes, operands)
    if network is None or sum(network.customers) <= MOST_PLACES:
        return network
    pools = (one for one in network.groups if one.kind > 0)
    return None if any(one.servers * one.copies > MOST_PLACES for one in pools) else network


def _is_one(of: float, classes: float) -> bool:
    return 1 <= of <= classes and of == floor(of)


def _is_place(which: float, network: MulticlassNetwork) -> bool:
    return any(place.at == which for place in every(_places(network, network.customers)))


# -- networks ------------------------------------------------------------------------------


class LoadDependentRates(NamedTuple):
    """Rates of classes; how long each is at each place, and what open visits wait at stations."""

    rates: tuple[float, ...]
    times: dict[int, tuple[float, ...]]
    open_waits: dict[int, float]


@lru_cache(maxsize=1 << 10)
def solved(network: MulticlassNetwork) -> LoadDependentRates:
    """Return what comes of a network in which places and servers count whole; remembered."""
    places = _places(network, [1.0] * len(network.customers))
    stuck = [place for place in places if never_ends(place)]
    own = [place.at for place in places if place not in stuck]
    never = [any(_comes(network, k, one) for one in stuck) for k in range(len(network.customers))]
    customers = tuple(0.0 if n else one for n, one in zip(never, network.customers, strict=True))
    found = _rates_of(network._replace(customers=customers), own)
    for one in every(stuck):
        found.times[one.at] = tuple(inf if n else 0.0 for n in never)
        if isinstance(one, Station) and not one.speeds:
            found.open_waits[one.at] = alone(one.servers, one.load)
    rates = tuple(0.0 if n else rate for n, rate in zip(never, found.rates, strict=True))
    return found._replace(rates=rates)


def _places(network: MulticlassNetwork, shares: Sequence[float]) -> tuple[Place, ...]:
    found = places_of(merged(network, shares))
    assert found is not None
    return tuple(map(counted, found))


def _comes(network: MulticlassNetwork, k: int, place: Place) -> bool:
    """Return whether a class comes to a place, or to one within."""
    groups = [network.groups[one.at] for one in every([place])]
    return any(one.demands[k] > 0 or one.kind > 0 < one.weights[k] for one in groups)


def _rates_of(network: MulticlassNetwork, own: Sequence[int]) -> LoadDependentRates:
    """Return what comes of a network in which all cycles end, of the places of such groups."""
    turning = Linearizer(network.customers, network.think, len(own))
    cycles = [
        pause + sum(holding_alone(network, at)[k] for at in own)
        for k, pause in enumerate(network.think)
    ]
    stays: dict[int, Stays] = {}
    there: dict[int, Any] = {}
    for _ in range(_MOST_TURNS):
        stays = _stays(network, own, _rates(network, cycles, _FIRST_ONE))
        stay = one_by_one([one.whole for one in stays.values()])
        there = dict(zip(stays, turning.converge(stay), strict=True))
        before = cycles
        times = [stays[at].whole(found) for at, found in there.items()]
        cycles = [pause + sum(time[k] for time in times) for k, pause in enumerate(network.think)]
        moved = max(abs(a - b) / (b or 1.0) for a, b in zip(before, cycles, strict=True))
        if max(turning.turn(stay), moved) <= _ENOUGH:
            break
    rates = _rates(network, cycles, 0.0)
    part = _served(network, rates)
    held = dict(zip(stays, turning.queue_lengths, strict=True))
    return LoadDependentRates(
        tuple(float(rate * part) for rate in rates),
        {
            at: tuple(map(float, time(there[place])))
            for place, one in stays.items()
            for at, time in one.times.items()
        },
        {
            at: float(wait(held[place]))
            for place, one in stays.items()
            for at, wait in one.waits.items()
        },
    )


def _rates(network: MulticlassNetwork, cycles: Sequence[float], least: float) -> list[float]:
    """Return the rates of cycles that take so long; of classes there is that `least` of one."""
    customers = [max(n, least) for n in network.customers]
    return [
        n / cycle if cycle else (inf if n else 0.0)
        for n, cycle in zip(customers, cycles, strict=True)
    ]


def _served(network: MulticlassNetwork, rates: Sequence[float]) -> float:
    """Return what part of some rates stations serve: all, but for what an approximation is off."""
    least = 1.0
    for one, behind in zip_longest(network.groups, network.groups[1:]):
        if one.kind > 0 or one.kind == SPEED or (behind and behind.kind == SPEED):
            continue
        demand = sum(rate * part for rate, part in zip(rates, one.demands, strict=True) if part)
        if demand > 0:
            least = min(least, one.copies * (one.servers - one.load) / demand)
    return least


def _stays(
    network: MulticlassNetwork, own: Sequence[int], rates: Sequence[float]
) -> dict[int, Stays]:
    """Return how long classes stay at each place, of so many cycles of each."""
    whole = sum(rates)
    shares = [rate / whole for rate in rates]
    total = sum(network.customers)
    most = 1 << ceil(total).bit_length()
    found = {}
    for place in _places(network, shares):
        if place.at in own:
            found[place.at] = stays_at(network, shares, place, max(total - 1, 0.0), most)
    return found
