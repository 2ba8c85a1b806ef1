"""Stations of closed networks at which some go before others, who give way at once.

Each rank has a station of its own there, which is slower by what those before it take of the
server (shadow servers; Sevcik 1977), and waits besides until those of them who are there have gone,
and who comes meanwhile (Bryant, Krzesinski, Lakshmi and Chandy 1984). How many these are is that of
the network in which nobody goes before others, so that nothing rests on itself; who comes while one
is there are those of one less.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler.lower.closed_networks.closed_network_solution import ClosedNetwork
from qps.compiler.lower.closed_networks.closed_stations import ClosedStation
from qps.compiler.lower.closed_networks.cycle import Cycle
from qps.engine.expressions.formulas import ONE, ZERO, Formula, maximum, minimum, number, total

_LEAST = number(Fraction(1, 1000))
"""Of a server, so much is left at least by those who go first: else it is not known how little."""


class _Before(Struct, frozen=True, kw_only=True):
    """A class that goes before another one at a station, as one of its copies sees it.

    It has so much `work` there, and so much while one of the class is there, and to clear what
    it finds takes so much time.
    """

    work: Formula
    meanwhile: Formula
    found: Formula


def by_ranks(
    networks: Mapping[str, ClosedNetwork], classes: Mapping[str, Cycle]
) -> dict[str, ClosedNetwork]:
    """Return networks, by their classes, in which those of each rank see what others leave."""
    every = list({one.names: one for one in networks.values()}.values())
    found = {one.names: _ranked(one, every, classes) for one in every}
    return {name: found[one.names] for name, one in networks.items()}


def _ranked(
    network: ClosedNetwork, networks: Sequence[ClosedNetwork], classes: Mapping[str, Cycle]
) -> ClosedNetwork:
    stations, behind = [], {}
    for own in network.stations:
        before = [one for each in networks for one in _before(own, each, classes)]
        if not before:
            stations.append(own)
            continue
        most = own.servers * (1 - _LEAST)
        taken = minimum(most, total(one.work for one in before))
        stations.append(replace(own, open_load=own.open_load + taken))
        busy = (own.open_load + total(one.meanwhile for one in before)) / own.servers
        waits = total(one.found for one in before) / maximum(_LEAST, 1 - busy)
        for name, demand in zip(network.names, own.demands, strict=True):
            if demand is not ZERO:
                behind[(name, own.resource)] = waits * classes[name].visits[own.resource]
    delays = tuple(
        delay + total(waits for (one, _), waits in behind.items() if one == name)
        for name, delay in zip(network.names, network.delays, strict=True)
    )
    return (
        replace(network, stations=tuple(stations), delays=delays, behind=behind)
        if behind
        else network
    )


def _before(
    own: ClosedStation, network: ClosedNetwork, classes: Mapping[str, Cycle]
) -> Iterator[_Before]:
    """Yield the classes of a network that go before those of a station."""
    for other in network.stations:
        if own.rank is None or other.resource != own.resource or other.rank is None:
            continue
        if other.rank >= own.rank:
            continue
        for at, (name, demand) in enumerate(zip(network.names, other.demands, strict=True)):
            if demand is ZERO:
                continue
            rate = network.rate(name)
            jobs = list(network.jobs)
            jobs[at] = maximum(ZERO, jobs[at] - 1)
            fewer = replace(network, jobs=tuple(jobs)).rate(name)
            there = rate * (demand + network.wait(name, own.resource)) / own.copies
            waiting = there if own.servers is ONE else maximum(ZERO, there - own.servers + 1)
            yield _Before(
                work=rate * demand / own.copies,
                meanwhile=fewer * demand / own.copies,
                found=waiting * demand / classes[name].visits[own.resource] / own.servers,
            )
