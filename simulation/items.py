"""Items on their way, and what is counted of them."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from typing import Any

from qps.compiler.lower.response_time.response_parts import LossKind
from qps.simulation.stations import Happening, Places

Go = Callable[[Any], None]
"""What becomes of an item."""

_NONE_PICKED: dict[str, int] = {}
PoolHold = tuple[int, float, float, Places]
"""What an item holds of a pool: which one, how much, since when, and where."""


class Item:
    """An item on its way: its picks of machines, its open calls, and which copy it is.

    Picks and open calls are shared with copies: they are made anew, never changed.
    """

    __slots__ = (
        *("created", "flow", "holds", "is_dropped", "open", "picks", "priority", "spread"),
        "wait_time",
    )

    def __init__(self, created: float, priority: float = 0.0, flow: int = -1) -> None:
        self.created = created
        self.priority = priority
        self.flow = flow
        self.picks: dict[str, int] = _NONE_PICKED
        self.open: tuple[Any, ...] = ()
        self.holds: tuple[PoolHold, ...] = ()
        self.spread: tuple[float, int] | None = None
        self.is_dropped = False
        self.wait_time = 0.0

    def copied(self) -> Item:
        """Return another one that is where this one is."""
        twin = Item(self.created, self.priority, self.flow)
        twin.picks = self.picks
        twin.open = self.open
        twin.is_dropped = self.is_dropped
        twin.wait_time = self.wait_time
        return twin


class Joined:
    """Calls that are made together: how many are under way, and whether one was lost."""

    __slots__ = ("is_lost", "item", "left")

    def __init__(self, item: Item, left: int) -> None:
        self.item = item
        self.left = left
        self.is_lost = False


class StreamCounts:
    """What a run counts of a stream."""

    __slots__ = ("done", "ends", "latency", "lost", "sum", "waits")

    def __init__(self) -> None:
        self.ends = array("d")
        self.latency = array("d")
        self.waits = array("d")
        self.done = 0
        self.sum = 0.0
        self.lost: dict[str, float] = {kind.value: 0.0 for kind in LossKind}


class StationCounts:
    """When visits to a station came, and how long each of them waited."""

    __slots__ = ("begins", "waits")

    def __init__(self) -> None:
        self.begins = array("d")
        self.waits = array("d")


def of_item(then: Go) -> Go:
    """Return what lets the item of a happening go on."""

    def happen(happening: Happening) -> None:
        then(happening.item)

    return happen
