"""The route of a stream: the places that its items come to, and which joins they pass which way."""

from __future__ import annotations

from msgspec import Struct

from qps.compiler.network.itinerary import At, Call, Cross, Fork, Merge, Sequence
from qps.compiler.network.network import Network

THERE, BACK = 1, 2
"""A join is passed from the link to its end, or the other way round; or both, added up."""


class Route(Struct, frozen=True, kw_only=True):
    """Nodes and links in the order in which they are first come to, and the joins passed.

    A join is a link with a place at its end, with the directions in which it is passed.
    `ends` are the nodes at which the route begins and ends.
    """

    places: tuple[str, ...] = ()
    joins: tuple[tuple[tuple[str, str], int], ...] = ()
    ends: tuple[str, str] = ("", "")


def route_of(network: Network, name: str) -> Route:
    """Return the route of the items of a stream, with its calls; of none an empty one."""
    one = next((one for one in network.classes.values() if one.stream == name), None)
    if one is None:
        return Route()
    found = _Route(network)
    found.through(one.itinerary, None)
    ends = (found.nodes[0], found.nodes[-1]) if found.nodes else ("", "")
    return Route(places=tuple(found.places), joins=tuple(found.passed.items()), ends=ends)


class _Route:
    """The places and joins that an itinerary comes to."""

    def __init__(self, network: Network) -> None:
        self._joins = {(name, end) for name, link in network.links.items() for end in link.ends}
        self.places: dict[str, None] = {}
        self.passed: dict[tuple[str, str], int] = {}
        self.nodes: list[str] = []

    def through(self, body: Sequence, here: str | None) -> str | None:
        """Go through a sequence from a place; return the place at its end."""
        for node in body.nodes:
            match node:
                case At(node=name):
                    here = self._come(name, here)
                    self.nodes.append(name)
                case Cross(link=name):
                    here = self._come(name, here)
                case Call(body=inside) | Merge(body=inside):
                    here = self.through(inside, here)
                case Fork(branches=branches):
                    for branch in branches:
                        self.through(branch, here)
                case _:
                    pass
        return here

    def _come(self, name: str, before: str | None) -> str:
        self.places[name] = None
        if before is not None:
            for join, direction in (((before, name), THERE), ((name, before), BACK)):
                if join in self._joins:
                    self.passed[join] = self.passed.get(join, 0) | direction
        return name
