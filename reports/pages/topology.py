"""The nodes and links of a model, each by its distance from one end, and what joins them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from qps.compiler import ir


class Place(Struct, frozen=True):
    """A node or a link, with its column and its row, whole numbers from 0 on."""

    name: str
    kind: str
    column: int
    row: int


class Topology(Struct, frozen=True):
    """Places, and what joins them: a link, and what stands at an end of it.

    What is joined stands in neighbouring columns, or in the same one; parts of the model that are
    not joined stand below each other.
    """

    places: tuple[Place, ...]
    joins: tuple[tuple[str, str], ...]


def topology_of(model: ir.Model) -> Topology:
    """Return the places of a model."""
    kinds = {node.name: "node" for node in model.nodes}
    kinds |= {link.name: "link" for link in model.links}
    joined = [(link.name, end) for link in model.links for end in link.ends if end in kinds]
    beside: dict[str, list[str]] = {name: [] for name in kinds}
    for link, end in joined:
        beside[link].append(end)
        beside[end].append(link)
    places: dict[str, Place] = {}
    top = 0
    while left := [name for name in kinds if name not in places]:
        columns = _columns(beside, left)
        taken: dict[int, int] = {}
        for name in kinds:
            if name in columns:
                column = columns[name]
                row = taken[column] = taken.get(column, -1) + 1
                places[name] = Place(name, kinds[name], column, top + row)
        top += max(taken.values()) + 1
    return Topology(tuple(places.values()), tuple(joined))


def _columns(beside: Mapping[str, Sequence[str]], left: Sequence[str]) -> dict[str, int]:
    """Return how far from its farthest end each place of a part is; it has the first place left."""
    part = _distances(beside, left[0])
    return max(
        (_distances(beside, name) for name in left if name in part),
        key=lambda distances: max(distances.values()),
    )


def _distances(beside: Mapping[str, Sequence[str]], first: str) -> dict[str, int]:
    """Return how many steps it is from a place to each that is joined with it."""
    distances = {first: 0}
    waiting = [first]
    for name in waiting:
        for other in beside[name]:
            if other not in distances:
                distances[other] = distances[name] + 1
                waiting.append(other)
    return distances
