"""A system that traces show: its graph, its names in a spec, and what a table of CPU adds."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler.measurement.traces.call_graph import CallGraph, TracedService
from qps.compiler.measurement.traces.cpu_costs import CpuCost, CpuCosts
from qps.reports.text.layout.wrapping import wrapped
from qps.reports.text.systems.spec_numbers import plain
from qps.reports.text.systems.system_names import KnownNames, SystemNames, all_calls, system_names
from qps.reports.text.words.phrases import phrase, phrases

USERS = 100
"""Of the recorded traffic: so the population is a percentage of it."""
_WIDTH = 98
_MOST_ROUTES = 100
_ASSUMED_COST = 1e-3
"""The median of what is assumed of processor time, in s."""
_ASSUMED_LOAD = 0.5
_MOST_CORES = 1024


class System(Struct, frozen=True, kw_only=True):
    """All that the parts of a spec are written from; `left_out` is what is not.

    `rates` are the requests per s at each service, of the routes that are written.
    """

    graph: CallGraph
    names: SystemNames
    files: tuple[str, ...]
    costs: CpuCosts | None
    rates: Mapping[str, float]
    left_out: int
    share_left_out: float

    def phrase(self, key: str, **values: object) -> str:
        """Return a phrase of specs, in the words for where this system was seen."""
        of_metrics = key.removeprefix("system.")
        if self.graph.origin == "metrics" and f"service_graph.{of_metrics}" in phrases():
            return phrase(f"service_graph.{of_metrics}", **values)
        return phrase(key, **values)

    def cost(self, service: TracedService) -> CpuCost | None:
        """Return the measured processor time of a service, None where it is unknown."""
        return None if self.costs is None else self.costs.services.get(service.name)

    def idle(self, service: TracedService) -> str:
        """Return what a service uses without requests, in per cent of an instance."""
        cost = self.cost(service)
        if cost is None or cost.idle <= 0:
            return ""
        share = plain(100 * cost.idle / max(1, service.instances))
        return f"{share} % / {self.names.nodes[service.name]}_cores"

    def cores(self, service: TracedService) -> int:
        """Return as many cores as keep an instance half busy, at most, by what is known."""
        cost = self.cost(service)
        seconds = _ASSUMED_COST if cost is None else cost.seconds
        load = self.rates[service.name] * seconds + (0 if cost is None else cost.idle)
        return max(1, min(_MOST_CORES, ceil(load / max(1, service.instances) / _ASSUMED_LOAD)))


def observed_system(
    graph: CallGraph,
    files: tuple[str, ...],
    costs: CpuCosts | None = None,
    known: KnownNames | None = None,
) -> System:
    """Return the system of a graph, with its most frequent kinds of requests, by known names."""
    frequent = _most_frequent_routes(graph)
    total = sum(route.root.count for route in graph.routes)
    left = total - sum(route.root.count for route in frequent.routes)
    return System(
        graph=frequent,
        names=system_names(frequent, known),
        files=files,
        costs=costs,
        rates=_service_rates(frequent),
        left_out=len(graph.routes) - len(frequent.routes),
        share_left_out=left / total,
    )


def comment(text: str) -> list[str]:
    """Return a text as lines of a comment."""
    return wrapped(text, _WIDTH, "# ")


def _most_frequent_routes(graph: CallGraph) -> CallGraph:
    """Return the graph with its most frequent kinds of requests, in their order."""
    if len(graph.routes) <= _MOST_ROUTES:
        return graph
    order = sorted(range(len(graph.routes)), key=lambda n: -graph.routes[n].root.count)
    frequent = sorted(order[:_MOST_ROUTES])
    numbers = {old: new for new, old in enumerate(frequent)}
    routes = tuple(
        replace(
            route,
            messages=tuple(
                replace(one, route=numbers[one.route])
                for one in route.messages
                if one.route in numbers
            ),
        )
        for route in (graph.routes[number] for number in frequent)
    )
    used = {call.service for route in routes for call in all_calls(route.root)}
    services = tuple(one for one in graph.services if one.name in used)
    return replace(graph, routes=routes, services=services)


def _service_rates(graph: CallGraph) -> dict[str, float]:
    """Return the requests per s at each service, of the routes that are written."""
    seconds = graph.seconds or 1.0
    rates = dict.fromkeys((one.name for one in graph.services), 0.0)
    for route in graph.routes:
        for call in all_calls(route.root):
            rates[call.service] += call.count / seconds
    return rates
