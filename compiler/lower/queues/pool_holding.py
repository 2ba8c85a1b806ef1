"""What a class holds of a pool, from one point of its way to a later one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import floor

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler.diagnostics.source import Span
from qps.compiler.lower.queues.visits import QueueVisit
from qps.engine.expressions.formulas import ONE, ZERO, Formula, apply, maximum, number, total


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
    visit: QueueVisit
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


class PoolCapacity(Struct, frozen=True, kw_only=True):
    """What a pool has to give: `permanent` of it is held for good, so much is `left` to be taken.

    Where all take equally much, what is less than that is of no use to anybody, and is not left.
    """

    permanent: Formula
    left: Formula
    places: Formula

    @property
    def unit(self) -> Formula:
        """The load that one unit of it makes which is held: 1 in all where nothing is left."""
        return (ONE - self.permanent) / self.left


_HARDLY_ANY = number(Fraction(1, 10**9))


def room_of(
    reserve: Formula, capacity: Formula, amounts: Sequence[Formula], busy: Sequence[Formula]
) -> PoolCapacity:
    """Return what a pool has to give to those who take some of it, each so `busy` with it."""
    amount, left = weighted_mean(amounts, busy), (ONE - reserve) * capacity
    places = left / amount
    is_counted = amount is ONE and reserve is ZERO and not places.is_constant
    if len(set(amounts)) == 1 and not is_counted:  # on lines between whole numbers, as servers are
        whole = floor(places)
        places = whole if whole.is_constant else maximum(_HARDLY_ANY, whole)
        left = places * amount
    return PoolCapacity(permanent=reserve, left=left, places=places)


def weighted_mean(values: Sequence[Formula], weights: Sequence[Formula]) -> Formula:
    """Return the mean of values by some weights."""
    if len(set(values)) == 1:
        return values[0]
    weighed = [weight * value for weight, value in zip(weights, values, strict=True)]
    return apply("mean", total(weighed), total(weights))
