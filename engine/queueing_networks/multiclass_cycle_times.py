"""How long a cycle of one class takes at the stations of a closed network of several: quantiles.

Who comes to a station finds the network with one less of its class (Sevcik and Mitrani 1981;
Lavenberg and Reiser 1980). Three cumulants of the time at all stations determine a gamma law. They
are those of the services for how many are found on average, and those of how many are found: a
network in product form is an exponential family of the logarithms of its demands, so that means
determine variances by how they move with the services of all classes at a station.

Who shares a station shares it with others as it goes on: how many are found counts the less, the
less of them are still there at the end. Where a copy is chosen for each visit, two of them may be
to the same one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import chain
from math import exp, floor, inf, nan, prod, sqrt
from typing import NamedTuple

from qps.engine.queueing_networks import multiclass_operands
from qps.engine.queueing_networks.cycle_time_moments import of_moments, of_queue, open_found
from qps.engine.queueing_networks.multiclass_mva import found_of, on_lines
from qps.engine.queueing_networks.multiclass_operands import MulticlassNetwork, MulticlassStation
from qps.engine.queueing_networks.visited_copies import pairs_of

EXTRA_OPERANDS = 2
"""Operands of a station besides those of `multiclass_operands`.

These are how often a cycle of the class visits it, and 1 where all who are there share it.
"""

_STEP = 1e-2
_MOST_COPIES = 4.0


class Visited(NamedTuple):
    """How often a cycle visits a station, and whether all who are there are served at once."""

    often: float
    shares: bool

    @property
    def part(self) -> float:
        """The share of cycles that make one visit more than others."""
        return self.often - floor(self.often)

    @property
    def pairs(self) -> float:
        """The mean number of ordered pairs of visits of a cycle."""
        return pairs_of(self.often)

    def alike(self, copies: float) -> float:
        """Return the mean number of ordered pairs to one copy, each visit with itself too."""
        return self.often + self.pairs / copies


def class_quantile(classes: float, of: float, level: float, *operands: float) -> float:
    """Return what a share `level` of the cycles of a class does not exceed at all stations.

    Between whole numbers of customers, of servers, and of copies of several servers, on a line.
    """
    network = network_of(classes, operands)
    if network is None or not (1 <= of <= classes and of == int(of) and 0 <= level < 1):
        return nan
    visits = tuple((often, shares > 0) for often, shares in _visits(int(classes), operands))
    return on_lines(lambda whole: _quantile(level, int(of) - 1, whole, visits), network)


def network_of(classes: float, operands: Sequence[float]) -> MulticlassNetwork | None:
    """Return the network that operands describe, None where there is none."""
    if not (1 <= classes < inf and classes == floor(classes)):
        return None
    count = int(classes)
    if (len(operands) - 2 * count) % (count + 3 + EXTRA_OPERANDS):
        return None
    if not all(0 <= number < inf for visit in _visits(count, operands) for number in visit):
        return None
    stations = chain.from_iterable(one[:-EXTRA_OPERANDS] for one in _stations(count, operands))
    return multiclass_operands.network_of(classes, (*operands[: 2 * count], *stations))


def _stations(classes: int, operands: Sequence[float]) -> list[Sequence[float]]:
    size = classes + 3 + EXTRA_OPERANDS
    return [operands[at : at + size] for at in range(2 * classes, len(operands), size)]


def _visits(classes: int, operands: Sequence[float]) -> list[tuple[float, float]]:
    return [(one[-2], one[-1]) for one in _stations(classes, operands)]


def _quantile(
    level: float, k: int, network: MulticlassNetwork, visits: tuple[tuple[float, bool], ...]
) -> float:
    """Return the quantile where all that counts whole is whole."""
    there = [
        (place, Visited(*visit))
        for place, visit in zip(network.places, visits, strict=True)
        if place.demands[k] and visit[0]
    ]
    if level <= prod(max(1 - visit.often, 0.0) for _, visit in there):  # nothing is visited
        return 0.0
    if any(place.load >= place.servers for place, _ in there):
        return inf
    return of_moments(level, *moments(k, network, visits))


# -- moments -------------------------------------------------------------------------------


@lru_cache(maxsize=1 << 10)
def moments(
    k: int, network: MulticlassNetwork, visits: tuple[tuple[float, bool], ...]
) -> tuple[float, float, float]:
    """Return mean, deviation and skewness of the time of a class at all stations."""
    there: dict[int, Visited] = {}
    whole = network
    for at, (place, copy_visit) in enumerate(zip(network.places, visits, strict=True)):
        if place.demands[k] and copy_visit[0]:
            there[at] = Visited(*copy_visit)
            whole = _apart(whole, at, _copies(place, copy_visit[0]))
    rates, waits = found_of(whole).rates, _waits(whole, k)
    queues = {at: visit for at, visit in there.items() if not visit.shares}
    variance, third = _spread(network, whole, k, there)
    if queues != there:
        _, third = _spread(network, whole, k, queues)
    mean = 0.0
    for at, visit in there.items():
        place, wait = network.places[at], waits[at]
        demand, often = place.demands[k], visit.often
        service = demand / often
        stay = service * (1 + wait)
        mean += often * stay
        found, again, once = _found(network, k, at, visit)
        _, open_all = open_found(place.servers, place.load, wait)
        alike = visit.alike(place.copies) * service**2 * open_all
        if visit.shares:
            busy = sum(rate * one for rate, one in zip(rates, place.demands, strict=True) if one)
            load = min((busy / place.copies + place.load) / place.servers, 1.0)
            lasting = (found + alike + often * (once + service**2 * open_all)) / (2 - load)
            own = often * stay**2 + lasting
            variance += own - found + again
            third += 2 * own**2 / (often * stay)
        else:
            again += alike - often * service**2 * open_all
            second, more_skewed = of_queue(
                demand, service, place.servers, place.load, wait=wait, again=again
            )
            variance, third = variance + second, third + more_skewed
        either = visit.part * (1 - visit.part)
        variance += either * stay**2
        third += either * (4 - 2 * visit.part) * stay**3
    deviation = sqrt(variance)
    cubed = deviation**3
    return mean, deviation, third / cubed if cubed else 0.0


def _copies(place: MulticlassStation, often: float) -> float:
    """Return how many copies of a station are taken to be visited."""
    return float(max(1, floor(min(often, place.copies, _MOST_COPIES))))


def _apart(network: MulticlassNetwork, at: int, copies: float) -> MulticlassNetwork:
    """Return a network with so many copies of a station in its place, and all others behind."""
    place = network.places[at]
    if copies >= place.copies:
        return network
    part = copies / place.copies
    own = place._replace(copies=copies, demands=tuple(part * one for one in place.demands))
    others = place._replace(
        copies=place.copies - copies, demands=tuple((1 - part) * one for one in place.demands)
    )
    return network._replace(places=(*_with(network, at, own).places, others))


def _with(network: MulticlassNetwork, at: int, place: MulticlassStation) -> MulticlassNetwork:
    places = network.places
    return network._replace(places=(*places[:at], place, *places[at + 1 :]))


def _waits(network: MulticlassNetwork, k: int) -> list[float]:
    """Return what a visit of a class waits at each station, in services."""
    ordered, found = sorted(network.places), found_of(network)
    return [found.waits[ordered.index(place)][k] for place in network.places]


def _grown(network: MulticlassNetwork, at: int, by: float) -> MulticlassNetwork:
    """Return a network in which all at a station takes longer by a logarithm."""
    place = network.places[at]
    factor = exp(by)
    return _with(network, at, place._replace(demands=tuple(factor * one for one in place.demands)))


def _spread(
    network: MulticlassNetwork, split: MulticlassNetwork, k: int, there: Mapping[int, Visited]
) -> tuple[float, float]:
    """Return the variance of what is waited at some stations for those who are found.

    And what that adds to the third cumulant: three times how it varies with the variance of what is
    waited for them, and its own. Visited copies stand apart in the `split` network.
    """
    demands = {at: network.places[at].demands[k] for at in there}
    spare = {at: network.places[at].servers - network.places[at].load for at in there}
    each = {at: one / split.places[at].copies / spare[at] for at, one in demands.items()}
    most = max(each.values(), default=0.0)
    if not most:
        return 0.0, 0.0
    means, variances = [], []
    for step in (-_STEP, 0.0, _STEP):
        moved = split
        for at, one in each.items():
            moved = _grown(moved, at, step * one / most)
        waits = _waits(moved, k)
        means.append(sum(one * waits[at] for at, one in demands.items()))
        services = ((at, one**2 / there[at].often / spare[at]) for at, one in demands.items())
        variances.append(sum(one * waits[at] for at, one in services))
    less, mean, more = means
    slope = most / (2 * _STEP)
    variance, together = (more - less) * slope, (variances[-1] - variances[0]) * slope
    bent = (more + less - 2 * mean) * (most / _STEP) ** 2
    return max(variance, 0.0), bent + 3 * max(together, 0.0)


def _found(
    network: MulticlassNetwork, k: int, at: int, visit: Visited
) -> tuple[float, float, float]:
    """Return the variance of what is waited at a station for those who are found there.

    Besides, by how much that is more than of visits that are spread evenly over some copies, and
    that of one visit.
    """
    place = network.places[at]
    often, all_copies = visit.often, place.copies
    evenly = _copies(place, often)
    square = often**2 / evenly
    is_even = visit.part == 0 and (all_copies == 1 or often == 1)
    if is_even and not visit.shares:
        return 0.0, 0.0, 0.0
    own, other = _of_a_copy(network, k, at)
    service = (place.demands[k] / often) ** 2
    alike = visit.alike(all_copies)
    apart = visit.pairs * (1 - 1 / all_copies)
    more = (alike - square) * own + (apart - square * (evenly - 1)) * other
    found = service * (alike * own + apart * other)
    return found, 0.0 if is_even else service * more, service * own


def _of_a_copy(network: MulticlassNetwork, k: int, at: int) -> tuple[float, float]:
    """Return the variance of what a visit waits at a copy, in services, and that with another."""
    split, spare = _apart(network, at, 1.0), network.places[at].servers - network.places[at].load
    less, more = (_waits(_grown(split, at, step), k) for step in (-_STEP, _STEP))
    both = [(high - low) / (2 * _STEP) / spare for low, high in zip(less, more, strict=True)]
    return max(both[at], 0.0), both[-1] if network.places[at].copies > 1 else 0.0
