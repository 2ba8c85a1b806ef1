"""Cycles of closed streams: the time to think, the stations that are waited for, and all else.

What stands before the rate of a stream, a symbol while it is walked, says how long a cycle needs
each resource. A machine whose cores count as one fast server is that server, and the rest of its
service time a delay (Seidmann and others 1987). What states no queueing is a delay, too, but serves
no more than it can: then the rest waits (the asymptotic bound).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from msgspec import Struct
from msgspec.structs import asdict, replace

from qps.compiler import ir
from qps.compiler.lower.closed_networks.closed_stations import ClosedStation, PrivateMachine
from qps.compiler.lower.closed_networks.closed_stream_solution import ClosedStream
from qps.compiler.lower.closed_networks.cycle import Cycle, ThroughputLimit
from qps.compiler.lower.closed_networks.fork_join_stations import ForkJoin, Own
from qps.compiler.lower.closed_networks.saturated_delays import BlockedNetworks
from qps.compiler.lower.closed_streams.closed_fork_join import (
    ROOT,
    Path,
    forks_of,
    homes_of,
    path_of,
    refuse_forks,
    refuse_with_forks,
)
from qps.compiler.lower.closed_streams.closed_holds import Holding, pools_of
from qps.compiler.lower.closed_streams.closed_refusals import (
    refuse_no_time,
    refuse_queueing,
    refused,
)
from qps.compiler.lower.closed_streams.cycle_labels import CycleKnown
from qps.compiler.lower.closed_streams.cycle_limits import limits_of
from qps.compiler.lower.closed_streams.load_parts import LoadParts
from qps.compiler.lower.closed_streams.open_work_found import (
    OpenTraffic,
    open_traffic,
    work_found,
)
from qps.compiler.lower.expressions.exact_order import compare
from qps.compiler.lower.expressions.lower_expressions import ExpressionLowering
from qps.compiler.lower.traffic.station_queues import speeds_of
from qps.compiler.lower.traffic.traffic_parts import ClassTraffic, ClosedSource, StationTraffic
from qps.compiler.quantities.certainty import Certainty, together
from qps.engine.expressions.formulas import ONE, ZERO, Formula, apply, maximum, minimum, total
from qps.engine.expressions.substitution import Substitution


class ClosedClass(Struct, frozen=True, kw_only=True, dict=True):
    """A class of a closed stream while it is solved, with the demands of all `streams`."""

    stream: ir.Stream
    traffic: ClassTraffic
    source: ClosedSource
    demands: Mapping[str, StationTraffic]
    parted: Mapping[str, LoadParts]
    streams: Mapping[Formula, ir.Stream]
    holding: Holding
    expressions: ExpressionLowering

    @cached_property
    def cycle(self) -> Cycle:
        """What a cycle of the class is made of."""
        waited = dict.fromkeys(
            visit.resource
            for visit in self.traffic.visits.values()
            if not self.demands[visit.resource].holds
        )
        lone = [name for name in waited if self._is_alone(name)]
        stations = tuple(self._station(name) for name in waited if name not in lone)
        own = {name: self._own_wait(name, stations) for name in lone}
        refuse_forks(self.stream, self.traffic)
        delay = self._delay(stations, own, ROOT)
        names = [one.resource for one in stations]
        forks = self._forks(stations, own)
        times = [delay, *(one.demand for one in stations)]
        refuse_no_time(self.stream, times, self.expressions)
        if forks:
            pools = [n for n, one in self.demands.items() if self._uses_resource(one)]
            refuse_with_forks(self.stream, pools, stations)
        held = pools_of(
            self.traffic,
            self.demands,
            stations,
            self.expressions,
            holding=self.holding,
            often=self._visits,
        )
        copies = {one.resource: one.copies for one in stations}
        copies |= {one.resource: one.copies for pool in held for one in pool.every}
        return Cycle(
            name=self.traffic.name,
            stream=self.stream.name,
            span=self.stream.span,
            jobs=self.source.flows * self.source.amount,
            flows=self.source.flows,
            amount=self.source.amount,
            think=self.source.think,
            delay=delay,
            stations=stations,
            outer_pools=held,
            limits=tuple(
                limits_of(
                    self.source.symbol,
                    {n: self.parted[n] for n in self.traffic.unbounded if n not in self.own},
                    {one.symbol for one in self.expressions.elastic.values()},
                )
            ),
            visits={name: self._visits(name, count) for name, count in copies.items()},
            own_waits=own,
            mixed=tuple(name for name in names if name in self.holding.mixed),
            overlapping=self._overlapping(stations),
            forks=forks,
            alone_with_open_work=frozenset(n for n in lone if self._open_traffic(self._station(n))),
        )

    @cached_property
    def _homes(self) -> dict[str, Path]:
        """The calls made together in which each resource is waited for."""
        return homes_of(self.stream, self.traffic)

    @cached_property
    def _in_a_cycle(self) -> Substitution:
        """Puts in a rate of one cycle a second: what each demands is what comes in a second."""
        return Substitution({self.source.symbol: ONE})

    @cached_property
    def _times(self) -> list[tuple[tuple[str, ...], Formula, Path]]:
        """How long a cycle is in each stage that is no wait: busy on what, in which calls."""
        return [
            (
                one.on,
                self._in_a_cycle(self.expressions.averaged(one.flows)),
                path_of(self.traffic, one.stage),
            )
            for one in self.traffic.spent
        ]

    def _forks(
        self, stations: Sequence[ClosedStation], own: Mapping[str, Formula]
    ) -> tuple[ForkJoin, ...]:
        """Return the calls that a cycle makes together."""
        return forks_of(
            self.traffic,
            self._homes,
            [one.resource for one in stations],
            {name: self._own(name) for name in own if self._homes[name] != ROOT},
            lambda at: self._delay(stations, own, at),
            lambda often: self._in_a_cycle(self.expressions.averaged(often)),
        )

    def _own(self, name: str) -> Own:
        """Return a machine of each holder's own that is visited in calls made together."""
        station = self._station(name)
        return Own(self._served(station), self._visits(name, station.copies))

    def _served(self, station: ClosedStation) -> Formula:
        """Return how long a cycle is served at a station: on one of its cores at a time."""
        servers = self.demands[station.resource].servers
        return station.demand if station.servers is servers else station.demand * servers

    def _uses_resource(self, demand: StationTraffic) -> bool:
        return any(hold.of == self.traffic.name for hold in demand.holds)

    @cached_property
    def own(self) -> frozenset[str]:
        """What each holder has of its own, where no waiting is counted: nobody waits there."""
        return frozenset(name for name in self.traffic.uncounted if self._is_own(name))

    def _is_own(self, name: str) -> bool:
        """Return whether nobody and nothing else is ever at a resource."""
        part = self.parted[name]
        return part.open_load is ZERO and not self._others_at(name) and self._is_alone(name)

    def solution(
        self, within: BlockedNetworks, known: Certainty, rates: Mapping[Formula, Formula]
    ) -> ClosedStream:
        """Return what the stream comes to as a class of a network, which is known so well.

        `rates` are those of one flow of each class.
        """
        cycle, free = self.cycle, within.free(self.cycle.name)
        rate = within.rate(cycle.name) / cycle.flows
        limits = tuple(self._shared(limit, rates) for limit in cycle.limits)
        if limits:
            rate = minimum(rate, *(limit.at_most for limit in limits))
        time = cycle.jobs / free
        return ClosedStream(
            **(asdict(cycle) | {"limits": limits}),
            free=free,
            blocked=within.blocked.get(cycle.name, {}),
            rate=rate,
            network=within.networks[cycle.name],
            alone={name: self._alone(name, w, time) for name, w in cycle.own_waits.items()},
            known=together(self._known.within(limits), known),
        )

    def _shared(self, limit: ThroughputLimit, rates: Mapping[Formula, Formula]) -> ThroughputLimit:
        """Return a limit with what other classes demand while a flow makes a cycle."""
        demands = self.parted[limit.resource].by
        others = [
            work * rates[symbol] / rates[self.source.symbol]
            for symbol, work in demands.items()
            if symbol is not self.source.symbol
        ]
        return replace(limit, work=total((limit.own, *others))) if others else limit

    def _alone(self, name: str, wait: Formula, cycle: Formula) -> PrivateMachine:
        """Return a machine of each holder's own, once it is known how long a cycle takes.

        Open traffic meets the holder at one of the copies that there are for each item.
        """
        station = self._station(name)
        copies = station.copies / (self.source.flows * self.source.amount)
        elsewhere = cycle - station.demand - wait
        open_wait = ZERO
        if station.open_load is not ZERO:
            open_wait = apply(
                "mixed_wait",
                ONE,
                elsewhere,
                station.demand,
                station.servers,
                station.open_load,
                copies,
            )
        service = self._served(station)
        return PrivateMachine(station=station, service=service, wait=wait, open_wait=open_wait)

    @property
    def _known(self) -> CycleKnown:
        """What says how the waits of a cycle are known."""
        return CycleKnown(
            stream=self.stream,
            result=self.traffic,
            cycle=self.cycle,
            demands=self.demands,
            expressions=self.expressions,
        )

    def _others_at(self, name: str) -> list[ir.Stream]:
        """Return the other closed streams that are at a resource."""
        at = [self.streams[symbol] for symbol in self.parted[name].by]
        return [stream for stream in at if stream is not self.stream]

    def _refuse_others(self, name: str) -> None:
        """Refuse what several closed streams share where it is a holder's own."""
        others = self._others_at(name)
        if others:
            raise refused(
                self.stream,
                f"it shares {name} with closed stream `{others[0].name}`",
                f"set its queueing, such as `queueing {name} ps`",
            )

    def _is_alone(self, name: str) -> bool:
        """Return whether no two items of the stream ever meet at a resource: each has its own.

        So it is at the machine of each holder; elsewhere two may choose the same one.
        """
        held, count = self.traffic.flows.get(name), self.demands[name].count
        if held is None:
            return False
        is_own = self.stream.flows_from == self.traffic.where[name]
        if len(self.parted[name].by) > 1 and (count is ONE or not is_own):
            return False
        met = held if is_own else held * count
        most = self.expressions.put_in(met * self.source.amount)
        return most.is_constant and compare("<=", most, ONE)

    def _station(self, name: str) -> ClosedStation:
        """Return a resource as a station."""
        demand = self.demands[name]
        queueing, part = demand.queueing, self.parted[name]
        refuse_queueing(self.stream, name, queueing, part.open_load)
        work = part.by.get(self.source.symbol, ZERO)
        each = work * demand.count / self.source.flows
        servers = demand.servers if self._is_several(demand) else ONE
        speeds: tuple[Formula, ...] = ()
        if queueing is not None and queueing.speeds:
            speeds = speeds_of(name, queueing, self.expressions)
            each = each * speeds[-1]
        station = ClosedStation(
            resource=name,
            demands=(each * servers,),
            weights=(
                each * servers
                if _is_processor_sharing(demand)
                else self._visits(name, demand.count),
            ),
            servers=servers,
            open_load=part.open_load * servers,
            copies=demand.count,
            speeds=speeds,
        )
        if queueing is None or not queueing.traits.has_ranks:
            return station
        return self._ranked(station, demand)

    def _ranked(self, station: ClosedStation, demand: StationTraffic) -> ClosedStation:
        """Return a station at which some go before others, as this stream sees it."""
        own = [v for v in self.traffic.visits.values() if v.resource == station.resource]
        rank = max(visit.rank for visit in own)
        before = [
            visit.rate * visit.service
            for visit in demand.visits
            if visit.rank <= rank and visit.rate.symbols.isdisjoint(self.streams)
        ]
        load = total((*before, total(demand.background) * demand.servers))
        return replace(station, open_load=load * station.servers / demand.servers, rank=rank)

    def _is_several(self, demand: StationTraffic) -> bool:
        """Return whether the cores of a resource are servers of their own."""
        if demand.queueing is None or not demand.queueing.counts_servers:
            return False
        known = self.expressions.put_in(demand.servers).exact
        return known is not None and known.denominator == 1

    def _own_wait(self, name: str, stations: Sequence[ClosedStation]) -> Formula:
        """Return what a cycle waits where nobody else of the stream is: for open traffic alone."""
        self._refuse_others(name)
        station = self._station(name)
        if station.open_load is ZERO:
            return ZERO
        opened = self._open_traffic(station)
        if opened is not None:
            visits = self._visits(name, station.copies)
            elsewhere = self._delay(stations, {}, ROOT) + total(one.demand for one in stations)
            away = maximum(ZERO, elsewhere - self._served(station)) / visits
            return work_found(opened, station.demand / visits, away) * visits
        alone = (station.demand, station.servers, station.open_load, ONE)
        return apply("closed_wait", ONE, ZERO, *alone)

    def _open_traffic(self, station: ClosedStation) -> OpenTraffic | None:
        """Return the open traffic that users find at a station as first comes first."""
        at = self.demands[station.resource]
        return open_traffic(station, at, self.streams, self.expressions)

    def _overlapping(self, stations: Sequence[ClosedStation]) -> tuple[str, ...]:
        """Return the stations of which several are busy with one stage."""
        names, found = {one.resource for one in stations}, dict[str, None]()
        for on, _, _ in self._times:
            here = [name for name in on if name in names]
            found |= dict.fromkeys(here if len(here) > 1 else ())
        return tuple(found)

    def _delay(
        self, stations: Sequence[ClosedStation], own: Mapping[str, Formula], at: Path
    ) -> Formula:
        """Return what a cycle takes besides its stations, on its way or in one branch of it.

        Where one time is spent at several stations it counts at each of them: so often it is taken
        off again, at most as far as there is such a delay.
        """
        places = {one.resource: one for one in stations}
        whole = {name for name, one in places.items() if one.servers is self.demands[name].servers}
        overlapping = self._overlapping(stations)
        mixed = (set(places) - whole) | set(overlapping)
        spent = [
            time
            for on, time, path in self._times
            if path == at and not any(n in places and n not in mixed for n in on)
            if path == ROOT or not any(n in own for n in on)
        ]
        waits = [wait for name, wait in own.items() if self._homes[name] == at]
        besides = [self.source.think, self._playout] if at == ROOT else []
        delay = total((*besides, *spent, *waits))
        twice = [name for name in places if name in mixed and self._homes[name] == at]
        delay = delay - total(places[name].demand for name in twice)
        return maximum(ZERO, delay) if overlapping else delay

    @property
    def _playout(self) -> Formula:
        """How long a cycle is held in a playout buffer where it ends."""
        playout = self.stream.playout
        if playout is None:
            return ZERO
        held = self.expressions.symbol(f"{self.stream.name}.playout", playout.delay)
        return held * self._in_a_cycle(self.expressions.averaged(self.traffic.rate))

    def _visits(self, resource: str, copies: Formula) -> Formula:
        """Return how often a cycle visits a station, or takes of a pool."""
        visits = [one for one in self.traffic.visits.values() if one.resource == resource]
        rates = total(self.expressions.averaged(one.rate) for one in visits)
        return self._in_a_cycle(rates) * copies / self.source.flows


def _is_processor_sharing(demand: StationTraffic) -> bool:
    """Return whether all who are at a resource are served there, in proportion to their work."""
    return demand.queueing is None or demand.queueing.traits.is_insensitive
