"""Values of closed networks with speeds and pools, by sums: in fractions of flint, or in balls."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from math import inf
from typing import Any

from flint import fmpq
from msgspec.structs import replace

from qps.engine.exact_algebra.exact_values import Exact
from qps.engine.exact_algebra.flint_fractions import flint_of, fraction_of
from qps.engine.queueing_networks.load_dependent_operands import (
    LoadDependentPool,
    LoadDependentStation,
    Place,
    every,
    has_time,
    holding,
    never_ends,
)
from qps.engine.queueing_networks.load_dependent_sums import Sums


def exactly(
    value: Callable[..., Any], customers: int, think: Fraction, places: tuple[Place, ...]
) -> Exact:
    """Return a value of a network in fractions, worked out in those of flint."""
    found = value(customers, flint_of(think), tuple(map(_of_flint, places)))
    return found if isinstance(found, float) else fraction_of(fmpq(found))


def _of_flint(place: Place) -> Place:
    """Return a place with fractions of flint; what is whole of it remains as it is."""
    if isinstance(place, LoadDependentPool):
        return replace(
            place,
            delay=flint_of(place.delay),
            variation=flint_of(place.variation),
            within=tuple(map(_of_flint, place.within)),
        )
    return replace(
        place,
        demand=flint_of(place.demand),
        load=flint_of(place.load),
        copies=place.copies if isinstance(place.copies, int) else flint_of(place.copies),
        speeds=tuple(map(flint_of, place.speeds)),
    )


def rate_of(customers: int, think: Any, places: tuple[Place, ...]) -> Any:
    """Return how many cycles all customers together end in a time, in whatever numbers."""
    if customers == 0 or any(map(never_ends, places)):
        return think * 0
    if not think and not any(map(has_time, places)):
        return inf
    return _sums(customers, think, places).rate


def time_of(which: int, customers: int, think: Any, places: tuple[Place, ...]) -> Any:
    """Return how long a cycle is at a station, or waits for a pool, in whatever numbers."""
    own = holding(places, which)
    if never_ends(own):
        return inf
    if not has_time(own):
        return think * 0
    if any(map(never_ends, places)):
        customers, places = 1, (own,)
    return _sums(max(customers, 1), think, places).time(which)


def wait_of(which: int, customers: int, think: Any, places: tuple[Place, ...]) -> Any:
    """Return the mean wait of an open visit at a station, in whatever numbers."""
    own = holding(places, which)
    if any(map(never_ends, places)):
        station = next(place for place in every([own]) if place.at == which)
        assert isinstance(station, LoadDependentStation)
        if station.load >= station.servers:
            return inf
        customers, places = 0, (own,)
    return _sums(customers, think, places).wait(which)


def _sums(customers: int, think: Any, places: tuple[Place, ...]) -> Sums:
    """Return a network; cached in fractions, as each of their values is computed alone."""
    exact = isinstance(think, fmpq)
    return (_cached if exact else Sums)(customers, think, places)


@lru_cache(maxsize=64)
def _cached(customers: int, think: fmpq, places: tuple[Place, ...]) -> Sums:
    return Sums(customers, think, places)
