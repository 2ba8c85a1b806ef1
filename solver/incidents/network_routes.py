"""The ways of the requests of a class through the stations of its network, by their shares."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from math import isfinite

from msgspec import Struct

from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.diagnostics.source import Span
from qps.compiler.lower.expressions.item_kinds import averaged, mixtures_of
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.network import itinerary
from qps.compiler.network.classes import Class
from qps.compiler.network.itinerary import (
    At,
    Call,
    Cross,
    Delay,
    Fork,
    Give,
    Node,
    Resize,
    Serve,
    Take,
)
from qps.compiler.network.stations_and_pools import StationKind
from qps.engine.expressions.formulas import Formula

_MOST_ROUTES = 64
_REFUSED = {
    "Take": "takes some of a pool",
    "Lose": "loses items",
    "Restore": "loses items",
    "QueueLimit": "has a limited queue",
    "Thin": "filters items",
    "Send": "sends copies to others",
    "Merge": "merges items",
}
"""What changes how many requests there are, or holds something, on their way."""

DELAY = "delay at "
PARALLEL = "calls in parallel"
Visits = dict[str, float]
"""The work at each station, in the order in which they are visited first.

The time of delays at a node is under its name, behind `DELAY`; `PARALLEL` is there if calls are
made together, which are followed one after the other.
"""


class WorkRoute(Struct, frozen=True):
    """A share of the requests of a class, and their work at stations, in s of one server."""

    share: float
    visits: Visits

    @property
    def key(self) -> tuple[tuple[str, float], ...]:
        """What routes have in common that are alike: stations and work, up to rounding."""
        return tuple((name, float(f"{work:.9g}")) for name, work in self.visits.items())


def routes_of(graph: LoadGraph, of: Class, population: int) -> tuple[WorkRoute, ...]:
    """Return the routes of a class: requests on one have the same work at the same stations.

    Raises QpsError for what changes the number of requests on their way.
    """
    point = graph.at(population)
    mixtures = mixtures_of(graph.network.kinds)
    found = _Walk(
        graph=graph, of=of, number=lambda formula: point.number(averaged(formula, mixtures))
    ).through(of.itinerary)
    return tuple(found)


class _Walk(Struct, frozen=True, kw_only=True):
    graph: LoadGraph
    of: Class
    number: Callable[[Formula], float]

    def through(self, body: itinerary.Sequence) -> list[WorkRoute]:
        """Return the ways through a sequence; calls of one choice exclude each other."""
        routes = [WorkRoute(1.0, {})]
        nodes = list(body.nodes)
        place = ""
        while nodes:
            node = nodes.pop(0)
            place = node.node if isinstance(node, At) else place
            group = [node]
            if isinstance(node, Call) and node.choice is not None:
                while nodes and _is_of_choice(nodes[0], node.choice):
                    group.append(nodes.pop(0))
            routes = _merged(_joined(routes, self._branches(group, place)))
            if len(routes) > _MOST_ROUTES:
                raise _unsupported(
                    self.of.span,
                    f"`{self.of.name}` has more than {_MOST_ROUTES} ways through the system",
                    "use fewer alternatives, or declare several streams",
                )
        return routes

    def _branches(self, group: Sequence[Node], place: str) -> list[WorkRoute]:
        first = group[0]
        match first:
            case Call():
                return self._calls([one for one in group if isinstance(one, Call)])
            case Fork(branches=branches, count=count):
                times = 1.0 if count is None else self.number(count)
                routes = [WorkRoute(1.0, {PARALLEL: 0.0})]
                for branch in branches:
                    routes = _merged(_joined(routes, _repeated(self.through(branch), times)))
                return routes
            case Serve():
                work = self.number(first.demand)
                names = [first.station, *([first.thread] if first.thread else ())]
                return [WorkRoute(1.0, {name: work for name in names if self._serves(name)})]
            case Cross(ports=ports):
                return [WorkRoute(1.0, dict(self._ports(ports)))]
            case Delay(link=None):
                time = self.number(first.time) * self.number(first.times.mean)
                return [WorkRoute(1.0, {f"{DELAY}{place}": time})]
            case At() | Delay() | Resize() | Give():
                return [WorkRoute(1.0, {})]
            case _:
                kind = type(first).__name__
                span = first.span if isinstance(first, Take) else self.of.span
                raise _unsupported(
                    span,
                    f"incidents of a system in which `{self.of.stream}` {_REFUSED[kind]} are not "
                    "supported",
                    "remove it in a copy of the spec",
                )

    def _calls(self, calls: Sequence[Call]) -> list[WorkRoute]:
        """Return the ways of calls of one choice, or of a single call."""
        found: list[WorkRoute] = []
        rest = 1.0
        for call in calls:
            times = 1.0 if call.times is None else self.number(call.times.mean)
            inside = self.through(call.body)
            if times > 1:
                return _repeated(inside, times)
            rest -= times
            found += [WorkRoute(times * one.share, one.visits) for one in inside]
        return [*found, WorkRoute(max(0.0, rest), {})]

    def _ports(self, ports: Sequence[itinerary.PortVisit]) -> Iterator[tuple[str, float]]:
        stations = self.graph.network.stations
        for port in ports:
            yield port.station, self.number(stations[port.station].time_for(port.bits))
            if port.cap is not None:
                name, many = port.cap
                yield name, self.number(stations[name].time_for(many))

    def _serves(self, name: str) -> bool:
        return self.graph.network.stations[name].kind is not StationKind.STORE


def _is_of_choice(node: Node, choice: int) -> bool:
    return isinstance(node, Call) and node.choice == choice


def _joined(before: Sequence[WorkRoute], after: Sequence[WorkRoute]) -> Iterator[WorkRoute]:
    for first in before:
        for second in after:
            share = first.share * second.share
            if share > 0 and isfinite(share):
                visits = dict(first.visits)
                for name, work in second.visits.items():
                    visits[name] = visits.get(name, 0.0) + work
                yield WorkRoute(share, visits)


def _repeated(routes: Sequence[WorkRoute], times: float) -> list[WorkRoute]:
    return [
        WorkRoute(one.share, {name: times * work for name, work in one.visits.items()})
        for one in routes
    ]


def _merged(routes: Iterable[WorkRoute]) -> list[WorkRoute]:
    """Return one route for all that are alike."""
    alike: dict[tuple[tuple[str, float], ...], float] = {}
    visits: dict[tuple[tuple[str, float], ...], Visits] = {}
    for one in routes:
        key = one.key
        alike[key] = alike.get(key, 0.0) + one.share
        visits.setdefault(key, one.visits)
    return [WorkRoute(share, visits[key]) for key, share in alike.items()]


def with_mean_work(routes: Iterable[WorkRoute]) -> tuple[WorkRoute, ...]:
    """Return one route for all that visit the same stations in the same order."""
    alike: dict[tuple[str, ...], list[WorkRoute]] = {}
    for one in routes:
        alike.setdefault(tuple(one.visits), []).append(one)
    found = []
    for stations, same in alike.items():
        share = sum(one.share for one in same)
        visits = {
            name: sum(one.share * one.visits[name] for one in same) / share for name in stations
        }
        found.append(WorkRoute(share, visits))
    return tuple(found)


def _unsupported(span: Span, message: str, hint: str) -> QpsError:
    return QpsError.single(codes.NO_ANSWER, span, message, hint=hint)
