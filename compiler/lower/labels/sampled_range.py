"""Of what random networks were drawn on which errors were measured: beyond that none is stated.

A number is like those that were drawn where all that comes to the stations it rests on is: service
times and arrivals of a stated variation up to 3, flows that are on for a fifth of the time or more.
Where first come is first served none takes more than ten times as long as another, or what they
take on average varies by a squared coefficient of variation up to 1.5. Calls are made by one in a
hundred items or more: where fewer make one, percentiles and shares have errors of their own. Of
users who wait for answers up to 45 were played, and of 110 numbers of networks of twice as many 109
were within their errors.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction

from qps.compiler import ir
from qps.compiler.lower.labels.labeled_network import NetworkPassages, NumberFacts
from qps.compiler.lower.queues.station_queue import Queue
from qps.compiler.lower.traffic.station_queues import PlacedQueue, variation_of
from qps.compiler.network.classes import Class
from qps.compiler.network.itinerary import Call, Cross, Serve, Thin
from qps.compiler.network.network import Network
from qps.compiler.network.stations_and_pools import Station
from qps.engine.expressions.formulas import ZERO, Formula, apply, maximum, number, product, total

MOST_VARIATION = 3
MOST_SPREAD = Fraction(3, 2)
MOST_USERS = 90
LEAST_ON = number(Fraction(1, 5))
LEAST_SHARE = number(Fraction(1, 100))
_LEAST_FREE = number(Fraction(1, 1000))


def unlike_stations(passages: NetworkPassages, numbers: NumberFacts) -> frozenset[str]:
    """Return the stations of a network at which something is beyond what was drawn."""
    network = passages.network
    if network.elastic:
        return frozenset(network.stations)
    odd = {n for n, one in network.classes.items() if not _comes_as_drawn(passages, one, numbers)}
    return frozenset(
        name
        for name, station in network.stations.items()
        if not _serves_as_drawn(station, numbers)
        or any(one.of.name in odd for one in passages.visits.get(name, ()))
    )


def far_apart(
    queues: Mapping[str, PlacedQueue], network: Network, numbers: NumberFacts
) -> frozenset[str]:
    """Return the stations whose services differ by more times than was drawn, or by unknown.

    How often the long ones come counts: one in a hundred is further off than one in four.
    """
    found = {name: queues[name].queue for name in network.stations if name in queues}
    return frozenset(
        name
        for name, queue in found.items()
        if not queue.traits.is_insensitive and not _is_close(queue, numbers)
    )


def _is_close(queue: Queue, numbers: NumberFacts) -> bool:
    if queue.times_apart is None:
        return False
    return not queue.is_far_apart or numbers.is_always_below(queue.spread, MOST_SPREAD)


def calls_rarely(passages: NetworkPassages, of: Class, numbers: NumberFacts) -> bool:
    """Return whether fewer items make a call than do in random networks."""
    made = (one.node for one in passages.passages[of.name])
    times = (one.times.often for one in made if isinstance(one, Call) and one.times is not None)
    return any(numbers.is_above_zero(LEAST_SHARE - often) for often in times)


def many_wait(component: Iterable[Class], numbers: NumberFacts) -> bool:
    """Return whether more users wait for answers, all that meet together, than were drawn."""
    there = total(one.population for one in component if one.population is not None)
    return numbers.is_above_zero(there - MOST_USERS)


def is_past_knee(
    passages: NetworkPassages, component: Iterable[Class], numbers: NumberFacts
) -> bool:
    """Return whether users may demand more of a station than it serves while nobody waits.

    Users who are Z s elsewhere and D s at stations, d s of these at the fullest, are as many as it
    serves from N = (Z + D) / d on (Denning and Buzen 1978); of several classes from where these
    parts add up to 1. Open traffic leaves the rest of a station.
    """
    parts = []
    for one in component:
        assert one.population is not None
        assert one.think is not None
        own = _demands(passages, one)
        free = {name: _free_servers(passages, name) for name in own}
        if not all(numbers.is_never_above_zero(_LEAST_FREE - left) for left in free.values()):
            return True
        most = maximum(ZERO, *(each / free[name] for name, each in own.items()))
        parts.append(apply("mean", one.population * most, one.think + total(own.values())))
    return not numbers.is_never_above_zero(total(parts) - 1)


def _free_servers(passages: NetworkPassages, station: str) -> Formula:
    """Return how many servers open traffic leaves at a station, of all its copies."""
    known, classes = passages.network.stations[station], passages.network.classes
    names = dict.fromkeys(one.of.name for one in passages.visits[station])
    opened = (one for one in map(classes.__getitem__, names) if not one.is_closed)
    loads = (one.flows * one.arrivals.rate * _demands(passages, one)[station] for one in opened)
    return known.servers * known.place.copies - total(loads)


def _demands(passages: NetworkPassages, of: Class) -> dict[str, Formula]:
    """Return how long one item needs a server of each station that is waited for, in s."""
    found, stations = dict[str, Formula](), passages.network.stations
    for passage in passages.passages[of.name]:
        often = product(one.times.mean for one in passage.calls if one.times is not None)
        match passage.node:
            case Serve(station=name) as served:
                parts = {name: served.times.mean * served.service}
            case Cross(ports=ports):
                rates = {port: stations[port.station].rate for port in ports}
                parts = {p.station: p.bits / rate for p, rate in rates.items() if rate is not None}
            case _:
                continue
        for name, each in parts.items():
            if stations[name].waits:
                found[name] = found.get(name, ZERO) + often * each
    return found


def visited_places(
    passages: NetworkPassages, of: Class, component: Iterable[Class]
) -> frozenset[str]:
    """Return the stations and pools that numbers of a class rest on: of all whom it meets."""
    every = (of, *component)
    stations = {one.name for each in every for one in passages.stations_of(each)}
    return frozenset(stations.union(*map(passages.pools_of, every)))


def services_apart(
    passages: NetworkPassages, of: Class, component: Iterable[Class]
) -> float | None:
    """Return how many times as long as the shortest the longest service is, at any station.

    It is that of all stations that a class and those whom it meets visit, where visits wait for
    others as they come; None where it is not known at one of these.
    """
    places = visited_places(passages, of, component)
    queues = (passages.queues[name] for name in places if name in passages.queues)
    apart = [one.times_apart for one in queues if not one.traits.is_insensitive]
    known = [one for one in apart if one is not None]
    return max(known, default=1.0) if len(known) == len(apart) else None


def _serves_as_drawn(station: Station, numbers: NumberFacts) -> bool:
    queueing = station.queueing
    if queueing is None or queueing.variation is None:
        return True
    stated = queueing.variation.expr
    if isinstance(stated, ir.Constant):
        return stated.value <= MOST_VARIATION
    variation = variation_of(station.name, queueing, numbers.expressions)
    return not numbers.is_above_zero(variation - MOST_VARIATION)


def _comes_as_drawn(passages: NetworkPassages, of: Class, numbers: NumberFacts) -> bool:
    variation = of.arrivals.variation
    if variation is not None and numbers.is_above_zero(variation - MOST_VARIATION):
        return False
    thinned = (one.node for one in passages.passages[of.name])
    bursts = (one.share for one in thinned if isinstance(one, Thin) and one.bursty)
    return not any(numbers.is_above_zero(LEAST_ON - share) for share in bursts)
