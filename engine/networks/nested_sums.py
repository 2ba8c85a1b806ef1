"""What `nested_numbers` has in floats, by plain sums of positive terms, in fractions or in balls.

All weights of up to so many customers are multiplied out, place by place.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
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


class Sums(Struct, frozen=True):
    """A network with so many `customers`, within a pool of places and copies `around`."""

    customers: int
    think: Number
    places: tuple[Place, ...]
    around: tuple[int, int] = ALONE

    @property
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
                inner = [0 * self.think]
                for n in range(1, self._most(own) + 1):
                    one = self._within(own, n)
                    inner.append(one.rate * one.time(which))
                counts = [at(inner, one) for one in held]
        return (
            self._mean(own, [w * n for w, n in zip(self._weights(own), counts, strict=True)])
            / self.rate
        )

    def wait(self, which: int) -> Number:
        """Return the mean wait of an open visit at a station, in mean service times."""
        own = holding(self.places, which)
        if isinstance(own, Pool):
            waits = [self._within(own, n).wait(which) for n in range(self._most(own) + 1)]
            told = [at(waits, one) for one in self._held(own)]
            return self._mean(own, [w * n for w, n in zip(self._weights(own), told, strict=True)])
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

    def _mean(self, own: Place, weighted: Sequence[Number]) -> Number:
        """Return a mean over how many are at a place, whose weights times values are told."""
        others = [self._weights(place) for place in self.places if place is not own]
        behind = reduce(self._times, others, self._thinking)
        return sum(map(mul, weighted, behind[::-1])) / self._all[-1]

    @property
    def _all(self) -> list[Number]:
        return reduce(self._times, map(self._weights, self.places), self._thinking)

    @property
    def _thinking(self) -> list[Number]:
        one = self.think * 0 + 1
        steps = range(1, self.customers + 1)
        return list(accumulate(steps, lambda term, n: term * self.think / n, initial=one))

    def _times(self, one: Sequence[Number], other: Sequence[Number]) -> list[Number]:
        return convolved(one, other, self.customers)

    def _weights(self, place: Place) -> list[Number]:
        """Return the weights of none, one, … customers at a place."""
        count, one = self.customers, self.think * 0 + 1
        if isinstance(place, Pool):
            rates = [
                0 * one,
                *(self._within(place, n).rate for n in range(1, self._most(place) + 1)),
            ]
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
        return own_rates(weights, place.asked, places, copies, _product)

    def _most(self, pool: Pool) -> int:
        """Return how many may be within a pool, as far as that matters."""
        whole: int = pool.places * pool.copies
        return whole if pool.copies > 1 else min(whole, self.customers)

    def _within(self, pool: Pool, customers: int) -> Sums:
        return Sums(customers, pool.delay, pool.within, (pool.places, pool.copies))

    def _held(self, pool: Pool) -> list[Number]:
        """Return how many are within a pool, by how many are there, of none up to all."""
        rates = [self._within(pool, n).rate for n in range(1, self._most(pool) + 1)]
        found = held_within(
            rates,
            pool.places,
            pool.copies,
            variation=pool.variation,
            product=_product,
            most=self.customers,
        )
        found += [found[-1]] * self.customers
        return found[: self.customers + 1]
