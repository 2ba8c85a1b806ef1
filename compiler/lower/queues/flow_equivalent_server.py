"""What goes on within a pool: a closed network of as many items as it has places.

Of k items in it so many end in a second as the network of the stations that they visit lets, X(k):
a flow-equivalent server (Chandy, Herzog and Woo 1975; Lazowska et al. 1984, chapter 9). It is taken
as min(k, c)/S, where S is the time of one alone and c/S = X(m) the rate of all m places: that of
c servers, of which an open queue has a closed form (Erlang). It is exact where nobody waits
within, where one place is all, and where the places are no limit.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler.lower.queues.service_variation import wait_ratio
from qps.compiler.lower.queues.station_queue import Queue
from qps.compiler.lower.queues.unlike_services import (
    ServiceLengths,
    TwoTimes,
    two_times,
    unlike_ratio,
)
from qps.compiler.lower.queues.visits import QueueVisit
from qps.engine.expressions.formulas import (
    ONE,
    ZERO,
    Formula,
    apply,
    maximum,
    minimum,
    number,
    total,
)

_AT_LEAST_ONE = number(1 + Fraction(1, 10**9))  # whatever is rounded
_NEARLY = number(1 - Fraction(1, 10**12))
_NEXT_TO_NOTHING = number(Fraction(1, 10**12))


class PoolSubnetwork(Struct, frozen=True, kw_only=True):
    """What a pool of so many `places` lets through: `alone` is the time of one item, in s.

    Without what others make it wait it is that of `services`; waits are `uneven` times as long as
    for exponential services of random arrivals.
    `rate` is that of all places, in items/s. `opened` is the time of an item within if any number
    could be there, and `variance` that of `alone`; where some do by chance other things than others
    they are of two `lengths`. It `is_queued` where there is a queue within,
    and `meets_others` where items of the pools of other machines come there, too.
    """

    places: Formula
    services: Formula
    alone: Formula
    rate: Formula
    uneven: Formula
    opened: Formula
    variance: Formula
    lengths: ServiceLengths | None = None
    is_queued: bool = True
    meets_others: bool = False

    @property
    def servers(self) -> Formula:
        """As many as would let through as much as all places do, none of them waiting."""
        return maximum(_AT_LEAST_ONE, self.alone * self.rate)


class SubnetworkStation(Struct, frozen=True, kw_only=True):
    """Something that is waited for within: the `demand` of an item is in s on one server.

    There are so many `copies` of it for the pools of all machines together, each with so many
    `servers`; what `visits` it makes a load of `filled` erlangs at each, `own` of it the items
    within by the visits that are `theirs`.
    """

    resource: str
    demand: Formula
    servers: Formula
    copies: Formula
    filled: Formula
    own: Formula
    visits: frozenset[tuple[str, int]]
    theirs: frozenset[tuple[str, int]]
    is_all: bool

    def stands_at(self, node: str) -> bool:
        """Return whether each machine of a node has one of its own: a resource of it, or a port."""
        return self.resource.startswith(f"{node}.") or f".{node}." in self.resource

    @property
    def others(self) -> Formula:
        """The load that others make, in erlangs."""
        if self.is_all and self.visits == self.theirs:
            return ZERO
        return maximum(ZERO, self.filled - self.own)

    def and_also(self, other: SubnetworkStation) -> SubnetworkStation:
        """Return the same that is come to by other visits besides."""
        return replace(
            self,
            demand=self.demand + other.demand,
            own=self.own + other.own,
            theirs=self.theirs | other.theirs,
        )

    def scaled(self, share: Formula) -> SubnetworkStation:
        """Return the same to which so many of the items come."""
        return replace(self, demand=self.demand * share)


def station_of(
    queue: Queue, visit: QueueVisit, often: Formula, times: Formula
) -> SubnetworkStation:
    """Return a queue to which items come so many `times`, so `often` a second in all."""
    demand, servers = visit.service, queue.servers
    if not queue.models_servers:  # they count as one that is as fast as all
        demand, servers = demand / servers, ONE
    return SubnetworkStation(
        resource=queue.resource,
        demand=demand * times,
        servers=servers,
        copies=often * times / visit.rate,
        filled=servers * queue.load,
        own=visit.rate * demand,
        visits=frozenset(one.of for one in queue.visits),
        theirs=frozenset([visit.of]),
        is_all=queue.background is ZERO,
    )


def station_of_pool(
    queue: Queue, inner: PoolSubnetwork, visit: QueueVisit, often: Formula, times: Formula
) -> SubnetworkStation:
    """Return a pool within as servers of the time of one item alone."""
    whole = total(one.rate for one in queue.visits)
    alike = replace(visit, service=inner.alone)
    load = whole * inner.alone / inner.servers
    return station_of(replace(queue, servers=inner.servers, load=load), alike, often, times)


def joined(
    stations: Sequence[SubnetworkStation | None], rates: Sequence[Formula]
) -> SubnetworkStation:
    """Return one station for several kinds of items, of which some do not come there."""
    first, *others = [
        one.scaled(rate / total(rates))
        for one, rate in zip(stations, rates, strict=True)
        if one is not None
    ]
    for one in others:
        first = first.and_also(one)
    return first


def let_through(
    services: Formula,
    places: Formula,
    machines: Formula,
    stations: Sequence[SubnetworkStation],
    *,
    node: str,
    in_line: bool,
) -> tuple[Formula, Formula]:
    """Return the time of one item alone, in s, and the rate of all places of a pool, in items/s.

    There are so many `machines` of a `node` with such a pool. What is done at the same time is no
    network of this kind: there the stations and the places bound the rate, each by itself.
    """
    if not stations:
        return services, places / services
    if not in_line:
        free = [one.copies * (one.servers - one.others) / one.demand / machines for one in stations]
        return services, minimum(places / services, *free)
    think = services - total(one.demand for one in stations)
    think = ZERO if think is ZERO else maximum(ZERO, think)
    if are_own(stations, machines, node):
        stations, machines = [replace(one, copies=ONE) for one in stations], ONE
    operands = [part for s in stations for part in (s.demand, s.servers, s.others, s.copies)]
    alone = services
    if any(one.others is not ZERO for one in stations):
        alone = 1 / apply("closed_rate", ONE, think, *operands)
    return alone, apply("closed_rate", machines * places, think, *operands) / machines


def are_own(stations: Sequence[SubnetworkStation], machines: Formula, node: str) -> bool:
    """Return whether each of some machines of a node has such stations for itself."""
    return all(one.copies == machines and one.stands_at(node) for one in stations)


class Filled(Struct, frozen=True, kw_only=True):
    """The mean `holding_time` of a place of a pool, and what it `adds` to that of an open one.

    That is longer by `tail`, on average, for a `share` of the items; `load` is that of its places.
    Of holds that are short or long by chance, `lasts` is the law of that.
    """

    holding_time: Formula
    adds: Formula
    tail: Formula
    share: Formula
    load: Formula
    lasts: TwoTimes | None = None


def filled(network: PoolSubnetwork, arriving: Formula, most: Formula | None = None) -> Filled:
    """Return what a pool comes to at which so many items arrive in a second.

    Where all of these hold something else of which there are but so many, there are no more than
    that `most` at a time.
    """
    found = _filled(network, arriving)
    if most is None or not network.is_queued:
        return found
    held = minimum(found.holding_time, maximum(network.alone, most / network.rate))
    return replace(found, holding_time=held, load=arriving * held / network.places)


def _filled(network: PoolSubnetwork, arriving: Formula) -> Filled:
    servers, rate, places = network.servers, network.rate, network.places
    load = arriving / rate
    below = minimum(load, _NEARLY)
    if network.meets_others:
        # The fuller their pools are, the later is one item that is alone in its own.
        crowded = network.alone + below * (servers / rate - network.alone)
        network = replace(network, alone=crowded)
    waiting = apply("erlang_c", servers, arriving * network.alone)
    behind = 1 / (rate * (1 - below))  # of what waits at all
    uneven = network.uneven
    left = maximum(below, _NEXT_TO_NOTHING) ** ((places - servers) / uneven)
    others = network.alone - network.services
    within = network.alone + uneven * waiting * behind * (1 - left) - (ONE - uneven) * others
    more = network.opened - network.alone - uneven * waiting * behind + (ONE - uneven) * others
    more = maximum(ZERO, more)
    held = minimum(places / rate, (within + more) * (1 + places * _NEXT_TO_NOTHING))
    held = held if network.is_queued else network.alone
    part = servers / places
    variation = part * network.variance / network.alone**2 + 1 - part
    ratio = wait_ratio(variation, servers, below)
    lasts = None
    if network.lengths is not None:
        ratio = part * unlike_ratio(network.lengths, servers, below) + 1 - part
        lasts = two_times(behind, ratio, variation)
    tail = behind * (ratio + (1 - part) * (uneven - 1))
    late = waiting * left * tail
    adds = late
    if network.is_queued:
        adds = maximum(ZERO, late + held - network.opened)
    adds = adds + apply("waiting", ZERO, load)
    return Filled(
        holding_time=held,
        adds=adds,
        tail=tail,
        share=minimum(ONE, adds / tail),
        load=arriving * held / places,
        lasts=lasts,
    )
