"""The itinerary of a class as plain values: a view of each kind of node."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

from msgspec import Struct

from qps.compiler.network import itinerary


class FormulaValue(Struct, frozen=True):
    """A formula and its value in base units; null if it depends on the population."""

    formula: str
    value: float | None


class TimesView(Struct, frozen=True, kw_only=True):
    """Number of repetitions; the fractional part is the probability of one more."""

    often: FormulaValue
    copies: FormulaValue
    switch: FormulaValue
    merged: FormulaValue


class AtView(Struct, frozen=True, kw_only=True):
    """A step in which an item reaches one of the copies of a node."""

    node: str
    copies: FormulaValue
    type_: Literal["at"] = "at"


class ServeView(Struct, frozen=True, kw_only=True):
    """A step served by a station. The mean service time on one server is `work` times `pace`."""

    station: str
    by: str
    work: FormulaValue
    pace: FormulaValue
    times: TimesView
    per_flow: FormulaValue
    thread: str | None
    counted: tuple[tuple[str, FormulaValue], ...]
    type_: Literal["serve"] = "serve"


class DelayView(Struct, frozen=True, kw_only=True):
    """A step that takes time without using a station, such as propagation on a `link`."""

    why: str
    time: FormulaValue
    times: TimesView
    link: str | None
    type_: Literal["delay"] = "delay"


class PortVisitView(Struct, frozen=True, kw_only=True):
    """A step in which a port transmits an item: its payload and header, in bits."""

    station: str
    payload: FormulaValue
    header: FormulaValue
    overlaps: bool
    cap: tuple[str, FormulaValue] | None


class CrossView(Struct, frozen=True, kw_only=True):
    """A step that crosses a link, port by port."""

    link: str
    ports: tuple[PortVisitView, ...]
    every_copy: bool
    type_: Literal["cross"] = "cross"


class CallView(Struct, frozen=True, kw_only=True):
    """A step that calls a node; `body` contains the steps of the request and the response.

    What is done by chance at a node is a call of that node itself (`is_local`); of calls in a row
    with one `choice` an item makes one at most. Those that depend on `events` have their outcomes:
    `hit`, `not hit`.
    """

    number: int
    node: str
    times: TimesView | None
    sends: FormulaValue | None
    returns: FormulaValue | None
    body: tuple[NodeView, ...]
    is_local: bool
    choice: int | None
    events: tuple[str, ...]
    type_: Literal["call"] = "call"


class ForkView(Struct, frozen=True, kw_only=True):
    """A step with parallel branches. The item continues when all branches are complete.

    A fan-out has one branch, which is made `count` times at once; the item goes on with the first
    so many `answers`, with all of them where that is null.
    """

    number: int
    branches: tuple[tuple[NodeView, ...], ...]
    count: FormulaValue | None
    answers: FormulaValue | None
    type_: Literal["fork"] = "fork"


class TakeView(Struct, frozen=True, kw_only=True):
    """A step that acquires an amount of a pool; it is held until it is released."""

    hold: int
    pool: str
    amount: FormulaValue
    type_: Literal["take"] = "take"


class GiveView(Struct, frozen=True, kw_only=True):
    """A step that releases what the item holds."""

    hold: int
    type_: Literal["give"] = "give"


class LoseView(Struct, frozen=True, kw_only=True):
    """A step that loses items with a given probability; null if the `station` rejects them."""

    why: str
    kind: str
    chance: FormulaValue | None
    station: str | None
    link: str | None
    type_: Literal["lose"] = "lose"


class RestoreView(Struct, frozen=True, kw_only=True):
    """A step that recovers a lost item with a given probability."""

    why: str
    chance: FormulaValue
    type_: Literal["restore"] = "restore"


class QueueLimitView(Struct, frozen=True, kw_only=True):
    """Maximum length of a queue; each item occupies `per_item` units."""

    why: str
    length: FormulaValue
    per_item: FormulaValue
    type_: Literal["queue_limit"] = "queue_limit"


class ThinView(Struct, frozen=True, kw_only=True):
    """A step that a fraction of the items take, or the fraction of time a bursty flow is on."""

    share: FormulaValue
    bursty: bool
    on_for: FormulaValue | None
    type_: Literal["thin"] = "thin"


class SendView(Struct, frozen=True, kw_only=True):
    """A step in which the sender makes one copy for each receiver."""

    copies: FormulaValue
    receivers: FormulaValue
    to: str
    target: str | None
    group: str | None
    type_: Literal["send"] = "send"


class MergeView(Struct, frozen=True, kw_only=True):
    """A step that merges several flows into one; `body` is executed for each of them."""

    by: str
    flows: FormulaValue
    body: tuple[NodeView, ...]
    type_: Literal["merge"] = "merge"


class ResizeView(Struct, frozen=True, kw_only=True):
    """A step after which the item has another size."""

    bits: FormulaValue | None
    share: FormulaValue
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
