"""Numbers of closed networks of several classes with speeds and pools that they share.

What goes on within a pool is computed for one class, whose cycles are those of all classes, in the
shares in which these end (`service_rate_stays`); how many of each class are at each pool and
station comes from the Linearizer. Both are iterated in turns: shares, then how they change with one
less of a class.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import zip_longest
from math import ceil, floor, inf, nan
from typing import Any

from qps.engine.queueing_networks.linearizer import Linearizer, Stay
from qps.engine.queueing_networks.load_dependent_mva import MOST_PLACES
from qps.engine.queueing_networks.load_dependent_operands import (
    SPEED,
    LoadDependentPool,
    LoadDependentStation,
    Place,
    counted,
    every,
    never_ends,
    places_of,
)
from qps.engine.queueing_networks.multiclass_load_dependent_operands import (
    CapacityLimit,
    LoadDependentMulticlassNetwork,
    are_alike,
    between,
    blocked,
    holding_alone,
    merged,
    shared_of,
)
from qps.engine.queueing_networks.product_form import alone
from qps.engine.queueing_networks.service_rate_stays import (
    Stays,
    plain_first,
    stays_at,
    stays_at_pool,
)

_MOST_TURNS, _ENOUGH, _ROUNDED = 60, 1e-12, 1e-10
"""Turns until so little moves, or, where it may be roundings, no less than before."""
_CLOSER, _CLOSEST = 1e-6, 1e-13
"""To such a part of the last turn's move shares are settled within a turn, and to no less."""
_MUCH, _AHEAD = 0.03, 1.0
"""Waits at full resources that move by more than so much, in logarithms, go on at least as far.

And beyond that by no more than the other.
"""
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


def _read(classes: float, operands: Sequence[float]) -> LoadDependentMulticlassNetwork | None:
    network = shared_of(classes, operands)
    if network is None or sum(network.customers) <= MOST_PLACES:
        return network
    pools = (one for one in network.groups if one.kind > 0)
    return None if any(one.servers * one.copies > MOST_PLACES for one in pools) else network


def _is_one(of: float, classes: float) -> bool:
    return 1 <= of <= classes and of == floor(of)


def _is_place(which: float, network: LoadDependentMulticlassNetwork) -> bool:
    return any(place.at == which for place in every(_places(network, network.customers))) or any(
        limit.at == which for limit in network.limits
    )


# -- networks ------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class LoadDependentRates:
    """Rates of classes, and what comes of `found` at each place when it is requested."""

    rates: tuple[float, ...]
    never: tuple[bool, ...]
    """Of which classes no cycle ends: they are at the places that are `stuck`."""
    stuck: tuple[Place, ...]
    found: tuple[tuple[Stays, Any, float], ...]
    """How long is stayed, what each class finds, and how many are there, of all other places."""
    blocked: tuple[tuple[int, tuple[float, ...]], ...]
    """How long a cycle of each class waits at each resource without a queue, by its group."""

    @cached_property
    def times(self) -> dict[int, tuple[float, ...]]:
        """How long each class is at each place."""
        times = {
            at: tuple(map(float, time(seen)))
            for one, seen, _ in self.found
            for at, time in one.times.items()
        } | dict(self.blocked)
        for one in every(self.stuck):
            times[one.at] = tuple(inf if n else 0.0 for n in self.never)
        return times

    @cached_property
    def open_waits(self) -> dict[int, float]:
        """What open visits wait at stations."""
        waits = {at: float(w(held)) for one, _, held in self.found for at, w in one.waits.items()}
        for one in every(self.stuck):
            if isinstance(one, LoadDependentStation) and not one.speeds:
                waits[one.at] = alone(one.servers, one.load)
        return waits


@lru_cache(maxsize=1 << 12)
def solved(network: LoadDependentMulticlassNetwork) -> LoadDependentRates:
    """Return what comes of a network in which places and servers count whole; remembered."""
    places = _places(network, [1.0] * len(network.customers))
    stuck = [place for place in places if never_ends(place)]
    own = [place for place in plain_first(places) if place not in stuck]
    never = [any(_comes(network, k, one) for one in stuck) for k in range(len(network.customers))]
    customers = tuple(0.0 if n else one for n, one in zip(never, network.customers, strict=True))
    whole = network._replace(customers=customers)
    rates, found, waits = _rates_of(whole, own)
    return LoadDependentRates(
        rates=tuple(0.0 if n else rate for n, rate in zip(never, rates, strict=True)),
        never=tuple(never),
        stuck=tuple(stuck),
        found=tuple(found),
        blocked=tuple(
            (limit.at, tuple(wait * limit.often(k) for k in range(len(customers))))
            for limit, wait in zip(network.limits, waits, strict=True)
        ),
    )


