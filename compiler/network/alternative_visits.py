"""What is done by chance in the midst of a visit: alternatives become whole visits.

`get; 1.4 %: scan` at one processor is one visit: an item waits once, for a service that is a
mixture. So services at the station at which an alternative begins or ends are done in each of the
alternatives, and in "none of them", which is one more: `one of { 98.6 %: get; 1.4 %: get, scan }`.
Alternatives that follow each other within one visit are multiplied.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import count
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.network import itinerary
from qps.compiler.network.itinerary import (
    At,
    Call,
    Cross,
    Fork,
    Lose,
    Merge,
    Node,
    Serve,
    Times,
    bodies_of,
)
from qps.compiler.network.station_runs import goes_on
from qps.engine.expressions.formulas import ONE, Formula, total

MOST_OUTCOMES = 64
"""Of alternatives in one visit, multiplied."""


class AlternativeVisits(Struct, frozen=True):
    """An itinerary in which alternatives are whole visits.

    Calls that are new have numbers of their own; `sources` has, for each, one that it stands for.
    """

    itinerary: itinerary.Sequence
    sources: dict[int, int]


class _Outcome(Struct, frozen=True):
    """What may be done at a node, with its chance."""

    chance: Formula
    nodes: tuple[Node, ...]
    events: tuple[ir.EventOutcome, ...] = ()


class _Choice(Struct, kw_only=True):
    """Alternatives at a node: `calls` as they were; `outcomes` are all of them once they change."""

    at: At
    calls: tuple[Call, ...]
    outcomes: list[_Outcome] | None = None

    def all_outcomes(self) -> list[_Outcome]:
        """Return what may happen, nothing of it included; no outcome begins or ends by chance."""
        if self.outcomes is not None:
            return self.outcomes
        each = _outcomes(self.calls, self.at)
        return [outcome for one in each for outcome in _without_chances(one, self.at)]


_Piece: TypeAlias = Node | _Choice


def with_alternative_visits(
    body: itinerary.Sequence, is_store: Callable[[str], bool]
) -> AlternativeVisits:
    """Return an itinerary in which visits that go on across a chance are alternatives as a whole.

    What is kept of a store ends no visit. Raises QpsError where there are too many combinations.
    """
    numbers = [call.number for call in calls_in(body)]
    work = _Work(is_store=is_store, numbers=count(max(numbers, default=0) + 1), sources={})
    return AlternativeVisits(work.body(body), work.sources)


class _Work(Struct, frozen=True, kw_only=True):
    is_store: Callable[[str], bool]
    numbers: Iterator[int]
    sources: dict[int, int]

    def body(self, body: itinerary.Sequence) -> itinerary.Sequence:
        pieces: list[_Piece] = []
        at: At | None = None
        for node in map(self._with_bodies, body.nodes):
            if isinstance(node, At):
                at = node
            before = pieces[-1] if pieces else None
            if not isinstance(node, Call) or node.choice is None:
                self._add(pieces, node)
            elif isinstance(before, _Choice) and before.calls[-1].choice == node.choice:
                before.calls = (*before.calls, node)
            else:
                assert at is not None
                self._join(pieces)
                pieces.append(_Choice(at=at, calls=(node,)))
        self._join(pieces)
        return itinerary.Sequence(tuple(node for one in pieces for node in self._nodes(one)))

    def _with_bodies(self, node: Node) -> Node:
        """Return a node with what is inside of it done likewise."""
        match node:
            case Call():
                return replace(node, body=self.body(node.body))
            case Merge():
                return replace(node, body=self.body(node.body))
            case Fork(branches=branches):
                return replace(node, branches=tuple(map(self.body, branches)))
            case _:
                return node

    def _add(self, pieces: list[_Piece], node: Node) -> None:
        """Add a node; a service goes on with the visit that alternatives before it end in."""
        self._join(pieces)
        if isinstance(node, Serve):
            # Only that it comes back to the node, or finds room there, may stand between.
            start = len(pieces)
            while start and _is_between(pieces[start - 1], node.station):
                start -= 1
            before = pieces[start - 1] if start else None
            if isinstance(before, _Choice) and self._goes_on(before, node):
                between = [one for one in pieces[start:] if isinstance(one, Lose)]
                before.outcomes = [
                    replace(one, nodes=(*one.nodes, *self._admission(one, between, node), node))
                    for one in before.all_outcomes()
                ]
                # What comes next is still at the node, also behind a pause.
                pieces[start:] = [one for one in pieces[start:] if isinstance(one, At)]
                return
        pieces.append(node)

    def _admission(self, one: _Outcome, between: Sequence[Lose], node: Serve) -> Sequence[Lose]:
        """Return where a service finds no room, unless it goes on with a visit."""
        return () if self._last(one.nodes) == node.station else between

    def _goes_on(self, before: _Choice, node: Serve) -> bool:
        return any(self._last(one.nodes) == node.station for one in before.all_outcomes())

    def _join(self, pieces: list[_Piece]) -> None:
        """Join the last alternatives with what is before them, where that is in the same visit."""
        last = pieces[-1] if pieces else None
        if not isinstance(last, _Choice) or last.outcomes is not None:
            return
        starts = {_first(one.nodes) for one in last.all_outcomes()} - {None}
        end = behind = len(pieces) - 1
        while behind and isinstance(pieces[behind - 1], At):
            behind -= 1
        before = pieces[behind - 1] if behind else None
        if isinstance(before, _Choice):
            ends = {self._last(one.nodes) for one in before.all_outcomes()}
            if starts & ends:
                pieces[behind - 1 :] = [self._product(before, last)]
            return
        run = end
        while run and isinstance(pieces[run - 1], Serve):
            run -= 1
        served = [one for one in pieces[run:end] if isinstance(one, Serve)]
        station = self._last(served)
        if station is None or station not in starts:
            return
        own = next(
            k
            for k in range(len(served) + 1)
            if all(self._is_of(one, station) for one in served[k:])
        )
        served = served[own:]
        last.outcomes = [
            replace(one, nodes=(*served, *_without_room(one.nodes, station)))
            for one in last.all_outcomes()
        ]
        pieces[run + own : len(pieces) - 1] = []

    def _product(self, one: _Choice, other: _Choice) -> _Choice:
        outcomes = [
            _Outcome(
                first.chance * then.chance,
                (*first.nodes, *_without_room(then.nodes, self._last(first.nodes))),
                (*first.events, *then.events),
            )
            for first in one.all_outcomes()
            for then in other.all_outcomes()
        ]
        return _Choice(at=one.at, calls=(*one.calls, *other.calls), outcomes=outcomes)

    def _last(self, nodes: Sequence[Node]) -> str | None:
        """Return the station in a visit of which a row of nodes ends; None where in none."""
        for node in reversed(nodes):
            if not isinstance(node, Serve):
                return None
            if not self.is_store(node.station):
                return node.station
        return None

    def _is_of(self, node: Serve, station: str) -> bool:
        return goes_on(station, node, self.is_store)

    def _nodes(self, piece: _Piece) -> Iterator[Node]:
        if not isinstance(piece, _Choice):
            yield piece
            return
        if piece.outcomes is None:
            yield from piece.calls
            return
        if len(piece.outcomes) > MOST_OUTCOMES:
            raise _too_many(len(piece.outcomes), piece)
        choice = next(self.numbers)
        for at, one in enumerate(piece.outcomes):
            call = piece.calls[min(at, len(piece.calls) - 1)]
            number = next(self.numbers)
            self.sources[number] = call.number
            yield replace(
                call,
                number=number,
                body=itinerary.Sequence(tuple(_placed(one.nodes, piece.at))),
                times=Times(one.chance),
                choice=choice,
                is_rest=at == len(piece.outcomes) - 1,
                events=one.events,
            )


def _outcomes(calls: Sequence[Call], at: At) -> list[_Outcome]:
    """Return what is done in each of some alternatives, and in none of them."""
    found = [_Outcome(_chance(call), _inside(call, at), call.events) for call in calls]
    if not calls[-1].is_rest:
        left = 1 - total(one.chance for one in found)
        found.append(_Outcome(left, (), _others(calls)))
    return found


def _without_chances(outcome: _Outcome, at: At) -> Iterator[_Outcome]:
    """Yield outcomes of which none begins or ends with alternatives: those are outcomes, too."""
    nodes = outcome.nodes
    first = next((one for one in (*nodes[:1], *nodes[-1:]) if _choice(one) is not None), None)
    if first is None:
        yield outcome
        return
    start = next(k for k, node in enumerate(nodes) if _choice(node) == _choice(first))
    calls = [one for one in nodes if isinstance(one, Call) and one.choice == _choice(first)]
    before, behind = nodes[:start], nodes[start + len(calls) :]
    for one in _outcomes(calls, at):
        inner = _Outcome(
            outcome.chance * one.chance,
            (*before, *one.nodes, *behind),
            (*outcome.events, *one.events),
        )
        yield from _without_chances(inner, at)


def _choice(node: Node) -> int | None:
    return node.choice if isinstance(node, Call) else None


def _others(calls: Sequence[Call]) -> tuple[ir.EventOutcome, ...]:
    """Return how an event comes out for the items that make none of some calls."""
    return tuple(
        ir.EventOutcome(one.name, happens=not one.happens) for call in calls for one in call.events
    )


def _too_many(many: int, piece: _Choice) -> QpsError:
    return QpsError.single(
        codes.TOO_MANY_OUTCOMES,
        piece.calls[-1].span,
        f"probabilistic steps result in {many} combinations in one visit to `{piece.at.node}`; at "
        f"most {MOST_OUTCOMES} are supported",
        hint="merge alternatives that take about as long, or move some to another node",
    )


def _chance(call: Call) -> Formula:
    return ONE if call.times is None else call.times.often


def _inside(call: Call, at: At) -> tuple[Node, ...]:
    """Return what is done in an alternative, without that it is at the node where it begins.

    An item that has crossed a link meanwhile comes back to that node.
    """
    found: list[Node] = []
    for node in call.body.nodes:
        is_back = bool(found) and isinstance(found[-1], Cross)
        if not isinstance(node, At) or node.node != at.node or is_back:
            found.append(node)
    return tuple(found)


def _placed(nodes: Sequence[Node], at: At) -> Iterator[Node]:
    """Yield what is done at a node, with that it is there, also behind each call."""
    yield at
    for node in nodes:
        yield node
        if isinstance(node, Call | Fork):
            yield at


def _first(nodes: Sequence[Node]) -> str | None:
    """Return the station with a visit of which nodes begin; None where they begin with another."""
    for node in nodes:
        if isinstance(node, Serve):
            return node.station
        if not _is_room(node):
            return None
    return None


def _is_room(node: _Piece, station: str | None = None) -> bool:
    if not isinstance(node, Lose) or node.chance is not None:
        return False
    return station is None or station == node.station


def _is_between(node: _Piece, station: str) -> bool:
    return isinstance(node, At) or _is_room(node, station)


def _without_room(nodes: Sequence[Node], station: str | None) -> tuple[Node, ...]:
    """Return nodes without that a visit which goes on might find no room."""
    start = 0
    while station is not None and start < len(nodes) and _is_room(nodes[start], station):
        start += 1
    return tuple(nodes[start:] if _first(nodes) == station else nodes)


def calls_in(body: itinerary.Sequence) -> Iterator[Call]:
    """Yield all calls of an itinerary, those in others behind them."""
    for node in body.nodes:
        if isinstance(node, Call):
            yield node
        for inside in bodies_of(node):
            yield from calls_in(inside)
