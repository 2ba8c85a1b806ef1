"""Numbers of closed networks of one class in which calls are made together, nearly.

Who comes finds what there is with one customer less, as in mean value analysis, by the shares of
customers at stations and how these change (the Linearizer: Chandy and Neuse 1982). Calls that are
made together take as long as the slowest, of independent times, exponential at each visit (Varki
1999, "Mean value technique for closed fork-join networks"): so customers are more at a station than
Little's law of one after the other gives. A branch of several stages counts as what it takes always
and an exponential time, of its mean and variance; one that is made by chance takes that, or nothing
(a mixture). Calls that are together made by chance take what they take, as often as they are made.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import combinations
from math import exp, inf, nan, sqrt
from typing import NamedTuple

from qps.engine.distributions.maximum_nodes import NODES
from qps.engine.numerics.falling_roots import rising_root
from qps.engine.queueing_networks.fork_join_operands import (
    GROUP,
    BranchOperand,
    Place,
    StationOperand,
    every,
    places_of,
    stations_of,
)
from qps.engine.queueing_networks.linearizer import found_and_waits

_TURNS = 3
_FEW = 5
"""Branches up to which the mean of the slowest is a sum over sets of them."""


class _Stage(NamedTuple):
    """A time: its mean and its variance."""

    mean: float
    variance: float


class _ForkJoinRates(NamedTuple):
    """A rate, what each station takes of a cycle, and what each place does."""

    rate: float
    times: Mapping[int, float]
    places: Mapping[int, float]


# -- rows of the table ---------------------------------------------------------------------


def forked_rate(customers: float, think: float, *operands: float) -> float:
    """Return how many cycles all customers together end in a time; 0 where some never end."""
    places = _read(customers, think, operands)
    if places is None:
        return nan
    if customers == 0 or any(map(_never_ends, stations_of(places))):
        return 0.0
    return _solved(customers, think, operands).rate


def forked_time(which: float, customers: float, think: float, *operands: float) -> float:
    """Return how long a cycle is at a station, or how long calls take that are made together."""
    places = _read(customers, think, operands)
    own = next((one for one in every(places or ()) if one.at == which), None)
    if own is None or places is None:
        return nan
    if any(map(_never_ends, stations_of([own]))):
        return inf
    if any(map(_never_ends, stations_of(places))):  # all customers are there
        customers = 0.0
    return _solved(customers, think, operands).places[int(which)]


def forked_wait(which: float, customers: float, think: float, *operands: float) -> float:
    """Return the mean wait of an open visit at a station, in mean service times."""
    places = _read(customers, think, operands)
    own = next((one for one in stations_of(places or ()) if one.at == which), None)
    if own is None or places is None:
        return nan
    if own.load >= own.servers:
        return inf
    if any(map(_never_ends, stations_of(places))):
        return _wait(own, 0.0)
    found = _solved(customers, think, operands)
    held = found.rate * found.times[own.at] if found.rate < inf else 0.0
    return _wait(own, held / own.copies)


def _read(customers: float, think: float, operands: Sequence[float]) -> tuple[Place, ...] | None:
    if not (0 <= customers < inf and 0 <= think < inf):
        return None
    if not all(-inf < number < inf for number in operands):
        return None
    if not all(number >= 0 for place, number in enumerate(operands) if place % GROUP):
        return None
    return places_of(operands)


def _never_ends(station: StationOperand) -> bool:
    return bool(station.demand > 0 and station.load >= station.servers)


# -- networks ------------------------------------------------------------------------------


@lru_cache(maxsize=1 << 10)
def _solved(customers: float, think: float, operands: tuple[float, ...]) -> _ForkJoinRates:
    """Return what so many customers come to who all end their cycles."""
    places = places_of(operands)
    assert places is not None
    stations = [one for one in stations_of(places) if one.load < one.servers]
    change = dict.fromkeys((one.at for one in stations), 0.0)
    for turn in range(_TURNS):
        rate, times = _fixed_point(customers, think, places, stations, change)
        if turn == _TURNS - 1 or customers <= 1 or rate == inf:
            break
        fewer, times_of_less = _fixed_point(customers - 1, think, places, stations, change)
        change = {
            at: fewer * times_of_less[at] / (customers - 1) - rate * times[at] / customers
            for at in times
        }
    return _ForkJoinRates(rate, times, {one.at: _stage(one, times).mean for one in every(places)})


def _fixed_point(
    customers: float,
    think: float,
    places: Sequence[Place],
    stations: Sequence[StationOperand],
    change: Mapping[int, float],
) -> tuple[float, dict[int, float]]:
    """Return the rate of so many customers and what stations take, as shares change with one less.

    The rate is where as many are in a cycle as there are: what a cycle takes grows with it.
    """

    def times_at(rate: float) -> dict[int, float]:
        return {one.at: _time(one, customers, rate, change[one.at]) for one in stations}

    def left(rate: float) -> float:
        cycle = think + sum(_stage(one, times_at(rate)).mean for one in places)
        return rate - customers / cycle if cycle else -inf

    least = think + sum(_stage(one, times_at(0.0)).mean for one in places)
    if not customers or not least:
        return (inf if customers else 0.0), times_at(0.0)
    rate = rising_root(left, 0.0, customers / least)
    return rate, times_at(rate)


def _time(station: StationOperand, customers: float, rate: float, change: float) -> float:
    """Return what a cycle takes at a station, endless where the rate is too high for it."""
    others, copies = max(customers - 1, 0.0), station.copies
    slope = others * rate / customers / copies if customers else 0.0
    return float(station.demand) * (
        1 + _wait_of_arrival(station, slope * station.demand, others * change / copies)
    )


def _wait_of_arrival(station: StationOperand, slope: float, others: float) -> float:
    """Return the wait w, in service times, of who finds as many as `slope` (1 + w) + `others`."""
    servers, load = station.servers, station.load
    if servers == inf:
        return 0.0
    if servers == 1:
        spare = 1 - load - slope
        wait = (load + slope + others) / spare if spare > 0 else inf
        return float(max(wait, load / (1 - load)))
    found, waits, steepest = found_and_waits(servers, load)
    if slope * steepest >= 1:
        return inf
    fewer = [n - slope * (1 + wait) for n, wait in zip(found, waits, strict=True)]
    at = bisect_right(fewer, others)
    if at == 0:
        return waits[0]
    if at == len(found):
        first, least, grows = found[-1], waits[-1], steepest
    else:
        first, least = found[at - 1], waits[at - 1]
        grows = (waits[at] - least) / (found[at] - first)
    return (least + grows * (slope + others - first)) / (1 - grows * slope)


def _wait(station: StationOperand, queue_length: float) -> float:
    """Return what is waited where so many are at a copy."""
    return _wait_of_arrival(station, 0.0, queue_length)


# -- what is made together -----------------------------------------------------------------


def _stage(place: Place, times: Mapping[int, float], around: float = 1.0) -> _Stage:
    """Return what is spent at a place for each time that what is around it is passed.

    That is so often in a cycle. Visits are exponential, and vary by themselves.
    """
    if not place.often or not around:
        return _Stage(0.0, 0.0)
    if isinstance(place, StationOperand):
        mean = times.get(place.at, 0.0) / place.often
        return _repeated(_Stage(mean, mean * mean), place.often / around)
    laws = [_branch(branch, times, place.often) for branch in place.branches]
    own = max((one.variance_of_all for one in laws), default=0.0)
    return _repeated(_Stage(slowest_exponential(laws), own), place.often / around)


def _branch(branch: BranchOperand, times: Mapping[int, float], around: float) -> BranchLaw:
    """Return the law of a branch of calls that a cycle makes so often."""
    if not branch.often:
        return BranchLaw(0.0, 0.0, 0.0)
    stages = [_stage(one, times, branch.often) for one in branch.places]
    mean = branch.delay / branch.often + sum(one.mean for one in stages)
    one = _Stage(mean, sum(one.variance for one in stages))
    count = branch.often / around
    chance = min(count, 1.0)
    mean, variance = _repeated(one, count / chance)
    spread = sqrt(variance)
    if spread <= mean or spread == inf:
        return BranchLaw(mean - spread, spread, chance)
    longer = (mean + variance / mean) / 2  # exponential, if there is anything
    return BranchLaw(0.0, longer, chance * mean / longer)


def _repeated(one: _Stage, count: float) -> _Stage:
    """Return what is done so often: the whole part always, and once more by the chance left."""
    left = count % 1
    more = left * (1 - left) * one.mean * one.mean if left else 0.0
    return _Stage(count * one.mean, count * one.variance + more)


class BranchLaw(NamedTuple):
    """A time: with a `chance` what is `fixed` of it, and exponential beyond, else 0."""

    fixed: float
    beyond: float
    chance: float = 1.0

    @property
    def variance_of_all(self) -> float:
        """The variance, where it is 0 counted, too."""
        mean = self.fixed + self.beyond
        left = self.chance * (1 - self.chance) * mean * mean if self.chance < 1 else 0.0
        return self.chance * self.beyond * self.beyond + left


def slowest_exponential(laws: Sequence[BranchLaw]) -> float:
    """Return the mean of the largest of independent times.

    Between two fixed times it is the integral of 1 - F_1(t) F_2(t) ..., in which those that may
    still begin are constant: so it is a difference of what is beyond each.
    """
    if any(inf in law for law in laws):
        return inf
    ends = sorted({0.0, *(max(law.fixed, 0.0) for law in laws)})
    total = 0.0
    for begin, end in zip(ends, [*ends[1:], inf], strict=True):
        never = 1.0
        for law in laws:
            never *= 1 - law.chance if law.fixed > begin else 1.0
        if end < inf:
            total += (1 - never) * (end - begin)
        if never:
            begun = [law for law in laws if law.fixed <= begin]
            total += never * (_beyond(begun, begin) - (_beyond(begun, end) if end < inf else 0.0))
    return total


def _beyond(laws: Sequence[BranchLaw], at: float) -> float:
    """Return the mean of what the largest is beyond a time at which all may have begun.

    That of more than a few is by the rule of `maximum_numbers`.
    """
    begun = [
        (law.chance * exp((law.fixed - at) / law.beyond), law.beyond) for law in laws if law.beyond
    ]
    if len(begun) <= _FEW:
        return sum(_of_sets(begun))
    scale = max(mean for _, mean in begun)
    total = 0.0
    for node, weight in NODES:
        within = 1.0
        for share, mean in begun:
            within *= 1 - share * exp(-scale * node / mean)
        total += weight * (1 - within)
    return scale * total


def _of_sets(begun: Sequence[tuple[float, float]]) -> Iterable[float]:
    """Yield what each set of times adds to the mean of the largest: inclusion and exclusion."""
    for count in range(1, len(begun) + 1):
        for some in combinations(begun, count):
            share, rate = 1.0, 0.0
            for one, mean in some:
                share, rate = share * one, rate + 1 / mean
            yield (share if count % 2 else -share) / rate
