"""A trace played out: late packets ignored, time expanded, or the queue watched.

All three start in the same way: what is sent first is due a buffer after the packet with the
shortest way would have come. The I-policy and the E-policy are Naylor and Kleinrock's, quoted by
Claypool 1997, section 5.6.4; queue monitoring is Stone and Jeffay's (MTP paper, section 4.1).
"""

from __future__ import annotations

from fractions import Fraction
from itertools import count

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from qps.solver.traces.recorded_jitter import RecordedTrace, Ticks


class Replay(Struct, frozen=True, kw_only=True):
    """Playback of a trace under a policy.

    Of the packets sent, `shown` were presented to the user, `late` arrived too late, and
    `discarded` were dropped to catch up; the rest were lost. `gaps` is the number of interruptions.
    Latencies are in s, relative to the fastest packet.
    """

    policy: str
    shown: int
    late: int
    discarded: int
    gaps: int
    mean_latency: float
    longest_latency: float
    last_latency: float


class Thresholds(Struct, frozen=True):
    """How long a display queue must stay long before a packet is discarded, in s.

    With one packet waiting behind the one that is shown, `longest`; half of that with each
    further one, but never less than `shortest`.
    """

    longest: Fraction = Fraction(4)
    shortest: Fraction = Fraction(1, 2)

    def in_periods(self, period: Fraction) -> tuple[int, ...]:
        """Return the whole periods of each threshold; the last one holds for all longer queues."""
        found = []
        for halved in count():
            threshold = self.longest / 2**halved
            found.append(int(max(threshold, self.shortest) / period))
            if threshold <= self.shortest or threshold < period:
                return tuple(found)
        raise AssertionError


def ignoring_late(trace: RecordedTrace, buffer: Fraction) -> Replay:
    """Replay under the I-policy: what comes later than the buffer is ignored."""
    in_time = int(np.searchsorted(trace.lateness, trace.ticks(buffer), side="right"))
    latency = float(buffer)
    return Replay(
        policy="I-policy",
        shown=in_time,
        late=trace.received - in_time,
        discarded=0,
        gaps=trace.sent - in_time,
        mean_latency=latency,
        longest_latency=latency,
        last_latency=latency,
    )


def expanding_time(trace: RecordedTrace, buffer: Fraction) -> Replay:
    """Replay under the E-policy: late packets are waited for, and all that follow come later."""
    # A packet is played when it is there and the one before it has had its time.
    latency = np.maximum(np.maximum.accumulate(trace.delays), trace.ticks(buffer))
    waits = int(np.count_nonzero(np.diff(latency, prepend=trace.ticks(buffer))))
    return Replay(
        policy="E-policy",
        shown=trace.received,
        late=0,
        discarded=0,
        gaps=waits + trace.lost,
        mean_latency=trace.seconds(float(latency.mean())),
        longest_latency=trace.seconds(int(latency[-1])),
        last_latency=trace.seconds(int(latency[-1])),
    )


