"""Links on the way of a stream: what each crossing loads, how long it takes, what it loses."""

from __future__ import annotations

from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.lower.flows import Demand, Flow
from qps.compiler.lower.latency_parts import LatencyPart, TimeSpent
from qps.compiler.lower.queueing import Place
from qps.compiler.lower.stream_demands import StreamDemands
from qps.compiler.lower.stream_measures import LossKind
from qps.compiler.lower.unwaited import Unwaited
from qps.compiler.lower.walk.under_way import UnderWay
from qps.compiler.lower.walk.walk_waits import WalkedWaits
from qps.compiler.network.itinerary import Cross, Delay, PortVisit
from qps.compiler.network.stations_and_pools import StationKind
from qps.compiler.quantities.dimension import INFORMATION_BASE, TIME_BASE
from qps.engine.formulas import ONE, Formula

_OUT = ".out"
_INTO = ".in"  # how the name of a port ends through which a switch sends to a node
_KINDS = {
    ir.Medium.SHARED: StationKind.MEDIUM,
    ir.Medium.DUPLEX: StationKind.MEDIUM,
    ir.Medium.SWITCHED: StationKind.PORT,
}


def _site(port: str, leg: ir.Crossing) -> str:
    """Return where a port is: at the machine that it sends from or to, or on its own."""
    if port.endswith(_INTO):
        return leg.after
    return leg.before if port.endswith(_OUT) else port


