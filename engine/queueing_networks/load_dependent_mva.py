"""Numbers of closed networks with stations whose speed goes by how many are there, and with pools.

Such a station has weights of its own, D^n/(s(1) s(2) … s(n)), geometric from its last speed on: a
polynomial over 1 - r z, as several servers are, so that all is solved as in `product_form`. Where
a speed is above the last one, r is that of the fastest, and the polynomial has as many terms as
there are customers: all of them stay positive. A pool is such a station, whose speeds are the rates
of what goes on within (`service_rate_tables`). The polynomials are in `station_rates`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from math import ceil, inf, nan

from qps.engine.queueing_networks.closed_operands import on_line
from qps.engine.queueing_networks.load_dependent_operands import (
    GROUP,
    EnclosingPool,
    LoadDependentPool,
    LoadDependentStation,
    between,
    every,
    holding,
    never_ends,
    places_of,
    without_unneeded,
)
from qps.engine.queueing_networks.pool_networks import (
    EveryNetwork,
    Places,
    network_of,
    table_length,
)

MOST_PLACES = 1 << 15
"""Places of a pool that more customers may take from."""
_MOST_FALLING = 1 << 20
"""Customers up to which speeds may be above the last one."""

# -- rows of the table ---------------------------------------------------------------------


def nested_rate(customers: float, think: float, *operands: float) -> float:
    """Return how many cycles all customers together end in a time; 0 where some never end."""
    places = _read(customers, think, operands)
    return nan if places is None else float(between(_rate, customers, think, places))


def nested_time(which: float, customers: float, think: float, *operands: float) -> float:
    """Return how long a cycle is at a station, or waits for a pool: that of so many a group."""
    return _of_place(_time, which, customers, think, operands)


def nested_wait(which: float, customers: float, think: float, *operands: float) -> float:
    """Return the mean wait of an open visit at a station, in mean service times."""
    return _of_place(_wait, which, customers, think, operands)


def every_rate(most: int, think: float, *operands: float) -> list[float]:
    """Return the rates of none, one, … up to `most` customers.

    Empty where floats do not represent all of them, or there is no such network.
    """
    return _of_every(lambda network: network.rates, most, think, operands)


def every_time(which: int, most: int, think: float, *operands: float) -> list[float]:
    """Return the same of the time of a cycle at a station, or for which it waits for a pool.

    Of no customers it is that of one who comes to an empty network.
    """
    places = _read(most, think, operands)
    if places is None or not any(place.at == which for place in every(places)):
        return []

    def times(network: EveryNetwork) -> list[float]:
        each = zip(network.numbers(which), network.rates, strict=False)
        found = [number / rate for number, rate in each if rate > 0]
        return [*found[:1], *found]

    return _of_every(times, most, think, operands)


def _of_every(
    value: Callable[[EveryNetwork], list[float]],
    most: int,
    think: float,
    operands: Sequence[float],
) -> list[float]:
    places = _read(most, think, operands)
    if (
        most < 1
        or places is None
        or any(map(never_ends, places))
        or _has_longer_tables(most, places)
    ):
        return []
    found: list[float] = between(
        lambda n, z, whole: value(_every_network(n, z, whole)), most, think, places, line=_lines
    )
    return found if len(found) == most + 1 else []


def _has_longer_tables(most: int, places: Places) -> bool:
    """Return whether tables of pools are longer, and their lines others, than of few customers."""
    shortest = table_length(0)
    pools = (one for one in every(places) if isinstance(one, LoadDependentPool))
    return table_length(most) > shortest and any(p.places * p.copies > shortest for p in pools)


@lru_cache(maxsize=4)
def _every_network(most: int, think: float, places: Places) -> EveryNetwork:
    return EveryNetwork(most, think, places, EnclosingPool())


def _lines(low: list[float], high: list[float], part: float) -> list[float]:
    """Return the values between those of two networks; none where one has none."""
    return [on_line(one, other, part) for one, other in zip(low, high, strict=False)]


def _of_place(
    value: Callable[[int, int, float, Places], float],
    which: float,
    customers: float,
    think: float,
    operands: Sequence[float],
) -> float:
    places = _read(customers, think, operands)
    if places is None or not any(place.at == which for place in every(places)):
        return nan
    return float(
        between(lambda n, z, all_of: value(int(which), n, z, all_of), customers, think, places)
    )


def _read(customers: float, think: float, operands: Sequence[float]) -> Places | None:
    if not (0 <= customers < inf and 0 <= think < inf):
        return None
    if not all(-inf < number < inf for number in operands):
        return None
    if not all(number >= 0 for place, number in enumerate(operands) if place % GROUP):
        return None
    places = places_of(operands)
    if places is None:
        return None
    places = without_unneeded(places, table_length(ceil(customers)))
    if customers <= MOST_PLACES:
        return places
    pools = (one for one in every(places) if isinstance(one, LoadDependentPool))
    if any(one.places * one.copies > MOST_PLACES for one in pools):
        return None
    if customers <= _MOST_FALLING:
        return places
    speeds = (
        one.speeds for one in every(places) if isinstance(one, LoadDependentStation) and one.speeds
    )
    return places if all(max(one) == one[-1] for one in speeds) else None


def _rate(customers: int, think: float, places: Places) -> float:
    if customers == 0 or any(map(never_ends, places)):
        return 0.0
    return network_of(customers, think, places).rate


def _time(which: int, customers: int, think: float, places: Places) -> float:
    own = holding(places, which)
    if never_ends(own):
        return inf
    if any(map(never_ends, places)):  # all others are there
        customers, places = 1, (own,)
    return network_of(max(customers, 1), think, places).time(which)


def _wait(which: int, customers: int, think: float, places: Places) -> float:
    own = holding(places, which)
    if any(map(never_ends, places)):
        customers = 0
        station = next(place for place in every([own]) if place.at == which)
        if never_ends(station):
            return inf
    return network_of(customers, think, places).wait(which)
