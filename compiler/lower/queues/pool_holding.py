"""What a class holds of a pool, from one point of its way to a later one."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler.diagnostics.source import Span
from qps.compiler.lower.queues.visits import Visit
from qps.engine.expressions.formulas import ONE, Formula


class Hold(Struct, frozen=True, kw_only=True):
    """An `amount` of a pool that each visit holds through some stages of the latency `of` a class.

    Each of some `machines` has such a pool. The stages are those from `begins` to before `ends`;
    `stage` is that of the wait for the pool, None where no wait is counted. It stands in `depth`
    calls. It `is_lossy` where some of the items are lost meanwhile, which give it back then; some
    because a resource is full, where it `finds_no_room`. An item that has begun comes to where it
    is taken so often, `reached`.
    """

    pool: str
    of: str
    visit: Visit
    amount: Formula
    machines: Formula
    stage: int | None
    begins: int
    ends: int
    depth: int
    span: Span
    is_lossy: bool = False
    finds_no_room: bool = False
    reached: Formula = ONE

    def changed(self, change: Callable[[Formula], Formula]) -> Hold:
        """Return the hold with every formula changed that it is made of."""
        return replace(
            self,
            visit=self.visit.changed(change),
            amount=change(self.amount),
            machines=change(self.machines),
            reached=change(self.reached),
        )


class Room(Struct, frozen=True, kw_only=True):
    """What a pool has to give: `kept` of it is held for good, so much is `left` to be taken.

    Where all take equally much, what is less than that is of no use to anybody, and is not left.
    """

    kept: Formula
    left: Formula
    places: Formula

    @property
    def unit(self) -> Formula:
        """The load that one unit of it makes which is held: 1 in all where nothing is left."""
        return (ONE - self.kept) / self.left
