"""The way of a stream's items as a page draws it: what they pass, and where their time goes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Struct, to_builtins

from qps.compiler.lower.latency_parts import LatencyPart, waited_for
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.lower.stream_measures import StreamMeasures
from qps.compiler.lower.waterfall import passages
from qps.compiler.network.itinerary import At, Call, Cross, Fork, Merge, Sequence
from qps.compiler.network.network import Network
from qps.compiler.quantities.certainty import Certainty
from qps.compiler.quantities.dimension import TIME
from qps.engine.formulas import Formula
from qps.reports.pages.layers import HEIGHT, WIDTHS, laid_out
from qps.reports.pages.topology import Topology

THERE, BACK = 1, 2
"""A join is passed from the first that it joins to the second, and the other way round; or both."""


class Step(Struct, frozen=True, kw_only=True):
    """A step of the way, so deep in calls, after those before it.

    A `call`, with how often it is made for each time that what is around it is passed; calls made
    `together`, which stand next and so much deeper, with how long they take; or a stage at a
    `place`, with what its time is spent with and how long it takes on average over all items.
    """

    kind: str
    depth: int
    name: str
    value: Formula
    known: Certainty
    place: str = ""
    is_apart: bool = False
    """True for a stage that is told by its own name, and not with others at its place."""


def steps_of(
    stream: StreamMeasures, network: Network, ends: tuple[str, str] = ("", "")
) -> Iterator[Step]:
    """Yield the steps of a stream's way, in order: their times add up to its mean latency.

    Packets are filled at the first of the `ends` of the way, and wait to be played out at the last.
    """
    first, last = ends
    is_later = False
    for one in passages((*stream.latency, *stream.endless)):
        if one.calls is not None:
            yield Step(
                kind="call", depth=one.depth, name=one.calls, value=one.times, known=one.known
            )
        elif one.is_together:
            value = one.ends - one.starts
            yield Step(
                kind="together", depth=one.depth, name=one.name, value=value, known=one.known
            )
        for part in one.stages:
            yield Step(
                kind=part.spent.value,
                depth=one.depth,
                name=part.stage,
                value=part.value,
                known=part.certainty,
                place=_place(part, network) or (last if is_later else first),
                is_apart=not part.place,
            )
            is_later = True


def _place(part: LatencyPart, network: Network) -> str:
    """Return where the time of a stage is spent; that of a wait at the resource waited for."""
    waited = waited_for(part)
    return part.place or (network.place_of(waited) if waited else "")


def timed_stream(graph: LoadGraph) -> int | None:
    """Return the number of the stream of which a time is required, else of the first with one.

    None where none does.
    """
    taking = [at for at, stream in enumerate(graph.streams.values()) if stream.latency]
    names = list(graph.streams)
    required: set[str] = set()
    for one in graph.criteria:
        if one.span is not None and one.dimension == TIME:
            required.update(one.rests_on)
    asked = [at for at in taking if names[at] in required]
    return next(iter((*asked, *taking)), None)


class Route(Struct, frozen=True):
    """Places by number, in the order in which they are first come to, and the joins passed.

    `ends` are the nodes at which it begins and ends.
    """

    places: tuple[int, ...]
    joins: tuple[tuple[int, int], ...]
    ends: tuple[str, str]


def route_of(network: Network, topology: Topology, name: str) -> Route:
    """Return the route of the items of a stream, with its calls; of none an empty one."""
    one = next((one for one in network.classes.values() if one.stream == name), None)
    found = _Route(topology)
    if one is not None:
        found.through(one.itinerary, None)
    ends = (found.nodes[0], found.nodes[-1]) if found.nodes else ("", "")
    return Route(tuple(found.places), tuple(found.passed.items()), ends)


class _Route:
    """The places and joins that an itinerary comes to."""

    def __init__(self, topology: Topology) -> None:
        self._numbers = topology.numbers
        self._joins = {join: at for at, join in enumerate(topology.joins)}
        self.places: dict[int, None] = {}
        self.passed: dict[int, int] = {}
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
        self.places[self._numbers[name]] = None
        for join, way in (((before, name), THERE), ((name, before), BACK)):
            if join in self._joins:
                at = self._joins[join]
                self.passed[at] = self.passed.get(at, 0) | way
        return name


def drawing_of(topology: Topology) -> dict[str, Any]:
    """Return where places stand and what joins them, for each width, as plain values."""
    widths = WIDTHS if topology.places else ()
    return {
        "places": [[place.name, place.kind] for place in topology.places],
        "joins": to_builtins(topology.joins),
        "high": HEIGHT,
        "layouts": to_builtins([laid_out(topology, width) for width in widths]),
    }
