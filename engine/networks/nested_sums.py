"""What `nested_numbers` has in floats, by plain sums of positive terms, in fractions or in balls.

All weights of up to so many customers are multiplied out, place by place.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property, reduce
from itertools import accumulate
from operator import mul
from typing import Any

from msgspec import Struct

from qps.engine.networks.closed_sums import StationSums, convolved, power
from qps.engine.networks.nested_networks import Place, Pool, Station, holding
from qps.engine.networks.paced_tables import at, held_within, own_rates

Number = Any
"""A fraction, or a ball."""
ALONE = (0, 1)
"""No pool is around."""


def _product(one: Sequence[Number], other: Sequence[Number], size: int) -> list[Number]:
    return convolved(one, other, size - 1)


def _first(speeds: Sequence[Number], count: int) -> list[Number]:
    """Return so many speeds, the last one for all numbers beyond."""
    return [*speeds, *[speeds[-1]] * count][:count]


class Sums(Struct, frozen=True, dict=True):
    """A network with so many `customers`, within a pool of places and copies `around`.

    What all that is asked of it rests on is worked out once.
    """

    customers: int
    think: Number
    places: tuple[Place, ...]
    around: tuple[int, int] = ALONE

    @cached_property
    def rate(self) -> Number:
        """How many cycles end in a time."""
        if not self.customers:
            return 0 * self.think
        weights = self._all
        return weights[-2] / weights[-1]

    def time(self, which: int) -> Number:
        """Return how long a cycle is at a place."""
        own = holding(self.places, which)
        counts: Sequence[Number] = range(self.customers + 1)
        if isinstance(own, Pool):
            held = self._held(own)
            if own.at == which:
                counts = [n - one for n, one in zip(counts, held, strict=True)]
            else:
                _, *some = self._within(own)
                inner = [0 * self.think, *(one.rate * one.time(which) for one in some)]
                counts = [at(inner, one) for one in held]
        return self._mean(own, map(mul, self._weights(own), counts)) / self.rate

    def wait(self, which: int) -> Number:
        """Return the mean wait of an open visit at a station, in mean service times."""
        own = holding(self.places, which)
        if isinstance(own, Pool):
            waits = [one.wait(which) for one in self._within(own)]
            told = [at(waits, one) for one in self._held(own)]
            return self._mean(own, map(mul, self._weights(own), told))
        one = StationSums(own.asked, own.servers, own.load, own.copies, customers=self.customers)
        if not own.asked:
            return one.waits[0] / one.weights[0]
        if own.is_own and self.around[1] > 1:
            return self._wait_at_own(own, one)
        return self._mean(own, one.waiting(self.customers))

    def _wait_at_own(self, own: Station, sums: StationSums) -> Number:
        """Return about what an open visit waits where each copy of a pool has a station."""
        held = [weight * n for n, weight in enumerate(self._weights(own))]
        more = self._mean(own, held) / self.around[1] - (own.servers - 1)
        alone = sums.waits[0] / sums.weights[0]
        return alone + max(0, more) / (own.servers - own.load)

    def _mean(self, own: Place, weighted: Iterable[Number]) -> Number:
        """Return a mean over how many are at a place, whose weights times values are told."""
        others = [w for place, w in zip(self.places, self._each, strict=True) if place is not own]
        behind = reduce(self._times, others, self._thinking)
        return sum(map(mul, weighted, behind[::-1])) / self._all[-1]

    @cached_property
    def _all(self) -> list[Number]:
        return reduce(self._times, self._each, self._thinking)

    @cached_property
    def _each(self) -> list[list[Number]]:
        """The weights of none, one, … customers at each place."""
        return list(map(self._weighed, self.places))

    @cached_property
    def _inner(self) -> list[list[Sums]]:
        """What is within each place with none, one, … there, as far as that matters."""
        return [
            [
                Sums(n, place.delay, place.within, (place.places, place.copies))
                for n in range(self._most(place) + 1)
            ]
            if isinstance(place, Pool)
            else []
            for place in self.places
        ]

    def _weights(self, place: Place) -> list[Number]:
        return self._each[self._at(place)]

    def _within(self, pool: Pool) -> list[Sums]:
        return self._inner[self._at(pool)]

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
        if isinstance(place, Pool):
            rates = [inner.rate for inner in self._within(place)]
            speeds = [at(rates, held) for held in self._held(place)[1:]]
            return list(accumulate(speeds, lambda w, speed: w / speed, initial=one))
        if not place.asked:
            return [one] + [0 * one] * count
        if place.is_own and self.around[1] > 1:
            rates = self._own_rates(place)
            return list(accumulate(rates[:count], lambda w, rate: w / rate, initial=one))
        if place.speeds:
            asked, speeds = place.asked / place.copies, _first(place.speeds, count)
            own = list(accumulate(speeds, lambda w, speed: w * asked / speed, initial=one))
            return power(own, place.copies, count)
        sums = StationSums(
            place.asked, place.servers, place.load, place.copies, customers=max(count, *self.around)
        )
        return sums.of_all_copies(count)

    def _own_rates(self, place: Station) -> list[Number]:
        """Return the rates of a station of which each copy of the pool around has one."""
        places, copies = self.around
        if place.speeds:
            told, one = _first(place.speeds, places), self.think * 0 + 1
            asked = place.asked
            weights = list(accumulate(told, lambda w, speed: w * asked / speed, initial=one))
        else:
            each = StationSums(place.asked, place.servers, place.load, 1, customers=places)
            weights = each.all_weights(places)
        return own_rates(weights, places, copies, product=_product)

    def _most(self, pool: Pool) -> int:
        """Return how many may be within a pool, as far as that matters."""
        whole: int = pool.places * pool.copies
        return whole if pool.copies > 1 else min(whole, self.customers)

    def _held(self, pool: Pool) -> list[Number]:
        """Return how many are within a pool, by how many are there, of none up to all."""
        found = held_within(
            [inner.rate for inner in self._within(pool)[1:]],
            pool.places,
            pool.copies,
            variation=pool.variation,
            product=_product,
            most=self.customers,
        )
        found += [found[-1]] * self.customers
        return found[: self.customers + 1]
