"""How long classes stay where the speed goes by how many are there: at a pool, or with speeds.

What is within a pool follows from the network of one class that all classes are together
(`multiclass_load_dependent_operands`): at each number of them there, how many wait, and how many
are at each place within. Who comes finds the place as it is among so many others who think
elsewhere, as in a machine repair model: for each time that these think there is a mean number that
is found, and the stay of one more. Between two such numbers stays are cubic, with the slopes that
they have there. A class has its part of each stay.

That counts the time that a place is held as exponential, but for what goes on within. Where it
varies otherwise, who waits for the rest of one waits as much longer as for that of a renewal
process, (1 + C^2)/2 of its mean (Reiser, Journal of the ACM 26, 1979), as far as those who come do
so at random: as many of them as are elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from math import inf
from typing import Any, NamedTuple

from qps.engine.queueing_networks.linearizer import Stay, Wait, stay_at_each, waiting_at
from qps.engine.queueing_networks.load_dependent_operands import (
    LoadDependentPool,
    LoadDependentStation,
    Place,
    every,
)
from qps.engine.queueing_networks.multiclass_load_dependent_operands import (
    LoadDependentMulticlassNetwork,
)
from qps.engine.queueing_networks.pool_networks import (
    numbers_within,
    pool_numbers,
    speeds_of,
    waits_within,
)
from qps.engine.queueing_networks.station_rates import station_rates

_POINTS, _MORE = 96, 1000


class Stays(NamedTuple):
    """How long each class is at a place as a `whole`, and at each place within, by its group.

    Of open visits to stations there is what they `wait`, in mean service times.
    """

    whole: Stay
    times: dict[int, Stay]
    waits: dict[int, Wait]


def plain_first(places: Sequence[Place]) -> list[Place]:
    """Return places in an order in which those without speeds, that are no pools, come first."""
    return sorted(places, key=lambda one: not _is_plain(one))


def _is_plain(one: Place) -> bool:
    return isinstance(one, LoadDependentStation) and not one.speeds


def stays_at(
    network: LoadDependentMulticlassNetwork,
    shares: Sequence[float],
    places: Sequence[Place],
    others: float,
    most: int,
    known: Mapping[int, Stays],
) -> tuple[Stay, list[Stays]]:
    """Return how long classes are at all places, whose cycles come in such shares, and at each.

    The `plain_first` come first. So many `others` may be there with one who comes, and tables have
    no more than `most`. Those at some pools may be `known`, by their groups.
    """
    import numpy as np  # noqa: PLC0415 - seldom needed

    stations = [one for one in places if isinstance(one, LoadDependentStation) and _is_plain(one)]
    count, found = len(stations), [_at_station(network, shares, one) for one in stations]
    at_stations = _at_stations(network, shares, stations)
    for one in places[count:]:
        if isinstance(one, LoadDependentStation):
            found.append(_at_speeds(network, shares, one, others))
        elif one.at in known:
            found.append(known[one.at])
        else:
            found.append(stays_at_pool(network, shares, one, others, most))

    def stay(seen: Any) -> Any:
        times = np.empty_like(seen)
        if count:
            times[:, :count] = at_stations(seen[:, :count])
        for i, each in enumerate(found[count:], count):
            times[:, i] = each.whole(seen[:, i])
        return times

    return stay, found


def _at_stations(
    network: LoadDependentMulticlassNetwork,
    shares: Sequence[float],
    stations: Sequence[LoadDependentStation],
) -> Stay:
    """Return how long classes are at stations, those that are alike at once."""
    import numpy as np  # noqa: PLC0415 - seldom needed

    if not stations:
        return lambda found: found
    ends = [_served_and_parts(network, shares, one) for one in stations]
    served, parts = (np.array(each) for each in zip(*ends, strict=True))
    parts = parts * np.array([[one.demand] for one in stations])
    return stay_at_each([(one.servers, one.load, one.copies) for one in stations], served, parts)


def _at_station(
    network: LoadDependentMulticlassNetwork, shares: Sequence[float], one: LoadDependentStation
) -> Stays:
    wait = waiting_at(one.servers, one.load, one.copies)
    part = _shared_out(network, shares, one)
    whole = lambda found: part(one.demand * (1 + wait(found)))  # noqa: E731
    return Stays(whole, {one.at: whole}, {one.at: wait})


def _at_speeds(
    network: LoadDependentMulticlassNetwork,
    shares: Sequence[float],
    one: LoadDependentStation,
    others: float,
) -> Stays:
    rates = station_rates(one)
    numbers = _Numbers(rates, others)
    stay = numbers.means(one.copies * numbers.there / numbers.rates)
    part = _shared_out(network, shares, one)

    def whole(found: Any) -> Any:
        return part(stay(found / one.copies))

    return Stays(whole, {one.at: whole}, {})


def stays_at_pool(
    network: LoadDependentMulticlassNetwork,
    shares: Sequence[float],
    one: LoadDependentPool,
    others: float,
    most: int,
) -> Stays:
    """Return how long classes are at a pool and within, whose cycles come in such shares."""
    rates = speeds_of(one, most)
    if not rates:  # nothing is done there
        none = [0.0] * len(shares)
        times = {each.at: lambda found: found * none for each in every([one])}
        return Stays(lambda found: found * none, times, {})
    numbers, held = _Numbers(rates, others), pool_numbers(one, most)
    rest = one.variation if one.copies == 1 else 1.0
    within = [each for each in every([one]) if each is not one]
    waiting = (numbers.there - numbers.of(held)) / numbers.rates
    lasting = {one.at: waiting}
    for each in within:
        lasting[each.at] = numbers.of(numbers_within(one, each.at, most)) / numbers.rates
    parts = {each.at: _shared_out(network, shares, each) for each in (one, *within)}
    pools = [
        network.groups[each.at].demands
        for each in (one, *within)
        if isinstance(each, LoadDependentPool)
    ]
    delay = [sum(each) for each in zip(*pools, strict=True)]
    # All of it is one curve for each class, since each has its part of every stay.
    every_stay = sum(parts[at](each[:, None]) for at, each in lasting.items()) + delay
    longer = numbers.longer(waiting, rest) - waiting
    whole = numbers.curve(every_stay + parts[one.at](longer[:, None]), _first_slope(every_stay))

    def time(at: int) -> Stay:
        variation = rest if at == one.at else 1.0
        return lambda found: parts[at](numbers.means(lasting[at], variation)(found))

    waits = {
        each.at: _open_wait(numbers, one, each.at, most)
        for each in within
        if isinstance(each, LoadDependentStation) and not each.speeds
    }
    return Stays(whole, {at: time(at) for at in lasting}, waits)


def _open_wait(numbers: _Numbers, pool: LoadDependentPool, which: int, most: int) -> Wait:
    """Return what open visits wait at a station within, where that is requested."""

    def wait(found: Any) -> Any:
        return numbers.means(numbers.of(waits_within(pool, which, most), before=1))(found)

    return wait


def _shared_out(
    network: LoadDependentMulticlassNetwork, shares: Sequence[float], one: Place
) -> Callable[[Any], Any]:
    """Return what makes of the time of a cycle at a place that of each class.

    Each is served for its demand, and has its part of the wait, which is all of it at a pool.
    """
    served, parts = _served_and_parts(network, shares, one)
    if isinstance(one, LoadDependentPool):
        return lambda time: time * parts
    return lambda time: served + parts * (time - one.demand)


def _served_and_parts(
    network: LoadDependentMulticlassNetwork, shares: Sequence[float], one: Place
) -> tuple[Any, Any]:
    """Return how long each class is served in a cycle, and its part of what all wait."""
    import numpy as np  # noqa: PLC0415 - seldom needed

    group = network.groups[one.at]
    weights, demands = np.array(group.weights), np.array(group.demands)
    if isinstance(one, LoadDependentStation) and one.speeds:
        weights = demands
    weight, whole = float(weights @ shares), float(demands @ shares)
    if isinstance(one, LoadDependentStation) and whole:
        demands = demands * (one.demand / whole)
    return demands, weights / weight if weight else weights


class _Numbers:
    """How many are found at a place of such `rates`, by how long so many `others` think.

    With one who comes one, two, … are `there`, who go at its `rates`.
    """

    def __init__(self, rates: Sequence[float], others: float) -> None:
        import numpy as np  # noqa: PLC0415 - seldom needed

        if not 0 < min(rates) <= max(rates) < inf:
            raise ArithmeticError("how fast customers go is lost to rounding")
        self._last = len(rates)
        self._full = rates[-1]
        self._others = min(others, self._last + float(_MORE))
        size = int(-(-self._others // 1))
        # Where more are found than the rates tell of, all that goes by numbers is on a line.
        self._is_longer = size > self._last + 1
        known = self._last + 1 if self._is_longer else size
        self.there = np.arange(1, known + 2)
        self.rates = self.of([0.0, *rates])
        left = (self._others - np.arange(known)) / self._others  # of those who are still to come
        logs = np.concatenate([[0.0], np.cumsum(np.log(left / self.rates[:-1]))])
        self._counts = counts = np.arange(known + 1.0)
        part = np.arange(1, _POINTS) / _POINTS
        log_weights = np.outer(np.log(max(rates) * part / (1 - part)), counts) + logs
        if self._is_longer:
            tail = _tail(self._last, size, self._others, max(rates) / self._full)
            log_weights = log_weights[:, :-1]
            log_weights[:, -1] += tail.peak
        weights = np.exp(log_weights - log_weights.max(axis=1, keepdims=True))
        by_count = weights * counts[: weights.shape[1]]
        whole = weights.sum(axis=1)
        if self._is_longer:
            beyond = weights[:, -1:] * tail.moments
            whole = weights[:, :-1].sum(axis=1) + beyond[:, 0]
            weights = np.hstack([weights[:, :-1], beyond[:, :2]])
            beyond = beyond[:, :2] * self._last + beyond[:, 1:]
            by_count = np.hstack([by_count[:, :-1], beyond])
        self._weights, self._by_count = weights / whole[:, None], by_count / whole[:, None]
        means, squares = self._means(counts)
        self._spread = squares - means**2
        self._found = np.concatenate([[0.0], means])

    def _means(self, values: Any) -> tuple[Any, Any]:
        """Return the means of values, and of values times how many are found, at all points."""
        if self._is_longer:
            values = values.copy()
            values[-1] -= values[-2]
        return self._weights @ values, self._by_count @ values

    def of(self, values: Sequence[float], before: int = 0) -> Any:
        """Return values by how many are there with one who comes, the last one for all beyond.

        Of as many less as are `before`.
        """
        import numpy as np  # noqa: PLC0415 - seldom needed

        return np.take(np.array(values), np.minimum(self.there - before, len(values) - 1))

    def means(self, values: Any, variation: float = 1.0) -> Callable[[Any], Any]:
        """Return the mean of values by how many are there with one who comes, by those found.

        With what is waited more since the time that a place is held varies by `variation`.
        """
        return self.curve(self.longer(values, variation), _first_slope(values))

    def longer(self, values: Any, variation: float) -> Any:
        """Return how long is waited where the time that a place is held varies otherwise."""
        if variation == 1 or self._others == 0 or len(self._counts) == 1:
            return values
        rest = (variation - 1) / 2 / self._full
        idle = 1 - self._counts / self._others
        return values + rest * (self._counts >= self._last) * idle

    def curve(self, values: Any, first: Any) -> Callable[[Any], Any]:
        """Return means of values by how many are found, with the slope that they have at first.

        Of several classes each has a column of values.
        """
        import numpy as np  # noqa: PLC0415 - seldom needed

        if len(self._counts) == 1:
            return lambda found: values[0] + found * 0
        found, spread = self._found[1:], self._spread
        if values.ndim > 1:
            found, spread = found[:, None], spread[:, None]
        means, products = self._means(values)
        slopes = (products - means * found) / spread
        ends = np.concatenate([values[:1], means])
        return _cubic(self._found, ends, np.concatenate([[first], slopes]))


class _Tail(NamedTuple):
    """Weights of a number that is found, of one more, two, …, at each point: by that of the first.

    Their logarithms are `peak` at most; there is their sum, and their first and second `moments`
    of how many more are found, over that of the peak.
    """

    peak: Any
    moments: Any


@lru_cache(maxsize=1 << 9)
def _tail(first: int, last: int, others: float, steepest: float) -> _Tail:
    """Return weights from a first number to the last one where all go at the same rate.

    The fastest rate there is at any number is `steepest` times that.
    """
    import numpy as np  # noqa: PLC0415 - seldom needed

    more = np.arange(last - first + 1.0)
    left = (others - first - more[:-1]) / others
    part = np.arange(1, _POINTS) / _POINTS
    logs = np.outer(np.log(steepest * part / (1 - part)), more)
    logs += np.concatenate([[0.0], np.cumsum(np.log(left))])
    peak = logs.max(axis=1)
    powers = np.stack([np.ones_like(more), more, more**2], axis=1)
    return _Tail(peak, np.exp(logs - peak[:, None]) @ powers)


def _first_slope(values: Any) -> Any:
    """Return how values rise with the first one who is found."""
    return values[1] - values[0] if len(values) > 1 else values[0] * 0


def _cubic(places: Any, ends: Any, tilts: Any) -> Callable[[Any], Any]:
    """Return a function that has values and slopes at places from 0; beyond it goes on straight.

    Of several columns each is that of a class, and is looked up for it.
    """
    import numpy as np  # noqa: PLC0415 - seldom needed

    at = places[:, None] if ends.ndim > 1 else places
    widths = np.diff(at, axis=0)
    rise = np.diff(ends, axis=0) / widths
    table = np.empty((5, *ends.shape))
    table[0], table[1], table[4] = ends, tilts, at
    table[2:4, -1] = 0
    table[2, :-1] = (3 * rise - 2 * tilts[:-1] - tilts[1:]) / widths
    table[3, :-1] = (tilts[:-1] + tilts[1:] - 2 * rise) / widths**2
    columns = ends.shape[1] if ends.ndim > 1 else 1
    own, table = np.arange(columns) - columns, table.reshape(5, -1)

    def value(found: Any) -> Any:
        before = places.searchsorted(found, side="right")
        before = before * columns + own if columns > 1 else before - 1
        end, tilt, bend, turn, start = table.take(before, axis=1)
        more = found - start
        return end + more * (tilt + more * (bend + more * turn))

    return value
