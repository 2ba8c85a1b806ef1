"""Closed queueing networks by sums of positive terms, in fractions of flint or in balls alike.

As `product_form` has them, whose polynomials these are; the weights of single servers are summed
up customer by customer, n F(n) = Z F(n - 1) + sum m A(n), with A(n) = r (F(n - 1) + A(n - 1)) for
each station: A(n)/F(n) is the mean number at a copy.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from operator import mul
from typing import Any

from flint import fmpq, fmpq_poly

Number = Any
"""A fraction of flint, or a ball."""
Station = tuple[Number, int, Number, Number]
"""D, c, L and m; that of copies of several servers is a whole number."""


def rate_of(customers: int, think: Number, stations: Sequence[Station]) -> Number:
    """Return how many cycles one customer or more end in a time; zero where they take no time."""
    waits = waits_of(customers - 1, think, stations)
    demands = (one[0] * (1 + wait) for one, wait in zip(stations, waits, strict=True))
    return customers / sum(demands, start=think)


def waits_of(customers: int, think: Number, stations: Sequence[Station]) -> list[Number]:
    """Return the mean wait of an open visit at each station, in mean service times.

    No station is full with open visits alone.
    """
    own = [StationSums(*one, customers=customers) for one in stations]
    degree = min(customers, sum(one.count * (one.servers - 1) for one in own if one.servers > 1))
    weights, numbers = _summed(customers, think, own)
    behind = [weights[customers - k] for k in range(degree + 1)]
    each = [power(one.weights, one.whole, degree) for one in own]
    ahead = list(accumulate(each, lambda a, b: convolved(a, b, degree), initial=[1]))
    after: list[Number] = [1]
    found = []
    for k in range(len(own) - 1, -1, -1):
        one = own[k]
        others = convolved(ahead[k], after, degree)
        fewer = convolved(others, power(one.weights, one.whole - 1, degree), degree)
        at = [numbers[customers - j][k] for j in range(degree + 1)]
        waiting = _dot(convolved(fewer, one.waits, degree), behind)
        waiting += one.growing * _dot(fewer, at[one.servers - 1 :])
        found.append(waiting / _dot(convolved(others, each[k], degree), behind))
        after = convolved(after, each[k], degree)
    return found[::-1]


class StationSums:
    """A station with its polynomials; a single server, with any number of copies, has none."""

    def __init__(
        self, demand: Number, servers: int, load: Number, copies: Number, *, customers: int
    ) -> None:
        if load == 0:  # more than there are customers make no difference
            servers = min(servers, customers + 1)
        self.servers, self.copies = servers, copies
        self.whole = self.count = 1 if servers == 1 else int(copies)
        demand = demand / copies
        part, last = load / servers, servers - 1
        self.ratio = demand / (servers - load)
        closed, held = _shares(demand, servers), _shares(load, servers)
        below = list(accumulate(held, initial=0 * part))
        weights, waits, full, excess = [], [], 0 * part, 0 * part
        for k in range(servers):
            before = full
            full = (full * demand / servers + closed[k] * held[last - k]) / (1 - part)
            excess = (part * full + (excess + before) * demand / servers) / (1 - part)
            weights.append(closed[k] * below[last - k] + full)
            waits.append(excess / servers)
        self.growing = weights[-1] / (servers - load)
        self.weights = self._less_own(weights)[: customers + 1]
        self.waits = self._less_own(waits)[: customers + 1]

    def all_weights(self, most: int) -> list[Number]:
        """Return the weights of none, one, … at a copy."""
        return self._geometric(self.weights, most)

    def of_all_copies(self, most: int) -> list[Number]:
        """Return the weights of none, one, … at all copies."""
        if self.servers > 1:
            return power(self.all_weights(most), self.whole, most)
        steps = range(most)
        more = (self.ratio * (self.copies + k) / (k + 1) for k in steps)
        return list(accumulate(more, mul, initial=self.ratio * 0 + 1))

    def waiting(self, most: int) -> list[Number]:
        """Return the same times what an open visit waits at one of the copies."""
        own, found = self.all_weights(most), self._geometric(self.waits, most)
        behind = self.servers - 1
        for k in range(behind + 1, most + 1):
            found[k] += self.growing * (k - behind) * self.ratio ** (k - behind)
        if self.servers > 1:
            return convolved(found, power(own, self.whole - 1, most), most)
        fewer = (self.ratio * (self.copies - 1 + k) / (k + 1) for k in range(most))
        one = 1 / self.weights[0]
        return convolved(found, list(accumulate(fewer, mul, initial=one)), most)

    def _geometric(self, polynomial: Sequence[Number], most: int) -> list[Number]:
        """Return the coefficients of a polynomial over 1 - r z."""
        padded = [*polynomial[: most + 1], *[self.ratio * 0] * (most + 1 - len(polynomial))]
        return list(accumulate(padded, lambda before, one: before * self.ratio + one))

    def _less_own(self, values: list[Number]) -> list[Number]:
        return values[:1] + [now - self.ratio * before for before, now in pairwise(values)]


def _summed(
    customers: int, think: Number, stations: Sequence[StationSums]
) -> tuple[list[Number], list[list[Number]]]:
    """Return weights of all numbers of customers at single servers, and those times numbers."""
    weight, own = think * 0 + 1, [think * 0 for _ in stations]
    weights, numbers = [weight], [own]
    for n in range(1, customers + 1):
        own = [one.ratio * (weight + held) for one, held in zip(stations, own, strict=True)]
        weight = think * weight
        for one, held in zip(stations, own, strict=True):
            weight = weight + one.copies * held
        weight = weight / n
        weights.append(weight)
        numbers.append(own)
    return weights, numbers


def _shares(mean: Number, count: int) -> list[Number]:
    """Return powers over factorials."""
    return list(accumulate(range(1, count), lambda term, k: term * mean / k, initial=mean * 0 + 1))


def power(values: list[Number], exponent: int, degree: int) -> list[Number]:
    """Return a power of a polynomial up to a degree."""
    found: list[Number] = [1]
    for _ in range(exponent):
        found = convolved(found, values, degree)
    return found


def convolved(one: Sequence[Number], other: Sequence[Number], degree: int) -> list[Number]:
    """Return a product of polynomials up to a degree."""
    count = min(len(one) + len(other) - 1, degree + 1)
    if isinstance(one[-1], fmpq) and isinstance(other[-1], fmpq):
        product = fmpq_poly(one).mul_low(fmpq_poly(other), count)
        return [product[k] for k in range(count)]
    return [
        sum(one[j] * other[k - j] for j in range(max(0, k - len(other) + 1), min(k + 1, len(one))))
        for k in range(count)
    ]


def _dot(one: Sequence[Number], other: Sequence[Number]) -> Number:
    return sum(map(mul, one, other))
