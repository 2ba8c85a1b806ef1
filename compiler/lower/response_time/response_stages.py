"""The stages of a latency: how long an item is where, and in which calls.

A call that is made `times` is made so often on average: as the whole part of it says, and once
more for a share of what comes by.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from enum import Enum

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler.diagnostics.source import Span
from qps.compiler.lower.queues.queue_certainty import mean_certainty
from qps.compiler.lower.queues.station_queue import Queue
from qps.compiler.lower.queues.visits import QueueVisit
from qps.compiler.quantities.certainty import EXACT, Certainty, together
from qps.engine.expressions.formulas import ONE, ZERO, Formula, apply

_WAITING = "waiting for "


MOST_SIMULATED = 8
"""Calls made at once in the random networks by which errors of fan-outs were measured."""


class FanOutStage(Struct, frozen=True, kw_only=True):
    """A call that is made `count` times at once; the first `answers` are waited for, or all.

    Its requests come together at each of so many `machines`, so that so many `batches` wait there:
    `count`, or as many as there are machines where these are fewer. It `is_apart` where there is a
    machine for each for sure, and `is_each` where each machine gets one. There are no more calls
    than `most`, whatever the numbers that are moving.
    """

    count: Formula
    answers: Formula | None
    machines: Formula
    batches: Formula
    is_apart: bool
    is_each: bool
    most: float
    span: Span

    @property
    def method(self) -> str:
        """By which method it is known when the answers are there."""
        method = "fan-out-associated" if self.answers is None else "fan-out-first"
        return f"{method}-of-many" if self.most > MOST_SIMULATED else method

    @property
    def required(self) -> Formula:
        """How many calls are waited for."""
        return self.count if self.answers is None else self.answers

    @property
    def spare(self) -> Formula:
        """How many more are made."""
        return ZERO if self.answers is None else self.count - self.answers

    def changed(self, change: Callable[[Formula], Formula]) -> FanOutStage:
        """Return it with every formula changed."""
        return replace(
            self,
            count=change(self.count),
            answers=self.answers and change(self.answers),
            machines=change(self.machines),
            batches=change(self.batches),
        )


class CallFactor(Struct, frozen=True, kw_only=True):
    """A call that a stage stands in: `times` for each time that its caller is reached.

    Those of one `fork` are made at the same time. What `is_whole` is stated as a whole number of
    calls, what `is_share` as a number of at most 1. It is `reached` so often for each item of the
    stream, on average; where users or items are of several kinds, none of these makes it more than
    `most` times. Of those of one `choice` an item makes one at most.
    """

    number: int
    node: str
    times: Formula = ONE
    reached: Formula = ONE
    most: Formula | None = None
    fork: int | None = None
    is_whole: bool = True
    is_share: bool = True
    choice: int | None = None
    fan_out: FanOutStage | None = None
    limit: float = 1
    """It is made no more often than that, whatever the numbers that are moving."""


class TimeSpent(Enum):
    """What a stage of a latency is spent with."""

    WORK = "work"
    """A machine is busy with the item."""
    TRANSFER = "transfer"
    """A link is."""
    WAIT = "wait"
    """It waits for one that is busy with others, or for its time."""
    DELAY = "delay"
    """It takes its time however busy anything is: on its way, or by a delay of a component."""


class LatencyPart(Struct, frozen=True, kw_only=True):
    """A stage of a stream's latency, in seconds, and what it is `spent` with.

    `place` is the node or link where it is spent, empty where that is none. The value is the mean
    over all items: of a stage that stands in `calls`, outermost first, that
    of one passage, `single`, as often as they are made. Where the stage is a wait, `queue` is what
    it waits in, and `visit` what waits there. Where calls are made together, the stage is all of
    them, and `branches` has the stages of each. `slowest` is what one passage takes for the slowest
    kind of users or items, None where kinds do not differ. An item that has begun comes to it so
    often on average, `reached`, those that are lost later included.
    """

    stage: str
    value: Formula
    place: str = ""
    spent: TimeSpent = TimeSpent.DELAY
    queue: Queue | None = None
    visit: QueueVisit | None = None
    calls: tuple[CallFactor, ...] = ()
    single: Formula | None = None
    branches: tuple[tuple[LatencyPart, ...], ...] = ()
    slowest_known: Certainty = EXACT
    has_waits_known: bool = False
    """True where `slowest_known` says of the waits of the branches, too, how they are known."""
    slowest: Formula | None = None
    reached: Formula = ONE
    fan_out: FanOutStage | None = None
    """Where the branches are one that is passed by several at once, how many."""

    @property
    def is_work(self) -> bool:
        """True where a machine is busy with it."""
        return self.spent is TimeSpent.WORK

    @property
    def per_visit(self) -> Formula:
        """The mean time of one passage."""
        return self.value if self.single is None else self.single

    @property
    def times(self) -> Formula:
        """How often an item passes here on average."""
        return self.calls[-1].reached if self.calls else ONE

    @property
    def differs(self) -> bool:
        """True where it is not the same for all kinds of users or items."""
        by_calls = any(call.most is not None for call in self.calls)
        by_visit = self.visit is not None and self.visit.most is not None
        return self.slowest is not None or by_calls or by_visit

    @property
    def certainty(self) -> Certainty:
        """How its mean is known: of branches, how that of the slowest is."""
        if not self.branches:
            return EXACT if self.queue is None else mean_certainty(self.queue)
        if self.has_waits_known:
            return self.slowest_known
        known = [part.certainty for branch in self.branches for part in branch]
        return together(*known, self.slowest_known)

    def within(self, call: CallFactor, times: Formula | None) -> LatencyPart:
        """Return the stage as it stands in a call, which is made so often."""
        calls = (call, *self.calls)
        if times is None:
            return replace(self, calls=calls)
        return replace(self, calls=calls, value=self.value * times, single=self.per_visit)

    def reached_from(self, around: Formula) -> LatencyPart:
        """Return the stage with its calls where what makes them is reached so often."""
        calls: list[CallFactor] = []
        for call in self.calls:
            around = around * call.times
            calls.append(replace(call, reached=around))
        return replace(self, calls=tuple(calls))

    def changed(self, change: Callable[[Formula], Formula]) -> LatencyPart:
        """Return the stage with every formula changed."""
        calls = tuple(_changed(call, change) for call in self.calls)
        single = None if self.single is None else change(self.single)
        slowest = None if self.slowest is None else change(self.slowest)
        return replace(
            self,
            value=change(self.value),
            calls=calls,
            single=single,
            slowest=slowest,
            reached=change(self.reached),
        )

    def of_kinds(
        self,
        largest: Callable[[Formula], Formula | None],
        mean: Callable[[Formula], Formula],
    ) -> LatencyPart:
        """Return the stage with what it comes to for the slowest kind, and for all together.

        A mean is over items: who calls more often counts as often in what one passage takes.
        """
        slowest = largest(self.per_visit)
        found = replace(
            self,
            value=mean(self.value),
            calls=tuple(
                replace(_changed(call, mean), most=largest(call.times)) for call in self.calls
            ),
            slowest=slowest,
            reached=mean(self.reached),
        )
        if self.single is None or slowest is None:
            return found
        return replace(found, single=apply("mean", found.value, found.times))

    def waits(self, queue: Queue, visit: QueueVisit) -> LatencyPart:
        """Return the stage with the queue that it waits in."""
        wait = queue.wait(visit)
        if self.single is None:
            return replace(self, value=wait, queue=queue, visit=visit)
        return replace(self, value=wait * self.times, single=wait, queue=queue, visit=visit)


def _changed(call: CallFactor, change: Callable[[Formula], Formula]) -> CallFactor:
    if call.fan_out is not None:
        call = replace(call, fan_out=call.fan_out.changed(change))
    if call.reached is ONE:
        return call
    most = None if call.most is None else change(call.most)
    return replace(call, times=change(call.times), reached=change(call.reached), most=most)


def wait_for(resource: str, value: Formula = ZERO, *, place: str = "") -> LatencyPart:
    """Return the stage of a wait for a resource, of no time as long as that is not known."""
    return LatencyPart(
        stage=f"{_WAITING}{resource}", value=value, place=place, spent=TimeSpent.WAIT
    )


def queue_resource(part: LatencyPart) -> str:
    """Return the resource that a stage is a wait for, empty where it is none."""
    is_wait = part.spent is TimeSpent.WAIT and part.stage.startswith(_WAITING)
    return part.stage.removeprefix(_WAITING) if is_wait else ""


def every(parts: Iterable[LatencyPart]) -> Iterator[LatencyPart]:
    """Yield the single stages, those of branches too."""
    for part in parts:
        if part.branches:
            for branch in part.branches:
                yield from every(branch)
        else:
            yield part
