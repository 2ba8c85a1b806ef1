"""Links on the way of a stream: what each crossing loads, how long it takes, what it loses."""

from __future__ import annotations

from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.lower.response_time.response_parts import LossKind
from qps.compiler.lower.unmodeled_waits import UnmodeledQueue
from qps.compiler.lower.walk.class_state import ClassState
from qps.compiler.lower.walk.network_builder import NetworkBuilder
from qps.compiler.network.itinerary import Cross, Delay, PortVisit
from qps.compiler.network.stations_and_pools import Open, Place, StationKind
from qps.compiler.quantities.dimension import INFORMATION_BASE, TIME_BASE
from qps.engine.expressions.formulas import ZERO, Formula

_KINDS = {
    ir.Medium.SHARED: StationKind.MEDIUM,
    ir.Medium.DUPLEX: StationKind.MEDIUM,
    ir.Medium.SWITCHED: StationKind.PORT,
}


class LinkBuilder:
    """The links of one walk along a stream."""

    def __init__(self, network: NetworkBuilder, state: ClassState) -> None:
        self._network = network
        self._expressions = network.expressions
        self._state = state

    def cross(self, leg: ir.Crossing, *, last: bool) -> None:
        """Carry the flows over a link; `last` where a node follows, which gets every copy."""
        link = self._network.configuration.links[leg.link]
        network = ir.network_at(self._network.model, link)
        assert network is not None
        if network.rate is not None:
            self._transmit(leg, link, network, network.rate, last=last)
        else:
            self._state.add(Cross(link=leg.link, ports=(), every_copy=last))
        if network.propagation is not None:
            value = self._of_link(leg, "propagation", network.propagation)
            self._state.add(Delay(why=f"propagation on {leg.link}", time=value, link=leg.link))
        if network.loss is not None:
            lost = self._of_link(leg, "loss", network.loss)
            why, span = f"lost on {leg.link}", network.loss.span
            self._state.lose(why, LossKind.TRANSMISSION, lost, span, link=leg.link)

    def _transmit(
        self,
        leg: ir.Crossing,
        link: ir.Link,
        network: ir.Network,
        stated: ir.Quantity,
        *,
        last: bool,
    ) -> None:
        """Let the ports of a link carry an item, one after the other."""
        rate = self._of_link(leg, "rate", stated, is_capacity=True)
        flow = self._state.flow
        ports: list[PortVisit] = []
        for name, at, count in self._ports(leg, link, network):
            self._state.admit(name, network.waits)
            header = self._header(leg, network)
            place = Place(at, count)
            port_of = link.name if network.medium is ir.Medium.SWITCHED else None
            self._network.come_to(
                name,
                place,
                _KINDS[network.medium],
                link.span,
                speeds=self._network.speeds(name, network.waits),
                rate=rate,
                is_bits=True,
                port_of=port_of,
                jitter=None if network.jitter is None else Open(network.jitter),
            )
            unwaited = UnmodeledQueue(name, leg.link, "link", ir.Discipline.MD1)
            waits = None if flow.primary is None else network.waits
            self._network.note_wait(name, waits, network.queueing, unwaited)
            capped = None
            if network.cap is not None:
                item = next(iter(network.cap.dimension.bases - {TIME_BASE}))
                cap, most = (
                    f"{name}.{item}s",
                    self._of_link(leg, "cap", network.cap, is_capacity=True),
                )
                kind = StationKind.CAP
                self._network.come_to(cap, place, kind, link.span, rate=most, port_of=port_of)
                capped = cap, flow.per_item(item)
            payload = flow.per_item(INFORMATION_BASE)
            ports.append(
                PortVisit(station=name, payload=payload, header=header, overlaps=False, cap=capped)
            )
        before = [replace(port, overlaps=True) for port in ports[:-1]]
        self._state.add(Cross(link=leg.link, ports=(*before, *ports[-1:]), every_copy=last))

    def _header(self, leg: ir.Crossing, network: ir.Network) -> Formula:
        """Return the bits that a link adds to an item."""
        if network.header is None:
            return ZERO
        item = next(iter(network.header.dimension.bases - {INFORMATION_BASE}))
        return self._of_link(leg, "header", network.header) * self._state.flow.per_item(item)

    def _of_link(
        self, leg: ir.Crossing, word: str, number: ir.Quantity, *, is_capacity: bool = False
    ) -> Formula:
        """Return a number of the network that is crossed."""
        network = self._network.model.networks[self._network.configuration.links[leg.link].network]
        name, source = f"{leg.link}.{word}", network.origin(number)
        return self._expressions.symbol(name, number, source, is_capacity=is_capacity)

    def _ports(
        self, leg: ir.Crossing, link: ir.Link, network: ir.Network
    ) -> list[tuple[str, str, Formula]]:
        """Return what a crossing loads of a link: name, where it is, how many of it there are."""
        count = self._expressions.count(leg.link)
        if network.medium is ir.Medium.SHARED:
            return [(leg.link, leg.link, count)]
        if network.medium is ir.Medium.DUPLEX:
            ends = list(link.ends)
            here = ends.index(leg.before) if leg.before in ends else len(ends)
            there = ends.index(leg.after) if leg.after in ends else len(ends)
            direction = "forth" if here <= there else "back"
            return [(f"{leg.link}.{direction}", leg.link, count)]
        senders = self._expressions.count(leg.before) * count
        receivers = self._expressions.count(leg.after) * count
        return [
            (f"{leg.link}.{leg.before}.out", leg.before, senders),
            (f"{leg.link}.{leg.after}.in", leg.after, receivers),
        ]
