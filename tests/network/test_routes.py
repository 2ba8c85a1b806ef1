"""The shortest ways from node to node are those that networkx finds."""

from __future__ import annotations

from itertools import pairwise

import networkx as nx
from hypothesis import given
from hypothesis import strategies as st

from qps.compiler import ir
from qps.compiler.check.model.streams.check_routes import RouteChecker
from qps.compiler.check.names.declarations import LoadedModule
from qps.compiler.diagnostics.diagnostic import Sink
from qps.compiler.diagnostics.source import Source, Span
from qps.compiler.syntax import ast

SOURCE = Source("spec.qps", "")
NODES = ["a", "b", "c", "d"]
LINKS = [f"l{number}" for number in range(7)]


def checker(ends: dict[str, list[str]]) -> RouteChecker:
    links = {
        name: ir.Link(
            name=name,
            network="wire",
            count=ir.Constant(1),
            ends=tuple(joined),
            span=Span(SOURCE, 0, 0),
        )
        for name, joined in ends.items()
    }
    syntax = ast.Module(source=SOURCE, doc=None, declarations=())
    return RouteChecker(Sink(), LoadedModule(syntax=syntax, prefix=""), links)


def by_networkx(ends: dict[str, list[str]], start: str, end: str) -> list[list[str]]:
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(["from", "to"])
    for link, joined in ends.items():
        graph.add_edges_from(("from", link) for one in joined if one == start)
        graph.add_edges_from((link, "to") for one in joined if one == end)
        for one in joined:
            if one in ends:
                graph.add_edges_from([(link, one), (one, link)])
    if not nx.has_path(graph, "from", "to"):
        return []
    return sorted(way[1:-1] for way in nx.all_shortest_paths(graph, "from", "to"))


@given(
    st.dictionaries(
        st.sampled_from(LINKS), st.lists(st.sampled_from(NODES + LINKS), min_size=1, max_size=3)
    ),
    st.sampled_from(NODES),
    st.sampled_from(NODES),
)
def test_ways_are_those_of_networkx(ends: dict[str, list[str]], start: str, end: str) -> None:
    assert checker(ends)._shortest_paths(start, end) == by_networkx(ends, start, end)[:3]


def test_a_way_over_thousands_of_links_is_found() -> None:
    names = [f"l{number}" for number in range(5000)]
    ends = {one: [other] for one, other in pairwise(names)}
    ends |= {names[-1]: ["b"], names[0]: ["a", names[1]]}
    assert checker(ends)._shortest_paths("a", "b") == [names]
