"""Where the nodes and links of a model stand in a drawing: by their distance from one end."""

from __future__ import annotations

from collections.abc import Mapping

import networkx as nx

from qps.compiler import ir


def drawn_topology(model: ir.Model) -> dict[str, list[list[str | int]]]:
    """Return places as `[name, kind, column, row]`, and what joins them as `[name, name]`.

    Columns and rows are whole numbers from 0 on. What is joined stands in neighbouring
    columns, or in the same one; parts of the model that are not joined stand below each other.
    """
    kinds = {node.name: "node" for node in model.nodes}
    kinds |= {link.name: "link" for link in model.links}
    joined = [(link.name, end) for link in model.links for end in link.ends if end in kinds]
    graph: nx.Graph[str] = nx.Graph()
    graph.add_nodes_from(kinds)
    graph.add_edges_from(joined)
    places: list[list[str | int]] = []
    top = 0
    for part in nx.connected_components(graph):
        columns = _columns(graph.subgraph(part), kinds)
        taken: dict[int, int] = {}
        for name in kinds:
            if name in columns:
                column = columns[name]
                row = taken[column] = taken.get(column, -1) + 1
                places.append([name, kinds[name], column, top + row])
        top += max(taken.values()) + 1
    return {"places": places, "joins": [list(pair) for pair in joined]}


def _columns(part: nx.Graph[str], kinds: Mapping[str, str]) -> dict[str, int]:
    """Return the distance of each place from the node that is farthest from all others."""
    ordered = [name for name in kinds if name in part]
    distances = {name: nx.single_source_shortest_path_length(part, name) for name in ordered}
    first = max(ordered, key=lambda name: max(distances[name].values()))
    return dict(distances[first])
