"""The itinerary of a class: what happens to one of its items, in order, as a tree.

Times are in s, sizes in bit, shares and chances between 0 and 1. Numbers are formulas in the
population and the assumptions; elastic parameters and kinds are symbols in them.
"""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct

from qps.compiler import ir
from qps.compiler.diagnostics.source import Span
from qps.engine.expressions.formulas import ONE, ZERO, Formula


class Times(Struct, frozen=True):
    """How often something is done for one item that comes by.

    The whole part of `often` for sure, and once more with the chance that is left. It is done for
    each of so many `copies` that the item is made into, and for each but one of the flows that are
    `merged` by it. A `switch` is 1 where an option takes the step, and 0 where it does not.
    """

    often: Formula = ONE
    copies: Formula = ONE
    switch: Formula = ONE
    merged: Formula = ONE

    @property
    def mean(self) -> Formula:
        """How often it is done on average, for all copies."""
        return self.often * self.copies * self.switch * self.merged


SINGLE_VISIT = Times()


class At(Struct, frozen=True):
    """An item comes to one of so many `copies` of a node, all alike."""

    node: str
    copies: Formula


class Serve(Struct, frozen=True, kw_only=True):
    """A station serves an item: so much `work`, of which one server does a unit in `pace`.

    The unit is that of the cost: a second of the machine that it was measured on, a bit, an item.
    Of a store, `work` is how much one item takes, times for how long. Where a single `thread` does
    the work, that is a station, too. `per_flow` is the part of one server, or of a store, that each
    flow takes for good. Of a fitted cost, items and bits that come with one item of the class are
    `counted`. Where it `is_bounded` what waits stands in a queue with an end.
    """

    station: str
    by: str
    span: Span
    work: Formula = ZERO
    pace: Formula = ONE
    times: Times = SINGLE_VISIT
    per_flow: Formula = ZERO
    thread: str | None = None
    counted: tuple[tuple[str, Formula], ...] = ()
    is_bounded: bool = False

    @property
    def service(self) -> Formula:
        """The mean time on one server, each time, in s."""
        return self.work * self.pace

    @property
    def demand(self) -> Formula:
        """The mean time on one server for all times together, in s: the service demand."""
        return self.times.mean * self.work * self.pace


class Delay(Struct, frozen=True, kw_only=True):
    """An item takes a `time` at which nobody works, so many `times`; on a `link` it propagates."""

    why: str
    time: Formula
    times: Times = SINGLE_VISIT
    link: str | None = None


class PortVisit(Struct, frozen=True, kw_only=True):
    """A port carries the `payload` of an item, and what a `header` adds to it.

    The next port begins with the item where it `overlaps`. `cap` is a limit of items a second, with
    how many of these come with one item of the class.
    """

    station: str
    payload: Formula
    header: Formula = ZERO
    overlaps: bool
    cap: tuple[str, Formula] | None = None

    @property
    def bits(self) -> Formula:
        """The bits of an item here, headers included."""
        return self.payload + self.header


class Cross(Struct, frozen=True, kw_only=True):
    """An item crosses a link, port after port; a node that follows gets `every_copy`.

    A link without a rate has no ports.
    """

    link: str
    ports: tuple[PortVisit, ...]
    every_copy: bool


class Call(Struct, frozen=True, kw_only=True):
    """A node is called, so many `times`, None where the call is made once.

    The `body` goes there and back. `sends` and `returns` are the sizes of request and answer, None
    where the class keeps its own. `number` distinguishes the calls of a class.

    What is done by chance at a node is a call of that node itself, `is_local`. Of calls in a row
    that are of one `choice` an item makes one at most, each by its chance: they exclude each other.
    The last one `is_rest` where it is made by all that make no other one. Alternatives may be those
    of `events`: one is taken by the items to which these happen, or do not.
    """

    number: int
    node: str
    body: Sequence
    span: Span
    times: Times | None = None
    sends: Formula | None = None
    returns: Formula | None = None
    is_local: bool = False
    choice: int | None = None
    is_rest: bool = False
    events: tuple[ir.EventOutcome, ...] = ()


class Fork(Struct, frozen=True, kw_only=True):
    """Calls that are made together: the item goes on when all answers are there.

    A fan-out is one branch that is made `count` times at once, by calls that differ in nothing but
    the machine they go to: one after the other of those of the node, from a random one on. Where
    `answers` are stated, the item goes on with the first so many; the other calls go on as well.
    """

    number: int
    branches: tuple[Sequence, ...]
    count: Formula | None = None
    answers: Formula | None = None


class Take(Struct, frozen=True):
    """An item takes an `amount` of a pool, first come first served, and holds it until given."""

    hold: int
    pool: str
    amount: Formula
    span: Span


class Give(Struct, frozen=True):
    """A step that releases what the item holds."""

    hold: int


class Lose(Struct, frozen=True, kw_only=True):
    """An item is lost with a `chance`; None where the room of the station that is full decides.

    It may be lost on a `link`.
    """

    why: str
    kind: str
    span: Span
    chance: Formula | None = None
    station: str | None = None
    link: str | None = None


class Restore(Struct, frozen=True):
    """An item that transmission has lost so far is there again with a `chance`."""

    why: str
    chance: Formula
    span: Span


class QueueLimit(Struct, frozen=True, kw_only=True):
    """No more than a `length` waits here, of what comes `per_item` of the class."""

    why: str
    length: Formula
    per_item: Formula
    span: Span


class Thin(Struct, frozen=True, kw_only=True):
    """A `share` of the items goes on; nobody misses the others.

    Flows that are `bursty` are on for that share of the time, `on_for` so long on average at a
    time, None where nobody says it.
    """

    share: Formula
    bursty: bool = False
    on_for: Formula | None = None


class Send(Struct, frozen=True, kw_only=True):
    """The sender makes so many `copies` for so many `receivers`: 1 copy by multicast.

    They go `to` others, to some of them, to all of a node or to one; of a `group` to its members.
    """

    copies: Formula
    receivers: Formula
    to: str
    target: str | None = None
    group: str | None = None


class Merge(Struct, frozen=True, kw_only=True):
    """So many `flows` become one when the last of them is there; the `body` is done for each."""

    by: str
    flows: Formula
    body: Sequence


class Resize(Struct, frozen=True, kw_only=True):
    """An item goes on with so many `bits`, or with a `share` of those that it had."""

    bits: Formula | None = None
    share: Formula = ONE


class Sequence(Struct, frozen=True):
    """What happens in a row."""

    nodes: tuple[Node, ...] = ()


Node: TypeAlias = (
    At
    | Serve
    | Delay
    | Cross
    | Call
    | Fork
    | Take
    | Give
    | Lose
    | Restore
    | QueueLimit
    | Thin
    | Send
    | Merge
    | Resize
)


def bodies_of(node: Node) -> tuple[Sequence, ...]:
    """Return the sequences that a node is made of: of a call one, of calls together several."""
    match node:
        case Call(body=body) | Merge(body=body):
            return (body,)
        case Fork(branches=branches):
            return branches
        case _:
            return ()
