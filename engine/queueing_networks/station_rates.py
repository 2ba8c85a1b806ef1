"""Stations by their rates: those with speeds, and those of which each copy of a pool has one.

Such a station is a polynomial over 1 - r z, as several servers are (`product_form.Several`), and is
solved together with these. Rates stand by how many are there: of one, two, …
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate, pairwise
from math import exp, inf, log
from operator import mul

from qps.engine.numerics.polynomials import convolved, dot, weighed
from qps.engine.queueing_networks.load_dependent_operands import EnclosingPool, LoadDependentStation
from qps.engine.queueing_networks.product_form import (
    Several,
    as_single,
    less_own,
    single_servers,
)
from qps.engine.queueing_networks.service_rate_tables import even_rates, own_rates, own_waits

_LEAST, _MOST = 1e-290, 1e290
_ROUNDED = 1e-12
"""What rates are off that are equal."""
_HALVINGS = 14


class RatePolynomial:
    """A station by its `rates`, the last one for all numbers beyond, as a polynomial over 1 - r z.

    It is what `product_form.Several` is, and is solved together with such.
    """

    def __init__(self, rates: Sequence[float], count: int, *, customers: int, unit: float) -> None:
        self.copies = count
        speeds = rising(rates, customers)
        self.last, ratio = len(speeds), unit / speeds[-1]
        logs = list(accumulate((log(unit / rate) for rate in speeds), initial=0.0))
        most = max(logs)
        self.full = [exp(one - most) for one in logs]
        self.ratio = ratio
        own = less_own(self.full[:-1], ratio)
        whole = sum(own)
        self.weights = [one / whole for one in own]
        self.full = [one / whole for one in self.full]
        self.others: list[float] = [1.0]

    def mean(self, values: Sequence[float], shares: Sequence[float]) -> float:
        """Return the mean of values at none, one, … there, times all weights."""
        return dot(self.valued(values, len(shares)), shares)

    def valued(self, values: Sequence[float], size: int) -> list[float]:
        """Return the polynomials of all stations, this one's weights times values by how many."""
        full = list(self.full)
        while len(full) < min(len(values), size):
            full.append(full[-1] * self.ratio)
        padded = [*values, *[values[-1]] * (len(full) - len(values))]
        weighted = [weight * value for weight, value in zip(full, padded, strict=False)]
        behind = [one - self.ratio * before for before, one in pairwise(weighted)]
        return convolved(self.others, [weighted[0], *behind], size)

    def beyond(self, shares: Sequence[float], numbers: Sequence[float]) -> float:
        """Return how many more there are than the speeds describe, times all weights."""
        held = [share * number for share, number in zip(shares, numbers, strict=False)]
        return self.full[-1] * dot(self.others, held[self.last :])