def _places(network: LoadDependentMulticlassNetwork, shares: Sequence[float]) -> tuple[Place, ...]:
    found = places_of(merged(network, shares))
    assert found is not None
    return tuple(map(counted, found))


def _comes(network: LoadDependentMulticlassNetwork, k: int, place: Place) -> bool:
    """Return whether a class comes to a place, or to one within."""
    groups = [network.groups[one.at] for one in every([place])]
    return any(one.demands[k] > 0 or one.kind > 0 < one.weights[k] for one in groups)


def _rates_of(
    network: LoadDependentMulticlassNetwork, own: Sequence[Place]
) -> tuple[list[float], list[tuple[Stays, Any, float]], list[float]]:
    """Return rates of a network in which all cycles end, what is found at places, and waits.

    These are at resources without a queue, for each visit.
    """
    import numpy as np  # noqa: PLC0415 - seldom needed

    from qps.engine.numerics.fixed_points import FixedPointSteps  # noqa: PLC0415 - needs numpy

    turning = Linearizer(network.customers, network.think, len(own))
    alone_at = [holding_alone(network, place.at) for place in own]
    cycles: Any = np.array(network.think) + np.array(alone_at).sum(axis=0)
    limits = _Limits(network, cycles)
    here, alike = limits.network, _alike_stays(limits.network, own)
    steps, count = FixedPointSteps(), len(cycles)
    own_waits = slice(count, count + len(network.limits))
    stays: list[Stays] = []
    there: Any = []
    moved = 1.0
    for _ in range(_MOST_TURNS):
        stay, stays = _stays(here, own, _rates(here, cycles, _FIRST_ONE), alike)
        point = np.concatenate([_logs(cycles), limits.logs, turning.change.ravel()])
        there = turning.converge(stay, max(_CLOSER * moved, _CLOSEST), here.think)
        cycles = np.array(here.think) + stay(there[None])[0].sum(axis=0)
        limits.fill(_rates(here, cycles, 0.0))
        turned = turning.turn()
        image = np.concatenate([_logs(cycles), limits.logs, turning.change.ravel()])
        before, moved = moved, max(turned, float(np.abs(image - point)[: own_waits.stop].max()))
        if moved <= _ENOUGH or before <= moved <= _ROUNDED:
            break
        after = steps.after(point, image)
        if np.isfinite(after).all():
            cycles = np.where(cycles > 0, np.exp(after[:count]), cycles)
            limits.logs = _onward(point[own_waits], image[own_waits], after[own_waits])
            turning.change = after[own_waits.stop :].reshape(turning.change.shape)
        if network.limits:
            here = limits.network
            alike = _alike_stays(here, own)
    rates = _rates(network, cycles, 0.0)
    part = _served(network, rates)
    found = list(zip(stays, there, turning.queue_lengths, strict=True))
    return [float(rate * part) for rate in rates], found, list(map(float, limits.waits))


def _onward(point: Any, image: Any, after: Any) -> Any:
    """Return waits at full resources, in logarithms: while they move much, as far as images.

    Where more is demanded than can be served, they are longer, wherever steps would lead.
    """
    import numpy as np  # noqa: PLC0415 - seldom needed

    moves = image - point
    low = np.where(moves > _MUCH, image, image - _AHEAD)
    high = np.where(moves < -_MUCH, image, image + _AHEAD)
    return np.clip(after, low, high)


