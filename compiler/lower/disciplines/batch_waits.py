"""The wait of a copy for several servers, which others that come with it take before it, too.

A copy finds all servers busy about as often as who comes alone, or as one of fewer servers does
that each have as many as come in a batch (Hayward's approximation): the share is between the two.
Else a number of servers is free, which varies about its mean as where there is always a free one,
and a copy whose place in its batch is behind these waits for some services of the others. Who waits
does so for about an exponential time. Held against the chain of how many copies are there: the
share of 2 to 64 servers with batches of 2 to 32 was 1-1.3 times as large, the mean 0.9-1.2 times.
"""

from __future__ import annotations

from fractions import Fraction

from msgspec import Struct

from qps.compiler.lower.queues.stage_law import StageLaw
from qps.compiler.lower.queues.station_queue import Queue
from qps.compiler.lower.queues.visits import QueueVisit
from qps.engine.expressions.formulas import (
    ONE,
    ZERO,
    Formula,
    apply,
    maximum,
    minimum,
    number,
    square_root,
    total,
)

_LEAST = number(Fraction(1, 10**9))
_NARROW = number(Fraction(1, 10**6))
"""The least squared variation of a time that is always about the same."""
_TOGETHER = number(Fraction(3, 5))
"""How much counts of what servers are found busy by those who come together."""


class CopyWait(Struct, frozen=True, kw_only=True):
    """Which share of the copies waits, and how long all wait on average, in s."""

    share: Formula
    mean: Formula


def copy_wait(queue: Queue, own: QueueVisit) -> CopyWait:
    """Return the wait of a copy for several servers."""
    found = _Found.of(queue, own)
    others, busy = own.other_visits, found.share
    later = (found.squares + found.behind) / 2 / (1 + others) * found.each
    return CopyWait(
        share=minimum(ONE, busy + (1 - busy) * found.behind / (1 + others)),
        mean=busy * (found.waiting + own.other_work / 2 / queue.servers) + (1 - busy) * later,
    )


def last_wait(queue: Queue, own: QueueVisit) -> StageLaw:
    """Return the law of the wait of the copy that is served last.

    Where all servers are busy it waits for a server, and then for all that come with it; else for
    those for whom no server is free. So many services, one after the other, are taken as gamma
    distributed.
    """
    found = _Found.of(queue, own)
    others, busy = own.other_visits, found.share
    late = maximum(_LEAST, busy * minimum(ONE, others) + (1 - busy) * found.late)
    count = busy * others + (1 - busy) * found.behind
    squares = busy * others**2 + (1 - busy) * found.squares
    mean = maximum(_LEAST, count / late)
    variation = (squares + count * queue.variation**2) / late / mean**2 - 1
    return StageLaw(
        waits=busy,
        work=found.waiting,
        then=(late, mean * found.each, maximum(_NARROW, variation)),
    )


class _Found(Struct, frozen=True, kw_only=True):
    """What copies that come together find.

    A `share` finds all servers busy, and waits for one, so long on average: `waiting` (s). Else the
    last copy is `late` with that chance, as so many copies are `behind` the servers that are free,
    on average; `squares` is the mean of the square. In `each` (s) one of all servers is done.
    """

    share: Formula
    waiting: Formula
    late: Formula
    behind: Formula
    squares: Formula
    each: Formula

    @classmethod
    def of(cls, queue: Queue, own: QueueVisit) -> _Found:
        busy = queue.servers * queue.load
        uneven = 1 + _others(queue) / 2
        found = _TOGETHER * apply("erlang_c", queue.servers / uneven, busy / uneven)
        found += (1 - _TOGETHER) * apply("erlang_c", queue.servers, busy)
        free = maximum(ZERO, queue.servers - busy) / maximum(_LEAST, 1 - found)
        width = maximum(_LEAST, minimum(free, square_root(3 * busy * uneven)))
        others = own.other_visits
        most = maximum(ZERO, 1 + others - free + width)
        least = maximum(ZERO, 1 + others - free - width)
        return cls(
            share=found,
            waiting=apply("waiting", queue.residual_wait / queue.servers, queue.load),
            late=(most - least) / (2 * width),
            behind=(most**2 - least**2) / (4 * width),
            squares=(most**3 - least**3) / (6 * width),
            each=apply("mean", own.other_work, others) / queue.servers,
        )


def _others(queue: Queue) -> Formula:
    """Return how many others come together with a copy, as the mean over all who come."""
    rates = [visit.rate for visit in queue.visits]
    if len(rates) == 1:
        return queue.visits[0].other_visits
    others = [rate * one.other_visits for rate, one in zip(rates, queue.visits, strict=True)]
    return apply("mean", total(others), total(rates))
