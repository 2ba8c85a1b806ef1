"""Numbers of closed networks with stations whose speed goes by how many are there, and with pools.

Such a station has weights of its own, D^n/(s(1) s(2) … s(n)), geometric from its last speed on: a
polynomial over 1 - r z, as several servers are, so that all is solved as in `product_form`. Where
a speed is above the last one, r is that of the fastest, and the polynomial has as many terms as
there are customers: all of them stay positive. A pool is such a station, whose speeds are the rates
of what goes on within (`service_rate_tables`). The polynomials are in `station_rates`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from math import inf, nan

from qps.engine.queueing_networks import product_form
from qps.engine.queueing_networks.load_dependent_operands import (
    GROUP,
    Around,
    Place,
    Pool,
    Station,
    at_stations,
    between,
    delay_within,
    every,
    has_time,
    holding,
    never_ends,
    places_of,
)
from qps.engine.queueing_networks.product_form import (
    Several,
    as_single,
    convolved,
    dot,
    shares_of,
    weighed,
)
from qps.engine.queueing_networks.service_rate_tables import at, composite_rates, on_grid
from qps.engine.queueing_networks.station_rates import (
    RatePolynomial,
    logs_of_products,
    number_at,
    rates_of_copies,
    rising,
    station_rates,
    waits_of_copies,
)

Places = tuple[Place, ...]

_CACHE_SIZE = 1 << 12
MOST_PLACES = 1 << 15
"""Places of a pool that more customers may take from."""
_MOST_FALLING = 1 << 20
"""Customers up to which speeds may be above the last one."""
_ITERATIONS_AT_ONE = 20
_SEVERAL = 2
_HALVINGS = 14

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
    if places is None or customers <= MOST_PLACES:
        return places
    pools = (one for one in every(places) if isinstance(one, Pool))
    if any(one.places * one.copies > MOST_PLACES for one in pools):
        return None
    if customers <= _MOST_FALLING:
        return places
    speeds = (one.speeds for one in every(places) if isinstance(one, Station) and one.speeds)
    return places if all(max(one) == one[-1] for one in speeds) else None


def _rate(customers: int, think: float, places: Places) -> float:
    if customers == 0 or any(map(never_ends, places)):
        return 0.0
    return solved(customers, think, places).rate


def _time(which: int, customers: int, think: float, places: Places) -> float:
    own = holding(places, which)
    if never_ends(own):
        return inf
    if any(map(never_ends, places)):  # all others are there
        customers, places = 1, (own,)
    return solved(max(customers, 1), think, places).time(which)


def _wait(which: int, customers: int, think: float, places: Places) -> float:
    own = holding(places, which)
    if any(map(never_ends, places)):
        customers = 0
        station = next(place for place in every([own]) if place.at == which)
        if never_ends(station):
            return inf
    return solved(customers, think, places).wait(which)


# -- networks ------------------------------------------------------------------------------


class _Solved:
    """A network with so many customers: its rate, and what goes on at each place."""

    def __init__(self, customers: int, think: float, places: Places, around: Around) -> None:
        self._customers, self._think, self._places = customers, think, places
        self._around = around
        self._most = max(_CACHE_SIZE, 1 << customers.bit_length())  # a few, so that tables are kept
        self.plain: list[Station] = []
        self.several: list[Station] = []
        self.paced: list[tuple[Place, tuple[float, ...], int]] = []
        for place in places:
            think += self._sorted(place)
        self._solve(think)

    def _sorted(self, place: Place) -> float:
        """Put a place where it belongs; return what it takes where nobody waits."""
        if isinstance(place, Pool):
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

    def _solve(self, think: float) -> None:
        customers = self._customers
        if not customers or not (self.plain or self.several or self.paced):
            self.rate = (customers / think if think else inf) if customers else 0.0
            self.shares, self.whole = [], 0.0
            return
        base = self._singles()
        told = [(rising(rates, customers), count) for _, rates, count in self.paced]
        base += [(1 / rates[-1], count) for rates, count in told]
        degree = sum(s.copies * (s.servers - 1) for s in self.several)
        degree += sum(count * len(rates) for rates, count in told)
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
            delay += s.demand - ratio * count if s.servers > 1 else 0.0
        told = [(rates[: self._customers], count) for _, rates, count in self.paced]
        tables = [(logs_of_products(rates), rates, count) for rates, count in told]
        bounds = [1 / ratio for ratio, _ in singles] + [max(rates) for rates, _ in told]
        low, high = 0.0, min([*bounds, self._customers / delay if delay else inf])
        for _ in range(_HALVINGS):
            rate = (low + high) / 2
            held = delay * rate + sum(m * r * rate / (1 - r * rate) for r, m in singles)
            for logs, rates, m in tables:
                held += m * number_at(logs, rates, rate, self._customers)
            low, high = (rate, high) if held < self._customers else (low, rate)
        return high

    def time(self, which: int) -> float:
        """Return how long a cycle is at a place."""
        own = holding(self._places, which)
        if isinstance(own, Pool):
            return self._time_of_pool(own, which)
        if not own.demand:
            return 0.0
        paced = self._of_paced(own)
        if paced is None:
            fewer = _network(self._customers - 1, self._think, self._places, self._around)
            return float(own.demand * (1 + fewer.wait(which)))
        number, table = paced
        found = table.mean(range(table.last + 1), self.shares)
        found += table.beyond(self.shares, [held[number] for held in self.numbers])
        return table.copies * found / self.whole / self.rate

    def _time_of_pool(self, pool: Pool, which: int) -> float:
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
        for number, (place, _, _) in enumerate(self.paced):
            if place is own or place == own:
                among = len(self.plain) + len(self.several) + number
                return among, self.tables[number]
        return None

    def wait(self, which: int) -> float:
        """Return the mean wait of an open visit at a station, in mean service times."""
        own = holding(self._places, which)
        if isinstance(own, Pool):
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

    def _wait_within(self, pool: Pool, which: int) -> float:
        if pool.at == which:
            return nan
        paced = self._of_paced(pool)
        if paced is None:
            return _inner(pool, 0).wait(which)
        waits = waits_within(pool, which, self._most)
        return paced[1].mean(waits, self.shares) / self.whole

    def _wait_at_own(self, own: Station) -> float:
        """Return what an open visit waits where each copy of a pool has a station."""
        paced = self._of_paced(own)
        if paced is None:
            return product_form.alone(own.servers, own.load)
        waits = waits_of_copies(own, self._around, self._most)[: paced[1].last + 1]
        return paced[1].mean(waits, self.shares) / self.whole


def solved(customers: int, think: float, places: Places) -> _Solved:
    """Return a network with so many customers."""
    return _network(customers, think, places, Around())


@lru_cache(maxsize=1 << 11)
def _network(customers: int, think: float, places: Places, around: Around) -> _Solved:
    return _Solved(customers, think, places, around)


# -- tables --------------------------------------------------------------------------------


@lru_cache(maxsize=1 << 8)
def inner_rates(pool: Pool, most: int) -> tuple[float, ...]:
    """Return the rates within a pool, of one, two, … up to all its places; empty for no time.

    No more matter than there may be at `most`.
    """
    if not has_time(pool):
        return ()
    return tuple(on_grid(lambda n: _inner(pool, n).rate, _most_within(pool, most)))


def _even_rates(pool: Pool, most: int) -> tuple[float, ...]:
    """Return the same where the copies of a pool are all equally full."""
    if pool.copies == 1 or not any(
        isinstance(place, Station) and place.is_own for place in pool.within
    ):
        return inner_rates(pool, most)
    around = Around(pool.places, pool.copies, are_even=True)
    inner = partial(_network, think=pool.delay, places=pool.within, around=around)
    return tuple(on_grid(lambda n: inner(n).rate, _most_within(pool, most)))


def _most_within(pool: Pool, most: int) -> int:
    return int(min(pool.places * pool.copies, most))


def _inner(pool: Pool, customers: int) -> _Solved:
    around = Around(pool.places, pool.copies)
    return _network(customers, pool.delay, pool.within, around)


@lru_cache(maxsize=1 << 8)
def _filled(pool: Pool, most: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
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


def pool_numbers(pool: Pool, most: int) -> tuple[float, ...]:
    """Return how many are within a pool, by how many are there."""
    return _filled(pool, most)[0]


def speeds_of(pool: Pool, most: int) -> tuple[float, ...]:
    """Return the rates of a pool by how many are there; empty where it takes no time."""
    return _filled(pool, most)[1][1:] if inner_rates(pool, most) else ()


@lru_cache(maxsize=1 << 8)
def waiting_of(pool: Pool, last: int, most: int) -> tuple[float, ...]:
    """Return how many wait for a pool, by how many are there, up to a last number."""
    held = pool_numbers(pool, most)
    return tuple(n - at(held, n) for n in range(last + 1))


@lru_cache(maxsize=1 << 8)
def numbers_within(pool: Pool, which: int, most: int) -> tuple[float, ...]:
    """Return how many are at a place within a pool, or wait there, by how many are there."""

    def number(customers: int) -> float:
        inner = _inner(pool, customers)
        return inner.rate * inner.time(which)

    inner = (0.0, *on_grid(number, _most_within(pool, most)))
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
def waits_within(pool: Pool, which: int, most: int) -> tuple[float, ...]:
    """Return what an open visit waits at a station within a pool, by how many are there."""
    first = _inner(pool, 0).wait(which)
    last = _most_within(pool, most)
    inner = (first, *on_grid(lambda n: _inner(pool, n).wait(which), last))
    return tuple(at(inner, held) for held in pool_numbers(pool, most))