class EveryNumber:
    """A network with none, one, … up to so many customers: all of them for the price of one.

    The weights of stations do not rest on how many customers there are in all: those of any number
    are one more coefficient of the same product. `plain` and `several` are stations of one and of
    several servers, `paced` those with rates, each with how many copies there are.
    """

    def __init__(
        self,
        *,
        most: int,
        think: float,
        plain: Sequence[LoadDependentStation],
        several: Sequence[LoadDependentStation],
        paced: Sequence[tuple[Sequence[float], int]],
    ) -> None:
        self._most, self._plain, self._singles = most, plain, len(plain) + len(several)
        stations = [*plain, *several]
        base = [as_single((p.demand, p.servers, p.load, p.copies)) for p in stations]
        base += [(1 / rising(rates, most)[-1], count) for rates, count in paced]
        if not base:
            raise ValueError("no stations")
        rates, numbers = single_servers(most, think, base, most)
        self._unit = unit = rates[0]
        shares = list(accumulate((unit / r for r in rates[-2::-1]), mul, initial=1.0))
        self._numbers_at_copies = [[*column] for column in zip(*numbers[::-1], strict=True)]
        self._shares = shares
        self._several = [
            Several(s.demand, s.servers, s.load, s.copies, rate=unit, count=int(s.copies))
            for s in several
        ]
        self.tables = [RatePolynomial(r, n, customers=most, unit=unit) for r, n in paced]
        own: list[Several | RatePolynomial] = [*self._several, *self.tables]
        self._product = weighed(own, [1.0] * (most + 1), most) if own else [1.0]
        self.weights = self._behind(self._product)

    @property
    def is_in_range(self) -> bool:
        """True if floats can represent the weights of all numbers of customers."""
        return all(_LEAST < one < _MOST for one in self.weights)

    @property
    def rates(self) -> list[float]:
        """How many cycles end in a time, of none, one, … customers."""
        return [0.0, *(self._unit * less / one for less, one in pairwise(self.weights))]

    def _behind(self, polynomial: Sequence[float], numbers: Sequence[float] = ()) -> list[float]:
        """Return what comes of a polynomial and all single servers, by how many customers.

        With the `numbers` at a copy of one of these, by how many there are.
        """
        shares = self._shares
        if numbers:
            shares = [share * number for share, number in zip(shares, numbers, strict=True)]
        found = convolved(polynomial, shares, self._most + 1)
        return found + [0.0] * (self._most + 1 - len(found))

    def mean(self, number: int, values: Sequence[float], *, more: bool = False) -> list[float]:
        """Return means of values at a station with rates, by how many customers there are.

        With `more`, each customer beyond the last of the values counts one more.
        """
        table = self.tables[number]
        found = self._behind(table.valued(values, self._most + 1))
        if more:
            held = self._numbers_at_copies[self._singles + number]
            beyond = [0.0] * table.last + self._behind(table.others, held)
            found = [one + table.full[-1] * b for one, b in zip(found, beyond, strict=False)]
        return [one / whole for one, whole in zip(found, self.weights, strict=True)]

    def numbers(self, number: int) -> list[float]:
        """Return how many are at all copies of a station with rates, by how many there are."""
        table = self.tables[number]
        found = self.mean(number, range(table.last + 1), more=True)
        return [table.copies * one for one in found]

    def waits_of_several(self, place: int) -> list[float]:
        """Return the mean waits of open visits at one of the stations of several servers."""
        one, held = self._several[place], self._numbers_at_copies[len(self._plain) + place]
        polynomial = convolved(one.others, one.waits, self._most + 1)
        behind = [0.0] * (one.servers - 1) + self._behind(one.others, held)
        return [
            (found + one.growing * more) / whole
            for found, more, whole in zip(
                self._behind(polynomial), behind, self.weights, strict=False
            )
        ]

    def waits_of_plain(self, place: int) -> list[float]:
        """Return the mean waits of open visits at one of the stations of one server."""
        load, found = (
            self._plain[place].load,
            self._behind(self._product, self._numbers_at_copies[place]),
        )
        return [
            (load + held / whole) / (1 - load)
            for held, whole in zip(found, self.weights, strict=True)
        ]


def rising(rates: Sequence[float], customers: int) -> list[float]:
    """Return rates of which the last is the largest: beyond all customers they are as we like."""
    table = list(rates[:customers])
    most = max(table)
    if most <= table[-1] * (1 + _ROUNDED):
        table[-1] = most
    else:
        table = [*table, *[table[-1]] * (customers + 1 - len(table))][: customers + 1]
        table.append(most)
    return table


def logs_of_products(rates: Sequence[float]) -> list[float]:
    """Return the logarithms of the products of none, one, two, … of the first rates."""
    return list(accumulate(map(log, rates), initial=0.0))


def open_rate(
    customers: int,
    delay: float,
    singles: Sequence[tuple[float, float]],
    tables: Sequence[tuple[Sequence[float], int]],
) -> float:
    """Return the rate of open arrivals at which so many would be in a network.

    Of single servers, by the ratios of their weights, and of stations by their rates.
    """
    logs_of_tables = [(logs_of_products(rates), rates, count) for rates, count in tables]
    bounds = [1 / ratio for ratio, _ in singles] + [max(rates) for rates, _ in tables]
    low, high = 0.0, min([*bounds, customers / delay if delay else inf])
    for _ in range(_HALVINGS):
        rate = (low + high) / 2
        held = delay * rate + sum(m * r * rate / (1 - r * rate) for r, m in singles)
        for logs, rates, m in logs_of_tables:
            held += m * number_at(logs, rates, rate, customers)
        low, high = (rate, high) if held < customers else (low, rate)
    return high


