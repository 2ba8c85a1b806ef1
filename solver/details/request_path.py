"""The path of a stream's items: what they pass in which order, and where their time goes."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from msgspec import Struct
from msgspec.structs import asdict

from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.lower.response_time.call_times import passages
from qps.compiler.lower.response_time.class_response import StreamMeasures
from qps.compiler.lower.response_time.response_stages import LatencyPart, queue_resource
from qps.compiler.network.network import Network
from qps.compiler.network.route import Route, route_of
from qps.compiler.quantities.certainty import Certainty
from qps.compiler.quantities.dimension import TIME
from qps.engine.expressions.formulas import Formula

LEVEL = Fraction(99, 100)
"""The share of requests that stay within the time that a page shows beside their mean."""


class PathStep(Struct, frozen=True, kw_only=True):
    """A step of the path, so deep in calls, after those before it.

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
    """True for a stage that is listed by its own name, and not with others at its place."""


class StepThere(PathStep, frozen=True, kw_only=True):
    """A step at a population: how long it takes on average, in s, or how often a call is made."""

    there: float


class Path(Struct, frozen=True, kw_only=True):
    """The steps of a stream, in order, the places that they come to, and its time at `LEVEL`."""

    steps: tuple[PathStep, ...]
    route: Route
    late: Formula
    late_known: Certainty


class PathThere(Struct, frozen=True, kw_only=True):
    """The path of the stream that a page draws, at a population; times are in s.

    `mean` is the mean latency, `late` what a share `LEVEL` of the items stay within.
    """

    stream: str
    steps: tuple[StepThere, ...]
    route: Route
    mean: float
    mean_known: Certainty
    late: float
    late_known: Certainty


def path_of(stream: StreamMeasures, network: Network) -> Path:
    """Return the path of a stream: the times of its steps add up to its mean latency."""
    route = route_of(network, stream.name)
    return Path(
        steps=tuple(_steps(stream, network, route)),
        route=route,
        late=stream.latency_quantile(LEVEL),
        late_known=stream.quantile_certainty(LEVEL),
    )


def path_there(graph: LoadGraph, at: int) -> PathThere | None:
    """Return the path of the stream that a page draws at a population; None for no such stream."""
    name = timed_stream(graph)
    if name is None:
        return None
    stream, value = graph.streams[name], graph.at(at).number
    path = path_of(stream, graph.network)
    return PathThere(
        stream=name,
        steps=tuple(StepThere(**asdict(one), there=value(one.value)) for one in path.steps),
        route=path.route,
        mean=value(stream.mean_latency),
        mean_known=stream.latency_certainty,
        late=value(path.late),
        late_known=path.late_known,
    )


def timed_stream(graph: LoadGraph) -> str | None:
    """Return the stream of which a time is required, else the first with one.

    None where none does.
    """
    timed = [name for name, stream in graph.streams.items() if stream.latency]
    required: set[str] = set()
    for one in graph.criteria:
        if one.span is not None and one.dimension == TIME:
            required.update(one.rests_on)
    return next((name for name in timed if name in required), next(iter(timed), None))


def _steps(stream: StreamMeasures, network: Network, route: Route) -> Iterator[PathStep]:
    """Yield the steps of a stream, in order.

    Packets are filled at the first node of its route, and wait to be played out at the last.
    """
    first, last = route.ends
    is_later = False
    for one in passages((*stream.latency, *stream.endless)):
        if one.calls is not None:
            yield PathStep(
                kind="call", depth=one.depth, name=one.calls, value=one.times, known=one.known
            )
        elif one.is_together:
            value = one.ends - one.starts
            yield PathStep(
                kind="together", depth=one.depth, name=one.name, value=value, known=one.known
            )
        for part in one.stages:
            yield PathStep(
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
    waited = queue_resource(part)
    return part.place or (network.place_of(waited) if waited else "")
