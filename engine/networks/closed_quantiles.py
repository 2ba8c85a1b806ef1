"""How long a cycle of a closed network of one class takes at its stations: quantiles.

Who comes to a station finds the network with one customer less (Sevcik and Mitrani 1981; Lavenberg
and Reiser 1980). Given how many are found everywhere, the stays are independent sums of exponential
services: so it is for all of them together where nobody is overtaken (Schassberger and Daduna 1983;
Boxma, Kelly and Konheim 1984). So the transform of their sum is a coefficient of the generating
function of the network, with weights that tell of each stay, over that without. A station of c
servers, of which open visits keep L busy, has for x = D z + L and one visit of mean S

  h(s) (sum_{j < c} x^j/j! + x^c/c! g(s)/(1 - x g(s)/c)),  h = 1/(1 + s S), g = 1/(1 + s S/c),

powers of h and g where it is visited again: each time as many are found. Where a station has many
copies, those that are not visited count with their weights alone.

That is inverted as in `stage_numbers`. Where too many customers are found, and at stations that
serve all who are there at once, moments tell a gamma law: those of the stays given who is found,
and of who is found by how means move with the services (a network in product form is an exponential
family).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import accumulate, chain, combinations_with_replacement, product
from math import ceil, exp, factorial, floor, inf, lgamma, log, log1p, nan, pi, prod, sqrt
from typing import Any

from msgspec import Struct

from qps.engine.networks.closed_networks import between, never_ends, stations_of
from qps.engine.networks.closed_numbers import (
    Several,
    Stations,
    convolved,
    poisson,
    power,
    waits_of,
)
from qps.engine.queues.normal_numbers import normal_quantile
from qps.engine.queues.queue_numbers import erlang_c
from qps.engine.queues.stage_numbers import KINKED, SMOOTH, weights
from qps.engine.roots import falling_root

OPERANDS = 6
"""Of a station: those of `closed_networks`, how often a cycle visits it, and 1 where it shares."""

MOST_FOUND, _MANY, _DEEP = 3000, 1000, 12
"""Customers at all stations up to which their weights are summed up; fewer far beyond the knee."""
_MOST_PRODUCTS = 1 << 20
_MOST_TERMS = 32
_MOST_COPIES, _MOST_OF_ALL = 4, 1 << 20
_LEAST, _NO_SKEW = 1e-30, 1e-6
_GAP, _STEP = 9.2, 1e-3
_TERMS = ((0.6, SMOOTH), (0.15, KINKED), (0.0, weights(96, 12)))
"""Of the series, by the least deviation over the mean: of narrower laws there are more."""


class Place(Struct, frozen=True, kw_only=True):
    """A station: `copies` of it are visited, each so `often`, of so many in all."""

    asked: float
    servers: int
    load: float
    all: float
    visits: float
    shares: bool
    copies: int

    @property
    def often(self) -> float:
        """How often one of those copies is visited."""
        return self.visits / self.copies

    @property
    def service(self) -> float:
        """The mean service of a visit."""
        return self.asked / self.visits

    @property
    def pairs(self) -> float:
        """The mean number of ordered pairs of visits of a cycle, at all copies."""
        return pairs_of(self.visits)

    @property
    def ratio(self) -> float:
        """What a cycle asks of one server of a copy, were these one that is so often as fast."""
        return self.asked / self.all / self.servers


def pairs_of(visits: float) -> float:
    """Return the mean number of ordered pairs of visits, so many a cycle: as evenly as may be."""
    whole = floor(visits)
    return whole * (whole - 1 + 2 * (visits - whole))


def closed_quantile(level: float, customers: float, think: float, *told: float) -> float:
    """Return what a share `level` of all cycles does not exceed at all stations together.

    Between whole numbers of customers, of servers, and of copies of several servers, on a line; so
    it is between whole numbers of copies that a cycle visits.
    """
    if not (0 <= level < 1 and 0 <= customers < inf and 0 <= think < inf) or len(told) % OPERANDS:
        return nan
    if not all(0 <= number < inf for number in told):
        return nan
    groups = [told[at : at + OPERANDS] for at in range(0, len(told), OPERANDS)]
    if any(one[1] < 1 or one[3] == 0 for one in groups):
        return nan
    kept = [one for one in groups if one[0] > 0 and one[4] > 0]
    visits = [(one[4], one[5] > 0) for one in kept]
    read = stations_of([number for one in kept for number in one[:4]])

    def quantile(whole: int, pause: float, stations: Stations) -> float:
        if not stations or level == 0:
            return 0.0
        if any(map(never_ends, stations)):
            return inf
        told = list(zip(stations, visits, strict=True))
        found = max(whole - 1, 0)
        return sum(
            part * _quantile(level, found, pause, tuple(_place(*one) for one in chosen))
            for part, chosen in _visited_whole(told)
        )

    return float(between(quantile, customers, think, read))


_Station = tuple[float, float, float, float]
_Visited = tuple[float, bool]


def _visited(copies: float, visits: float) -> float:
    """Return how many of so many copies a cycle visits, all of them alike, each more than once.

    Each visit is of any of them. Of pairs of visits as many are of one copy as at random.
    """
    alike = visits + pairs_of(visits) / copies
    return max(1.0, min(visits**2 / alike, copies, _MOST_COPIES))


def _visited_whole(
    told: Sequence[tuple[_Station, _Visited]],
) -> Iterator[tuple[float, list[tuple[_Station, _Visited, int]]]]:
    """Yield stations with whole numbers of copies that are visited, each with its part.

    The corners of a simplex around what is visited (Kuhn 1960): one more than stations at most.
    """
    each = [_visited(station[3], visits) for station, (visits, _) in told]
    whole = [floor(one) for one in each]
    beyond = sorted(
        ((one - own, at) for at, (one, own) in enumerate(zip(each, whole, strict=True))),
        key=lambda found: (-found[0], found[1]),
    )
    before = 1.0
    for part, at in [*beyond, (0.0, 0)]:
        if before > part:
            yield before - part, [(*one, own) for one, own in zip(told, whole, strict=True)]
        whole[at] += 1
        before = part


def _place(station: _Station, visits: _Visited, visited: int) -> Place:
    """Return a station of which so many copies are visited."""
    asked, servers, load, copies = station
    often, shares = visits
    return Place(
        asked=asked,
        servers=int(servers),
        load=load,
        all=max(copies, float(visited)),
        visits=often,
        shares=shares,
        copies=visited,
    )


@lru_cache(maxsize=1 << 12)
def _quantile(level: float, found: int, think: float, places: tuple[Place, ...]) -> float:
    """Return the quantile where so many others are under way."""
    if level <= prod(max(1 - place.visits, 0.0) for place in places):  # nothing is visited
        return 0.0
    law = _law(found, think, places)
    if law is None:
        return of_moments(level, *_moments(found, think, places))
    return law.quantile(level)


def of_moments(level: float, mean: float, deviation: float, skewness: float) -> float:
    """Return the quantile of a gamma law, moved by what its skewness says.

    By Wilson and Hilferty 1931.
    """
    away = normal_quantile(level)
    sixth = skewness / 6
    if abs(sixth) > _NO_SKEW:
        away = (max(1 + sixth * (away - sixth), 0.0) ** 3 - 1) / (3 * sixth)
    return max(mean + deviation * away, 0.0)


# -- two moments ---------------------------------------------------------------------------


def _waits(
    found: int, think: float, places: Sequence[Place], grown: Sequence[float]
) -> list[float]:
    """Return what a visit waits at each place, in services; demands are so often as large."""
    stations: list[tuple[float, float, float, float]] = []
    for place, factor in zip(places, grown, strict=True):
        own = place.asked / place.all
        rest = place.all - place.copies
        stations.append((factor * own * place.copies, place.servers, place.load, place.copies))
        stations.append((own * rest, place.servers, place.load, rest or 1))
    return list(waits_of(found, think, tuple(stations))[::2])


def _mean(places: Sequence[Place], waits: Sequence[float]) -> float:
    return sum(place.asked * (1 + wait) for place, wait in zip(places, waits, strict=True))


def _moments(found: int, think: float, places: Sequence[Place]) -> tuple[float, float, float]:
    """Return mean, deviation and skewness of the time at all stations.

    What waits come to for larger demands tells how what is found varies.
    """
    alike = [1.0] * len(places)
    waits = _waits(found, think, places, alike)
    mean = _mean(places, waits)
    rate = (found + 1) / (think + mean)
    variance = third = 0.0
    for place, wait in zip(places, waits, strict=True):
        part = min(place.often, 1.0)  # of who comes
        own = place.asked * place.service
        _, open_all = open_found(place.servers, place.load, wait)
        again = place.service**2 * open_all * place.pairs / place.all
        if place.shares:
            load = min((rate * place.asked / place.all + place.load) / place.servers, 1.0)
            variance += own * (1 + wait) ** 2 + (2 * own * open_all + again) / (2 - load)
        else:
            second, more_skewed = of_queue(
                place.asked, place.service, place.servers, place.load, wait=wait, again=again
            )
            variance, third = variance + second, third + more_skewed
        variance += (1 - part) / part * (place.asked * (1 + wait)) ** 2
    queues = [not place.shares for place in places]
    second, more_skewed = _spread(found, think, places, queues)
    variance, third = variance + second, third + more_skewed
    for at, place in enumerate(places):
        if place.shares:  # who is there changes meanwhile
            alone = [k == at for k in range(len(places))]
            load = (rate * place.asked / place.all + place.load) / place.servers
            more = (1 + 1 / place.visits) / (2 - min(load, 1.0))
            variance += _spread(found, think, places, alone)[0] * more
    deviation = sqrt(variance)
    if all(queues):
        return mean, deviation, third / deviation**3
    return mean, deviation, 2 * deviation / mean


def of_queue(
    asked: float, service: float, servers: float, load: float, *, wait: float, again: float
) -> tuple[float, float]:
    """Return variance and third cumulant of the time at a station, for how many are found there.

    A cycle asks so much of it, and a visit a `service`; that waits so many services. `again` is the
    variance of what one visit waits for as another one does.
    """
    spare, chance = servers - load, erlang_c(servers, load)
    first, _ = open_found(servers, load, wait)
    own = asked * service
    third = 2 * own * service * (1 + wait / spare**2)
    third += 2 * own * service * first * (2 - chance) / spare
    third += 3 * service / spare * again
    return own * (1 + wait / spare + first) + again, third


def open_found(servers: float, load: float, wait: float) -> tuple[float, float]:
    """Return variances of what a visit waits for open traffic at a copy, in services.

    Of whether it waits at all, which users alone do not tell, and of all that it finds: behind each
    of those who are waited for so many have come as an open queue of one busy server has.
    """
    chance, spare = erlang_c(servers, load), servers - load
    first = chance * (1 - chance) / spare**2
    return first, first + wait * load / servers / spare


def _spread(
    found: int, think: float, places: Sequence[Place], among: Sequence[bool]
) -> tuple[float, float]:
    """Return the variance of what is waited at some places for those who are found.

    And what that adds to the third cumulant: as if all services were those of the slowest place.
    """
    each = [
        place.asked / place.copies / (place.servers - place.load) if is_among else 0.0
        for place, is_among in zip(places, among, strict=True)
    ]
    most = max(each)
    if not most or not found:
        return 0.0, 0.0
    ends = []
    for step in (-_STEP, 0.0, _STEP):
        waits = _waits(found, think, places, [exp(step * one / most) for one in each])
        told = zip(places, waits, among, strict=True)
        ends.append(sum(place.asked * wait for place, wait, is_among in told if is_among))
    less, mean, more = ends
    variance = max((more - less) / (2 * _STEP) * most, 0.0)
    bent = (more + less - 2 * mean) * (most / _STEP) ** 2
    return variance, bent + 3 * most * variance


# -- the law -------------------------------------------------------------------------------


class _Option(Struct, frozen=True):
    """A part of the weights of a copy: those `told` of numbers there, and more by a transform.

    A `share` of who comes makes a visit of it; then weights are geometric besides, where it
    `queues`.
    """

    place: Place
    told: tuple[float, ...]
    share: float = 0.0
    queues: bool = False


class Law(Struct, frozen=True):
    """The law of the time at all stations: parts of weights of populations, the largest first.

    Each part is told with which of the options it has.
    """

    options: tuple[_Option, ...]
    parts: tuple[tuple[list[float], tuple[int, ...]], ...]
    unit: float
    mean: float

    def quantile(self, level: float) -> float:
        """Return the time that a share does not exceed."""
        whole, step = self._weight(0j).real, _STEP / self.mean
        ends = [log(self._weight(complex(at)).real / whole) for at in (step, -step)]
        deviation = sqrt(max(ends[0] + ends[1], 0.0)) / step
        goal = -log1p(-level)
        gap = _GAP + goal / 2
        terms = next(found for least, found in _TERMS if deviation >= least * self.mean)

        def excess(time: float) -> tuple[float, float]:
            """Return log(P(T > t)/(1 - level)), and its slope."""
            longer = density = 0.0
            for k, weight in enumerate(terms):
                at = complex(gap, k * pi) / time
                found = self._weight(at) / whole
                longer += weight * ((1 - found) / at).real
                density += weight * found.real
            if not longer > 0:
                return -1.0, 0.0
            return log(longer / time) + gap + goal, -density / longer

        most = self.mean + deviation / sqrt(1 - level)  # Cantelli
        near = of_moments(level, self.mean, deviation, 2 * deviation / self.mean)
        return falling_root(excess, 0.0, most, min(near, most))

    def _weight(self, at: complex) -> complex:
        """Return the weight of all states, each with the transform of the stays in it."""
        transformed = [_transformed(option, at, self.unit) for option in self.options]
        found = 0j
        for row, chosen in self.parts:
            factor, values, ratios = complex(1.0), row, []
            for one in chosen:
                own, ratio = transformed[one]
                factor *= own
                if ratio:
                    ratios.append(ratio)
            last = ratios.pop() if ratios else 0j
            for ratio in ratios:
                values = _geometric(values, ratio)
            whole = 0j
            for value in values:  # of the last of them nothing else is asked
                whole = value + last * whole
            found += factor * whole
        return found


def _transformed(option: _Option, at: complex, unit: float) -> tuple[complex, complex]:
    """Return by what the weights of an option are multiplied, and the ratio of the geometric ones.

    That ratio is zero where none are.
    """
    if not option.share:
        return complex(1.0), 0j
    place = option.place
    size = at * place.service
    power = -max(place.often, 1.0)
    served: complex = (1 + size) ** power
    if not option.queues:
        return option.share * served, 0j
    faster: complex = served
    if place.servers > 1:
        faster = (1 + size / place.servers) ** power
        served *= faster
    spare = 1 - place.load * faster / place.servers
    ratio = place.ratio * unit * faster / spare
    return option.share * served / spare, ratio


def _geometric(values: Sequence[Any], ratio: complex) -> list[Any]:
    found, before = [], 0.0 * ratio
    for own in values:
        before = own + ratio * before
        found.append(before)
    return found


@lru_cache(maxsize=1 << 8)
def _law(found: int, think: float, places: tuple[Place, ...]) -> Law | None:
    """Return the law by its transform; None where two moments tell it."""
    if any(place.shares for place in places):
        return None
    mean = _mean(places, _waits(found, think, places, [1.0] * len(places)))
    rate = (found + 1) / (think + mean)
    away = min(rate * think, found)
    spread = min(8 * sqrt(away), 30 * (1 + found - away))
    most = min(found, ceil(found - away + spread) + 40)
    degree = 1 + max(place.servers for place in places)
    if found - away > max(_MANY, _DEEP * sqrt(away)):
        return None
    if most > MOST_FOUND or degree * most > _MOST_PRODUCTS:
        return None
    if any(place.all > _MOST_OF_ALL or not place.asked * rate > _LEAST for place in places):
        return None
    if not _LEAST < mean < 1 / _LEAST:
        return None
    row = _thinking(found, think * rate, most)
    for place in places:
        if place.all > place.copies:
            row = convolved(_unvisited(place, rate, place.all - place.copies, most), row, most + 1)
    options: list[_Option] = []
    choices = []
    terms = 1
    for place in places:
        own = _options(place, rate, most)
        terms *= len(own) ** place.copies
        each = range(len(options), len(options) + len(own))
        options += own
        choices.append(list(combinations_with_replacement(each, place.copies)))
    if terms > _MOST_TERMS:
        return None
    parts = []
    for several in product(*choices):
        chosen = tuple(chain(*several))
        weighed = [prod(map(_orders, several)) * weight for weight in row]
        for one in chosen:
            if options[one].told != (1.0,):
                weighed = convolved(options[one].told, weighed, most + 1)
        parts.append((weighed, chosen))
    return Law(tuple(options), tuple(parts), rate, mean)


def _orders(chosen: Sequence[int]) -> int:
    """Return in how many orders copies of a place may have these options."""
    return factorial(len(chosen)) // prod(factorial(chosen.count(one)) for one in {*chosen})


def _thinking(found: int, mean: float, most: int) -> list[float]:
    """Return the weights of those who think, where up to so `most` of those found do not."""
    if mean == 0:
        return [1.0] + [0.0] * most
    logs = [k * log(mean) - lgamma(k + 1) for k in range(found - most, found + 1)]
    largest = max(logs)
    return [exp(one - largest) for one in logs]


def _unvisited(place: Place, unit: float, copies: float, most: int) -> list[float]:
    """Return the weights of numbers at so many copies that nobody visits, together."""
    ratio = place.asked / place.all * unit / (place.servers - place.load)
    each = range(most + 1)
    logs = [lgamma(copies + k) - lgamma(copies) - lgamma(k + 1) + k * log(ratio) for k in each]
    largest = max(logs)
    row = [exp(one - largest) for one in logs]
    if place.servers > 1:
        own = Several(
            place.asked / place.all, place.servers, place.load, 1, rate=unit, count=1
        ).weights
        row = convolved(power(own, int(copies), most + 1), row, most + 1)
    return row


def _options(place: Place, unit: float, most: int) -> list[_Option]:
    """Return of what the weights of a copy are made that is visited."""
    share = min(place.often, 1.0)
    left = [] if share == 1 else [1 - share]
    if place.servers == 1:
        ratio = place.ratio * unit / (1 - place.load)
        others = [one * ratio**k / (1 - place.load) for one in left for k in range(most + 1)]
        found = [_Option(place, (1.0,), share, queues=True)]
        return found + ([_Option(place, tuple(others))] if left else [])
    closed = poisson(place.ratio * place.servers * unit, place.servers + 1)
    held = poisson(place.load, place.servers + 1)
    below = list(accumulate(held))  # so many open ones at most
    last = place.servers
    free = tuple(closed[k] * below[last - 1 - k] for k in range(last))
    full = tuple(closed[k] * held[last - k] for k in range(last + 1))
    found = [_Option(place, free, share), _Option(place, full, share, queues=True)]
    if left:
        spare = 1 - place.load / place.servers
        queued = _geometric([*full, *([0.0] * max(most - last, 0))], place.ratio * unit / spare)
        told = [one / spare for one in queued]
        for k, one in enumerate(free):
            told[k] += one
        found.append(_Option(place, tuple(left[0] * one for one in told)))
    return found
