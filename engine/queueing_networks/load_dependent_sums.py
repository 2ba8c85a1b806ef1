"""Sums of positive terms for `load_dependent_mva`, in fractions of flint or in balls.

All weights of up to so many customers are multiplied out, place by place.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property, reduce
from itertools import accumulate, pairwise
from operator import mul
from typing import Any

from msgspec import Struct

from qps.engine.queueing_networks.convolution import StationSums, convolved, power
from qps.engine.queueing_networks.load_dependent_operands import (
    EnclosingPool,
    LoadDependentPool,
    LoadDependentStation,
    Place,
    at_stations,
    delay_within,
    holding,
)
from qps.engine.queueing_networks.service_rate_tables import (
    at,
    composite_rates,
    even_rates,
    own_rates,
    own_waits,
)

Number = Any
"""A fraction of flint, or a ball."""


def _product(one: Sequence[Number], other: Sequence[Number], size: int) -> list[Number]:
    return convolved(one, other, size - 1)


def _first(speeds: Sequence[Number], count: int) -> list[Number]:
    """Return so many speeds, the last one for all numbers beyond."""
    return [*speeds, *[speeds[-1]] * count][:count]


class Sums(Struct, frozen=True, dict=True):
    """A network with so many `customers`, within a pool of places and copies `around`.

    What all its results rest on is worked out once.
    """

    customers: int
    think: Number
    places: tuple[Place, ...]
    around: EnclosingPool = EnclosingPool()

    @cached_property
    def rate(self) -> Number:
        """How many cycles end in a time."""
        if not self.customers:
            return 0 * self.think
        weights = self._all
        return weights[-2] / weights[-1]

    @property
    def rates(self) -> list[Number]:
        """The same for none, one, … up to so many customers: the sums of all are those of fewer."""
        weights = self._all
        return [0 * self.think, *(less / one for less, one in pairwise(weights))]

    def time(self, which: int) -> Number:
        """Return how long a cycle is at a place."""
        own = holding(self.places, which)
        return self._mean(own, self._counted(own, which)) / self.rate

    def numbers(self, which: int) -> list[Number]:
        """Return how many are at a place, by how many customers there are."""
        own = holding(self.places, which)
        return self._means(own, self._counted(own, which))

    def _counted(self, own: Place, which: int) -> Iterable[Number]:
        """Return the weights of a place, times how many are there, or at one within."""
        counts: Sequence[Number] = range(self.customers + 1)
        if isinstance(own, LoadDependentPool):
            held = self._pool_numbers(own)
            if own.at == which:
                counts = [n - one for n, one in zip(counts, held, strict=True)]
            else:
                counts = self._numbers_within(own, which)
        return map(mul, self._weights(own), counts)

    def _numbers_within(self, pool: LoadDependentPool, which: int) -> list[Number]:
        """Return how many are at a place within a pool, by how many are there."""
        within = self._within(pool)
        inner = within.numbers(which)
        held, ending = self._filled(pool)
        found = [at(inner, one) for one in held]
        if pool.copies == 1:
            return found
        rates, delay = within.rates, delay_within(pool)
        return [
            one * at_stations(h, rate, at(rates, h), delay)
            for one, h, rate in zip(found, held, ending, strict=True)
        ]

    def wait(self, which: int) -> Number:
        """Return the mean wait of an open visit at a station, in mean service times."""
        own = holding(self.places, which)
        alone = self._alone(own)
        return self._mean(own, self._weighted_waits(own, which)) if alone is None else alone

    def waits(self, which: int) -> list[Number]:
        """Return the same by how many customers there are."""
        own = holding(self.places, which)
        alone = self._alone(own)
        if alone is not None:
            return [alone] * (self.customers + 1)
        return self._means(own, self._weighted_waits(own, which))

    def _alone(self, own: Place) -> Number | None:
        """Return the wait at a station at which no customer ever is; None at any other place."""
        if isinstance(own, LoadDependentPool) or own.demand:
            return None
        one = self._of_station(own)
        return one.waits[0] / one.weights[0]

    def _of_station(self, own: LoadDependentStation) -> StationSums:
        return StationSums(own.demand, own.servers, own.load, own.copies, customers=self.customers)

    def _weighted_waits(self, own: Place, which: int) -> Iterable[Number]:
        """Return the weights of a place, times what an open visit waits there, or at one within."""
        if isinstance(own, LoadDependentPool):
            waits = self._within(own).waits(which)
            pool_waits = [at(waits, one) for one in self._pool_numbers(own)]
            return map(mul, self._weights(own), pool_waits)
        if own.is_own and self.around.copies > 1:
            return map(mul, self._weights(own), self._waits_at_own(own))
        return self._of_station(own).waiting(self.customers)

    def _waits_at_own(self, own: LoadDependentStation) -> list[Number]:
        """Return what an open visit waits where each copy of a pool has a station."""
        places, copies, _ = self.around
        each = StationSums(own.demand, own.servers, own.load, 1, customers=places)
        return own_waits(
            each.of_all_copies(places), each.waiting(places), places, copies, product=_product
        )

    def _mean(self, own: Place, weighted: Iterable[Number]) -> Number:
        """Return a mean over how many are at a place, whose weights times values are reported."""
        return sum(map(mul, weighted, self._weights_of_others(own)[::-1])) / self._all[-1]

    def _means(self, own: Place, weighted: Iterable[Number]) -> list[Number]:
        """Return the same by how many customers there are."""
        found = self._times(list(weighted), self._weights_of_others(own))
        return [one / whole for one, whole in zip(found, self._all, strict=True)]

    def _weights_of_others(self, own: Place) -> list[Number]:
        """Return the weights of none, one, … customers who are not at a place."""
        others = [w for place, w in zip(self.places, self._each, strict=True) if place is not own]
        return reduce(self._times, others, self._thinking)

    @cached_property
    def _all(self) -> list[Number]:
        return reduce(self._times, self._each, self._thinking)

    @cached_property
    def _each(self) -> list[list[Number]]:
        """The weights of none, one, … customers at each place."""
        return list(map(self._weighed, self.places))

    @cached_property
    def _inner(self) -> list[Sums | None]:
        """What is within each place with none, one, … there, as far as that matters."""
        return [
            self._inside(place, are_even=False) if isinstance(place, LoadDependentPool) else None
            for place in self.places
        ]

    def _inside(self, pool: LoadDependentPool, *, are_even: bool) -> Sums:
        around = EnclosingPool(pool.places, pool.copies, are_even)
        return Sums(self._most(pool), pool.delay, pool.within, around)

    def _weights(self, place: Place) -> list[Number]:
        return self._each[self._at(place)]

    def _within(self, pool: LoadDependentPool) -> Sums:
        found = self._inner[self._at(pool)]
        assert found is not None
        return found

    def _at(self, place: Place) -> int:
        return next(k for k, one in enumerate(self.places) if one is place)

    @cached_property
    def _thinking(self) -> list[Number]:
        one = self.think * 0 + 1
        steps = range(1, self.customers + 1)
        return list(accumulate(steps, lambda term, n: term * self.think / n, initial=one))

    def _times(self, one: Sequence[Number], other: Sequence[Number]) -> list[Number]:
        return convolved(one, other, self.customers)

    def _weighed(self, place: Place) -> list[Number]:
        """Return the weights of none, one, … customers at a place."""
        count, one = self.customers, self.think * 0 + 1
        if isinstance(place, LoadDependentPool):
            _, speeds = self._filled(place)
            return list(accumulate(speeds[1:], lambda w, speed: w / speed, initial=one))
        if not place.demand:
            return [one] + [0 * one] * count
        if place.is_own and self.around.copies > 1:
            rates = self._own_rates(place)
            return list(accumulate(rates[:count], lambda w, rate: w / rate, initial=one))
        if place.speeds:
            demand, speeds = place.demand / place.copies, _first(place.speeds, count)
            own = list(accumulate(speeds, lambda w, speed: w * demand / speed, initial=one))
            return power(own, place.copies, count)
        sums = StationSums(
            place.demand,
            place.servers,
            place.load,
            place.copies,
            customers=max(count, self.around.places),
        )
        return sums.of_all_copies(count)

    def _own_rates(self, place: LoadDependentStation) -> list[Number]:
        """Return the rates of a station of which each copy of the pool around has one."""
        places, copies, are_even = self.around
        if place.speeds:
            speeds, one = _first(place.speeds, places), self.think * 0 + 1
            demand = place.demand
            weights = list(accumulate(speeds, lambda w, speed: w * demand / speed, initial=one))
        else:
            each = StationSums(place.demand, place.servers, place.load, 1, customers=places)
            weights = each.all_weights(places)
        if are_even:
            return even_rates(weights, places, copies)
        return own_rates(weights, places, copies, product=_product)

    def _most(self, pool: LoadDependentPool) -> int:
        """Return how many may be within a pool, as far as that matters."""
        whole: int = pool.places * pool.copies
        return whole if pool.copies > 1 else min(whole, self.customers)

    def _pool_numbers(self, pool: LoadDependentPool) -> list[Number]:
        """Return how many are within a pool, by how many are there, of none up to all."""
        return self._filled(pool)[0]

    def _filled(self, pool: LoadDependentPool) -> tuple[list[Number], list[Number]]:
        """Return the same, and at which rate they end."""
        even = within = self._within(pool)
        if pool.copies > 1 and any(
            isinstance(one, LoadDependentStation) and one.is_own for one in pool.within
        ):
            even = self._inside(pool, are_even=True)
        found = composite_rates(
            even.rates[1:],
            within.rates[1:],
            pool.places,
            pool.copies,
            variation=pool.variation,
            product=_product,
            most=self.customers,
        )
        held, ending = (
            [*numbers, *[numbers[-1]] * self.customers][: self.customers + 1] for numbers in found
        )
        return held, ending
