"""What the flows of a class demand of stations: their load, their visits, and losses."""

from __future__ import annotations

from qps.compiler.lower.queues.visits import QueuePlace
from qps.compiler.lower.response_time.response_parts import LossKind
from qps.compiler.lower.response_time.response_stages import LatencyPart, TimeSpent
from qps.compiler.lower.traffic.class_visits import ClassVisits
from qps.compiler.lower.traffic.flow_state import FlowState
from qps.compiler.lower.traffic.traffic_parts import NetworkTraffic
from qps.compiler.network.classes import Class
from qps.compiler.network.itinerary import Cross, Lose, PortVisit, Serve
from qps.compiler.network.network import Network
from qps.compiler.network.stations_and_pools import Station, StationKind
from qps.engine.expressions.formulas import ONE, ZERO, Formula, symbol, total
from qps.engine.operations import SUM

_LINKS = (StationKind.PORT, StationKind.MEDIUM)


class StationFlows:
    """The flows of one class at stations; `full` are those that come next and lose items."""

    def __init__(
        self,
        *,
        network: Network,
        of: Class,
        state: FlowState,
        visits: ClassVisits,
        traffic: NetworkTraffic,
    ) -> None:
        self._network = network
        self._of = of
        self._state = state
        self._result = state.result
        self._visits = visits
        self._traffic = traffic
        self.full: dict[str, Lose] = {}

    def lose_full(self, *stations: str) -> None:
        """Lose what finds no room, at some stations or wherever it is still to be lost."""
        for name in stations or tuple(self.full):
            node = self.full.pop(name, None)
            if node is not None:
                share = self._traffic.losing.setdefault(name, symbol(f"{name} loses"))
                self._state.lose(node.why, LossKind(node.kind), share, node.span, at=name)

    def serve(self, node: Serve, flows: Formula, working: Formula) -> Formula | None:
        """Serve flows at a node, where so many are `working`.

        Return the cores that they share, None where nothing is worked.
        """
        name, by = node.station, node.by
        often = working * node.times.mean
        terms = node.work.operands if node.work.word == SUM else (node.work,)
        each = total(map(self._state.each_second, terms))
        self._pass(name, node)
        if self._network.is_store(name):
            capacity = self._network.capacity_of(name)
            assert capacity is not None
            load = often * (each + node.per_flow) / capacity
            self._traffic.stations[name].add(by, load, self._of.stream)
            return None
        station = self._network.stations[name]
        work = each + node.per_flow / node.pace
        demand, busy = self._traffic.stations[name], often * work * node.pace
        demand.add(by, busy / station.servers / station.fastest, self._of.stream)
        if station.is_bits:
            demand.throughputs.append(often * work)
        self._count(node, often)
        self._shake(station)
        demand_there = often * node.work * node.pace
        bounded, wait = node.is_bounded, self._visits.wait
        wait(station, flows, demand_there, is_bounded=bounded, thread=node.thread)
        served: tuple[str, ...] = (name,)
        if node.thread is not None:
            self._pass(node.thread, node)
            self._traffic.stations[node.thread].add(by, busy, self._of.stream)
            wait(self._network.stations[node.thread], flows, demand_there, is_bounded=bounded)
            served = (name, node.thread)
        place = self._visits.place.name
        stage = LatencyPart(
            stage=f"{by} at {place}", value=node.demand, place=place, spent=TimeSpent.WORK
        )
        self._state.takes(stage, *served)
        return station.servers if node.thread is None else ONE

    def cross(self, node: Cross) -> None:
        """Cross the ports of a link."""
        now, result, name = self._state, self._result, self._of.stream
        for index, port in enumerate(node.ports):
            self.lose_full(port.station)
            station, demand = self._station(port), self._traffic.stations[port.station]
            arriving = now.total if index > 0 and node.every_copy else now.copies
            flows = arriving / station.place.copies
            bits = flows * total(map(now.each_second, (port.payload, port.header)))
            demand.add(name, station.time_for(bits) / station.fastest, name)
            demand.throughputs.append(bits)
            result.passes[port.station] = ONE
            site = station.place.name if station.kind is StationKind.PORT else station.name
            result.flows[port.station], result.where[port.station] = flows, site
            if station.waits and not now.is_bare:
                place = QueuePlace(site, station.place.copies)
                visit = self._visits.visit(port.station, flows * now.rate, flows, place)
                visit.service = station.time_for(port.bits)
                visit.batch = now.batch if index == 0 else ONE
                self._visits.queue(visit)
            else:
                self._visits.note_uncounted(port.station)
            self._shake(station)
            if port.cap is not None:
                cap, items = port.cap
                load = self._network.stations[cap].time_for(flows * now.each_second(items))
                self._traffic.stations[cap].add(name, load, name)
                result.passes[cap] = ONE
                result.unbounded[cap] = None
        last = node.ports[-1]
        travel = LatencyPart(
            stage=f"over {node.link}",
            value=self._station(last).time_for(last.bits),
            place=node.link,
            spent=TimeSpent.TRANSFER,
        )
        now.takes(travel, *(port.station for port in node.ports))

    def _station(self, port: PortVisit) -> Station:
        return self._network.stations[port.station]

    def _pass(self, name: str, node: Serve) -> None:
        """Note that items pass a station: all of them, where the step is taken."""
        passes, taken = self._result.passes, node.times.switch
        passes[name] = ONE if taken is ONE else 1 - (1 - passes.get(name, ZERO)) * (1 - taken)

    def _count(self, node: Serve, often: Formula) -> None:
        """Count what a fitted cost is requested."""
        if node.counted:
            rates = self._traffic.counted.setdefault((node.station, node.by), {})
            for item, amount in node.counted:
                each = often * self._state.each_second(amount)
                rates[item] = rates.get(item, ZERO) + each

    def _shake(self, station: Station) -> None:
        """Note the jitter of a station, with what its law may name of its rate or rating."""
        if station.jitter is None:
            return
        self._result.jitter[station.name] = station.jitter.stated
        rating = station.rate if station.kind in _LINKS else station.rating
        if rating is not None:
            self._result.rates[station.name] = rating
