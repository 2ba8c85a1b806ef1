"""Pools of users who think, that are held for one time: a service of some law, or a delay.

Where a place is held for one exponential service at a station that nobody visits without, how many
hold or want one says all of pool and station: they serve as a station whose rate depends on how
many are there, first come, first served, which is in product form (Chandy, Herzog and Woo 1975).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from msgspec import Struct

from qps.compiler.lower.closed_networks.cycle import Cycle
from qps.compiler.lower.expressions.lower_expressions import ExpressionLowering
from qps.compiler.lower.labels.enough_servers import has_servers_for
from qps.compiler.lower.labels.labeled_network import NetworkPassages, NumberFacts
from qps.compiler.lower.labels.pool_premises import following_holds, only_service, takes_no_time
from qps.compiler.lower.labels.station_premises import is_exponential
from qps.compiler.network.itinerary import Delay, Serve, Take
from qps.compiler.network.network import Network
from qps.compiler.network.passages import Passage
from qps.compiler.network.place_limits import most_within
from qps.compiler.network.stations_and_pools import Pool, Station
from qps.engine.expressions.formulas import ONE, ZERO, Formula, minimum

ONE_SERVICE, DELAY = "one-service-while-held", "delay-in-a-cycle"
"""The methods, by their ids."""


class OneTime(Struct, frozen=True, kw_only=True):
    """A pool that is held for one time: by which `method` that is known, empty where by none.

    The time `is_delay` where that is 1, whatever the numbers are: nobody waits meanwhile.
    """

    method: str
    is_delay: Formula = ZERO


PoolsOfOneTime: TypeAlias = Mapping[str, OneTime]
"""By the name of each such pool."""


def pools_of_one_time(of: Network, expressions: ExpressionLowering) -> PoolsOfOneTime:
    """Return the pools that one closed class holds for one service, or a delay."""
    if not of.pools:
        return {}
    network, numbers = NetworkPassages(network=of), NumberFacts(expressions)
    found = {}
    for name, pool in of.pools.items():
        holds = _holds(network, pool, numbers)
        if not holds:
            continue
        if _are_one_service(network, holds, numbers):
            found[name] = OneTime(method=ONE_SERVICE)
            continue
        enough = _servers_beyond(network, holds, numbers)
        if enough is not None:
            is_delay = minimum(ONE, *(has_servers_for(most, at) for most, at in enough))
            is_vouched = all(numbers.is_never_above_zero(most - at.servers) for most, at in enough)
            found[name] = OneTime(method=DELAY if is_vouched else "", is_delay=is_delay)
    return found


def pools_by_method(cycle: Cycle) -> dict[str, list[str]]:
    """Return the pools that a cycle holds, by their own methods."""
    found: dict[str, list[str]] = {}
    for pool in cycle.pools:
        found.setdefault(pool.method, []).append(pool.resource)
    return found


def delay_case(cycle: Cycle) -> str:
    """Return the case of the method of delays: whether nothing else is waited for."""
    within = {name for pool in cycle.pools for name in pool.stations}
    is_alone = len(cycle.pools) == 1 and all(one.resource in within for one in cycle.stations)
    return "alone" if is_alone else "with stations"


def _holds(
    network: NetworkPassages, pool: Pool, numbers: NumberFacts
) -> list[tuple[Take, Sequence[Passage]]]:
    """Return how one closed class takes a pool, with what it does then; none for other pools."""
    if pool.is_unmodeled or pool.background or pool.place.copies is not ONE:
        return []
    found = [
        (passage, passage.node, each[at + 1 :])
        for each in network.passages.values()
        for at, passage in enumerate(each)
        if isinstance(passage.node, Take) and passage.node.pool == pool.name
    ]
    if not found or any(
        not passage.of.is_closed or passage.fork is not None or passage.is_merged or passage.holds
        for passage, _, _ in found
    ):
        return []
    amounts = [take.amount for _, take, _ in found]
    are_alike = all(numbers.are_equal(amounts[0], one) for one in amounts[1:])
    is_single = all(numbers.expressions.largest(one) is None for one in amounts)
    is_of_one = len({passage.of.name for passage, _, _ in found}) == 1
    is_said = is_of_one and are_alike and is_single
    return [(take, following) for _, take, following in found] if is_said else []


def _are_one_service(
    network: NetworkPassages,
    holds: Sequence[tuple[Take, Sequence[Passage]]],
    numbers: NumberFacts,
) -> bool:
    """Return whether a place is held for one exponential service, which is not made without."""
    served = [only_service(network, following, take, numbers, _serves) for take, following in holds]
    first = served[0]
    if first is None:
        return False
    for one in served:
        is_alike = one is not None and one.station == first.station
        if one is None or not is_alike or not numbers.are_equal(one.service, first.service):
            return False
    if numbers.expressions.largest(first.service) is not None:
        return False
    pool = holds[0][0].pool
    visits = network.visits.get(first.station, ())
    return all(any(hold.pool == pool for hold in visit.holds) for visit in visits)


def _serves(network: NetworkPassages, station: Station, numbers: NumberFacts) -> bool:  # noqa: ARG001 - of structure alone
    """Return whether a station serves at a rate that depends on how many are there alone."""
    queueing = station.queueing
    if queueing is None or queueing.speeds or station.period is not None or station.background:
        return False
    traits, is_one = queueing.traits, station.place.copies is ONE and station.room is None
    counts = traits.counts_servers or station.servers is ONE
    return is_one and counts and traits.has_product_form and is_exponential(station)


def _servers_beyond(
    network: NetworkPassages,
    holds: Sequence[tuple[Take, Sequence[Passage]]],
    numbers: NumberFacts,
) -> list[tuple[Formula, Station]] | None:
    """Return the stations that are visited once in a hold, and how many may be there at most.

    None where a place is held for anything but delays and such visits, or more than once.
    """
    if len(holds) != 1:
        return None
    ((take, following),) = holds
    found: list[tuple[Formula, Station]] = []
    for passage in following_holds(following, take):
        if takes_no_time(passage):
            continue
        match passage.node:
            case Delay(times=times) if times.mean is ONE:
                continue
            case Serve(station=name, times=times, thread=None) if times.mean is ONE:
                station, visits = network.network.stations[name], network.visits.get(name, ())
                most = most_within(visits, station.place, network.network.pools)
                if most is None or len(visits) > 1 or not _serves(network, station, numbers):
                    return None
                found.append((most, station))
            case _:
                return None
    return found
