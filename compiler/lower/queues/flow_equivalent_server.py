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
_NEARLY = number(1 - Fraction(1, 10**8))
"""A load next to 1, of which quotients of differences keep half of the digits of floats."""
_NEXT_TO_NOTHING = number(Fraction(1, 10**12))


class PoolSubnetwork(Struct, frozen=True, kw_only=True):
    """What a pool of so many `places` lets through: `alone` is the time of one item, in s.

    Without what others make it wait, those of the pools of other machines among them, it is that
    of `services`; waits are `uneven` times as long as
    for exponential services of random arrivals.
    `rate` is that of all places, in items/s. `opened` is the time of an item within if any number
    could be there, and `variance` that of `alone`; where some do by chance other things than others
    they are of two `lengths`. It `is_queued` where there is a queue within.
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
    overflows: Formula = ZERO
    fills: Formula = ONE

    @property
    def holding_time_alone(self) -> Formula:
        """How long one item alone holds a place, with waits that are `uneven` times as long."""
        if self.alone is self.services:
            return self.alone
        return self.uneven * self.alone + (ONE - self.uneven) * self.services

    @property
    def servers(self) -> Formula:
        """As many as would let through as much as all places do, none of them waiting."""
        return maximum(_AT_LEAST_ONE, self.alone * self.rate)


class SubnetworkStation(Struct, frozen=True, kw_only=True):
    """Something that is waited for within: the `demand` of an item is in s on one server.

    There are so many `copies` of it, each with so many `servers`; what `visits` it makes a load of
    `filled` erlangs at each, `own` of it the items within by the visits that are `theirs`.
    What finds as many as its `capacity` at one of them is lost; None where nothing is.
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
    capacity: Formula | None = None

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


def station_of(queue: Queue, visit: QueueVisit, times: Formula) -> SubnetworkStation:
    """Return a queue to which items come so many `times`; a delay where nobody waits."""
    demand, servers = visit.service, queue.servers
    if not queue.models_servers:  # they count as one that is as fast as all
        demand, servers = demand / servers, ONE
    return SubnetworkStation(
        resource=queue.resource,
        demand=demand * times * (ONE - queue.has_enough),
        servers=servers,
        copies=visit.place.count,
        filled=servers * queue.load,
        own=visit.rate * demand,
        visits=frozenset(one.of for one in queue.visits),
        theirs=frozenset([visit.of]),
        is_all=queue.background is ZERO,
        capacity=None if queue.offered is None else queue.offered.room,
    )


def station_of_pool(
    queue: Queue, inner: PoolSubnetwork, visit: QueueVisit, times: Formula
) -> SubnetworkStation:
    """Return a pool within as servers of the time of one item alone."""
    whole = total(one.rate for one in queue.visits)
    alike = replace(visit, service=inner.alone)
    load = whole * inner.alone / inner.servers
    return station_of(replace(queue, servers=inner.servers, load=load), alike, times)


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


class PoolMachines(Struct, frozen=True, kw_only=True):
    """The machines of a `node`, of which each has a pool of its own: so many in `count`.

    Each of the others has so many items in its pool, `elsewhere`, as there are on average.
    """

    node: str
    count: Formula
    elsewhere: Formula

    def has(self, station: SubnetworkStation) -> bool:
        """Return whether each of them has such a station for itself."""
        return station.copies == self.count and station.stands_at(self.node)

    def with_others(self, items: Formula) -> Formula:
        """Return how many items there are in all pools where there are so many in one."""
        return items + (self.count - 1) * self.elsewhere


def overflowing(
    services: Formula,
    places: Formula,
    machines: PoolMachines,
    stations: Sequence[SubnetworkStation],
) -> tuple[Formula, Formula]:
    """Return whether a pool `overflows` and whether it `fills`; between whole numbers on a line."""
    rooms = [(one, one.capacity) for one in stations if one.capacity is not None]
    if not stations or len(rooms) < len(stations):
        return ZERO, ONE
    everywhere = places * machines.count
    lack = [(places if machines.has(one) else everywhere) - capacity for one, capacity in rooms]
    if services - total(one.demand for one in stations) is not ZERO:
        return _at_most_one(minimum(*lack)), ONE  # more may be where nobody waits
    in_queues = [
        capacity if machines.has(one) else capacity * one.copies for one, capacity in rooms
    ]
    return _at_most_one(minimum(*lack)), _at_most_one(total(in_queues) + 1 - places)