def number_at(logs: Sequence[float], rates: Sequence[float], rate: float, customers: int) -> float:
    """Return how many are at a table of rates of open arrivals, at most so many customers."""
    if rate <= 0:
        return 0.0
    ratio, last = rate / rates[-1], len(rates)
    if ratio >= 1 and max(rates) <= rates[-1] * (1 + _ROUNDED):
        return inf
    each = log(rate)
    log_weights = [n * each - one for n, one in enumerate(logs)]
    most = max(log_weights)
    if ratio >= 1 and log_weights[-1] + max(customers - last, 0) * log(ratio) > most:
        return float(customers)
    weights = [exp(one - most) for one in log_weights]
    held, whole = dot(range(last + 1), weights), sum(weights)
    if ratio < 1:
        tail = weights[-1] * ratio / (1 - ratio)
        held, whole = held + tail * (last + 1 / (1 - ratio)), whole + tail
    return held / whole


def station_rates(station: LoadDependentStation) -> tuple[float, ...]:
    """Return the rates of a copy of a station with speeds, by how many are there."""
    return tuple(speed * station.copies / station.demand for speed in station.speeds)


@lru_cache(maxsize=1 << 8)
def rates_of_copies(
    station: LoadDependentStation, around: EnclosingPool, most: int
) -> tuple[float, ...]:
    """Return the rates of stations of which each copy of a pool has one, by how many are there.

    No more matter than there may be at `most`.
    """
    places, copies, are_even = around
    none_waits = [n / station.demand for n in range(1, int(min(places * copies, most)) + 1)]
    if not station.speeds and station.load == 0 and station.servers >= places:
        return tuple(none_waits)
    if station.speeds:
        last = station.speeds[-1]
        unit, speeds = last / station.demand, [*station.speeds, *[last] * places][:places]
        weights = list(accumulate((last / speed for speed in speeds), mul, initial=1.0))
    else:
        unit, one = _one_of(station)
        weights = _summed(one.weights, places)
    peak = max(weights)
    if peak <= _LEAST:  # so many servers that none waits, as far as floats show
        return tuple(none_waits)
    weights = [weight / peak for weight in weights]
    if are_even:
        return tuple(
            rate * unit for rate in even_rates(weights, places, copies, most=most, least=_LEAST)
        )
    own = own_rates(weights, places, copies, product=convolved, most=most, least=_LEAST)
    return tuple(rate * unit for rate in own)


@lru_cache(maxsize=1 << 8)
def waits_of_copies(
    station: LoadDependentStation, around: EnclosingPool, most: int
) -> tuple[float, ...]:
    """Return what an open visit waits at one of such stations, by how many are at all of them."""
    places, copies, _ = around
    _, one = _one_of(station)
    waits = _summed(one.waits, places)
    behind = one.servers - 1
    for k in range(behind + 1, places + 1):
        waits[k] += one.growing * (k - behind)
    weights = _summed(one.weights, places)
    peak = max(weights)
    if peak <= _LEAST:
        return (0.0,) * (int(min(places * copies, most)) + 1)
    weights, waits = [w / peak for w in weights], [w / peak for w in waits]
    found = own_waits(weights, waits, places, copies, product=convolved, most=most, least=_LEAST)
    return tuple(found)


def _one_of(station: LoadDependentStation) -> tuple[float, Several]:
    """Return the rate of a copy that is full, and its polynomials in z times that."""
    unit = (station.servers - station.load) / station.demand
    return unit, Several(station.demand, station.servers, station.load, 1, rate=unit, count=1)


def _summed(polynomial: Sequence[float], most: int) -> list[float]:
    """Return the coefficients of a polynomial over 1 - z, of which the last one goes on."""
    found = list(accumulate(polynomial))
    return (found + [found[-1]] * most)[: most + 1]
