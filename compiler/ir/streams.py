"""What steps cost, and the streams that take them."""

from __future__ import annotations

from enum import Enum
from fractions import Fraction
from typing import TypeAlias

from msgspec import Struct

from qps.compiler.diagnostics.diagnostic import Diagnostic
from qps.compiler.diagnostics.source import Span
from qps.compiler.ir.effects import EffectKind
from qps.compiler.ir.expressions import Condition, Expr
from qps.compiler.ir.parameters import Quantity
from qps.compiler.measurement.fits import CostFit
from qps.compiler.measurement.scalability.station_fit import StationFit

MOST_OTHERS = 16
"""Others that are called at the same time, where parameters say how many."""


class Cost(Struct, frozen=True, kw_only=True):
    """What a component costs on one resource.

    `measured_on` names the machine whose rating the cost is scaled from; `scaled_by` the
    base of the rating to use where it is not the resource's own; `measured_at` between which
    loads of the resource it was measured. What is `single_thread` loads one core besides, that of
    the `thread` of a name, None for one of the component's own. `fit` is where the numbers come
    from, where they are fitted, `station` the same of a closed load test. `reference` is the rating
    of the machine that it was measured on, where that is set by itself: what stands in a place has
    its own.
    """

    resource: str
    terms: tuple[Quantity, ...]
    measured_on: str | None
    scaled_by: str | None
    single_thread: bool
    span: Span
    measured_at: tuple[Fraction, Fraction] | None = None
    thread: str | None = None
    fit: CostFit | None = None
    station: StationFit | None = None
    reference: Quantity | None = None
    factors: tuple[tuple[str, Quantity], ...] = ()


class Effect(Struct, frozen=True):
    """An effect; `value` is None for a merge.

    `lasting` is how long what is `active` is so at a time, on average: None where nobody says it.
    """

    kind: EffectKind
    value: Quantity | None
    span: Span
    lasting: Quantity | None = None


class Component(Struct, frozen=True, kw_only=True):
    """One step of work, its arguments put in: where it has some, its numbers differ by them."""

    name: str
    costs: tuple[Cost, ...]
    effects: tuple[Effect, ...]
    span: Span
    source: str | None
    doc: str | None
    has_arguments: bool = False


class SpreadKind(Enum):
    """To whom copies go."""

    OTHERS = "others"
    SOME = "some"
    ALL = "all"
    ONE = "one"


class Spread(Struct, frozen=True, kw_only=True):
    """`to others by cast`: `cast` is a plain truth (multicast) or the option that decides.

    Of some others there are so many, `count`. With a `group`, copies go to its members, wherever
    the stream goes on, and each of them gets at most `most` of the streams of its group.
    """

    kind: SpreadKind
    target: str | None
    cast: bool | str
    span: Span
    group: str | None = None
    most: Quantity | None = None
    count: Quantity | None = None


class WrittenRuns(Struct, frozen=True, kw_only=True):
    """`scan(x) * 1.4 %` as it is written: `whole`, its `amount`, and a `single` run: `scan(x)`."""

    whole: Span
    amount: Span
    single: str


class Step(Struct, frozen=True, kw_only=True):
    """A component in its place; with a `group`, it merges the flows of each group by itself.

    `written` is how often it runs, None where a component says it.
    """

    component: Component
    repeat: Expr | None
    spread: Spread | None
    condition: Condition | None
    span: Span
    group: str | None = None
    written: WrittenRuns | None = None


class Visit(Struct, frozen=True):
    """The steps at a node."""

    node: str
    steps: tuple[Step, ...]
    span: Span


class Crossing(Struct, frozen=True):
    """A link on the way, and what comes before and after it: nodes or links."""

    link: str
    before: str
    after: str
    span: Span


class FanOut(Struct, frozen=True, kw_only=True):
    """A call is made `count` times at once; the first so many `answers` are waited for, or all."""

    count: Quantity
    answers: Quantity | None = None


class Event(Struct, frozen=True):
    """What happens to a `share` of the items of a stream, drawn once for each of them."""

    name: str
    share: Quantity
    span: Span


class EventOutcome(Struct, frozen=True):
    """That an event of a stream happens to an item, or that it does not."""

    name: str
    happens: bool

    @property
    def words(self) -> str:
        """How a spec requests it: `hit`, `not hit`."""
        return self.name if self.happens else f"not {self.name}"


class Call(Struct, frozen=True, kw_only=True):
    """A node that a step calls: the steps between its marks are run there, then it comes back.

    `number` distinguishes the calls of a stream; those of one `fork` are made at the same time. It
    is made `times` as often as the stream comes by, None where it is made once. It is the first of
    those to so many `others` where these are stated. `sends` and
    `returns` are the sizes of a request and of its answer, None where the stream keeps its own.
    With a `fan_out` it is made many times at once, and is alone in its fork.

    What is done by chance at a node is a call of that node itself, `is_local`: `times` is the
    probability. Of those of one `choice` an item makes one at most; `is_rest` marks the one that
    takes what the others leave. What is done where an `event` has an outcome is such a call, too,
    with the probability of the event as its `times`, also where it does not happen.
    """

    number: int
    node: str
    times: Quantity | None
    sends: Quantity | None
    returns: Quantity | None
    condition: Condition | None
    span: Span
    fork: int | None = None
    others: Quantity | None = None
    fan_out: FanOut | None = None
    is_local: bool = False
    choice: int | None = None
    is_rest: bool = False
    event: EventOutcome | None = None

    @property
    def amount_name(self) -> str:
        """What the number is called within its stream that says how often it is made."""
        if self.event is not None:
            return self.event.name
        return f"{self.node}.{'probability' if self.is_local else 'times'}"


