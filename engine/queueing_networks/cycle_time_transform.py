"""How long a cycle of a closed network takes at its stations: the law, by its transform.

The transform of the sum of its stays is a coefficient of the generating function of the network,
with weights that describe each stay, over that without. A station of c servers, of which open
visits keep L busy, has for x = D z + L and one visit of mean S

  h(s) (sum_{j < c} x^j/j! + x^c/c! g(s)/(1 - x g(s)/c)),  h = 1/(1 + s S), g = 1/(1 + s S/c),

powers of h and g where it is visited again: each time as many are found. Where a station has many
copies, those that are not visited count with their weights alone.

That is inverted as in `sum_numbers`, on a line moved towards its singularities: those of h and g,
and where 1 - L g/c vanishes. What is found keeps to Cantelli's bounds; where the series has no
root, the moments of the same time determine a gamma law.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate, chain, combinations_with_replacement, product
from math import ceil, exp, factorial, inf, lgamma, log, log1p, pi, prod, sqrt
from typing import Any

from msgspec import Struct

from qps.engine.distributions.sum_numbers import KINKED, SMOOTH, gap_of, weights
from qps.engine.numerics.falling_roots import falling_root
from qps.engine.numerics.polynomials import convolved, power
from qps.engine.queueing_networks.cycle_time_moments import mean_of, of_moments, waits_of_visits
from qps.engine.queueing_networks.product_form import Several, poisson
from qps.engine.queueing_networks.visited_copies import ReplicatedStation

_MOST_FOUND, _MANY, _DEEP = 3000, 1000, 12
"""Customers at all stations up to which their weights are summed up; fewer far beyond the knee."""
_MOST_PRODUCTS = 1 << 20
_MOST_TERMS = 32
_MOST_OF_ALL = 1 << 20
_LEAST = 1e-30
_STEP, _SMALL, _ROOT = 1e-3, 1e-2, 1e-3
_TERMS = ((0.6, SMOOTH), (0.15, KINKED), (0.0, weights(96, 12)))
"""Of the series, by the least deviation over the mean: of narrower laws there are more."""


class _Option(Struct, frozen=True):
    """A part of the weights of a copy: `weights` of numbers there, and more by a transform.

    A `share` of who comes makes a visit of it; then weights are geometric besides, where it
    `queues`.
    """

    place: ReplicatedStation
    weights: tuple[float, ...]
    share: float = 0.0
    queues: bool = False


class CycleTimeDistribution(Struct, frozen=True):
    """The law of the time at all stations: parts of weights of populations, the largest first.

    Each part comes with the options that it has.
    """

    options: tuple[_Option, ...]
    parts: tuple[tuple[list[float], tuple[int, ...]], ...]
    unit: float
    mean: float

    @property
    def nearest(self) -> float:
        """How far left of zero the nearest singularity is."""
        return min(_singularity(one.place) for one in self.options if one.share)

    def quantile(self, level: float) -> float | None:
        """Return the time that a share does not exceed; None where the series has no root.

        It is within Cantelli's bounds.
        """
        whole, nearest = self._weight(0j).real, self.nearest
        step = min(_STEP / self.mean, _SMALL * nearest)
        ends = [log(self._weight(complex(at)).real / whole) for at in (step, -step)]
        deviation = sqrt(max(ends[0] + ends[1], 0.0)) / step
        goal, off = -log1p(-level), inf
        terms = next(found for least, found in _TERMS if deviation >= least * self.mean)

        def excess(time: float) -> tuple[float, float]:
            """Return log(P(T > t)/(1 - level)), and its slope."""
            nonlocal off
            if time <= 0:
                return inf, 0.0
            longer = density = 0.0
            gap = gap_of(nearest, goal, time)
            for k, weight in enumerate(terms):
                at = complex(gap, k * pi) / time
                found = self._weight(at) / whole
                longer += weight * ((1 - found) / at).real
                density += weight * found.real
            if not longer > 0:
                return -1.0, 0.0
            value = log(longer / time) + gap + goal
            off = min(off, abs(value))
            return value, -density / longer

        most = self.mean + deviation * sqrt(level / (1 - level))  # Cantelli
        least = max(self.mean - deviation * sqrt((1 - level) / level), 0.0)
        near = of_moments(level, self.mean, deviation, 2 * deviation / self.mean)
        found = falling_root(excess, least, most, min(max(near, least, _STEP * self.mean), most))
        return found if off <= _ROOT else None

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
            for value in values:  # of the last of them nothing else is needed
                whole = value + last * whole
            found += factor * whole
        return found


def _singularity(place: ReplicatedStation) -> float:
    """Return how far left of zero the transform of a stay has its nearest singularity."""
    rate, often = 1 / place.service, max(place.often, 1.0)
    open_share = place.load / place.servers
    spare = place.servers * rate * (1 - float(open_share ** (1 / often)))
    return min(rate, spare)


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
def law_of(
    found: int, think: float, places: tuple[ReplicatedStation, ...]
) -> CycleTimeDistribution | None:
    """Return the law by its transform; None where two moments determine it."""
    if any(place.shares for place in places):
        return None
    mean = mean_of(places, waits_of_visits(found, think, places, [1.0] * len(places)))
    rate = (found + 1) / (think + mean)
    away = min(rate * think, found)
    spread = min(8 * sqrt(away), 30 * (1 + found - away))
    most = min(found, ceil(found - away + spread) + 40)
    degree = 1 + max(place.servers for place in places)
    if found - away > max(_MANY, _DEEP * sqrt(away)):
        return None
    if most > _MOST_FOUND or degree * most > _MOST_PRODUCTS:
        return None
    if any(place.all > _MOST_OF_ALL or not place.demand * rate > _LEAST for place in places):
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
            if options[one].weights != (1.0,):
                weighed = convolved(options[one].weights, weighed, most + 1)
        parts.append((weighed, chosen))
    return CycleTimeDistribution(tuple(options), tuple(parts), rate, mean)


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


def _unvisited(place: ReplicatedStation, unit: float, copies: float, most: int) -> list[float]:
    """Return the weights of numbers at so many copies that nobody visits, together."""
    ratio = place.demand / place.all * unit / (place.servers - place.load)
    each = range(most + 1)
    logs = [lgamma(copies + k) - lgamma(copies) - lgamma(k + 1) + k * log(ratio) for k in each]
    largest = max(logs)
    row = [exp(one - largest) for one in logs]
    if place.servers > 1:
        own = Several(
            place.demand / place.all, place.servers, place.load, 1, rate=unit, count=1
        ).weights
        row = convolved(power(own, int(copies), most + 1), row, most + 1)
    return row


def _options(place: ReplicatedStation, unit: float, most: int) -> list[_Option]:
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
        ratios = [one / spare for one in queued]
        for k, one in enumerate(free):
            ratios[k] += one
        found.append(_Option(place, tuple(left[0] * one for one in ratios)))
    return found
