"""The names that a spec has for what is observed again: they stay, also where a person chose them.

A component is known by its comment, `cart Get: 12 requests, …`, a stream by `GET / at front: …`, a
node by its name or the comment above it; else by the name that `qps observe` would choose.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from qps.compiler.measurement.traces.call_graph import CallGraph, Operation
from qps.compiler.syntax import ast
from qps.reports.text.systems.spec_names import SpecNames, short_operation
from qps.reports.text.systems.system_names import KnownNames, all_calls
from qps.reports.text.systems.updates.text_places import comments_above, evidence_above
from qps.reports.text.words.phrases import phrase


def known_names(module: ast.Module, graph: CallGraph) -> KnownNames:
    """Return the names of a spec for the services, operations and routes of a graph."""
    text = module.source.text
    nodes = {one.name.text: one for one in _nodes(module)}
    by_service = {one.name: _node_of(one.name, nodes, text) for one in graph.services}
    services = {service: node for service, node in by_service.items() if node}
    components = {one.name.text: one for one in module.every(ast.Component)}
    streams = {one.name.text: one for one in module.every(ast.Stream)}
    keys = dict.fromkeys(call.key for route in graph.routes for call in all_calls(route.root))
    return KnownNames(
        nodes=services,
        components=_by_comment(keys, components, services, text),
        streams=_streams(graph, streams, text),
        others=frozenset(_declared(module)),
    )


def _nodes(module: ast.Module) -> Iterator[ast.Node]:
    for topology in module.every(ast.Topology):
        for item in topology.items:
            if isinstance(item, ast.Node):
                yield item


def _declared(module: ast.Module) -> Iterator[str]:
    """Yield all names that the file declares, so that no other thing gets one of them."""
    for node in _nodes(module):
        yield node.name.text
    for one in module.declarations:
        name = getattr(one, "name", None)
        if isinstance(name, ast.Name):
            yield name.text


def _node_of(service: str, nodes: Mapping[str, ast.Node], text: str) -> str:
    peer = f"{service}: {phrase('system.peer')}"
    for name, node in nodes.items():
        above = [line.text for line in comments_above(text, node.span.start)]
        joined = " ".join(above)
        if above and (above[-1] == service or joined.endswith(peer)):
            return name
    fresh = SpecNames().new(service, more="service")
    return fresh if fresh in nodes else ""


def _by_comment(
    keys: Mapping[Operation, None],
    components: Mapping[str, ast.Component],
    nodes: Mapping[str, str],
    text: str,
) -> Mapping[Operation, str]:
    found: dict[Operation, str] = {}
    evidence = {
        name: evidence_above(text, one.span.start, "elapsed") for name, one in components.items()
    }
    stated = {one.fields["operation"]: name for name, one in evidence.items() if one is not None}
    for key in keys:
        name = stated.get(f"{key[0]} {key[1]}")
        if name is not None:
            found[key] = name
    for key in keys:
        node = nodes.get(key[0])
        fresh = SpecNames().new(node or key[0], short_operation(key[1]), more="work")
        is_free = fresh in components and evidence[fresh] is None
        if key not in found and is_free and fresh not in found.values():
            found[key] = fresh
    return found


def _streams(
    graph: CallGraph, streams: Mapping[str, ast.Stream], text: str
) -> Mapping[Operation, str]:
    found: dict[Operation, str] = {}
    for route in graph.routes:
        service, operation = route.root.key
        begins = f"{operation} at {service}:"
        for name, one in streams.items():
            if evidence_above(text, one.span.start, "route", begins) is not None:
                found[route.root.key] = name
                break
        else:
            fresh = SpecNames().new(short_operation(route.name or operation), more="requests")
            is_free = fresh in streams and not _has_route(streams[fresh], text)
            if is_free and fresh not in found.values():
                found[route.root.key] = fresh
    return found


def _has_route(stream: ast.Stream, text: str) -> bool:
    return evidence_above(text, stream.span.start, "route") is not None