class CallPoint(Enum):
    """Where on the way of a stream a call has got to."""

    BEGINS = "begins"  # the request is made
    ANSWERS = "answers"  # the steps are done, the answer goes back
    ENDS = "ends"  # the answer is there


class CallMark(Struct, frozen=True):
    """A point on the way of a stream at which something happens to a call."""

    point: CallPoint
    call: Call


class PoolPoint(Enum):
    """What happens to a pool on the way of a stream."""

    TAKE = "taken"
    GIVE_BACK = "given"


class PoolMark(Struct, frozen=True, kw_only=True):
    """A point on the way of a stream at which some of a pool is taken, or given back.

    The pool is a store of the machines at a node. Of it an `amount` is taken, one item where that
    is None; where a `condition` fails, nothing is.
    """

    point: PoolPoint
    node: str
    resource: str
    span: Span
    amount: Quantity | None = None
    condition: Condition | None = None

    @property
    def pool(self) -> str:
        """The name of the pool in its place."""
        return f"{self.node}.{self.resource}"


Leg: TypeAlias = Visit | Crossing | CallMark | PoolMark
"""A part of the way of a stream."""


class Emission(Struct, frozen=True, kw_only=True):
    """What leaves a source.

    `values` are the rate and the sizes as they were given. `primary` is the item that keeps
    its count when the size changes; None for a stream of bytes alone. With a time to `think` the
    first value is an amount: each flow has so many items under way, and sends the next one so long
    after one has come to its end.
    """

    values: tuple[Quantity, ...]
    primary: str | None
    items: tuple[str, ...]
    carries_information: bool
    framed_bytes: bool
    span: Span
    think: Quantity | None = None


class Playout(Struct, frozen=True):
    """The buffer where a stream ends: its delay, and the share that comes too late for it."""

    delay: Quantity
    dropping: Quantity | None
    span: Span


class InEachGroup(Struct, frozen=True):
    """`for 2 in each room`: so many flows in each group, but no more than it has members."""

    group: str
    flows: Quantity


class EachPair(Struct, frozen=True, kw_only=True):
    """`for each pair of peer`: one flow between each two machines of a node, or members of a group.

    Of an ordered pair each has a flow to the other, else one of them has it, each as often.
    """

    span: Span
    node: str | None = None
    group: str | None = None
    is_ordered: bool = False


class Whose(Enum):
    """Whose flows are that are of no node and no group: each user has one, or there is one in all.

    The one flow of a stream `in all` is shared by the machines of its first node.
    """

    EACH_USER = "user"
    ALL = "all"


class StreamPath(Struct, frozen=True):
    """How a stream goes where some of its conditions hold; `faults` explain why it cannot."""

    holds: tuple[bool, ...]
    legs: tuple[Leg, ...]
    faults: tuple[Diagnostic, ...] = ()


class Stream(Struct, frozen=True, kw_only=True):
    """Items on their way: one flow for each machine of a node, or whatever says whose they are.

    One of a smaller `priority` goes first where a discipline requests that, one without it last.
    Where each user of an instance has one, `users` is how many there are. It is there where its
    `condition` holds. Where visits and links are there by `conditions` of their own, each of the
    `paths` is the whole of one, and `legs` are all that there is on any of them. `arrivals` is the
    coefficient of variation of the times between two items of one flow, None where none is stated.
    Calls use the `events`. It has no traffic while one of the profiles in `pauses` is 0.
    """

    name: str
    flows_from: str | InEachGroup | EachPair | Whose
    emission: Emission
    legs: tuple[Leg, ...]
    span: Span
    doc: str | None
    playout: Playout | None = None
    priority: Quantity | None = None
    users: Expr | None = None
    condition: Condition | None = None
    conditions: tuple[Condition, ...] = ()
    paths: tuple[StreamPath, ...] = ()
    arrivals: Quantity | None = None
    events: tuple[Event, ...] = ()
    pauses: tuple[str, ...] = ()

    @property
    def is_closed(self) -> bool:
        """Whether its holders wait for what they have sent before they send more."""
        return self.emission.think is not None

    @property
    def calls(self) -> tuple[Call, ...]:
        """The calls on the way, in the order in which they begin."""
        marks = (leg for leg in self.legs if isinstance(leg, CallMark))
        return tuple(mark.call for mark in marks if mark.point is CallPoint.BEGINS)

    @property
    def pools(self) -> tuple[PoolMark, ...]:
        """What is taken of pools and given back on the way, in order."""
        return tuple(leg for leg in self.legs if isinstance(leg, PoolMark))
