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

from collections.abc import Callable, Sequence
from math import inf
from typing import Any, NamedTuple

from qps.engine.queueing_networks.linearizer import Stay, Wait, waiting_at
from qps.engine.queueing_networks.load_dependent_operands import Place, Pool, Station, every
from qps.engine.queueing_networks.multiclass_load_dependent_operands import MulticlassNetwork
from qps.engine.queueing_networks.nested_networks import (
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


def stays_at(
    network: MulticlassNetwork, shares: Sequence[float], one: Place, others: float, most: int
) -> Stays:
    """Return how long classes are at a place, whose cycles come in such shares.

    So many `others` may be there with one who comes, and tables have no more than `most`.
    """
    if isinstance(one, Station):
        return (_at_speeds if one.speeds else _at_station)(network, shares, one, others)
    return _at_pool(network, shares, one, others, most)


def _at_station(
    network: MulticlassNetwork, shares: Sequence[float], one: Station, _others: float
) -> Stays:
    wait = waiting_at(one.servers, one.load, one.copies)

    def stay(found: Any) -> Any:
        return one.demand * (1 + wait(found))

    part = _shared_out(network, shares, one)
    whole = lambda found: part(stay(found))  # noqa: E731
    return Stays(whole, {one.at: whole}, {one.at: wait})


def _at_speeds(
    network: MulticlassNetwork, shares: Sequence[float], one: Station, others: float
) -> Stays:
    rates = station_rates(one)
    numbers = _Numbers(rates, others)
    stay = numbers.means(one.copies * numbers.there / numbers.rates)
    part = _shared_out(network, shares, one)

    def whole(found: Any) -> Any:
        return part(stay(found / one.copies))

    return Stays(whole, {one.at: whole}, {})


def _at_pool(
    network: MulticlassNetwork, shares: Sequence[float], one: Pool, others: float, most: int
) -> Stays:
    rates = speeds_of(one, most)
    if not rates:  # nothing is done there
        none = [0.0] * len(shares)
        times = {each.at: lambda found: found * none for each in every([one])}
        return Stays(lambda found: found * none, times, {})
    numbers, held = _Numbers(rates, others), pool_numbers(one, most)
    rest = one.variation if one.copies == 1 else 1.0
    waiting = numbers.there - numbers.of(held)
    means = {one.at: numbers.means(waiting / numbers.rates, rest)}
    within = [each for each in every([one]) if each is not one]
    for each in within:
        lengths = numbers.of(numbers_within(one, each.at, most))
        means[each.at] = numbers.means(lengths / numbers.rates)
    parts = {each.at: _shared_out(network, shares, each) for each in (one, *within)}
    pools = [network.groups[each.at].demands for each in (one, *within) if isinstance(each, Pool)]
    delay = [sum(each) for each in zip(*pools, strict=True)]

    def whole(found: Any) -> Any:
        return sum((parts[at](mean(found)) for at, mean in means.items()), found * 0 + delay)

    times = {at: _time(mean, parts[at]) for at, mean in means.items()}
    waits = {
        each.at: _open_wait(numbers, one, each.at, most)
        for each in within
        if isinstance(each, Station) and not each.speeds
    }
    return Stays(whole, times, waits)


def _time(mean: Callable[[Any], Any], part: Callable[[Any], Any]) -> Stay:
    return lambda found: part(mean(found))


def _open_wait(numbers: _Numbers, pool: Pool, which: int, most: int) -> Wait:
    """Return what open visits wait at a station within, where that is requested."""

    def wait(found: Any) -> Any:
        return numbers.means(numbers.of(waits_within(pool, which, most), before=1))(found)

    return wait


def _shared_out(
    network: MulticlassNetwork, shares: Sequence[float], one: Place
) -> Callable[[Any], Any]:
    """Return what makes of the time of a cycle at a place that of each class.

    Each is served for its demand, and has its part of the wait, which is all of it at a pool.
    """
    import numpy as np  # noqa: PLC0415 - seldom needed

    group = network.groups[one.at]
    weights, demands = np.array(group.weights), np.array(group.demands)
    if isinstance(one, Station) and one.speeds:
        weights = demands
    weight = float(weights @ shares)
    parts = weights / weight if weight else weights
    if isinstance(one, Pool):
        return lambda time: time * parts
    whole = float(demands @ shares)
    served = demands * (one.demand / whole) if whole else demands
    return lambda time: served + parts * (time - one.demand)


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
        self.there = np.arange(1, size + 2)
        self.rates = self.of([0.0, *rates])
        left = (self._others - np.arange(size)) / self._others  # of those who are still to come
        logs = np.concatenate([[0.0], np.cumsum(np.log(left / self.rates[:-1]))])
        part = np.arange(1, _POINTS) / _POINTS
        coming = np.log(max(rates) * part / (1 - part))
        counts = np.arange(size + 1.0)
        log_weights = np.outer(coming, counts) + logs
        weights = np.exp(log_weights - log_weights.max(axis=1, keepdims=True))
        self._weights = weights / weights.sum(axis=1, keepdims=True)
        self._counts, means = counts, self._weights @ counts
        self._spread = self._weights @ counts**2 - means**2
        self._found = np.concatenate([[0.0], means])

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
        size = len(self._counts)
        first = values[1] - values[0] if size > 1 else 0.0
        if variation != 1 and self._others > 0:
            rest = (variation - 1) / 2 / self._full
            idle = 1 - self._counts / self._others
            values = values + rest * (self._counts >= self._last) * idle
        if size == 1:
            return lambda found: values[0] + found * 0
        means = self._weights @ values
        slopes = (self._weights @ (values * self._counts) - means * self._found[1:]) / self._spread
        return _cubic(self._found, [values[0], *means], [first, *slopes])


def _cubic(places: Any, values: Sequence[float], slopes: Sequence[float]) -> Callable[[Any], Any]:
    """Return a function that has values and slopes at places from 0; beyond it goes on straight."""
    import numpy as np  # noqa: PLC0415 - seldom needed

    ends, tilts, widths = np.array(values), np.array(slopes), np.diff(places)
    rise = np.diff(ends) / widths
    second = (3 * rise - 2 * tilts[:-1] - tilts[1:]) / widths
    third = (tilts[:-1] + tilts[1:] - 2 * rise) / widths**2
    second, third = np.append(second, 0.0), np.append(third, 0.0)

    def value(found: Any) -> Any:
        before = places.searchsorted(found, side="right") - 1
        more = found - places[before]
        bent = second[before] + more * third[before]
        return ends[before] + more * (tilts[before] + more * bent)

    return value
