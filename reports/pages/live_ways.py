"""The way of a stream's items as a page draws it: what they pass, and where their time goes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from msgspec import Struct, to_builtins

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration
from qps.compiler.configure.ways import holds_in, legs_of
from qps.compiler.lower.latency_parts import LatencyPart, waited_for
from qps.compiler.lower.stream_measures import StreamMeasures
from qps.compiler.lower.waterfall import passages
from qps.compiler.quantities.certainty import Certainty
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
    stream: StreamMeasures, configuration: Configuration, ends: tuple[str, str] = ("", "")
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
                place=_place(part, configuration) or (last if is_later else first),
                is_apart=not part.place,
            )
            is_later = True


def _place(part: LatencyPart, configuration: Configuration) -> str:
    """Return where the time of a stage is spent; that of a wait at the resource waited for."""
    return part.place or configuration.place_of(waited_for(part))


class Route(Struct, frozen=True):
    """Places by number, in the order in which they are first come to, and the joins passed.

    `ends` are the nodes at which it begins and ends.
    """

    places: tuple[int, ...]
    joins: tuple[tuple[int, int], ...]
    ends: tuple[str, str]


def routes_of(
    model: ir.Model, configuration: Configuration, topology: Topology
) -> Callable[[str], Route]:
    """Return what tells the route of each stream, with those of its calls."""
    numbers = {place.name: at for at, place in enumerate(topology.places)}
    joins = {join: at for at, join in enumerate(topology.joins)}
    holds = holds_in(configuration)
    streams = {stream.name: stream for stream in model.streams}

    def route(name: str) -> Route:
        stream = streams.get(name)
        places: dict[int, None] = {}
        passed: dict[int, int] = {}
        nodes: list[str] = []
        for leg in legs_of(stream, holds) if stream is not None else ():
            if isinstance(leg, ir.Visit):
                places[numbers[leg.node]] = None
                nodes.append(leg.node)
            if not isinstance(leg, ir.Crossing):
                continue
            places |= dict.fromkeys(
                numbers[one] for one in (leg.before, leg.link, leg.after) if one in numbers
            )
            for before, after in ((leg.before, leg.link), (leg.link, leg.after)):
                for join, way in (((before, after), THERE), ((after, before), BACK)):
                    if join in joins:
                        passed[joins[join]] = passed.get(joins[join], 0) | way
        ends = (nodes[0], nodes[-1]) if nodes else ("", "")
        return Route(tuple(places), tuple(passed.items()), ends)

    return route


def drawing_of(topology: Topology) -> dict[str, Any]:
    """Return where places stand and what joins them, for each width, as plain values."""
    widths = WIDTHS if topology.places else ()
    return {
        "places": [[place.name, place.kind] for place in topology.places],
        "joins": to_builtins(topology.joins),
        "high": HEIGHT,
        "layouts": to_builtins([laid_out(topology, width) for width in widths]),
    }
