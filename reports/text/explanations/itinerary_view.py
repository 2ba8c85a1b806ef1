"""The itinerary of a class as plain values: a view of each kind of node."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

from msgspec import Struct

from qps.compiler.network import itinerary


class Number(Struct, frozen=True):
    """A formula in symbols, and its value in base units; null where it needs a population."""

    formula: str
    value: float | None


class TimesView(Struct, frozen=True, kw_only=True):
    """How often something is done: the whole part for sure, once more with the rest as chance."""

    often: Number
    copies: Number
    switch: Number
    merged: Number


class AtView(Struct, frozen=True, kw_only=True):
    """An item comes to one of the copies of a node."""

    node: str
    copies: Number
    type_: Literal["at"] = "at"


class ServeView(Struct, frozen=True, kw_only=True):
    """A station serves an item: `work` times `pace` is the mean time on one server."""

    station: str
    by: str
    work: Number
    pace: Number
    times: TimesView
    per_flow: Number
    thread: str | None
    counted: tuple[tuple[str, Number], ...]
    type_: Literal["serve"] = "serve"


class DelayView(Struct, frozen=True, kw_only=True):
    """An item takes a time without any station; on a `link` it propagates."""

    why: str
    time: Number
    times: TimesView
    link: str | None
    type_: Literal["delay"] = "delay"


class PortVisitView(Struct, frozen=True, kw_only=True):
    """A port carries the payload of an item, in bits, with a header."""

    station: str
    payload: Number
    header: Number
    overlaps: bool
    cap: tuple[str, Number] | None


class CrossView(Struct, frozen=True, kw_only=True):
    """An item crosses a link, port after port."""

    link: str
    ports: tuple[PortVisitView, ...]
    every_copy: bool
    type_: Literal["cross"] = "cross"


class CallView(Struct, frozen=True, kw_only=True):
    """A node is called; the body goes there and back.

    What is done by chance at a node is a call of that node itself (`is_local`); of calls in a row
    with one `choice` an item makes one at most. Those that depend on `events` have their outcomes:
    `hit`, `not hit`.
    """

    number: int
    node: str
    times: TimesView | None
    sends: Number | None
    returns: Number | None
    body: tuple[NodeView, ...]
    is_local: bool
    choice: int | None
    events: tuple[str, ...]
    type_: Literal["call"] = "call"


class ForkView(Struct, frozen=True, kw_only=True):
    """Branches that begin together; the item goes on when all are done.

    A fan-out has one branch, which is made `count` times at once; the item goes on with the first
    so many `answers`, with all of them where that is null.
    """

    number: int
    branches: tuple[tuple[NodeView, ...], ...]
    count: Number | None
    answers: Number | None
    type_: Literal["fork"] = "fork"


class TakeView(Struct, frozen=True, kw_only=True):
    """An item takes an amount of a pool and holds it until it is given."""

    hold: int
    pool: str
    amount: Number
    type_: Literal["take"] = "take"


class GiveView(Struct, frozen=True, kw_only=True):
    """An item gives back what it holds."""

    hold: int
    type_: Literal["give"] = "give"


class LoseView(Struct, frozen=True, kw_only=True):
    """An item is lost with a chance; null where a full `station` decides."""

    why: str
    kind: str
    chance: Number | None
    station: str | None
    link: str | None
    type_: Literal["lose"] = "lose"


class RestoreView(Struct, frozen=True, kw_only=True):
    """An item lost in transmission is recovered with a chance."""

    why: str
    chance: Number
    type_: Literal["restore"] = "restore"


class QueueLimitView(Struct, frozen=True, kw_only=True):
    """A queue has a length at most, in units of which `per_item` come with an item."""

    why: str
    length: Number
    per_item: Number
    type_: Literal["queue_limit"] = "queue_limit"


class ThinView(Struct, frozen=True, kw_only=True):
    """A share of the items goes on; bursty flows are on for that share of the time."""

    share: Number
    bursty: bool
    on_for: Number | None
    type_: Literal["thin"] = "thin"


class SendView(Struct, frozen=True, kw_only=True):
    """The sender makes copies for receivers."""

    copies: Number
    receivers: Number
    to: str
    target: str | None
    group: str | None
    type_: Literal["send"] = "send"


class MergeView(Struct, frozen=True, kw_only=True):
    """Flows become one; the body is done for each of them."""

    by: str
    flows: Number
    body: tuple[NodeView, ...]
    type_: Literal["merge"] = "merge"


class ResizeView(Struct, frozen=True, kw_only=True):
    """An item goes on with another size."""

    bits: Number | None
    share: Number
    type_: Literal["resize"] = "resize"


NodeView: TypeAlias = (
    AtView
    | ServeView
    | DelayView
    | CrossView
    | CallView
    | ForkView
    | TakeView
    | GiveView
    | LoseView
    | RestoreView
    | QueueLimitView
    | ThinView
    | SendView
    | MergeView
    | ResizeView
)

NODE_VIEWS: Mapping[type[Struct], type[Struct]] = {
    itinerary.At: AtView,
    itinerary.Call: CallView,
    itinerary.Cross: CrossView,
    itinerary.Delay: DelayView,
    itinerary.Fork: ForkView,
    itinerary.Give: GiveView,
    itinerary.Lose: LoseView,
    itinerary.Merge: MergeView,
    itinerary.PortVisit: PortVisitView,
    itinerary.QueueLimit: QueueLimitView,
    itinerary.Resize: ResizeView,
    itinerary.Restore: RestoreView,
    itinerary.Send: SendView,
    itinerary.Serve: ServeView,
    itinerary.Take: TakeView,
    itinerary.Thin: ThinView,
    itinerary.Times: TimesView,
}
"""What is printed of each part of an itinerary: of its fields, those of the same names."""