def _at_most_one(more: Formula) -> Formula:
    return minimum(ONE, maximum(ZERO, more))


def let_through(
    services: Formula,
    places: Formula,
    machines: PoolMachines,
    stations: Sequence[SubnetworkStation],
    *,
    in_line: bool,
) -> tuple[Formula, Formula]:
    """Return the time of one item alone, in s, and the rate of all places of a pool, in items/s.

    What is done at the same time is no network of this kind: there the stations and the places
    bound the rate, each by itself.
    """
    if not stations:
        return services, places / services
    if not in_line:
        free = [
            one.copies * (one.servers - one.others) / one.demand / machines.count
            for one in stations
        ]
        return services, minimum(places / services, *free)
    own = [replace(one, copies=ONE) for one in stations if machines.has(one)]
    shared = [one for one in stations if not machines.has(one)]
    think = services - total(one.demand for one in stations)
    think = ZERO if think is ZERO else maximum(ZERO, think)
    if not shared or machines.count is ONE:
        alone = services
        if any(one.others is not ZERO for one in stations):
            alone = 1 / _rate(ONE, think, [*own, *shared])
        return alone, _rate(places, think, [*own, *shared])
    served = total(one.demand for one in own)
    before = think + served
    if any(one.others is not ZERO for one in own):
        before = 1 / _rate(ONE, think, own)
    first, full = machines.with_others(ONE), machines.with_others(places)
    alone = _cycle(first, before, shared)
    if not own:
        return alone, places / _cycle(full, think, shared)
    # Either all come to any of the copies, which meet more often than those who keep to their own
    # machine; or nobody waits there while the others are waited for, which makes these wait longer.
    anywhere = [replace(one, copies=machines.count) for one in own]
    among = places / _cycle(full, think, [*anywhere, *shared])
    behind = maximum(ZERO, _cycle(full, think + served, shared) - served)
    return alone, maximum(among, places / _cycle(places, behind, own))


def _rate(items: Formula, think: Formula, stations: Sequence[SubnetworkStation]) -> Formula:
    """Return how many items a second so many come round with, in a closed network of stations."""
    return apply("closed_rate", items, think, *_operands(stations))


def _cycle(items: Formula, think: Formula, stations: Sequence[SubnetworkStation]) -> Formula:
    """Return how long so many take to come round, in s: it grows with how many they are.

    That is items over their rate, which bounds do not see to grow.
    """
    return apply("closed_cycle", items, think, *_operands(stations))


def _operands(stations: Sequence[SubnetworkStation]) -> list[Formula]:
    return [part for s in stations for part in (s.demand, s.servers, s.others, s.copies)]


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
    waiting = apply("erlang_c", servers, arriving * network.alone)
    behind = 1 / (rate * (1 - below))  # of what waits at all
    uneven = network.uneven
    left = maximum(below, _NEXT_TO_NOTHING) ** ((places - servers) / uneven)
    waits = uneven * waiting * behind
    within = network.holding_time_alone + waits * (1 - left)
    if network.overflows is not ZERO:  # nobody waits there longer for all who come to the pool
        shorter = minimum(within, network.opened)
        within = network.overflows * shorter + (ONE - network.overflows) * within
    # No less than what would be open, without those for whom there is no place. What this adds to
    # that is written without it: bounds would not see that it is subtracted from itself.
    lost = waits * left
    held = maximum(within, network.opened - lost) * (1 + places * _NEXT_TO_NOTHING)
    held = minimum(places / rate, held) if network.is_queued else network.alone
    part = servers / places
    variation = 1 + part * (network.variance / network.alone**2 - 1)
    ratio = wait_ratio(variation, servers, below)
    lasts = None
    if network.lengths is not None:
        ratio = part * unlike_ratio(network.lengths, servers, below) + 1 - part
        lasts = two_times(behind, ratio, variation)
    tail = behind * (ratio + (1 - part) * (uneven - 1))
    late = waiting * left * tail * network.fills
    adds = late
    if network.is_queued:
        longer = maximum(within - network.opened, -lost)
        adds = maximum(ZERO, late + minimum(places / rate - network.opened, longer))
    adds = adds + apply("waiting", ZERO, load)
    return Filled(
        holding_time=held,
        adds=adds,
        tail=tail,
        share=minimum(ONE, adds / tail),
        load=arriving * held / places,
        lasts=lasts,
    )
