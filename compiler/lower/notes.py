"""What a walk along a stream notes for those who play it: what happens to an item, in order.

Nothing of waits is in it: how long an item waits is what playing it tells. Numbers are formulas,
as they are while streams are walked: of all kinds of users and items, elastic parameters open.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from msgspec import Struct, field

from qps.compiler import ir
from qps.compiler.lower.mixtures import Mixed
from qps.engine.formulas import ONE, ZERO, Formula


class Started(Struct, frozen=True, kw_only=True):
    """So many flows begin, of so many items a second each; `item` is None for bare bytes.

    Where users wait for their answers, each flow has an `amount` of items under way instead, and
    so long to `think` between two. Times between two items of a flow have a coefficient of
    `variation`, where one is stated; those of a smaller `priority` go first.
    """

    flows: Formula
    rate: Formula
    item: str | None
    amount: Formula | None = None
    think: Formula | None = None
    variation: Formula | None = None
    priority: Formula | None = None


class AtNode(Struct, frozen=True):
    """An item comes to one of the machines of a node: of `count`, all alike."""

    node: str
    count: Formula


class Worked(Struct, frozen=True, kw_only=True):
    """A machine works on an item: `service` on one server of a resource, of which `capacity` are.

    `thread` is the single thread that does it, where that is one.
    """

    step: str
    resource: str
    service: Formula
    capacity: Formula
    thread: str | None = None


class Delayed(Struct, frozen=True):
    """An item takes a time that nobody works."""

    stage: str
    time: Formula


class Thinned(Struct, frozen=True):
    """A share of the items goes on; the others are not lost, nobody misses them.

    Where it `is_burst`, flows are on for that share of the time, for so long on average at a time:
    `lasting` in s, None where nobody says it.
    """

    share: Formula
    is_burst: bool = False
    lasting: Formula | None = None


class Gone(Struct, frozen=True):
    """A share of the items is lost; `kind` is the value of a `LossKind`."""

    stage: str
    kind: str
    share: Formula


class Restored(Struct, frozen=True):
    """A share of what transmission has lost so far is there again."""

    stage: str
    share: Formula


class Merged(Struct, frozen=True):
    """So many flows of a machine become one, which goes on when the last of them is there.

    What was done at the node before is done for each of them.
    """

    by: str
    flows: Formula


class Resized(Struct, frozen=True):
    """A stream of bare bytes goes on with a share of them."""

    share: Formula


class Copied(Struct, frozen=True):
    """A machine sends so many copies of an item together, for so many receivers."""

    sent: Formula
    receivers: Formula


class Port(Struct, frozen=True, kw_only=True):
    """A port, one of `count`, at a node where it is somebody's own.

    `capped` is a limit of items a second, and what an item asks of it.
    """

    resource: str
    node: str | None
    count: Formula
    service: Formula
    capped: tuple[str, Formula] | None = None


class Crossed(Struct, frozen=True, kw_only=True):
    """An item crosses a link: it goes on from each port when that begins with it.

    The last port takes it whole; `is_last` where a node follows, which gets every copy.
    """

    link: str
    ports: tuple[Port, ...]
    is_last: bool


class CallBegun(Struct, frozen=True):
    """A node is called, so often; calls of one `fork` are made together."""

    number: int
    node: str
    times: Formula | None
    fork: int | None


class CallEnded(Struct, frozen=True):
    """The answer of a call is there."""

    number: int


class PoolTaken(Struct, frozen=True, kw_only=True):
    """An item takes an amount of a pool of one of the machines of a node.

    It waits until there is so much, first come first served, where something `waits`.
    """

    pool: str
    node: str
    count: Formula
    amount: Formula
    waits: bool = True


class PoolGiven(Struct, frozen=True):
    """An item gives back what it holds of a pool."""

    pool: str


Note: TypeAlias = (
    Started
    | AtNode
    | Worked
    | Delayed
    | Thinned
    | Gone
    | Restored
    | Merged
    | Resized
    | Copied
    | Crossed
    | CallBegun
    | CallEnded
    | PoolTaken
    | PoolGiven
)


class NotedStation(Struct, frozen=True, kw_only=True):
    """A resource: how it is waited for, its servers, and the load that no item causes.

    A pool has `room` for what is taken, of each machine, beside what is kept for good.
    A queue has `places` for so many, those served among them, where that is stated.
    """

    queueing: ir.Queueing | None
    variation: Formula
    servers: Formula = ONE
    background: Formula = ZERO
    speeds: tuple[Formula, ...] = ()
    room: Formula = ZERO
    places: Formula | None = None


class Notes(Struct, frozen=True, kw_only=True):
    """What was noted of all streams: nothing of it is looked at before somebody plays it."""

    streams: Mapping[str, tuple[Note, ...]] = field(default_factory=dict)
    stations: Mapping[str, NotedStation] = field(default_factory=dict)
    mixtures: Mapping[Formula, Mixed] = field(default_factory=dict)
