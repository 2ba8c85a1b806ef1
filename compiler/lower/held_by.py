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

from qps.compiler.lower.queueing import Queue, Visit
from qps.engine.formulas import ONE, ZERO, Formula, apply, maximum, minimum, number, total

_AT_LEAST_ONE = number(1 + Fraction(1, 10**9))  # whatever is rounded
_NEARLY = number(1 - Fraction(1, 10**12))
_NEXT_TO_NOTHING = number(Fraction(1, 10**12))


class Network(Struct, frozen=True, kw_only=True):
    """What a pool of so many `places` lets through: `alone` is the time of one item, in s.

    `rate` is that of all places, in items/s. `opened` is the time of an item within if any number
    could be there, and `variance` that of `alone`. It `is_waited_in` where there is a queue within.
    """

    places: Formula
    alone: Formula
    rate: Formula
    opened: Formula
    variance: Formula
    is_waited_in: bool = True

    @property
    def servers(self) -> Formula:
        """As many as would let through as much as all places do, none of them waiting."""
        return maximum(_AT_LEAST_ONE, self.alone * self.rate)


class Station(Struct, frozen=True, kw_only=True):
    """Something that is waited for within: of it an item `asks` so much, in s on one server.

    It has so many `servers`, loaded to `filled` erlangs in all, of which the items within make
    `own`; there are `copies` of it for those.
    """

    resource: str
    asks: Formula
    servers: Formula
    filled: Formula
    own: Formula
    copies: Formula

    @property
    def others(self) -> Formula:
        """The load that others make, in erlangs."""
        return ZERO if self.own is self.filled else maximum(ZERO, self.filled - self.own)

    def and_again(self, other: Station) -> Station:
        """Return the same that is come to again."""
        return replace(self, asks=self.asks + other.asks, own=self.own + other.own)


def station_of(queue: Queue, visit: Visit, rate: Formula, times: Formula) -> Station:
    """Return a queue that each of the items that arrive at a rate comes to so often."""
    asks, servers = visit.service, queue.servers
    if not queue.models_servers:  # they count as one that is as fast as all
        asks, servers = asks / servers, ONE
    return _station(
        queue.resource, asks, servers, servers * queue.load, rate * times / visit.rate, rate, times
    )


def station_of_pool(
    name: str, inner: Network, rate: Formula, times: Formula, whole: Formula
) -> Station:
    """Return a pool within as servers of the time alone; `whole` is the rate of all who come."""
    share = rate * times / whole
    return _station(name, inner.alone, inner.servers, whole * inner.alone, share, rate, times)


def _station(
    name: str,
    asks: Formula,
    servers: Formula,
    load: Formula,
    share: Formula,
    rate: Formula,
    times: Formula,
) -> Station:
    """Return a station, of which a `share` of the visits of each copy comes from the items."""
    copies = ONE if share.exact is not None and share.exact <= 1 else maximum(ONE, share)
    own = load if share is ONE else rate * times * asks / copies
    return Station(
        resource=name, asks=asks * times, servers=servers, filled=load, own=own, copies=copies
    )


def joined(stations: Sequence[Station | None], rates: Sequence[Formula]) -> Station:
    """Return one station for several kinds of items, of which some do not come there."""
    there = [(one, rate) for one, rate in zip(stations, rates, strict=True) if one is not None]
    first = there[0][0]
    asks = total(one.asks * rate for one, rate in there) / total(rates)
    return replace(
        first,
        asks=asks,
        own=total(one.own for one, _ in there),
        copies=first.copies if len({one.copies for one, _ in there}) == 1 else ONE,
    )


def let_through(
    services: Formula, places: Formula, stations: Sequence[Station], *, in_line: bool
) -> tuple[Formula, Formula]:
    """Return the time of one item alone, in s, and the rate of all places, in items/s.

    What is done at the same time is no network of this kind: there the stations and the places
    bound the rate, each by itself.
    """
    if not stations:
        return services, places / services
    if not in_line:
        free = [one.copies * (one.servers - one.others) / one.asks for one in stations]
        return services, minimum(places / services, *free)
    think = services - total(one.asks for one in stations)
    think = ZERO if think is ZERO else maximum(ZERO, think)
    told = [part for s in stations for part in (s.asks, s.servers, s.others, s.copies)]
    alone = services
    if any(one.others is not ZERO for one in stations):
        alone = 1 / apply("closed_rate", ONE, think, *told)
    return alone, apply("closed_rate", places, think, *told)


class Filled(Struct, frozen=True, kw_only=True):
    """What a pool comes to: how long a place is `held`, and what it `adds` to that of an open one.

    That is longer by `tail`, on average, for a `share` of the items; `load` is that of its places.
    """

    held: Formula
    adds: Formula
    tail: Formula
    share: Formula
    load: Formula


def filled(network: Network, arriving: Formula, most: Formula | None = None) -> Filled:
    """Return what a pool comes to at which so many items arrive in a second.

    Where all of these hold something else of which there are but so many, there are no more than
    that `most` at a time.
    """
    found = _filled(network, arriving)
    if most is None or not network.is_waited_in:
        return found
    within = replace(network, places=minimum(network.places, most))
    held = _filled(within, arriving).held
    return replace(found, held=held, load=arriving * held / network.places)


def _filled(network: Network, arriving: Formula) -> Filled:
    servers, rate, places = network.servers, network.rate, network.places
    load = arriving / rate
    below = minimum(load, _NEARLY)
    waiting = apply("erlang_c", servers, arriving * network.alone)
    behind = 1 / (rate * (1 - below))  # of what waits at all
    left = maximum(below, _NEXT_TO_NOTHING) ** (places - servers)
    within = network.alone + waiting * behind * (1 - left)
    more = maximum(ZERO, network.opened - network.alone - waiting * behind)
    held = minimum(places / rate, (within + more) * (1 + places * _NEXT_TO_NOTHING))
    held = held if network.is_waited_in else network.alone
    part = servers / places
    variation = part * network.variance / network.alone**2 + 1 - part
    tail = behind * (1 + variation) / 2
    late = waiting * left * tail
    adds = late
    if network.is_waited_in:
        adds = maximum(ZERO, late + held - network.opened)
    adds = adds + apply("waiting", ZERO, load)
    return Filled(
        held=held,
        adds=adds,
        tail=tail,
        share=minimum(ONE, adds / tail),
        load=arriving * held / places,
    )
