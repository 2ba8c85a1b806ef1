"""The nodes and links of a network, each by its distance from one end, and what joins them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from qps.compiler.network.network import Network
from qps.compiler.network.route import Route
from qps.compiler.network.stations_and_pools import StationKind


class DrawingNode(Struct, frozen=True):
    """A node or a link, with its column and its row, whole numbers from 0 on."""

    name: str
    kind: str
    column: int
    row: int


class DrawingTopology(Struct, frozen=True):
    """Places, and what joins them: a link, and what stands at an end of it.

    What is joined stands in neighboring columns, or in the same one; parts of the network that are
    not joined stand below each other.
    """

    places: tuple[DrawingNode, ...]
    joins: tuple[tuple[str, str], ...]

    @property
    def numbers(self) -> dict[str, int]:
        """The places by their names."""
        return {place.name: at for at, place in enumerate(self.places)}

    def numbered(self, route: Route) -> list[tuple[int, int]]:
        """Return the joins that a route passes by their numbers, with the directions."""
        numbers = {join: at for at, join in enumerate(self.joins)}
        return [(numbers[join], directions) for join, directions in route.joins]


def topology_of(network: Network) -> DrawingTopology:
    """Return the places of a network."""
    kinds = dict.fromkeys(network.nodes, "node") | dict.fromkeys(network.links, "link")
    joined = [(name, end) for name, link in network.links.items() for end in link.ends]
    beside: dict[str, list[str]] = {name: [] for name in kinds}
    for link, end in joined:
        beside[link].append(end)
        beside[end].append(link)
    places: dict[str, DrawingNode] = {}
    top = 0
    while left := [name for name in kinds if name not in places]:
        columns = _columns(beside, left)
        taken: dict[int, int] = {}
        for name in kinds:
            if name in columns:
                column = columns[name]
                row = taken[column] = taken.get(column, -1) + 1
                places[name] = DrawingNode(name, kinds[name], column, top + row)
        top += max(taken.values()) + 1
    return DrawingTopology(tuple(places.values()), tuple(joined))


def places_of(network: Network, name: str) -> tuple[str, ...]:
    """Return the place at which a station or pool stands; of a port its link, and its machine."""
    at, station = network.place_of(name), network.stations.get(name)
    is_port = station is not None and station.kind is StationKind.PORT
    return (at, station.place.name) if station is not None and is_port else (at,)


def _columns(neighbors: Mapping[str, Sequence[str]], left: Sequence[str]) -> dict[str, int]:
    """Return how far from its farthest end each place of a part is; it has the first place left."""
    part = _distances(neighbors, left[0])
    return max(
        (_distances(neighbors, name) for name in left if name in part),
        key=lambda distances: max(distances.values()),
    )


def _distances(neighbors: Mapping[str, Sequence[str]], first: str) -> dict[str, int]:
    """Return how many steps it is from a place to each that is joined with it."""
    distances = {first: 0}
    waiting = [first]
    for name in waiting:
        for other in neighbors[name]:
            if other not in distances:
                distances[other] = distances[name] + 1
                waiting.append(other)
    return distances
