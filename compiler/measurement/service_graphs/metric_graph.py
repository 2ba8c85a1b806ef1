"""The graph of calls that metrics of a service graph show: as traces do, but by ratios of rates.

A service is taken to call others equally often for each of its callers, as metrics do not tell
requests apart. Services that no other calls are outside: what they call are the requests that come
in. Where services call each other in a circle, the rarest call of the circle is left out.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from qps.compiler.diagnostics.suggest import shortened
from qps.compiler.measurement.measured_tables import DataError
from qps.compiler.measurement.observations.file_texts import text_of
from qps.compiler.measurement.observations.machines.saved_series import saved_series
from qps.compiler.measurement.service_graphs.growing_series import GrowingSeries, growing_series
from qps.compiler.measurement.service_graphs.pod_cpu import is_cpu, pod_cpu
from qps.compiler.measurement.service_graphs.service_edges import (
    DATABASE,
    MESSAGES,
    Edge,
    ServiceEdge,
    ServiceEdges,
    is_edge,
    service_edges,
)
from qps.compiler.measurement.traces.call_graph import (
    CallGraph,
    CallGroup,
    Message,
    TracedCall,
    TracedRoute,
    TracedService,
)
from qps.compiler.measurement.traces.cpu_costs import CpuCosts, cpu_costs
from qps.compiler.measurement.traces.trace_tree import Flaws

OPERATION = "request"
"""What all that a service is called for is named."""
_MOST_SERIES = 20_000
_DEEPEST = 25
_MOST_CALLS = 20_000
_OUTSIDE = ("user", "unknown", "")
_HINT = (
    "save `traces_service_graph_request_total` (Tempo), `istio_requests_total` (Istio) and "
    "`container_cpu_usage_seconds_total` with `curl -G URL/api/v1/query_range`"
)


class MetricSystem(Struct, frozen=True, kw_only=True):
    """The graph, and what requests cost where CPU of pods was saved as well."""

    graph: CallGraph
    costs: CpuCosts | None


def metric_system(files: Sequence[Path], clients: Collection[str] = ()) -> MetricSystem:
    """Return the system that saved metrics show; DataError where they show none."""
    series: list[GrowingSeries] = []
    of_cpu: list[str] = []
    cpu: list[GrowingSeries] = []
    notes: list[str] = []
    for path in files:
        saved = saved_series(text_of(path), str(path), _MOST_SERIES, takes_instant=True)
        grown = [growing_series(one) for one in saved]
        mine = [one for one in grown if is_edge(one)]
        pods = [one for one in grown if not is_edge(one) and is_cpu(one)]
        series += mine
        cpu += pods
        of_cpu += [path.name] * bool(pods)
        notes.append(_read(path, len(mine), len(pods), len(grown)))
    edges = service_edges(series)
    if not edges.edges:
        names = ", ".join(f"`{shortened(str(path))}`" for path in files[:3])
        raise DataError(f"{names}: no calls between services", _HINT)
    graph = _Graph(edges, frozenset(clients)).graph(series, notes)
    costs = None
    if cpu:
        into = {one.name: _into(one.name, edges.edges) for one in graph.services}
        table = pod_cpu(cpu, into, ", ".join(map(shortened, of_cpu)))
        costs = cpu_costs(table, into)
    return MetricSystem(graph=graph, costs=costs)


def _read(path: Path, edges: int, pods: int, series: int) -> str:
    other = series - edges - pods
    rest = f", {other:,} others left out" if other else ""
    return f"{path}: {edges:,} series of calls, {pods:,} of CPU{rest}"


def _into(service: str, edges: Mapping[Edge, ServiceEdge]) -> list[ServiceEdge]:
    return [edge for (_, called), edge in edges.items() if called == service]


class _Graph:
    """The edges that count, from services to what they call."""

    def __init__(self, edges: ServiceEdges, clients: frozenset[str]) -> None:
        self.is_istio = edges.is_istio
        self.notes: list[str] = []
        called = {called for _, called in edges.edges}
        callers = {caller for caller, _ in edges.edges}
        self.outside = (callers - called) | (set(_OUTSIDE) & callers) | clients
        self.edges = self._without_circles(
            {edge: one for edge, one in edges.edges.items() if edge[1] not in self.outside}
        )
        self.calls: dict[str, dict[str, ServiceEdge]] = {}
        for (caller, name), edge in self.edges.items():
            self.calls.setdefault(caller, {})[name] = edge
        self.counts: dict[str, float] = {}
        for (_, name), edge in self.edges.items():
            self.counts[name] = self.counts.get(name, 0.0) + edge.count
        self.number = 0

    def _without_circles(self, edges: dict[Edge, ServiceEdge]) -> dict[Edge, ServiceEdge]:
        """Return edges of which none leads back, the most frequent ones first."""
        found: dict[Edge, ServiceEdge] = {}
        below: dict[str, set[str]] = {}
        for (caller, name), edge in sorted(edges.items(), key=lambda one: -one[1].count):
            if caller == name or caller in self._reached(name, below):
                self.notes.append(
                    f"warning: calls of {name} by {caller} lead back in a circle and are left out "
                    f"({edge.count:.4g} requests)"
                )
                continue
            found[caller, name] = edge
            below.setdefault(caller, set()).add(name)
        return found

    @staticmethod
    def _reached(start: str, below: Mapping[str, set[str]]) -> set[str]:
        found, todo = {start}, [start]
        while todo:
            new = below.get(todo.pop(), set()) - found
            found |= new
            todo += new
        return found

    def graph(self, series: Sequence[GrowingSeries], notes: Sequence[str]) -> CallGraph:
        """Return the graph with a kind of requests for each service that is called from outside."""
        times = [time for one in series for time in (one.times[0], one.times[-1])]
        is_instant = any(one.is_instant for one in series)
        entries = self._entries()
        routes = self._routes(entries)
        peers = self._peers()
        outside = sorted(self.outside - set(_OUTSIDE))
        if outside:
            self.notes.append(f"outside the system, as no service calls them: {', '.join(outside)}")
        return CallGraph(
            services=tuple(
                TracedService(
                    name=name, instances=0, requests=count, own=None, is_peer=name in peers
                )
                for name, count in self.counts.items()
            ),
            routes=tuple(routes),
            traces=0,
            spans=len(series),
            first=min(times),
            seconds=0.0 if is_instant else max(times) - min(times),
            sampled=self.is_istio,
            flaws=Flaws(),
            notes=(*notes, *self.notes),
            origin="metrics",
        )

    def _entries(self) -> dict[str, float]:
        """Return the requests from outside to each service, the most first."""
        found: dict[str, float] = {}
        for (caller, name), edge in self.edges.items():
            if caller in self.outside:
                found[name] = found.get(name, 0.0) + edge.count
        return dict(sorted(found.items(), key=lambda one: (-one[1], one[0])))

    def _peers(self) -> set[str]:
        return {name for (_, name), edge in self.edges.items() if edge.connection == DATABASE}

    def _is_message(self, edge: Edge) -> bool:
        return self.edges[edge].connection == MESSAGES and edge[0] not in self.outside

    def _routes(self, entries: Mapping[str, float]) -> Iterator[TracedRoute]:
        """Yield the kinds of requests, those from outside first, then what they start."""
        consumers = dict.fromkeys(edge[1] for edge in self.edges if self._is_message(edge))
        extra = [name for name in consumers if name not in entries]
        numbers = {name: number for number, name in enumerate([*entries, *extra])}
        visits = {name: self._visits(name) for name in numbers}
        amounts = dict(entries)
        for name in extra:
            amounts[name] = sum(self.edges[edge].count for edge in self.edges if edge[1] == name)
        for name in numbers:
            messages = [
                Message(route=numbers[root], count=amounts[root] * of[caller] * ratio)
                for root, of in visits.items()
                for caller, ratio in self._senders(name)
                if name in extra and caller in of and root != name
            ]
            yield TracedRoute(
                root=self._call(name, amounts[name], amounts[name], self._mean_edge(name), 0),
                messages=tuple(messages),
                p50=None,
                p95=None,
                p99=None,
                name=f"{name} requests",
            )

    def _senders(self, name: str) -> Iterator[tuple[str, float]]:
        """Yield who sends messages to a service, and how many for a request."""
        for edge, one in self.edges.items():
            if edge[1] == name and self._is_message(edge):
                yield edge[0], one.count / self._served(edge[0])

    def _served(self, service: str) -> float:
        return self.counts.get(service) or 1.0

    def _visits(self, root: str) -> dict[str, float]:
        """Return how often each service works for one request to a root."""
        found: dict[str, float] = {}
        todo = [(root, 1.0)]
        while todo and len(found) < _MOST_CALLS:
            name, times = todo.pop()
            found[name] = found.get(name, 0.0) + times
            for called, edge in self.calls.get(name, {}).items():
                if not self._is_message((name, called)):
                    todo.append((called, times * edge.count / self._served(name)))
        return found

    def _mean_edge(self, name: str) -> ServiceEdge:
        """Return all calls of a service together."""
        found = ServiceEdge()
        for (_, called), edge in self.edges.items():
            if called == name:
                found.counts += edge.counts
                found.failed += edge.failed
                for mean in ("server_time", "client_time", "sent", "returned"):
                    getattr(found, mean).total += getattr(edge, mean).total
                    getattr(found, mean).count += getattr(edge, mean).count
        return found

    def _call(
        self, name: str, count: float, of: float, edge: ServiceEdge, depth: int
    ) -> TracedCall:
        """Return a call and all below it, made `count` times by `of` requests."""
        self.number += 1
        if depth > _DEEPEST or self.number > _MOST_CALLS:
            raise DataError(
                f"services call each other on more than {_MOST_CALLS:,} ways, or more than "
                f"{_DEEPEST} deep",
                "save the metrics of fewer services",
            )
        below = {
            called: one
            for called, one in self.calls.get(name, {}).items()
            if not self._is_message((name, called))
        }
        calls = [
            self._call(called, count * one.count / self._served(name), count, one, depth + 1)
            for called, one in below.items()
        ]
        server_time, client_time = edge.server_time.value, edge.client_time.value
        return TracedCall(
            service=name,
            operation=OPERATION,
            of=of,
            callers=count,  # of which requests they are is not known
            count=count,
            errors=count * min(1.0, edge.failed / edge.count) if edge.count else 0.0,
            retries=0.0,
            is_peer=name in self._peers(),
            duration=server_time,
            own=self._own(name, server_time, below),
            network=None
            if server_time is None or client_time is None
            else max(0.0, client_time - server_time),
            sent=edge.sent.value,
            returned=edge.returned.value,
            steps=tuple(CallGroup(share=1.0, together=((one,),)) for one in calls),
        )

    def _own(
        self, name: str, server_time: float | None, below: Mapping[str, ServiceEdge]
    ) -> float | None:
        """Return the time of a service outside of its calls, if these are made in turn."""
        times = [one.client_time.value or one.server_time.value for one in below.values()]
        if server_time is None or None in times:
            return None
        waiting = sum(
            (time or 0.0) * one.count / self._served(name)
            for time, one in zip(times, below.values(), strict=True)
        )
        if waiting > server_time:
            note = (
                f"{name} waits for calls longer than it takes itself: some of them are made at the "
                "same time, which metrics do not show"
            )
            if note not in self.notes:
                self.notes.append(note)
        return max(0.0, server_time - waiting)
