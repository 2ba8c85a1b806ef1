"""Numbers of closed networks with customers of several classes.

As `product_form` has them of one class: exactly by mean value analysis, population by population,
and by polynomials for several servers, while there are few populations; else by the Linearizer of
Chandy and Neuse (Communications of the ACM 25, 1982), in the form of de Souza e Silva and Muntz
(IEEE Transactions on Computers 39, 1990), which sums over classes once. `multiclass_operands` says
which of both it is.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from itertools import product
from math import floor, inf, nan
from operator import mul
from typing import TYPE_CHECKING, Any, NamedTuple

from qps.engine.queueing.shared_queue import mean_number
from qps.engine.queueing_networks.linearizer import linearized
from qps.engine.queueing_networks.multiclass_operands import (
    MulticlassNetwork,
    MulticlassStation,
    between,
    is_exact,
    network_of,
)
from qps.engine.queueing_networks.mva_states import States, states_of
from qps.engine.queueing_networks.product_form import Several, alone

if TYPE_CHECKING:
    from numpy.typing import NDArray


class MulticlassRates(NamedTuple):
    """Rates of classes; of each station what they wait, and what open visits do.

    A wait is that of a cycle over the service that it requests; open ones in mean service times.
    """

    rates: tuple[float, ...]
    waits: tuple[tuple[float, ...], ...]
    open_waits: tuple[float, ...]


# -- rows of the table ---------------------------------------------------------------------
# A search needs the same again: of each requirement, and of boxes that have a corner in common.


@lru_cache(maxsize=1 << 11)
def class_rate(classes: float, of: float, *operands: float) -> float:
    """Return how many cycles all customers of one class end in a time; 0 where some never end."""
    network = _network_of(classes, of, operands)
    if network is None:
        return nan
    return on_lines(lambda whole: found_of(whole).rates[int(of) - 1], network)


@lru_cache(maxsize=1 << 11)
def class_wait(classes: float, of: float, *operands: float) -> float:
    """Return how long a cycle of one class waits at the first station, without service."""
    network = _network_of(classes, of, operands)
    if network is None or not network.places:
        return nan
    k = int(of) - 1
    demand, longer = operands[2 * int(classes) + 3 + k], network.places[0].demands[k]
    if demand == 0:
        return 0.0
    wait = on_lines(lambda whole: _first(whole)[0][k], network)
    return longer * wait + (longer - demand)


def class_open_wait(classes: float, *operands: float) -> float:
    """Return the mean wait of an open visit at the first station, in mean service times."""
    network = network_of(classes, operands)
    if network is None or not network.places:
        return nan
    return on_lines(lambda whole: _first(whole)[1], network)


def _network_of(classes: float, of: float, operands: tuple[float, ...]) -> MulticlassNetwork | None:
    network = network_of(classes, operands)
    return network if network and 1 <= of <= classes and of == int(of) else None


def _first(network: MulticlassNetwork) -> tuple[tuple[float, ...], float]:
    """Return what is waited at the first station."""
    ordered = sorted(network.places)
    found = found_of(network._replace(places=tuple(ordered)))
    at = ordered.index(network.places[0])
    return found.waits[at], found.open_waits[at]


# -- networks ------------------------------------------------------------------------------


def found_of(network: MulticlassNetwork) -> MulticlassRates:
    """Return what comes of a network in which all that counts whole is whole."""
    places = tuple(sorted(network.places))
    return solved(network._replace(places=places))


@lru_cache(maxsize=1 << 8)
def solved(network: MulticlassNetwork) -> MulticlassRates:
    """Return the same, of stations in order; remembered."""
    remaining, rates = _ending_classes(network)
    waits, beside = _waits(network._replace(customers=remaining))
    for k, customers in enumerate(remaining):
        if customers:
            pairs = zip(network.places, waits, strict=True)
            cycle = sum(
                place.demands[k] * (1 + wait[k]) for place, wait in pairs if place.demands[k]
            )
            rates[k] = customers / (network.think[k] + cycle)
    return MulticlassRates(tuple(rates), waits, beside)


def _ending_classes(network: MulticlassNetwork) -> tuple[tuple[float, ...], list[float]]:
    """Return the customers who go on and on, with the rates of those who never or always end."""
    remaining, rates = list(network.customers), [0.0] * len(network.customers)
    for k, customers in enumerate(network.customers):
        visited = [place for place in network.places if place.demands[k] > 0]
        if any(place.load >= place.servers for place in visited):
            remaining[k] = 0.0  # all of them are there
        elif not visited and network.think[k] == 0:
            remaining[k], rates[k] = 0.0, inf if customers else 0.0
    return tuple(remaining), rates


def is_linearized(network: MulticlassNetwork) -> bool:
    """Return whether there are so many customers that the Linearizer is used."""
    whole = network._replace(customers=tuple(map(floor, network.customers)))
    inner, _ = _queueing_places(whole._replace(customers=_ending_classes(whole)[0]))
    return not _is_exact(inner)


def on_lines(value: Callable[[MulticlassNetwork], float], network: MulticlassNetwork) -> float:
    """Return a value on lines between whole numbers; the Linearizer knows parts of customers."""
    return between(value, network, in_parts=is_linearized(network))


def _queueing_places(network: MulticlassNetwork) -> tuple[MulticlassNetwork, list[int]]:
    """Return a network of the places where somebody may wait; the other ones delay."""
    total, think, among = sum(network.customers), list(network.think), []
    for i, place in enumerate(network.places):
        if not any(map(mul, place.demands, network.customers)):
            continue
        if place.load == 0 and place.servers > total:
            think = [pause + demand for pause, demand in zip(think, place.demands, strict=True)]
        else:
            among.append(i)
    places = tuple(network.places[i] for i in among)
    return MulticlassNetwork(network.customers, tuple(think), places), among


def _is_exact(inner: MulticlassNetwork) -> bool:
    places = inner.places
    more = sum(int(one.copies) * int(one.servers - 1) for one in places if one.servers > 1)
    return is_exact(inner.customers, len(places), more)


def _waits(network: MulticlassNetwork) -> tuple[tuple[tuple[float, ...], ...], tuple[float, ...]]:
    """Return what classes wait, and open visits, at each station."""
    without = [alone(place.servers, place.load) for place in network.places]
    inner, among = _queueing_places(network)
    own, beside = (_exactly if _is_exact(inner) else linearized)(inner)
    waits = [(wait,) * len(network.think) for wait in without]
    for at, i in enumerate(among):
        waits[i], without[i] = own[at], beside[at]
    return tuple(waits), tuple(without)


# -- exactly -------------------------------------------------------------------------------


def _exactly(network: MulticlassNetwork) -> tuple[list[tuple[float, ...]], list[float]]:
    """Return waits of classes and of open visits, by all populations up to that of a network.

    Who comes finds what there is without it. One queue of single servers is an integral.
    """
    customers = tuple(map(int, network.customers))
    fewer = [_less(customers, k) if customers[k] else customers for k in range(len(customers))]
    if len(network.places) == 1 and network.places[0].servers == 1:
        *own, beside = (_wait_at_one(network, at) for at in (*fewer, customers))
        return [tuple(own)], [beside]
    states = states_of(network)
    seen = [_open_waits(network, states, at) for at in fewer]
    waits = [tuple(each[i] for each in seen) for i in range(len(network.places))]
    return waits, _open_waits(network, states, customers)


def _wait_at_one(network: MulticlassNetwork, customers: tuple[int, ...]) -> float:
    """Return what open visits wait at the only station, of single servers."""
    (place,) = network.places
    demands = [one / place.copies / (1 - place.load) for one in place.demands]
    held = mean_number(customers, network.think, demands, place.copies)
    return (place.load + held) / (1 - place.load)


def _less(customers: tuple[int, ...], k: int) -> tuple[int, ...]:
    return (*customers[:k], customers[k] - 1, *customers[k + 1 :])


def _open_waits(
    network: MulticlassNetwork, states: States, customers: tuple[int, ...]
) -> list[float]:
    """Return what open visits wait at each station, of one of the populations."""
    places = network.places
    several = [i for i, place in enumerate(places) if place.servers > 1]
    if not several:
        held = states.numbers[states.at(customers)].tolist()
        return [(p.load + n) / (1 - p.load) for p, n in zip(places, held, strict=True)]
    box = _Box(network, states, customers, several)
    return [
        box.waits[i] if i in box.waits else (place.load + box.mean(i)) / (1 - place.load)
        for i, place in enumerate(places)
    ]


class _Box:
    """The populations below one that polynomials of several servers reach: weights and numbers.

    Arrays have an axis for each class: how many of it are less.
    """

    def __init__(
        self,
        network: MulticlassNetwork,
        states: States,
        customers: tuple[int, ...],
        several: list[int],
    ) -> None:
        places = [network.places[i] for i in several]
        degree = sum(int(one.copies) * int(one.servers - 1) for one in places)
        self._sizes = [min(n, degree) + 1 for n in customers]
        top = states.at(customers)
        unit = [rate or 1.0 for rate in states.rates[top].tolist()]
        less = product(*map(range, self._sizes))
        here = [top - sum(map(mul, one, states.strides)) for one in less]
        self._numbers = states.numbers[here].reshape(*self._sizes, -1)
        self._shares = self._weighed(states, here, unit)
        stations = [(place, *_polynomial(place, unit)) for place in places]
        counts = [int(one.copies) for one in places]
        self._weights = self._product(stations, counts)
        self._total = float((self._weights * self._shares).sum())
        self.waits: dict[int, float] = {}
        alike: dict[MulticlassStation, float] = {}
        for at, (i, station) in enumerate(zip(several, stations, strict=True)):
            place, own, line = station
            if place not in alike:
                fewer = [count - (k == at) for k, count in enumerate(counts)]
                alike[place] = self._wait(own, line, self._product(stations, fewer), i)
            self.waits[i] = alike[place]

    def _weighed(self, states: States, here: list[int], unit: list[float]) -> NDArray[Any]:
        """Return the weights of populations of single servers, times powers of rates."""
        import numpy as np  # noqa: PLC0415 - seldom needed

        at, found = np.array(here).reshape(self._sizes), np.ones(1)
        for k in reversed(range(len(unit))):
            # Those with none of the classes before less, and with one or more of this one.
            some = at[(0,) * k][1:]
            rates = states.rates[some + states.strides[k], k] / unit[k]
            found = np.concatenate([np.ones((1, *some.shape[1:])), rates]).cumprod(axis=0) * found
        return found.reshape(self._sizes)

    def _wait(self, own: Several, line: list[float], others: NDArray[Any], i: int) -> float:
        waiting = self._times(others, own.waits, line) * self._shares
        behind = self._times(others, [0.0] * (own.servers - 1) + [1.0], line) * self._shares
        held = (behind * self._numbers[..., i]).sum()
        return float((waiting.sum() + own.growing * held) / self._total)

    def mean(self, i: int) -> float:
        """Return the mean number at a copy of a station of single servers."""
        held = (self._weights * self._shares * self._numbers[..., i]).sum()
        return float(held / self._total)

    def _product(
        self, stations: list[tuple[MulticlassStation, Several, list[float]]], counts: list[int]
    ) -> NDArray[Any]:
        """Return coefficients of the product of so many copies of each polynomial."""
        import numpy as np  # noqa: PLC0415 - seldom needed

        values = np.zeros(self._sizes)
        values[(0,) * len(self._sizes)] = 1.0
        for (_, one, line), count in zip(stations, counts, strict=True):
            for _ in range(count):
                values = self._times(values, one.weights, line)
        return values

    def _times(self, values: NDArray[Any], factor: list[float], line: list[float]) -> NDArray[Any]:
        """Return coefficients times a polynomial in a sum of classes (Horner)."""
        found = factor[-1] * values
        for coefficient in factor[-2::-1]:
            moved = coefficient * values
            for k, part in enumerate(line):
                if part and self._sizes[k] > 1:
                    axis = (slice(None),) * k
                    moved[(*axis, slice(1, None))] += part * found[(*axis, slice(-1))]
            found = moved
        return found


def _polynomial(place: MulticlassStation, unit: list[float]) -> tuple[Several, list[float]]:
    """Return that of a copy of a station, and what each class has in it, at unit rates."""
    line = [d / place.copies * rate for d, rate in zip(place.demands, unit, strict=True)]
    busy = sum(line)
    own = Several(busy, place.servers, place.load, 1.0, rate=1.0, count=int(place.copies))
    return own, [part / busy for part in line]
