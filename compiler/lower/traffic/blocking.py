"""What finds no room is lost: computed in the order of the way, as the rest loads what follows.

A symbol stands for the share that each such resource loses, until then.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.diagnostics.suggest import listed
from qps.compiler.lower.disciplines.discipline_laws import law_of
from qps.compiler.lower.expressions.lower_expressions import ExpressionLowering
from qps.compiler.lower.queues.arrival_variability import (
    arriving,
    from_outside,
    peakedness,
    peakedness_outside,
)
from qps.compiler.lower.queues.offered_load import OfferedLoad
from qps.compiler.lower.queues.station_queue import Queue
from qps.compiler.lower.queues.visits import QueueVisit
from qps.compiler.lower.traffic.station_queues import queue_of, variation_of
from qps.compiler.lower.traffic.traffic_parts import NetworkTraffic, StationTraffic
from qps.compiler.network.network import Network
from qps.compiler.network.passages import Passage, passages, visits_of
from qps.compiler.network.place_limits import most_within
from qps.compiler.network.stations_and_pools import Station
from qps.engine.expressions.formulas import ONE, ZERO, Formula, apply, maximum, minimum, total
from qps.engine.expressions.substitution import Substitution


def with_losses(
    traffic: NetworkTraffic, network: Network, expressions: ExpressionLowering
) -> NetworkTraffic:
    """Return traffic of which what finds no room is lost; QpsError where that rests on itself."""
    symbols, stations = traffic.losing, traffic.stations
    if not symbols:
        return traffic
    closed = {visit.resource for one in traffic.closed for visit in one.visits.values()}
    before = _QueuesBefore(stations, frozenset(closed), frozenset(symbols.values()), expressions)
    left = {
        name: offered
        for name, symbol in symbols.items()
        if (offered := _offered(name, stations[name], symbol, before)) is not None
    }
    _refuse_closed(left, traffic)
    values = {symbol: ZERO for name, symbol in symbols.items() if name not in left}
    offered_to: dict[str, OfferedLoad] = {}
    visits = visits_of(map(passages, network.classes.values()))
    while left:
        unknown = {symbols[name] for name in left}
        ready = [name for name, one in left.items() if unknown.isdisjoint(one.symbols)]
        if not ready:
            names = listed(list(left), "and")
            raise QpsError.single(
                codes.NO_ANSWER,
                stations[next(iter(left))].span,
                f"traffic returns to {names}, so the loss there depends on itself",
                hint="do not route traffic back to a resource with losses",
            )
        for name in ready:
            offered = offered_to[name] = left.pop(name)
            queueing = stations[name].queueing
            assert queueing is not None
            lost = law_of(queueing).lost_of(offered)
            may_lack = _may_lack_room(visits[name], network.stations[name], offered, network)
            values[symbols[name]] = lost * expressions.averaged(may_lack)
        put_in = Substitution(values)
        left = {name: offered.changed(put_in) for name, offered in left.items()}
    put_in = Substitution(values)
    return replace(
        traffic.of_each(lambda one: one.changed(put_in).visits_changed(put_in)),
        stations={
            name: replace(
                station.changed(put_in),
                offered=offered_to.get(name),
                thinned_by=_thinning(station, symbols),
            )
            for name, station in stations.items()
        },
        counted={
            of: {item: put_in(rate) for item, rate in rates.items()}
            for of, rates in traffic.counted.items()
        },
    )


def _thinning(traffic: StationTraffic, losing: Mapping[str, Formula]) -> tuple[str, ...]:
    """Return the stations that lose some of what would be demanded of another one."""
    found = {
        symbol for loads in traffic.parts.values() for load in loads for symbol in load.symbols
    }
    return tuple(name for name, symbol in losing.items() if symbol in found)


def _may_lack_room(
    visits: Sequence[Passage], station: Station, offered: OfferedLoad, network: Network
) -> Formula:
    """Return 1 where more may be at a station than it has room for, 0 where pools let in no more.

    Between whole numbers it is on a line.
    """
    most = most_within(visits, station.place, network.pools)
    if most is None:
        return ONE
    capacity = offered.servers if offered.room is None else offered.room
    return minimum(ONE, maximum(ZERO, most - capacity))


def _refuse_closed(offered: Mapping[str, OfferedLoad], traffic: NetworkTraffic) -> None:
    """Refuse users who wait for the answer to what may be lost."""
    waiting = {one.closed.symbol: one.stream for one in traffic.closed if one.closed is not None}
    for name, one in offered.items():
        station = traffic.stations[name]
        for symbol in one.symbols & waiting.keys():
            raise QpsError.single(
                codes.NO_ANSWER,
                station.span if station.queueing is None else station.queueing.span,
                f"closed stream `{waiting[symbol]}` loses requests at {name}: its "
                "response time is unknown",
                hint="remove `room` and `loss`, or use an open workload with a rate",
            )


class _QueuesBefore(Struct, frozen=True, dict=True):
    """The queues of open traffic, as they let go what comes to those that lose some of it."""

    demands: Mapping[str, StationTraffic]
    closed: frozenset[str]
    lost: frozenset[Formula]
    expressions: ExpressionLowering

    @cached_property
    def queues(self) -> dict[str, Queue]:
        """All of them, by their resources."""
        return {
            name: queue_of(
                name,
                demand,
                demand.queueing,
                demand.load,
                Substitution({}),
                self.expressions,
            )
            for name, demand in self.demands.items()
            if demand.queueing is not None and name not in self.closed
        }

    def of(self, offered: OfferedLoad, name: str, sent: Sequence[QueueVisit]) -> OfferedLoad:
        """Return what is offered with how uneven it comes, by how it is `sent` there.

        What queues before it do to that counts where these are of open traffic alone, and rest on
        no loss that what is offered does not rest on.
        """
        load = offered.traffic / offered.servers
        alone = _coming(
            offered, from_outside(sent, load), peakedness_outside(sent, offered.service)
        )
        if not self.closed.isdisjoint({name}.union(*(visit.after for visit in sent))):
            return alone
        queues = self.queues | {name: replace(self.queues[name], visits=tuple(sent), load=load)}
        peaked = peakedness(name, queues, offered.service)
        shaped = _coming(offered, arriving(name, queues), peaked)
        if not shaped.is_uneven or not shaped.symbols & self.lost <= offered.symbols:
            return alone
        return replace(shaped, are_counted=True)


def _coming(offered: OfferedLoad, arrivals: Formula, peaked: Formula) -> OfferedLoad:
    """Return what is offered with how uneven it comes, to servers alone or to a room."""
    if offered.room is None:
        return replace(offered, peakedness=peaked)
    return replace(offered, arrivals=arrivals)


def _offered(
    name: str, demand: StationTraffic, symbol: Formula, before: _QueuesBefore
) -> OfferedLoad | None:
    """Return what is offered to a resource: what it serves is the rest; None where that is none.

    Cores that count as one are one that is as fast as all of them.
    """
    queueing = demand.queueing
    if queueing is None or not demand.visits:
        return None
    counts = queueing.counts_servers
    servers = demand.servers if counts else ONE
    times = [visit.service if counts else visit.service / demand.servers for visit in demand.visits]
    rates = [visit.rate / (1 - symbol) for visit in demand.visits]
    works = [rate * time for rate, time in zip(rates, times, strict=True)]
    variation = variation_of(name, queueing, before.expressions)
    service, spread = times[0], variation**2
    if len(set(times)) > 1:
        service = apply("mean", total(works), total(rates))
        squares = [work * time for work, time in zip(works, times, strict=True)]
        mixed = apply("mean", total(squares), total(works)) / service
        spread = mixed * (1 + spread) - 1
    capacity = None
    if queueing.room is not None:
        capacity = before.expressions.symbol(f"{name}.room", queueing.room)
    traffic = total((*works, *(load * servers for load in demand.background)))
    found = OfferedLoad(
        traffic=traffic, servers=servers, service=service, room=capacity, spread=spread
    )
    if capacity is None and all(visit.variation is None for visit in demand.visits):
        return found
    sent = [replace(one, rate=rate) for one, rate in zip(demand.visits, rates, strict=True)]
    return before.of(found, name, sent)
