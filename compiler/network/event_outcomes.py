"""Events that an item uses more than once: their outcomes are alternatives.

`hit: lookup; store; not hit: scan` uses one draw twice. From the first to the last place that
requests an event, an itinerary becomes alternatives in which it is decided, one for each outcome:
`one of { hit: lookup, store; not hit: store, scan }`. So whatever is worked out of an itinerary
knows that what requests one event is drawn once, also where it is used in each of several calls
that are made at once, or one after the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import count

from msgspec import Struct, field
from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.network import itinerary
from qps.compiler.network.alternative_visits import calls_in
from qps.compiler.network.itinerary import (
    At,
    Call,
    Cross,
    Delay,
    Fork,
    Give,
    Lose,
    Merge,
    Node,
    Resize,
    Serve,
    Take,
    Times,
    bodies_of,
)

MOST_EVENT_OUTCOMES = 64
"""Of events that are decided within each other, multiplied."""
_FOR_EACH_ITEM = (At, Serve, Delay, Cross, Call, Fork, Take, Give, Lose, Resize)
"""What may stand between two places that request one event: what is done for each item alone."""


class CallCopy(Struct, frozen=True):
    """The number of the call that a call was made from, and of the fork that it is in now."""

    of: int
    fork: int | None = None


class EventAlternatives(Struct, frozen=True):
    """An itinerary in which no call requests an event that is not decided.

    Calls that are new are `copies` of others, by their numbers.
    """

    itinerary: itinerary.Sequence
    copies: dict[int, CallCopy]


class _Stretch(Struct, frozen=True, kw_only=True):
    """Nodes of a sequence, from one to before another, outside of which nothing requests an event.

    A `path` leads to the sequence: a node, and which body of it, as often as it is within another.
    """

    path: tuple[tuple[int, int], ...]
    start: int
    end: int
    size: int


def with_event_alternatives(
    body: itinerary.Sequence,
    stream: str,
    conditions: Mapping[int, ir.EventOutcome],
    repeated: AbstractSet[int] = frozenset(),
) -> EventAlternatives:
    """Return an itinerary of a stream in which events are decided.

    Some of its calls, by their numbers, use the outcome of an event, and some are `repeated`:
    one item may make them more than once. Raises QpsError for too many outcomes, and where the
    number of items changes between two calls that use it.
    """
    if not conditions:
        return EventAlternatives(body, {})
    numbers = count(_most_number(body) + 1)
    work = _Work(stream=stream, numbers=numbers, open=dict(conditions), repeated=repeated)
    while True:
        names = {work.open[one.number].name for one in calls_in(body) if one.number in work.open}
        if not names:
            return EventAlternatives(body, work.copies)
        stretches = {name: work.stretch(body, name) for name in sorted(names)}
        name = min(stretches, key=lambda one: stretches[one].size)  # inner ones first
        body = work.decide(body, name, stretches[name])


class _Work(Struct, frozen=True, kw_only=True):
    """What is done to one itinerary; `open` are the calls that request an event."""

    stream: str
    numbers: Iterator[int]
    open: dict[int, ir.EventOutcome]
    repeated: AbstractSet[int]
    copies: dict[int, CallCopy] = field(default_factory=dict)

    # -- where an event is used ---------------------------------------------------------

    def stretch(self, body: itinerary.Sequence, name: str) -> _Stretch:
        """Return what stands between the first and the last call that request an event.

        What is held at one end of it is taken and given back within it. What is done several times
        for an item is so with one outcome.
        """
        where = [at for at, node in enumerate(body.nodes) if self._asks_within(node, name)]
        first, last = where[0], where[-1]
        node = body.nodes[first]
        is_matching = isinstance(node, Call) and self._asks(node, name)
        if first == last and not is_matching and not self._is_repeated(node):
            within = [at for at, one in enumerate(bodies_of(node)) if self._asks_in(one, name)]
            if len(within) == 1:
                inner = self.stretch(bodies_of(node)[within[0]], name)
                return replace(inner, path=((first, within[0]), *inner.path))
        start, end = _with_whole_holds(body.nodes, first, last + 1)
        size = sum(1 for _ in _nodes_in(body.nodes[start:end]))
        return _Stretch(path=(), start=start, end=end, size=size)

    def _asks(self, call: Call, name: str) -> bool:
        outcome = self.open.get(call.number)
        return outcome is not None and outcome.name == name

    def _is_repeated(self, node: Node) -> bool:
        if isinstance(node, Fork):
            return node.count is not None
        return isinstance(node, Call) and self.first(node.number) in self.repeated

    def _asks_within(self, node: Node, name: str) -> bool:
        is_one = isinstance(node, Call) and self._asks(node, name)
        return is_one or any(self._asks_in(body, name) for body in bodies_of(node))

    def _asks_in(self, body: itinerary.Sequence, name: str) -> bool:
        return any(self._asks(call, name) for call in calls_in(body))

    # -- its alternatives --------------------------------------------------------------------

    def decide(self, body: itinerary.Sequence, name: str, where: _Stretch) -> itinerary.Sequence:
        """Return an itinerary in which an event is decided before it is used."""
        if where.path:
            (at, which), *rest = where.path
            inner = self.decide(
                bodies_of(body.nodes[at])[which], name, replace(where, path=tuple(rest))
            )
            changed = _with_body(body.nodes[at], which, inner)
            return itinerary.Sequence((*body.nodes[:at], changed, *body.nodes[at + 1 :]))
        before, nodes = body.nodes[: where.start], body.nodes[where.start : where.end]
        whole = itinerary.Sequence(nodes)
        conditional = next(call for call in calls_in(whole) if self._asks(call, name))
        self._refuse(nodes, name, conditional)
        here = next(node for node in reversed(before) if isinstance(node, At))
        made = self._alternatives(whole, conditional, here)
        ends = next((node for node in reversed(nodes) if isinstance(node, At)), here)
        moved = [ends] if ends.node != here.node else []
        sizes = [node for node in nodes if isinstance(node, Resize)]  # for what comes behind
        after = body.nodes[where.end :]
        return itinerary.Sequence((*before, *made, *moved, *sizes, *after))

    def _alternatives(self, whole: itinerary.Sequence, conditional: Call, here: At) -> list[Call]:
        """Return the alternatives of an event; where nothing is done, there is none."""
        condition = self.open[conditional.number]
        assert conditional.times is not None
        often = conditional.times.often
        share = often if condition.happens else 1 - often
        choice, found = next(self.numbers), list[Call]()
        for happens in (True, False):
            outcome = ir.EventOutcome(condition.name, happens=happens)
            inside = _Copy(work=self).of(self._decided(whole, outcome, here).nodes)
            if all(isinstance(node, At) for node in inside):
                continue
            number = next(self.numbers)
            self.copies[number] = CallCopy(self.first(conditional.number))
            call = replace(
                conditional,
                number=number,
                node=here.node,
                body=itinerary.Sequence((here, *inside)),
                times=Times(share if happens else 1 - share),
                choice=choice,
                is_rest=bool(found),
                events=(outcome,),
            )
            found.append(call)
        many = _outcomes(itinerary.Sequence(tuple(found)))
        if many > MOST_EVENT_OUTCOMES:
            raise QpsError.single(
                codes.TOO_MANY_OUTCOMES,
                conditional.span,
                f"{many} combinations of events in `{self.stream}`: at most "
                f"{MOST_EVENT_OUTCOMES} are supported",
                hint="use fewer events between the first and the last step that depends on this "
                "one, or declare several streams",
            )
        return found

    def _decided(
        self, body: itinerary.Sequence, outcome: ir.EventOutcome, here: At | None
    ) -> itinerary.Sequence:
        """Return what is done where an event has an outcome.

        Steps that are done for sure then go on with the visit that they stand in: it is not said
        again that the item is at the node.
        """
        found: list[Node] = []
        is_joined = False
        for node in body.nodes:
            if isinstance(node, At):
                if is_joined and here is not None and node.node == here.node:
                    continue
                here = node
            is_joined = False
            if isinstance(node, Call) and self._asks(node, outcome.name):
                if self.open[node.number] == outcome:
                    inside = self._decided(node.body, outcome, here).nodes
                    found += _within_a_visit(inside, is_joined=_is_there(found))
                is_joined = _is_there(found)
                continue
            decided = node
            for at, one in enumerate(bodies_of(node)):
                decided = _with_body(decided, at, self._decided(one, outcome, here))
            found.append(decided)
        return itinerary.Sequence(tuple(found))

    def first(self, number: int) -> int:
        """Return the number of the call of the spec that a call was made from."""
        copy = self.copies.get(number)
        return number if copy is None else copy.of

    def copied(self, call: Call, fork: int | None) -> int:
        """Return a number for the copy of a call."""
        number = next(self.numbers)
        self.copies[number] = CallCopy(self.first(call.number), fork)
        if call.number in self.open:
            self.open[number] = self.open[call.number]
        return number

    def _refuse(self, nodes: Sequence[Node], name: str, conditional: Call) -> None:
        """Refuse what changes how many items there are between two calls that request an event."""
        if all(isinstance(node, _FOR_EACH_ITEM) for node in nodes):
            return
        raise QpsError.single(
            codes.NO_ANSWER,
            conditional.span,
            f"event `{name}` of `{self.stream}` is used before and after its items are merged, "
            "copied, filtered or limited",
            hint="use the event on one side only, or declare one stream for each outcome",
        )


def _is_there(found: Sequence[Node]) -> bool:
    """Return whether an item is still at the node where a stretch began: it has not come back."""
    return not found or not isinstance(found[-1], Call | Fork | Cross)


def _within_a_visit(nodes: Sequence[Node], *, is_joined: bool) -> Sequence[Node]:
    """Return what is done at a node, without that an item comes there where it `is_joined`."""
    start, end = int(is_joined and bool(nodes) and isinstance(nodes[0], At)), len(nodes)
    while end > start and isinstance(nodes[end - 1], At):
        end -= 1
    return nodes[start:end]


class _Copy(Struct, frozen=True, kw_only=True):
    """Copies nodes: what they number is new, and is so within all of them alike."""

    work: _Work
    known: dict[tuple[str, int], int] = field(default_factory=dict)

    def of(self, nodes: Sequence[Node], fork: int | None = None) -> tuple[Node, ...]:
        """Return copies of nodes, which are calls of a fork where that is stated."""
        return tuple(self._node(node, fork) for node in nodes)

    def _node(self, node: Node, fork: int | None) -> Node:
        match node:
            case Call():
                return replace(
                    node,
                    number=self.work.copied(node, fork),
                    choice=None if node.choice is None else self._new("choice", node.choice),
                    body=itinerary.Sequence(self.of(node.body.nodes)),
                )
            case Fork(number=number, branches=branches):
                new = self._new("fork", number)
                copies = (itinerary.Sequence(self.of(one.nodes, new)) for one in branches)
                return replace(node, number=new, branches=tuple(copies))
            case Take(hold=hold) | Give(hold=hold):
                return replace(node, hold=self._new("hold", hold))
            case Merge(body=body):
                return replace(node, body=itinerary.Sequence(self.of(body.nodes)))
            case _:
                return node

    def _new(self, what: str, number: int) -> int:
        if (what, number) not in self.known:
            self.known[what, number] = next(self.work.numbers)
        return self.known[what, number]


def _with_whole_holds(nodes: Sequence[Node], start: int, end: int) -> tuple[int, int]:
    """Return the ends of a stretch in which nothing is held that is not taken and given in it."""
    taken = {node.hold: at for at, node in enumerate(nodes) if isinstance(node, Take)}
    given = {node.hold: at for at, node in enumerate(nodes) if isinstance(node, Give)}
    pairs = [(at, given[hold]) for hold, at in taken.items() if hold in given]
    crossing = True
    while crossing:
        crossing = False
        for take, give in pairs:
            if (start <= take < end) != (start <= give < end):
                start, end, crossing = min(start, take), max(end, give + 1), True
    return start, end


def _with_body(node: Node, which: int, body: itinerary.Sequence) -> Node:
    match node:
        case Fork(branches=branches):
            return replace(node, branches=(*branches[:which], body, *branches[which + 1 :]))
        case Call() | Merge():
            return replace(node, body=body)
        case _:
            return node


def _nodes_in(nodes: Sequence[Node]) -> Iterator[Node]:
    for node in nodes:
        yield node
        for body in bodies_of(node):
            yield from _nodes_in(body.nodes)


def _most_number(body: itinerary.Sequence) -> int:
    """Return the largest number of a call, a choice, a fork or a hold."""
    found = [0]
    for node in _nodes_in(body.nodes):
        match node:
            case Call(number=number, choice=choice):
                found += [number, choice or 0]
            case Fork(number=number) | Take(hold=number):
                found.append(number)
            case _:
                pass
    return max(found)


def _outcomes(body: itinerary.Sequence) -> int:
    """Return how many outcomes events have that are decided within each other."""
    choices: dict[int | None, int] = {}
    for node in body.nodes:
        if isinstance(node, Call) and node.events:
            choices[node.choice] = choices.get(node.choice, 0) + _outcomes(node.body)
    within = (_outcomes(one) for node in body.nodes for one in bodies_of(node))
    return max((1, *choices.values(), *within))
