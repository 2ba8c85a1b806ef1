"""A network as a graph of networkx: who calls whom, and where items go."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING

from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.network.classes import Class
from qps.compiler.network.itinerary import At, Call
from qps.compiler.network.passages import passages
from qps.compiler.network.stations_and_pools import Pool, Station

if TYPE_CHECKING:
    import networkx as nx


def multigraph(
    classes: Mapping[str, Class], stations: Mapping[str, Station], pools: Mapping[str, Pool]
) -> nx.MultiDiGraph[str]:
    """Return the nodes of a topology, and an edge for each call and each hop of each class.

    A node has its `copies`, and the names of its `stations` and `pools`. An edge has a `kind`, the
    `stream` and, of a call, how often it is made: `times`, a formula, None for once. An answer has
    no edge of its own. Raises QpsError where networkx is not installed.
    """
    try:
        import networkx as nx  # noqa: PLC0415 - loaded only where it is requested
    except ImportError as missing:
        raise QpsError.single(
            codes.COMMAND_LINE,
            None,
            "the graph of a network requires networkx, which is not installed",
            hint='run `pip install "networkx>=3.2"`',
        ) from missing
    graph: nx.MultiDiGraph[str] = nx.MultiDiGraph()
    for one in classes.values():
        for passage in passages(one):
            if isinstance(passage.node, At):
                graph.add_node(passage.node.node, copies=passage.node.copies, stations=[], pools=[])
    for what, parts in (("stations", stations), ("pools", pools)):
        for name, part in parts.items():
            if part.place.name in graph:
                graph.nodes[part.place.name][what].append(name)
    for one in classes.values():
        for start, end, call in _edges(one):
            if call is None:
                graph.add_edge(start, end, kind="hop", stream=one.stream)
            else:
                times = None if call.times is None else call.times.often
                graph.add_edge(start, end, kind="call", stream=one.stream, times=times)
    return graph


def _edges(one: Class) -> Iterator[tuple[str, str, Call | None]]:
    """Yield from where to where items of a class go, with the call that it is, in any order."""
    nodes: dict[tuple[int, ...], list[str]] = {}
    for passage in passages(one):
        inside = tuple(call.number for call in passage.calls)
        if isinstance(passage.node, At):
            nodes.setdefault(inside, []).append(passage.node.node)
        elif isinstance(passage.node, Call) and not passage.node.is_local:
            assert passage.place is not None
            yield passage.place.node, passage.node.node, passage.node
    for inside, visited in nodes.items():
        # What comes last within a call is the answer.
        hops = visited[:-1] if inside and len(visited) > 1 else visited
        yield from ((start, end, None) for start, end in pairwise(hops) if start != end)
