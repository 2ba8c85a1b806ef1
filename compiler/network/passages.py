"""Passages of an itinerary: each of its nodes with the calls and holds around it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler.network.classes import Class
from qps.compiler.network.itinerary import (
    At,
    Call,
    Cross,
    Fork,
    Give,
    Merge,
    Node,
    Sequence,
    Serve,
    Take,
)


class Passage(Struct, frozen=True, kw_only=True):
    """A node of an itinerary: within some calls, outermost first, and while some pools are held."""

    of: Class
    node: Node
    place: At | None
    calls: tuple[Call, ...] = ()
    holds: tuple[Take, ...] = ()
    is_merged: bool = False
    fork: Fork | None = None
    """The innermost calls made together of which one is around it."""

    @property
    def stations(self) -> tuple[str, ...]:
        """The stations that serve it, with those that limit how many items pass."""
        match self.node:
            case Serve(station=station, thread=thread):
                return (station,) if thread is None else (station, thread)
            case Cross(ports=ports):
                caps = (port.cap[0] for port in ports if port.cap is not None)
                return (*(port.station for port in ports), *caps)
            case _:
                return ()


def passages(of: Class) -> Iterator[Passage]:
    """Yield all nodes of a class in the order in which an item comes to them; calls before theirs.

    A merge stands behind what is done for each of the flows.
    """
    yield from _Passing(of).through(of.itinerary, Passage(of=of, node=At("", of.flows), place=None))


class _Passing:
    """Goes through an itinerary: what is held does not rest on where that was taken."""

    def __init__(self, of: Class) -> None:
        self._of = of
        self._holds: dict[int, Take] = {}

    def through(self, body: Sequence, around: Passage) -> Iterator[Passage]:
        place = around.place
        for node in body.nodes:
            match node:
                case At():
                    place = node
                case Give(hold=hold):
                    del self._holds[hold]
                case Merge():
                    inner = self._passage(node, place, around, is_merged=True)
                    yield from self.through(node.body, inner)
                case _:
                    pass
            here = self._passage(node, place, around, is_merged=around.is_merged)
            if not isinstance(node, Fork):
                yield here
            match node:
                case Take(hold=hold):
                    self._holds[hold] = node
                case Call(body=inside):
                    yield from self.through(inside, replace(here, calls=(*here.calls, node)))
                case Fork(branches=branches):
                    for branch in branches:
                        yield from self.through(branch, replace(here, fork=node))
                case _:
                    pass

    def _passage(
        self, node: Node, place: At | None, around: Passage, *, is_merged: bool
    ) -> Passage:
        return Passage(
            of=self._of,
            node=node,
            place=place,
            calls=around.calls,
            holds=tuple(self._holds.values()),
            is_merged=is_merged,
            fork=around.fork,
        )


def visits_of(classes: Iterable[Iterable[Passage]]) -> dict[str, list[Passage]]:
    """Return the passages of each station, of the passages of classes, in order."""
    found: dict[str, list[Passage]] = {}
    for each in classes:
        for passage in each:
            for station in passage.stations:
                found.setdefault(station, []).append(passage)
    return found
