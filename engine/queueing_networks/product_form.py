"""Numbers of closed queueing networks: customers of one class who think, then visit stations.

A network is a product form: the weight of a state is a product over stations (Gordon and Newell
1967; with open customers beside the closed ones: Baskett, Chandy, Muntz and Palacios 1975).
`closed_operands` has the operands of a station.

With n closed customers at a copy, and any number of open ones, its weight is geometric from n =
c - 1 on, with a ratio of r = (D/m)/(c - L): its generating function is a polynomial over 1 - r z.
All coefficients are positive: nothing cancels. Without the polynomials it is a network of single
servers, which mean value analysis solves customer by customer (Reiser and Lavenberg 1980), and an
integral where there are many (`normalizing_integral`), in work that does not grow with their
number.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate, pairwise
from math import exp, inf, lgamma, log, nan
from operator import mul

from qps.engine.numerics.falling_roots import rising_root
from qps.engine.numerics.polynomials import convolved, dot, weighed
from qps.engine.queueing.queue_numbers import erlang_c
from qps.engine.queueing_networks.closed_operands import between, is_exact, never_ends, stations_of
from qps.engine.queueing_networks.linearizer import linearized
from qps.engine.queueing_networks.multiclass_operands import MulticlassNetwork, MulticlassStation
from qps.engine.queueing_networks.normalizing_integral import at_population

Stations = tuple[tuple[float, float, float, float], ...]
"""Of each D, c, L and m."""

MOST_STEPS = 400
"""Customers up to which a network is solved one by one."""
BLOCK = 16
"""So many are solved together, and kept for further calls."""

_LARGEST = 600.0
_ITERATIONS_AT_ONE = 100
"""Degrees up to which the rate of single servers is near enough to that of several."""
_HALVINGS = 16
"""Of a rate that others are taken of, so that their products are no numbers too large or small."""
_SEVERAL = 2
_NEVER = -745.0
"""Of what is less likely than this power of e, a float is nothing."""

# -- rows of the table ---------------------------------------------------------------------


def closed_rate(customers: float, think: float, *stations: float) -> float:
    """Return how many cycles all customers together end in a time; 0 where some never end.

    Between whole numbers of customers, of servers, and of copies of several servers, on a line.
    """
    read = _read(customers, think, stations)
    return nan if read is None else float(between(_rate, customers, think, read))


def closed_cycle(customers: float, think: float, *stations: float) -> float:
    """Return how long a customer takes to come round: it thinks, waits and is served.

    That is customers over their rate where they are whole (Little 1961); below one it is alone.
    """
    read = _read(customers, think, stations)
    if read is None:
        return nan
    return float(between(_cycle, max(customers - 1, 0.0), think, read))


def closed_wait(customers: float, think: float, *stations: float) -> float:
    """Return how long a cycle waits at the first station, without service, at all its copies.

    A customer finds what there would be without it (Lavenberg and Reiser 1980).
    """
    read = _read(customers, think, stations)
    if not read:
        return nan
    demand, longer = stations[0], read[0][0]
    if demand == 0:
        return 0.0
    wait = between(_wait, max(customers - 1, 0.0), think, read)
    return float(longer * wait + (longer - demand))


def mixed_wait(customers: float, think: float, *stations: float) -> float:
    """Return the mean wait of an open visit at the first station, in mean service times."""
    read = _read(customers, think, stations)
    return float(between(_wait, customers, think, read)) if read else nan


def mixed_room(limit: float, customers: float, think: float, *stations: float) -> float:
    """Return how much more open load a copy of the first station takes, in erlangs.

    With that, open and closed load of one server are `limit` together; nothing where they are more
    without it. Closed customers make way, but by less than what comes: their sum rises.
    """
    if _read(customers, think, stations) in (None, ()) or not 0 <= limit < inf:
        return nan
    demand, servers, load, copies = stations[:4]

    def over(open_load: float) -> float:
        there = (demand, servers, open_load, copies, *stations[4:])
        closed = demand / copies * closed_rate(customers, think, *there) if demand else 0.0
        return open_load - limit * servers + closed

    if limit >= 1:  # less than all is requested, until open load is all of it
        return max(0.0, limit * servers - load)
    if load >= limit * servers or over(load) >= 0:
        return 0.0
    return rising_root(over, load, limit * servers) - load


def _read(customers: float, think: float, operands: Sequence[float]) -> Stations | None:
    """Return the stations; None where there is no value."""
    if not (0 <= customers < inf and 0 <= think < inf):
        return None
    if not all(0 <= number < inf for number in operands):
        return None
    if not all(servers >= 1 for servers in operands[1::4]) or 0 in operands[3::4]:
        return None
    return stations_of(operands)


def _rate(customers: int, think: float, stations: Stations) -> float:
    if customers == 0:
        return 0.0
    cycle = _cycle(customers - 1, think, stations)
    return customers / cycle if cycle > 0 else inf


def _cycle(others: int, think: float, stations: Stations) -> float:
    """Return how long one takes to come round while so many others do."""
    if any(map(never_ends, stations)):
        return inf
    ordered = tuple(sorted(stations))
    pairs = zip(ordered, waits_of(others, think, ordered), strict=True)
    return think + sum(demand * (1 + wait) for (demand, *_), wait in pairs if demand)


def _wait(customers: int, think: float, stations: Stations) -> float:
    own, *others = stations
    if own[2] >= own[1]:
        return inf
    if any(map(never_ends, others)):
        customers = 0  # all are there
    ordered = tuple(sorted(stations))
    return waits_of(customers, think, ordered)[ordered.index(own)]


# -- networks ------------------------------------------------------------------------------


@lru_cache(maxsize=1 << 12)
def waits_of(customers: int, think: float, stations: Stations) -> tuple[float, ...]:
    """Return the mean wait of an open visit at each station, in mean service times.

    Numbers of servers are whole, and those of copies of several servers. Infinite where open
    visits alone take all servers: where others are, too, there are no customers.
    """
    waits = [alone(servers, load) for _, servers, load, _ in stations]
    plain, several = [], []
    for k, (demand, servers, load, copies) in enumerate(stations if customers else ()):
        if not demand:
            continue
        if _never_waits(customers, servers, load):
            think += demand
        elif servers < _SEVERAL:
            plain.append(k)
        else:
            several.append((k, int(copies)))
    if not plain and not several:
        return tuple(waits)
    among = plain + [k for k, _ in several]
    base = [as_single(stations[k]) for k in among]
    degree = sum(m * (int(stations[k][1]) - 1) for k, m in several)
    near = 0.0
    if min(degree, customers) > _ITERATIONS_AT_ONE:
        if is_exact(customers, degree):
            near = _open_rate(customers, think, [stations[k] for k in among])
        else:
            places = tuple(
                MulticlassStation(c, load, m, (d,))
                for d, c, load, m in (stations[k] for k in among)
            )
            _, found = linearized(MulticlassNetwork((customers,), (think,), places))
            for k, wait in zip(among, found, strict=True):
                waits[k] = wait
            return tuple(waits)
    rates, numbers = single_servers(customers, think, base, min(degree, customers))
    unit = near or rates[0]
    shares = shares_of(rates, unit)
    weights = [1.0]
    if several:
        own = [Several(*stations[k], rate=unit, count=m) for k, m in several]
        weights = weighed(own, shares, customers)
        for place, (k, _) in enumerate(several):
            held = [number[len(plain) + place] for number in numbers]
            waits[k] = own[place].wait(shares, held) / sum(weights)
    for place, k in enumerate(plain):
        load, whole = stations[k][2], sum(weights)
        number = dot(weights, [each[place] for each in numbers]) / whole
        waits[k] = (load + number) / (1 - load)
    return tuple(waits)


def _open_rate(customers: int, think: float, stations: Sequence[Sequence[float]]) -> float:
    """Return about the rate of open arrivals at which so many would be there."""
    low, high = 0.0, customers / (think + sum(demand for demand, *_ in stations))
    high = min(high, *((c - load) * copies / demand for demand, c, load, copies in stations))
    for _ in range(_HALVINGS):
        rate = (low + high) / 2
        held = think * rate
        for demand, servers, load, copies in stations:
            busy = rate * demand / copies
            held += copies * busy * (1 + alone(servers, load + busy))
        low, high = (rate, high) if held < customers else (low, rate)
    return high


def _never_waits(customers: int, servers: float, load: float) -> bool:
    """Return whether a server is free whoever comes, so surely that floats show no difference.

    The share of the time that open visits take the servers that customers leave is that of a
    Poisson law (Chernoff's bound).
    """
    free = servers - customers
    if load == 0 or free <= load:
        return load == 0 and free > 0
    return free - load - free * log(free / load) < _NEVER


def shares_of(rates: Sequence[float], unit: float) -> list[float]:
    """Return products of rates over one of them; the largest is 1."""
    logs = list(accumulate((log(rate / unit) if rate else -inf for rate in rates), initial=0.0))
    most = max(logs)
    return [exp(one - most) for one in logs]


def alone(servers: float, load: float) -> float:
    """Return the wait where there are no closed customers."""
    if load >= servers:
        return inf
    return erlang_c(servers, load) / (servers - load)


def as_single(station: Sequence[float]) -> tuple[float, float]:
    """Return the ratio of a copy's weights, and how many copies there are."""
    demand, servers, load, copies = station
    return demand / copies / (servers - load), copies


def single_servers(
    customers: int, think: float, stations: Sequence[tuple[float, float]], before: int
) -> tuple[list[float], list[list[float]]]:
    """Return rates of a network of single servers, and numbers at a copy of each station.

    For so many customers and for each number before, down to so many less; the largest first. Of
    no customers there is no rate.
    """
    first = customers - before
    if first <= MOST_STEPS:
        own, which = tuple(stations), range(first // BLOCK, customers // BLOCK + 1)
        blocks = [_block(number, think, own) for number in which]
        some = slice(first % BLOCK, first % BLOCK + before + 1)
        rates = [rate for each, _ in blocks for rate in each][some]
        numbers = [held for _, each in blocks for held in each][some]
    else:
        start = at_population(first, think, stations)
        rates, numbers = _one_by_one(first, customers, think, stations, start)
    return rates[::-1], numbers[::-1]


@lru_cache(maxsize=1 << 10)
def _block(
    number: int, think: float, stations: tuple[tuple[float, float], ...]
) -> tuple[list[float], list[list[float]]]:
    """Return rates and numbers of so many customers as a block has, behind those of all before.

    What is needed for many numbers of customers, such as within a pool, is so solved once.
    """
    start = 0.0, [0.0] * len(stations)
    if not number:
        return _one_by_one(0, BLOCK - 1, think, stations, start)
    rates, numbers = _block(number - 1, think, stations)
    first, start = number * BLOCK - 1, (rates[-1], numbers[-1])
    rates, numbers = _one_by_one(first, first + BLOCK, think, stations, start)
    return rates[1:], numbers[1:]


def _one_by_one(
    first: int,
    last: int,
    think: float,
    stations: Sequence[tuple[float, float]],
    start: tuple[float, list[float]],
) -> tuple[list[float], list[list[float]]]:
    """Return rates and numbers of customers up to the last, from those of the first on."""
    rate, held = start
    rates, numbers = [rate], [held]
    ratios, copies = [r for r, _ in stations], [m for _, m in stations]
    plain = all(m == 1 for m in copies)
    for n in range(first + 1, last + 1):
        cycles = [r + r * number for r, number in zip(ratios, held)]  # noqa: B905 - quicker
        whole = sum(cycles) if plain else sum(map(mul, copies, cycles))
        rate = n / (think + whole)
        held = [rate * cycle for cycle in cycles]
        rates.append(rate)
        numbers.append(held)
    return rates, numbers


# -- several servers -----------------------------------------------------------------------


class Several:
    """A station of several servers, its polynomials in z times a rate, as lists of coefficients.

    `weights` over 1 - r z is the generating function of the weights of a copy. That of the same
    times what an open visit waits is `waits` over 1 - r z, and as many copies of the last weight as
    the powers of r z behind it, r z/(1 - r z)^2, times `growing`.
    """

    def __init__(
        self, demand: float, servers: float, load: float, copies: float, *, rate: float, count: int
    ) -> None:
        self.copies, self.servers = count, int(servers)
        busy, part = demand / copies * rate, load / servers
        closed, held = poisson(busy, self.servers), poisson(load, self.servers)
        below = list(accumulate(held, initial=0.0))  # fewer open ones than k
        weights, waits, full, excess = [], [], 0.0, 0.0
        last = self.servers - 1
        for k in range(self.servers):
            # All servers but one are busy, or more: `full` is their weight, by Pascal's rule.
            before, full = full, (full * busy / servers + closed[k] * held[last - k]) / (1 - part)
            excess = (part * full + (excess + before) * busy / servers) / (1 - part)
            weights.append(closed[k] * below[last - k] + full)
            waits.append(excess / servers)
        ratio = busy / (servers - load)
        own = less_own(weights, ratio)
        whole = sum(own)  # so that powers of it stay numbers
        self.growing = weights[-1] / (servers - load) / whole
        self.weights = [weight / whole for weight in own]
        self.waits = [wait / whole for wait in less_own(waits, ratio)]
        self.others = [1.0]

    def wait(self, shares: Sequence[float], numbers: Sequence[float]) -> float:
        """Return the wait times all weights, by those of populations and numbers at a copy."""
        found = dot(convolved(self.others, self.waits, len(shares)), shares)
        behind = self.servers - 1
        held = [share * number for share, number in zip(shares, numbers, strict=False)][behind:]
        return found + self.growing * dot(self.others, held)


def poisson(mean: float, count: int) -> list[float]:
    """Return the first shares of a Poisson law."""
    if mean == 0:
        return [1.0] + [0.0] * (count - 1)
    if mean > _LARGEST:
        return [exp(k * log(mean) - mean - lgamma(k + 1)) for k in range(count)]
    return list(accumulate(range(1, count), lambda share, k: share * mean / k, initial=exp(-mean)))


def less_own(values: list[float], ratio: float) -> list[float]:
    """Return values times 1 - r z, up to the last: they grow no slower than powers of r."""
    return values[:1] + [max(value - ratio * before, 0.0) for before, value in pairwise(values)]
