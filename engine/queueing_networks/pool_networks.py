"""Networks of one class with rates and pools: of one number of customers, and of every number.

What is within a pool is a network of its own, whose rates are the speeds of the pool. All numbers
of customers are solved together, by the products that they share (`station_rates.EveryNumber`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from math import inf, nan

from qps.engine.numerics.polynomials import convolved, dot, weighed
from qps.engine.queueing_networks import product_form
from qps.engine.queueing_networks.load_dependent_operands import (
    EnclosingPool,
    LoadDependentPool,
    LoadDependentStation,
    Place,
    at_stations,
    delay_within,
    has_time,
    holding,
)
from qps.engine.queueing_networks.product_form import Several, as_single, shares_of
from qps.engine.queueing_networks.service_rate_tables import (
    MOST_RATES,
    at,
    composite_rates,
    on_grid,
)
from qps.engine.queueing_networks.station_rates import (
    EveryNumber,
    RatePolynomial,
    open_rate,
    rates_of_copies,
    rising,
    station_rates,
    waits_of_copies,
)

Places = tuple[Place, ...]

_CACHE_SIZE, _ITERATIONS_AT_ONE, _SEVERAL = 1 << 12, 20, 2
_FEWEST_ON_GRID = 16
"""The fewest numbers of customers that are computed together."""

# -- networks ------------------------------------------------------------------------------


def table_length(customers: int) -> int:
    """Return up to how many customers tables go: few lengths, so that tables are kept."""
    return max(_CACHE_SIZE, 1 << customers.bit_length())


class _Sorted:
    """The places of a network by what they are where there are so many customers."""

    def __init__(self, customers: int, think: float, places: Places, around: EnclosingPool) -> None:
        self._customers, self._think, self._places = customers, think, places
        self._around = around
        self._most = table_length(customers)
        self.plain: list[LoadDependentStation] = []
        self.several: list[LoadDependentStation] = []
        self.paced: list[tuple[Place, tuple[float, ...], int]] = []
        self.thinking = think + sum(map(self._sorted, places))

    def _sorted(self, place: Place) -> float:
        """Put a place where it belongs; return what it takes where nobody waits."""
        if isinstance(place, LoadDependentPool):
            rates = speeds_of(place, self._most) if self._customers else ()
            if rates:
                self.paced.append((place, rates, 1))
        elif place.demand and self._customers:
            if place.is_own and self._around.copies > 1:
                self.paced.append((place, rates_of_copies(place, self._around, self._most), 1))
            elif place.speeds:
                self.paced.append((place, station_rates(place), place.copies))
            elif place.load == 0 and place.servers > self._customers:
                return float(place.demand)
            else:
                (self.plain if place.servers < _SEVERAL else self.several).append(place)
        return 0.0

    def _paced_at(self, own: Place) -> int | None:
        """Return which of the stations with rates a place is; None where it has none."""
        paced = (place for place, _, _ in self.paced)
        return next((k for k, one in enumerate(paced) if one is own or one == own), None)


class NetworkSolution(_Sorted):
    """A network with so many customers: its rate, and what goes on at each place."""

    def __init__(self, customers: int, think: float, places: Places, around: EnclosingPool) -> None:
        super().__init__(customers, think, places, around)
        self._solve(self.thinking)

    def _solve(self, think: float) -> None:
        customers = self._customers
        if not customers or not (self.plain or self.several or self.paced):
            self.rate = (customers / think if think else inf) if customers else 0.0
            self.shares, self.whole = [], 0.0
            return
        base = self._singles()
        tables = [(rising(rates, customers), count) for _, rates, count in self.paced]
        base += [(1 / rates[-1], count) for rates, count in tables]
        degree = sum(s.copies * (s.servers - 1) for s in self.several)
        degree += sum(count * len(rates) for rates, count in tables)
        before = min(degree + 2, customers)
        rates, self.numbers = product_form.single_servers(customers, think, base, before)
        unit = rates[0] if before < _ITERATIONS_AT_ONE else self._open_rate(think)
        self.shares = shares_of(rates, unit)
        self._several = [
            Several(s.demand, s.servers, s.load, s.copies, rate=unit, count=s.copies)
            for s in self.several
        ]
        self.tables = [
            RatePolynomial(r, count, customers=customers, unit=unit) for _, r, count in self.paced
        ]
        self.own: list[Several | RatePolynomial] = [*self._several, *self.tables]
        self.product = [1.0]
        if self.own:
            self.product = weighed(self.own, [1.0] * len(self.shares), customers)
        self.whole = dot(self.product, self.shares)
        self.rate = unit * dot(self.product, self.shares[1:]) / self.whole

    def _singles(self) -> list[tuple[float, float]]:
        each = ((p.demand, p.servers, p.load, p.copies) for p in self.plain + self.several)
        return [as_single(one) for one in each]

    def _open_rate(self, think: float) -> float:
        """Return about the rate: at which as many would be there of open arrivals."""
        singles = self._singles()
        delay = think
        for s, (ratio, count) in zip(self.plain + self.several, singles, strict=True):
            # Where open visits take most servers, those that are left are about a single one.
            delay += max(0.0, s.demand - ratio * count) if s.servers > 1 else 0.0
        tables = [(rates[: self._customers], count) for _, rates, count in self.paced]
        return open_rate(self._customers, delay, singles, tables)

    def time(self, which: int) -> float:
        """Return how long a cycle is at a place."""
        own = holding(self._places, which)
        if isinstance(own, LoadDependentPool):
            return self._time_of_pool(own, which)
        if not own.demand:
            return 0.0
        paced = self._of_paced(own)
        if paced is None:
            fewer = network_of(self._customers - 1, self._think, self._places, self._around)
            return float(own.demand * (1 + fewer.wait(which)))
        number, table = paced
        found = table.mean(range(table.last + 1), self.shares)
        found += table.beyond(self.shares, [held[number] for held in self.numbers])
        return table.copies * found / self.whole / self.rate

    def _time_of_pool(self, pool: LoadDependentPool, which: int) -> float:
        paced = self._of_paced(pool)
        if paced is None:
            return 0.0
        number, table = paced
        if pool.at == which:
            found = table.mean(waiting_of(pool, table.last, self._most), self.shares)
            found += table.beyond(self.shares, [each[number] for each in self.numbers])
            return max(found, 0.0) / self.whole / self.rate  # differences of floats leave less
        found = table.mean(numbers_within(pool, which, self._most), self.shares)
        return found / self.whole / self.rate

    def _of_paced(self, own: Place) -> tuple[int, RatePolynomial] | None:
        number = self._paced_at(own)
        if number is None:
            return None
        return len(self.plain) + len(self.several) + number, self.tables[number]

    def wait(self, which: int) -> float:
        """Return the mean wait of an open visit at a station, in mean service times."""
        own = holding(self._places, which)
        if isinstance(own, LoadDependentPool):
            return self._wait_within(own, which)
        if own.speeds:
            return nan
        if own.is_own and self._around.copies > 1:
            return self._wait_at_own(own)
        if own in self.several:
            place = self.several.index(own)
            held = [each[len(self.plain) + place] for each in self.numbers]
            return self._several[place].wait(self.shares, held) / self.whole
        if own in self.plain:
            place = self.plain.index(own)
            held = [each[place] for each in self.numbers]
            number = dot([a * b for a, b in zip(self.product, self.shares, strict=False)], held)
            return float((own.load + number / self.whole) / (1 - own.load))
        return product_form.alone(own.servers, own.load)

    def _wait_within(self, pool: LoadDependentPool, which: int) -> float:
        if pool.at == which:
            return nan
        paced = self._of_paced(pool)
        if paced is None:
            return _inner(pool, 0).wait(which)
        waits = waits_within(pool, which, self._most)
        return paced[1].mean(waits, self.shares) / self.whole

    def _wait_at_own(self, own: LoadDependentStation) -> float:
        """Return what an open visit waits where each copy of a pool has a station."""
        paced = self._of_paced(own)
        if paced is None:
            return product_form.alone(own.servers, own.load)
        waits = waits_of_copies(own, self._around, self._most)[: paced[1].last + 1]
        return paced[1].mean(waits, self.shares) / self.whole


@lru_cache(maxsize=1 << 11)
def network_of(
    customers: int,
    think: float,
    places: Places,
    around: EnclosingPool = EnclosingPool(),  # noqa: B008 - no state
) -> NetworkSolution:
    """Return a network with so many customers, as it is within a pool `around`."""
    return NetworkSolution(customers, think, places, around)


class EveryNetwork(_Sorted):
    """A network with none, one, … up to so many customers; it says nothing where floats do not.

    Then, and of what is not in this table, each number is to be solved by itself.
    """

    def __init__(self, most: int, think: float, places: Places, around: EnclosingPool) -> None:
        super().__init__(most, think, places, around)
        self._every: EveryNumber | None = None
        self._is_empty = not (self.plain or self.several or self.paced)
        if not self._is_empty:
            rates = [(rates, count) for _, rates, count in self.paced]
            every = EveryNumber(
                most=most, think=self.thinking, plain=self.plain, several=self.several, paced=rates
            )
            self._every = every if every.is_in_range else None

    @property
    def rates(self) -> list[float]:
        """How many cycles end in a time, by how many customers there are."""
        if self._is_empty and self.thinking:
            return [n / self.thinking for n in range(self._customers + 1)]
        return [] if self._every is None else self._every.rates

    def numbers(self, which: int) -> list[float]:
        """Return how many are at a place, or wait for it, by how many customers there are."""
        own, every = holding(self._places, which), self._every
        number = self._paced_at(own)
        if every is None or number is None:
            return self._numbers_alike(own, which) if self._is_empty or every else []
        if isinstance(own, LoadDependentStation):
            return every.numbers(number)
        if own.at != which:
            return every.mean(number, numbers_within(own, which, self._most))
        values = waiting_of(own, every.tables[number].last, self._most)
        return [max(one, 0.0) for one in every.mean(number, values, more=True)]

    def _numbers_alike(self, own: Place, which: int) -> list[float]:
        """Return the same of a place whose rates do not go by how many are there."""
        if isinstance(own, LoadDependentPool) or not own.demand:
            return [0.0] * (self._customers + 1)
        rates, waits = self.rates[1:], self.waits(which)
        return [0.0, *(r * own.demand * (1 + w) for r, w in zip(rates, waits, strict=False))]

    def waits(self, which: int) -> list[float]:
        """Return the mean wait of an open visit at a station, in mean service times."""
        own, every = holding(self._places, which), self._every
        if isinstance(own, LoadDependentPool) or self._paced_at(own) is not None:
            return []
        if every is None and not self._is_empty:
            return []
        if every is not None and own in self.several:
            return every.waits_of_several(self.several.index(own))
        if every is not None and own in self.plain:
            return every.waits_of_plain(self.plain.index(own))
        return [product_form.alone(own.servers, own.load)] * (self._customers + 1)


@lru_cache(maxsize=1 << 8)
def _every_network(most: int, think: float, places: Places, around: EnclosingPool) -> EveryNetwork:
    return EveryNetwork(most, think, places, around)


# -- tables --------------------------------------------------------------------------------


@lru_cache(maxsize=1 << 8)
def inner_rates(pool: LoadDependentPool, most: int) -> tuple[float, ...]:
    """Return the rates within a pool, of one, two, … up to all its places; empty for no time.

    No more matter than there may be at `most`.
    """
    if not has_time(pool):
        return ()
    return _rates_within(pool, _around(pool), _most_within(pool, most))


def _even_rates(pool: LoadDependentPool, most: int) -> tuple[float, ...]:
    """Return the same where the copies of a pool are all equally full."""
    stations = (place for place in pool.within if isinstance(place, LoadDependentStation))
    if pool.copies == 1 or not any(place.is_own for place in stations):
        return inner_rates(pool, most)
    around = EnclosingPool(pool.places, pool.copies, are_even=True)
    return _rates_within(pool, around, _most_within(pool, most))


def _rates_within(pool: LoadDependentPool, around: EnclosingPool, last: int) -> tuple[float, ...]:
    known = _within(pool, around, last).rates
    rate = _first_of(known, lambda n: network_of(n, pool.delay, pool.within, around).rate)
    return tuple(on_grid(rate, last))


def _first_of(known: Sequence[float], value: Callable[[int], float]) -> Callable[[int], float]:
    """Return the known values, and those of larger numbers one by one."""
    return lambda n: known[n] if n < len(known) else value(n)


def _most_within(pool: LoadDependentPool, most: int) -> int:
    return int(min(pool.places * pool.copies, most))


def _inner(pool: LoadDependentPool, customers: int) -> NetworkSolution:
    return network_of(customers, pool.delay, pool.within, _around(pool))


def _around(pool: LoadDependentPool) -> EnclosingPool:
    """Return what of a pool matters to what is within: nothing of it where there is one copy."""
    return EnclosingPool(pool.places, pool.copies) if pool.copies > 1 else EnclosingPool()


def _within(pool: LoadDependentPool, around: EnclosingPool, last: int) -> EveryNetwork:
    """Return what is within a pool with any number of customers, up to some number."""
    most = max(_FEWEST_ON_GRID, 1 << (min(last, MOST_RATES) - 1).bit_length())
    return _every_network(most, pool.delay, pool.within, around)


@lru_cache(maxsize=1 << 8)
def _filled(pool: LoadDependentPool, most: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
    held, ending = composite_rates(
        _even_rates(pool, most),
        inner_rates(pool, most),
        pool.places,
        pool.copies,
        variation=pool.variation,
        product=convolved,
        most=most,
    )
    return tuple(held), tuple(ending)


def pool_numbers(pool: LoadDependentPool, most: int) -> tuple[float, ...]:
    """Return how many are within a pool, by how many are there."""
    return _filled(pool, most)[0]


def speeds_of(pool: LoadDependentPool, most: int) -> tuple[float, ...]:
    """Return the rates of a pool by how many are there; empty where it takes no time."""
    return _filled(pool, most)[1][1:] if inner_rates(pool, most) else ()


@lru_cache(maxsize=1 << 8)
def waiting_of(pool: LoadDependentPool, last: int, most: int) -> tuple[float, ...]:
    """Return how many wait for a pool, by how many are there, up to a last number."""
    held = pool_numbers(pool, most)
    return tuple(n - at(held, n) for n in range(last + 1))


@lru_cache(maxsize=1 << 8)
def numbers_within(pool: LoadDependentPool, which: int, most: int) -> tuple[float, ...]:
    """Return how many are at a place within a pool, or wait there, by how many are there."""

    def number(customers: int) -> float:
        inner = _inner(pool, customers)
        return inner.rate * inner.time(which)

    last = _most_within(pool, most)
    numbers = _within(pool, _around(pool), last).numbers(which)
    inner = (0.0, *on_grid(_first_of(numbers, number), last))
    held, ending = _filled(pool, most)
    found = (at(inner, one) for one in held)
    if pool.copies == 1:
        return tuple(found)
    rates, delay = (0.0, *inner_rates(pool, most)), delay_within(pool)
    return tuple(
        one * at_stations(h, rate, at(rates, h), delay)
        for one, h, rate in zip(found, held, ending, strict=True)
    )


@lru_cache(maxsize=1 << 8)
def waits_within(pool: LoadDependentPool, which: int, most: int) -> tuple[float, ...]:
    """Return what an open visit waits at a station within a pool, by how many are there."""
    last = _most_within(pool, most)
    waits = _within(pool, _around(pool), last).waits(which)
    value = _first_of(waits, lambda n: _inner(pool, n).wait(which))
    inner = (value(0), *on_grid(value, last))
    return tuple(at(inner, held) for held in pool_numbers(pool, most))
