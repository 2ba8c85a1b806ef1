"""The name in a spec of everything in a graph of calls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct

from qps.compiler.measurement.traces.call_graph import CallGraph, Operation, TracedCall
from qps.reports.text.systems.spec_names import SpecNames, identifier, short_operation

NODE_ENDINGS = ("", "_machine", "_cpu", "_cores")
STREAM_ENDINGS = ("", "_rate")
HIGHER_LOAD = "higher_load"
"""The factor of what was measured at low load."""
_LIBRARY_NAMES = (HIGHER_LOAD, "trust")


class SystemNames(Struct, frozen=True, kw_only=True):
    """Nodes by service, components by operation, streams by route, retries by caller and call."""

    nodes: Mapping[str, str]
    components: Mapping[Operation, str]
    streams: tuple[str, ...]
    retries: Mapping[tuple[str, str], str]


class KnownNames(Struct, frozen=True, kw_only=True):
    """Names that a spec has already, and the `others` in it, which nothing else may get."""

    nodes: Mapping[str, str] = {}
    components: Mapping[Operation, str] = {}
    streams: Mapping[Operation, str] = {}
    others: frozenset[str] = frozenset()


def calls_below(call: TracedCall) -> Iterator[TracedCall]:
    """Yield the calls that one makes itself."""
    for step in call.steps:
        for group in step.together:
            yield from group


def all_calls(root: TracedCall) -> Iterator[TracedCall]:
    """Yield a call and all below it, callers first."""
    todo = [root]
    while todo:
        one = todo.pop()
        yield one
        todo += reversed([*calls_below(one)])


def system_names(graph: CallGraph, known: KnownNames | None = None) -> SystemNames:
    """Return names that are free, in the order in which the spec declares things."""
    names, known = SpecNames(), known or KnownNames()
    names.names.update(known.others, _LIBRARY_NAMES)
    nodes = {
        one.name: known.nodes.get(one.name)
        or names.new(one.name, more="service", endings=NODE_ENDINGS)
        for one in graph.services
    }
    components: dict[Operation, str] = {}
    retries: dict[tuple[str, str], str] = {}
    streams = tuple(
        known.streams.get(route.root.key)
        or names.new(
            short_operation(route.name or route.root.operation),
            more=f"{nodes[route.root.service]}_requests",
            endings=STREAM_ENDINGS,
        )
        for route in graph.routes
    )
    for route in graph.routes:
        for call in all_calls(route.root):
            if call.key in known.components:
                components[call.key] = known.components[call.key]
            elif call.key not in components:
                node, operation = nodes[call.service], short_operation(call.operation)
                components[call.key] = names.new(node, operation, more="work")
            for below in calls_below(call):
                pair = (call.service, below.service)
                if below.retries and pair not in retries:
                    caller, called = nodes[call.service], nodes[below.service]
                    name = "_".join((identifier(caller), identifier(called), "retries"))
                    is_known = name in known.others
                    retries[pair] = (
                        name if is_known else names.new(caller, called, "retries", more="share")
                    )
    return SystemNames(nodes=nodes, components=components, streams=streams, retries=retries)
