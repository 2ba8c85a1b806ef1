"""Stations that can never queue: all who come hold a place of pools, and each finds a server.

Such a station is a delay: its queue is that of no load. What is waited for is a place of a pool.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import floor

from msgspec.structs import replace

from qps.compiler.lower.disciplines.multiple_servers import (
    FixedServers,
    GeneralServers,
    SeveralServers,
)
from qps.compiler.lower.disciplines.processor_sharing import SharingLaw
from qps.compiler.lower.disciplines.single_server import OneServer
from qps.compiler.lower.expressions.lower_expressions import ExpressionLowering
from qps.compiler.lower.labels.labeled_network import (
    Fails,
    NetworkPassages,
    NumberFacts,
    Premise,
)
from qps.compiler.lower.queues.station_queue import Queue
from qps.compiler.network.itinerary import Serve
from qps.compiler.network.network import Network
from qps.compiler.network.passages import Passage
from qps.compiler.network.place_limits import most_within
from qps.compiler.network.stations_and_pools import Station
from qps.compiler.quantities.methods import reason_of
from qps.engine.expressions.formulas import ONE, ZERO, Formula, maximum, minimum

_LAWS = (OneServer, SeveralServers, GeneralServers, FixedServers, SharingLaw)


def with_enough_servers(
    queues: Mapping[str, Queue], network: Network, expressions: ExpressionLowering
) -> dict[str, Queue]:
    """Return queues that are empty where they have a server for each who may be there.

    They are so by a formula, which holds for other numbers, too.
    """
    if not network.pools:
        return dict(queues)
    walked, numbers = NetworkPassages(network=network), NumberFacts(expressions)
    found = dict(queues)
    for name, queue in queues.items():
        station = network.stations[name]
        most = _most_there(walked, station, numbers)
        if most is None or not _is_plain(queue):
            continue
        has_enough = has_servers_for(most, station)
        found[name] = replace(
            queue,
            load=queue.load * (1 - has_enough),
            has_enough=has_enough,
            never_waits=numbers.is_never_above_zero(most - station.servers),
        )
    return found


def has_servers_for(most: Formula, station: Station) -> Formula:
    """Return 1 where a station has servers for so many, else 0."""
    return minimum(ONE, maximum(ZERO, floor(station.servers - most) + 1))


def _is_plain(queue: Queue) -> bool:
    """Return whether the waits at a queue are those of its load: of items that come one by one."""
    if type(queue.law) not in _LAWS or queue.has_batches:
        return False
    is_mixed = queue.servers is ONE and not queue.is_modeled_as_uniform
    return not is_mixed and not any(one.is_bursty or one.is_uneven for one in queue.visits)


def enough_servers(
    passages: NetworkPassages, station: Station, numbers: NumberFacts
) -> Iterator[Premise]:
    """Each who may be at a station finds a server: all hold places of pools that have no more."""
    if not has_enough_servers(passages, station, numbers):
        yield Fails(reason_of("pool-holding-time", station.name, by=station.name))


def has_enough_servers(passages: NetworkPassages, station: Station, numbers: NumberFacts) -> bool:
    """Return whether no more may be at a station than it has servers, at any population."""
    most = _most_there(passages, station, numbers)
    return most is not None and numbers.is_never_above_zero(most - station.servers)


def _most_there(
    passages: NetworkPassages, station: Station, numbers: NumberFacts
) -> Formula | None:
    """Return how many may be at a station that has servers for as many; None for any number."""
    visits = passages.visits.get(station.name, ())
    if not _has_servers(station) or not all(_has_whole_amounts(one, numbers) for one in visits):
        return None
    return most_within(visits, station.place, passages.network.pools)


def _has_servers(station: Station) -> bool:
    """Return whether items have whole servers for themselves, which nothing else keeps busy."""
    queueing = station.queueing
    if queueing is None or queueing.speeds or station.period is not None or station.background:
        return False
    traits = queueing.traits
    if traits.loses or traits.has_ranks or not traits.is_random:
        return False
    return station.room is None and (traits.counts_servers or station.servers is ONE)


def _has_whole_amounts(passage: Passage, numbers: NumberFacts) -> bool:
    """Return whether an item comes once at a time, with as much of a pool as is stated."""
    node = passage.node
    if passage.of.is_closed or passage.fork is not None or passage.is_merged:
        return False
    if not isinstance(node, Serve) or node.thread is not None:
        return False
    return all(numbers.expressions.largest(one.amount) is None for one in passage.holds)