class _Limits:
    """What visits wait at the resources without a queue of a network, while this is settled.

    Where more is demanded of one than it can serve, it is as if all that a visit waits, and what
    takes time anyway, took as many times longer. That is so of one that fills a pool which
    is full, with how long this is held; and where no pool is held, with all of a cycle.
    """

    def __init__(self, network: LoadDependentMulticlassNetwork, cycles: Any) -> None:
        import numpy as np  # noqa: PLC0415 - seldom needed

        self._of = network
        rates = _rates(network, cycles, _FIRST_ONE)
        self._unblocked = np.array(
            [_unblocked_time(network, one, cycles, rates) for one in network.limits]
        )
        self.waits = np.zeros(len(network.limits))

    @property
    def network(self) -> LoadDependentMulticlassNetwork:
        """The network with these waits as delays."""
        return blocked(self._of, list(map(float, self.waits))) if self._of.limits else self._of

    @property
    def logs(self) -> Any:
        """What is waited and takes time anyway, as a logarithm."""
        import numpy as np  # noqa: PLC0415 - seldom needed

        return np.log(self.waits + self._unblocked)

    @logs.setter
    def logs(self, value: Any) -> None:
        import numpy as np  # noqa: PLC0415 - seldom needed

        self.waits = np.maximum(np.exp(value) - self._unblocked, 0.0)

    def fill(self, rates: Sequence[float]) -> None:
        """Let visits wait by how much more than it can serve is demanded of each resource."""
        import numpy as np  # noqa: PLC0415 - seldom needed

        loads = [
            sum(rate * work for rate, work in zip(rates, one.work, strict=True) if work)
            / one.capacity
            for one in self._of.limits
        ]
        longer = (self.waits + self._unblocked) * np.array(loads)
        self.waits = np.maximum(longer - self._unblocked, 0.0)


def _unblocked_time(
    network: LoadDependentMulticlassNetwork,
    limit: CapacityLimit,
    cycles: Sequence[float],
    rates: Sequence[float],
) -> float:
    """Return what takes time anyway for each visit of a resource, of all classes in their parts."""
    time = often = 0.0
    for k, (rate, cycle) in enumerate(zip(rates, cycles, strict=True)):
        if limit.work[k] and limit.often(k) > 0 and rate < inf:
            pools = [pool for pool, visits in limit.visits if pool >= 0 and visits[k]]
            held = sum(holding_alone(network, pool)[k] for pool in dict.fromkeys(pools))
            time += rate * (held if pools else cycle)
            often += rate * limit.often(k)
    return time / often if time > 0 else 1.0


def _logs(cycles: Any) -> Any:
    """Return logarithms of times; those that are none do not move."""
    import numpy as np  # noqa: PLC0415 - seldom needed

    return np.log(np.where(cycles > 0, cycles, 1.0))


def _rates(
    network: LoadDependentMulticlassNetwork, cycles: Sequence[float], least: float
) -> list[float]:
    """Return the rates of cycles that take so long; of classes there is that `least` of one."""
    customers = [max(n, least) for n in network.customers]
    return [
        n / cycle if cycle else (inf if n else 0.0)
        for n, cycle in zip(customers, cycles, strict=True)
    ]


def _served(network: LoadDependentMulticlassNetwork, rates: Sequence[float]) -> float:
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
    network: LoadDependentMulticlassNetwork,
    own: Sequence[Place],
    rates: Sequence[float],
    alike: Mapping[int, Stays],
) -> tuple[Stay, list[Stays]]:
    """Return how long classes stay at all places, and at each, of so many cycles of each class.

    Where classes are `alike`, that does not rest on the cycles.
    """
    whole = sum(rates)
    shares = [rate / whole for rate in rates]
    places = {place.at: place for place in _places(network, shares)}
    return stays_at(network, shares, [places[one.at] for one in own], *_most(network), alike)


def _alike_stays(network: LoadDependentMulticlassNetwork, own: Sequence[Place]) -> dict[int, Stays]:
    """Return how long classes stay at pools of which they differ only by how often they come."""
    shares, there = [1.0] * len(network.customers), {one.at for one in own}
    return {
        one.at: stays_at_pool(network, shares, one, *_most(network))
        for one in _places(network, shares)
        if one.at in there and isinstance(one, LoadDependentPool) and are_alike(network, one.at)
    }


def _most(network: LoadDependentMulticlassNetwork) -> tuple[float, int]:
    """Return how many others may be where one comes, and how many tables are for."""
    total = sum(network.customers)
    return max(total - 1, 0.0), 1 << ceil(total).bit_length()
