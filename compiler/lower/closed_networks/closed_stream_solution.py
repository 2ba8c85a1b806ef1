"""Closed streams, solved: rates, stations and blocking times of users who wait for their answer.

Each is a class of a closed network, whose populations and throughputs it takes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec import Struct, field

from qps.compiler.lower.closed_networks.closed_network_solution import ClosedNetwork
from qps.compiler.lower.closed_networks.closed_stations import (
    ClosedStation,
    CyclePool,
    PrivateMachine,
)
from qps.compiler.lower.closed_networks.cycle import Cycle
from qps.compiler.network.formula_mapping import formulas_changed
from qps.compiler.quantities.certainty import EXACT, Certainty
from qps.engine.expressions.formulas import (
    ONE,
    ZERO,
    Formula,
    maximum,
    minimum,
)


class ClosedStream(Cycle, frozen=True, kw_only=True):
    """A closed class, solved as one of a `network`.

    `free` is how many cycles all make in a second where no limits bind, `rate` what each flow
    makes. At machines of their own they are `alone`.
    """

    network: ClosedNetwork
    free: Formula
    rate: Formula
    alone: Mapping[str, PrivateMachine]
    known: Certainty = EXACT
    """How its waits are known, besides what each station does to it."""
    stations_known: Certainty = EXACT
    """How its stations are known as those of a network in product form."""
    slowed_by: frozenset[str] = frozenset()
    """The names of the elastic parameters on which its rate rests."""
    blocked: Mapping[str, Formula] = field(default_factory=dict)
    """How long a cycle waits at each resource that has no queue, where its network says so."""

    @property
    def finds_open_work(self) -> frozenset[str]:
        """Where it finds open work as first comes first."""
        return self.alone_with_open_work | self.network.finds_open_work

    @property
    def throughput(self) -> Formula:
        """Cycles a second of all flows together."""
        return self.rate * self.flows

    def station(self, resource: str) -> ClosedStation:
        """Return the station of a name."""
        return next(one for one in self.stations if one.resource == resource)

    def pool(self, resource: str) -> CyclePool:
        """Return the pool of a name, as it is held while resources that have no queue are full."""
        own = self.network.pools_by_class[self.network.names.index(self.name)]
        return next(one for pool in own for one in pool.every if one.resource == resource)

    @property
    def network_delay(self) -> Formula:
        """What a cycle takes besides its stations while no pool is held."""
        return self.network.unblocked_delays[self.network.names.index(self.name)]

    @property
    def blocking_times(self) -> dict[str, Formula]:
        """What a cycle waits for resources that have no queue and are full.

        Together that is what the slowest of them takes longer than the cycle would.
        """
        found: dict[str, Formula] = {}
        so_far = blocked = ZERO
        for limit in self.limits:
            blocked = blocked + self.blocked.get(limit.resource, ZERO)
            longest = maximum(so_far, blocked, self.amount * limit.longest - self.jobs / self.free)
            found[limit.resource] = longest - so_far
            so_far = longest
        return found


class ElasticStation(Struct, frozen=True, kw_only=True):
    """A station that users wait at, of which elastic parameters take what is left.

    `open_load` is what all but the users demand of it, of which the parameters are a part.
    """

    station: ClosedStation
    network: ClosedNetwork
    open_load: Formula

    def room(self, limit: Formula, open_load: Formula) -> Formula:
        """Return how much more than an open load brings the resource to a load in all."""
        return self.network.room(self.station.resource, limit, open_load)


class Closed(Struct, frozen=True, kw_only=True):
    """All closed streams by name, and what the symbols of their rates come to.

    `loads` are those of resources that they fill, `open_loads` what all else demands of resources
    that they visit, `loading` which of them load a resource. `elastic_stations` are resources that
    elastic parameters share with users; `full_demands` are the demands while these do not give way.
    Pools that are never full are `unfilled`; what each holder of a class has of its `own` is where
    nobody waits.
    """

    streams: dict[str, ClosedStream] = field(default_factory=dict)
    values: dict[Formula, Formula] = field(default_factory=dict)
    loads: dict[str, Formula] = field(default_factory=dict)
    open_loads: dict[str, Formula] = field(default_factory=dict)
    loading: dict[str, tuple[str, ...]] = field(default_factory=dict)
    elastic_stations: dict[str, ElasticStation] = field(default_factory=dict)
    full_demands: dict[str, Formula] = field(default_factory=dict)
    unfilled: frozenset[str] = frozenset()
    own: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def loads_with_elastic(self, left: Mapping[str, Formula]) -> dict[str, Formula]:
        """Return the loads of resources that elastic parameters take of, of those that these left.

        Users who are held back by a full resource demand less: by that one, at most all of it, or
        by another one, which their own load shows.
        """
        found = {}
        for name in self.full_demands:
            open_load, load = self.open_loads[name], left[name]
            at = [one for one in self.streams.values() if one.stream in self.loading[name]]
            limits = [
                limit for one in at for limit in one.limits if limit.resource in self.full_demands
            ]
            if any(limit.resource != name for limit in limits):
                load = minimum(self.loads[name], load)
            found[name] = minimum(maximum(ONE, open_load), load) if limits else load
        return found

    def changed(self, change: Callable[[Formula], Formula]) -> Closed:
        """Return the same with every formula changed."""
        found = formulas_changed(self, change)
        assert isinstance(found, Closed)
        return found

    def waiting_for(self, resource: str) -> tuple[ClosedStream, ...]:
        """Return the closed streams that wait for a resource."""
        return tuple(
            stream
            for stream in self.streams.values()
            if any(resource == one.resource for one in stream.stations)
            or any(resource == one.resource for one in stream.pools)
            or resource in stream.alone
        )