def monitoring_queue(trace: RecordedTrace, buffer: Fraction, thresholds: Thresholds) -> Replay:
    """Replay with a display queue that is shortened where it stays long.

    One packet is shown in each period, in the order of arrival; where the queue is empty, there
    is a gap of a period, and all that follows comes that much later. A lost packet is not
    missed as long as another one waits.
    """
    order = np.argsort(trace.arrivals, kind="stable")
    scheduled = trace.scheduled[order]
    # When each packet came, and from which slot of the display on it can be shown.
    shortest = int((trace.arrivals - trace.scheduled).min())
    start = int(trace.scheduled[0] - trace.places[0] * trace.period)
    first = start + shortest + trace.ticks(buffer)
    slots = np.maximum(0, -((first - trace.arrivals[order]) // trace.period))
    watched = watch(slots, thresholds.in_periods(trace.period * trace.tick))
    shown = np.ones(trace.received, dtype=bool)
    shown[watched.discarded] = False
    at = watched.slots_shown(int(shown.sum()))
    latency = first + at * trace.period - scheduled[shown] - shortest
    return Replay(
        policy="queue monitoring",
        shown=len(latency),
        late=0,
        discarded=len(watched.discarded),
        gaps=sum(length for _, length in watched.pauses),
        mean_latency=trace.seconds(float(latency.mean())),
        longest_latency=trace.seconds(int(latency.max())),
        last_latency=trace.seconds(int(latency[-1])),
    )


class Watched(Struct, frozen=True):
    """What became of packets in the order of arrival.

    `discarded` are the packets left out; `pauses` the slots without any, each with how many
    packets had been shown before.
    """

    discarded: list[int]
    pauses: list[tuple[int, int]]

    def slots_shown(self, shown: int) -> Ticks:
        """Return the slot in which each of the packets was shown that were not discarded."""
        later: NDArray[np.int64] = np.zeros(shown, dtype=np.int64)
        if self.pauses:
            after, lengths = (np.array(column) for column in zip(*self.pauses, strict=True))
            np.add.at(later, after, lengths)
        return np.arange(shown, dtype=np.int64) + np.cumsum(later)


def watch(slots: Ticks, thresholds: tuple[int, ...]) -> Watched:
    """Return what queue monitoring makes of packets that can be shown from given slots on.

    `slots` ascend. In each slot with m packets behind the one to be shown, counters 1 to m go up
    and the others start anew; a counter that goes beyond its threshold (in slots) starts anew
    too and discards the oldest packet. The work is done by stretches: where a packet comes in
    every slot, nothing changes but the counters, and only the next one that is due matters.
    """
    at, arriving = np.unique(slots, return_counts=True)
    is_new = (np.diff(at, prepend=-2) != 1) | (arriving != 1)
    starts = np.flatnonzero(is_new)
    steady = np.diff(starts, append=len(at)) - 1
    queue = _Queue(thresholds)
    stretches = zip(at[starts].tolist(), arriving[starts].tolist(), steady.tolist(), strict=True)
    for slot, packets, following in stretches:
        if queue.slot < slot:
            queue.drain(slot)
        queue.show(packets)
        if following:
            queue.run_on(following)
    queue.drain(None)
    return Watched(queue.discarded, queue.pauses)


class _Queue:
    """A display queue with its counters; `slot` is the next one in which a packet is shown.

    Of a counter only the slot is kept in which it began. `due` is no later than the slot in
    which the next counter goes beyond its threshold.
    """

    __slots__ = (
        "began", "discarded", "due", "last", "pauses", "shown", "slot", "thresholds", "waiting",
    )  # fmt: skip

    def __init__(self, thresholds: tuple[int, ...]) -> None:
        self.thresholds, self.last = thresholds, len(thresholds) - 1
        self.slot = self.shown = self.waiting = 0
        self.began: list[int] = []
        self.due = 0
        self.discarded: list[int] = []
        self.pauses: list[tuple[int, int]] = []

    def show(self, packets: int) -> None:
        """Let packets in, and remove the one to be shown after those that are discarded."""
        slot, began = self.slot, self.began
        self.waiting = behind = self.waiting + packets - 1
        known = len(began)
        if behind > known:
            began += [slot] * (behind - known)
            # Thresholds fall with the length: of the counters begun here the last is due first.
            due = slot + self.thresholds[behind - 1 if behind <= self.last else self.last]
            self.due = min(self.due, due) if known else due
        elif behind < known:
            del began[behind:]
        if behind and slot >= self.due:
            self._discard()
        self.shown += 1
        self.slot = slot + 1

    def run_on(self, slots: int) -> None:
        """Go on for some slots in each of which a packet comes."""
        end = self.slot + slots
        while self.slot < end:
            self.show(1)
            # The queue is as long before each of these slots, until a packet is discarded.
            steady = (min(self.due, end) if self.began else end) - self.slot
            if steady > 0 and len(self.began) == self.waiting:
                self.slot += steady
                self.shown += steady

    def drain(self, until: int | None) -> None:
        """Go on without arrivals: what waits is shown, and then there are gaps."""
        while self.waiting and (until is None or self.slot < until):
            self.show(0)
        if until is not None and self.slot < until:
            self.pauses.append((self.shown, until - self.slot))
            self.began.clear()
            self.slot = until

    def _discard(self) -> None:
        """Discard a packet for each counter beyond its threshold, and find the next one due."""
        slot, began = self.slot, self.began
        ends = [
            start + self.thresholds[min(number, self.last)] for number, start in enumerate(began)
        ]
        for number, end in enumerate(ends):
            if slot >= end:
                began[number] = slot + 1
                ends[number] = slot + 1 + self.thresholds[min(number, self.last)]
                self.discarded.append(self.shown + len(self.discarded))
                self.waiting -= 1
        self.due = min(ends)
