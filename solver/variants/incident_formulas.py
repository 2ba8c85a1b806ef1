"""The ways of requests through a load graph as formulas, from which pages follow an incident.

Scripts of a page read them as `solver/incidents` does, with the values of its setting.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import groupby

from msgspec import Struct

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration, in_force
from qps.compiler.configure.fold import Folder
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.network import itinerary
from qps.compiler.network.classes import Class
from qps.compiler.network.itinerary import At, Call, Cross, Delay, Fork, Give, Node, Resize, Serve
from qps.compiler.network.stations_and_pools import StationKind
from qps.compiler.quantities.dimension import TIME
from qps.engine.expressions.formulas import Formula
from qps.solver.incidents.incident_numbers import over_kinds

FormulaTree = Formula | str | bool | Sequence["FormulaTree"] | Mapping[str, "FormulaTree"] | None
"""Formulas under names and in lists, as JSON has numbers."""


class _NotFollowedError(Exception):
    """Raised for what incidents do not support: such a graph has none."""


def incident_formulas(
    model: ir.Model, configuration: Configuration, graph: LoadGraph
) -> FormulaTree:
    """Return what incidents follow from in a graph; None where none are supported."""
    folder = Folder(configuration=in_force(configuration), population=Fraction(graph.low))
    timeouts = {one.stream: folder.fold(one.settings["timeout"].expr) for one in model.retrying}
    try:
        return _Nodes(graph=graph, number=over_kinds(graph), timeouts=timeouts).as_tree()
    except _NotFollowedError:
        return None


class _Nodes(Struct, frozen=True, kw_only=True):
    graph: LoadGraph
    number: Callable[[Formula], Formula]
    timeouts: Mapping[str, Fraction | None]

    def as_tree(self) -> FormulaTree:
        network = self.graph.network
        if any(station.room is not None for station in network.stations.values()):
            raise _NotFollowedError
        places = {one.place.name: one.place.copies for one in network.stations.values()}
        return {
            "classes": [self._class(one) for one in network.classes.values()],
            "stations": list(self._stations()),
            "counts": {name: self.number(copies) for name, copies in places.items()},
        }

    def _stations(self) -> Iterator[FormulaTree]:
        for name, station in self.graph.network.stations.items():
            resource = self.graph.resources.get(name)
            if resource is None:
                continue
            yield {
                "name": name,
                "node": station.place.name,
                "servers": self.number(station.servers * station.place.copies * station.fastest),
                "load": self.number(resource.load),
                "streams": {of: self.number(part) for of, part in resource.streams.items()},
                "background": [self.number(part) for _, part in station.background],
                "variation": self.number(station.variation),
                "isProcessor": station.kind is StationKind.PROCESSOR,
            }

    def _class(self, of: Class) -> FormulaTree:
        if of.amount is not None:
            raise _NotFollowedError
        return {
            "name": of.name,
            "stream": of.stream,
            "rate": self.number(of.flows * of.arrivals.rate),
            "latency": self.number(self.graph.streams[of.name].mean_latency),
            "later": self._later(of),
            "limits": [
                self.number(one.limit)
                for one in self.graph.criteria
                if one.at_most and one.dimension == TIME and one.name.startswith(f"{of.stream}.")
            ],
            "body": self._body(of.itinerary),
        }

    def _later(self, of: Class) -> FormulaTree:
        """Return the share of requests that exceed their timeout by random waits alone.

        None where their clients have none, or where the response time has no law.
        """
        timeout = self.timeouts.get(of.stream)
        if timeout is None:
            return None
        try:
            return self.number(self.graph.streams[of.name].later(timeout))
        except QpsError:
            return None

    def _body(self, body: itinerary.Sequence) -> list[FormulaTree]:
        """Return the nodes of a sequence; calls in a row of one choice are together."""
        keys = ((number, node) for number, node in enumerate(body.nodes))
        grouped = groupby(keys, key=lambda one: _choice_of(one[1]) or f"node {one[0]}")
        groups = ([node for _, node in group] for _, group in grouped)
        return [one for group in groups for one in self._node(group)]

    def _node(self, group: Sequence[Node]) -> Iterator[FormulaTree]:
        first = group[0]
        match first:
            case Call():
                calls = [one for one in group if isinstance(one, Call)]
                yield ["calls", [self._call(one) for one in calls]]
            case Fork(branches=branches, count=count):
                often = None if count is None else self.number(count)
                yield ["fork", often, [self._body(branch) for branch in branches]]
            case Serve():
                names = (first.station, *([first.thread] if first.thread else ()))
                stations = self.graph.network.stations
                served = [one for one in names if stations[one].kind is not StationKind.STORE]
                yield ["serve", list(served), self.number(first.demand)]
            case Cross(ports=ports):
                yield ["cross", [[name, time] for name, time in self._ports(ports)]]
            case Delay(link=None):
                yield ["delay", self.number(first.time), self.number(first.times.mean)]
            case At():
                yield ["at", first.node]
            case Delay() | Resize() | Give():
                return
            case _:
                raise _NotFollowedError

    def _call(self, call: Call) -> FormulaTree:
        often = None if call.times is None else self.number(call.times.mean)
        return [often, self._body(call.body)]

    def _ports(self, ports: Sequence[itinerary.PortVisit]) -> Iterator[tuple[str, Formula]]:
        stations = self.graph.network.stations
        for port in ports:
            yield port.station, self.number(stations[port.station].time_for(port.bits))
            if port.cap is not None:
                name, many = port.cap
                yield name, self.number(stations[name].time_for(many))


def _choice_of(node: Node) -> str | None:
    is_chosen = isinstance(node, Call) and node.choice is not None
    return f"choice {node.choice}" if is_chosen and isinstance(node, Call) else None