class WalkedLinks:
    """The links of one walk along a stream."""

    def __init__(
        self, streams: StreamDemands, stream: ir.Stream, under_way: UnderWay, waits: WalkedWaits
    ) -> None:
        self._streams = streams
        self._expressions = streams.expressions
        self._stream = stream
        self._under_way = under_way
        self._waits = waits
        self._result = under_way.result

    def cross(self, leg: ir.Crossing, *, last: bool) -> None:
        """Carry the flows over a link; `last` where a node follows, which gets every copy."""
        streams = self._streams
        link = streams.configuration.links[leg.link]
        network = ir.network_at(streams.model, link)
        assert network is not None
        if network.rate is not None:
            self._carry(leg, link, network, network.rate, last=last)
        else:
            self._under_way.add(Cross(link=leg.link, ports=(), every_copy=last))
        if network.propagation is not None:
            value = self._of_link(leg, "propagation", network.propagation)
            self._under_way.takes(
                LatencyPart(stage=f"propagation on {leg.link}", value=value, place=leg.link)
            )
            self._under_way.add(Delay(why=f"propagation on {leg.link}", time=value, link=leg.link))
        if network.loss is not None:
            lost = self._of_link(leg, "loss", network.loss)
            why, span = f"lost on {leg.link}", network.loss.span
            self._under_way.lose(why, LossKind.TRANSMISSION, lost, span, link=leg.link)

    def _carry(
        self,
        leg: ir.Crossing,
        link: ir.Link,
        network: ir.Network,
        stated: ir.Quantity,
        *,
        last: bool,
    ) -> None:
        """Load the ports of a link, wait for them, and take the time of the transfer."""
        streams = self._streams
        rate = self._of_link(leg, "rate", stated, is_capacity=True)
        arriving = self._under_way.flow.total if last else self._under_way.copies
        kind = _KINDS[network.medium]
        ports: list[PortVisit] = []
        item_bits: Formula = ONE
        for name, flows, count in self._ports(leg, link, network, arriving):
            self._waits.admit_to(name, network.waits)
            flow = self._under_way.flow
            bits, item_bits = self._bits(leg, network, flow)
            fastest = streams.fastest(name, network.waits)
            at = self._node_of(name, leg, network) or leg.link
            demand = streams.demand(name, link.span, at=at, kind=kind)
            self._load_link(name, demand, flows * bits / (rate * fastest), link, network)
            demand.rate = rate
            demand.carried.append(flows * bits)
            demand.count = count
            self._result.held[name] = flows
            self._result.where[name] = _site(name, leg)
            if network.waits is not None and flow.primary is not None:
                arriving_rate = flows * flow.rates[flow.primary]
                place = Place(_site(name, leg), count)
                visit = self._waits.visit(name, arriving_rate, flows, place)
                visit.service = item_bits / rate
                visit.batch = ONE if name.endswith(_INTO) else self._under_way.batch
                self._waits.queue(visit, demand, network.waits)
            else:
                unwaited = Unwaited(name, leg.link, "link", ir.Discipline.MD1)
                self._waits.note_uncounted(unwaited, network.queueing)
                self._result.unbounded[name] = None
            capped = None
            if network.jitter is not None:
                self._result.jitter[name] = network.jitter
                self._result.rates[name] = rate
            if network.cap is not None:
                item = next(iter(network.cap.dimension.bases - {TIME_BASE}))
                cap = self._of_link(leg, "cap", network.cap, is_capacity=True)
                load = flows * flow.rates[item] / cap
                limited = streams.demand(
                    f"{name}.{item}s", link.span, count, at=at, kind=StationKind.CAP
                )
                limited.rate = cap
                self._load_link(f"{name}.{item}s", limited, load, link, network)
                self._result.unbounded[f"{name}.{item}s"] = None
                capped = f"{name}.{item}s", flow.per_item(item)
            payload = flow.per_item(INFORMATION_BASE)
            header = item_bits - payload
            ports.append(
                PortVisit(station=name, payload=payload, header=header, overlaps=False, cap=capped)
            )
        before = [replace(port, overlaps=True) for port in ports[:-1]]
        self._under_way.add(Cross(link=leg.link, ports=(*before, *ports[-1:]), every_copy=last))
        travel = LatencyPart(
            stage=f"over {leg.link}",
            value=item_bits / rate,
            place=leg.link,
            spent=TimeSpent.TRANSFER,
        )
        self._under_way.takes(travel, *(port.station for port in ports))

    def _bits(self, leg: ir.Crossing, network: ir.Network, flow: Flow) -> tuple[Formula, Formula]:
        """Return the bit/s of a flow on a link, and the bits of an item, headers included."""
        bits, item_bits = flow.rates[INFORMATION_BASE], flow.per_item(INFORMATION_BASE)
        if network.header is None:
            return bits, item_bits
        item = next(iter(network.header.dimension.bases - {INFORMATION_BASE}))
        header = self._of_link(leg, "header", network.header)
        return bits + header * flow.rates[item], item_bits + header * flow.per_item(item)

    @staticmethod
    def _node_of(port: str, leg: ir.Crossing, network: ir.Network) -> str | None:
        """Return of which node or link a port is one, None where it is nobody's own."""
        if network.medium is not ir.Medium.SWITCHED:
            return None
        return leg.after if port.endswith(_INTO) else leg.before

    def _of_link(
        self, leg: ir.Crossing, word: str, number: ir.Quantity, *, is_capacity: bool = False
    ) -> Formula:
        """Return a number of the network that is crossed."""
        network = self._streams.model.networks[self._streams.configuration.links[leg.link].network]
        name, source = f"{leg.link}.{word}", network.origin(number)
        return self._expressions.symbol(name, number, source, is_capacity=is_capacity)

    def _ports(
        self, leg: ir.Crossing, link: ir.Link, network: ir.Network, arriving: Formula
    ) -> list[tuple[str, Formula, Formula]]:
        """Return what a crossing loads of a link: name, flows on each, how many of it there are."""
        count = self._expressions.count(leg.link)
        if network.medium is ir.Medium.SHARED:
            return [(leg.link, self._under_way.copies / count, count)]
        if network.medium is ir.Medium.DUPLEX:
            ends = list(link.ends)
            here = ends.index(leg.before) if leg.before in ends else len(ends)
            there = ends.index(leg.after) if leg.after in ends else len(ends)
            direction = "forth" if here <= there else "back"
            return [(f"{leg.link}.{direction}", self._under_way.copies / count, count)]
        senders = self._expressions.count(leg.before) * count
        receivers = self._expressions.count(leg.after) * count
        return [
            (f"{leg.link}.{leg.before}.out", self._under_way.copies / senders, senders),
            (f"{leg.link}.{leg.after}{_INTO}", arriving / receivers, receivers),
        ]

    def _load_link(
        self, name: str, demand: Demand, load: Formula, link: ir.Link, network: ir.Network
    ) -> None:
        demand.add(self._stream.name, load, self._stream.name)
        demand.port_of = link.name if network.medium is ir.Medium.SWITCHED else None
        self._result.passes[name] = ONE
