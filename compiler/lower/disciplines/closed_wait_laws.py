"""The law of a wait alone, at a station of users who wait for their answers."""

from __future__ import annotations

from fractions import Fraction

from msgspec import Struct

from qps.compiler.lower.closed_networks.closed_stations import ClosedStation, UnlikeWork
from qps.compiler.lower.disciplines.processor_sharing import share_with_others, square_of_wait
from qps.compiler.lower.queues.stage_law import StageLaw, WorkPart
from qps.compiler.lower.queues.station_queue import Queue
from qps.compiler.lower.queues.unlike_services import TwoTimes
from qps.compiler.lower.queues.visits import QueueVisit
from qps.engine.expressions.formulas import (
    ONE,
    ZERO,
    Formula,
    apply,
    maximum,
    minimum,
    number,
    total,
)

_NEXT_TO_NOTHING = number(Fraction(1, 10**9))
LEAST_SHARE = number(Fraction(1, 20))
"""Of those who come so many wait at least: of fewer no percentile up to p95 tells."""
_LEAST_VARIED, _MOST_VARIED = number(Fraction(1, 50)), number(20)
"""Of waits: gamma laws beyond these have no transform that can be inverted."""


def closed_wait_law(
    queue: Queue, own: QueueVisit, wait: Formula, *, varies: Formula | None, spread: Formula
) -> tuple[Formula, StageLaw] | None:
    """Return who waits at all, and a gamma law of these; None at load-dependent speeds.

    Where first comes first those wait who find all servers busy, with a variance `varies`, or for
    an exponential time. Where all are served at once those do who share with others, and wait and
    service vary by `spread`, in mean squares. At one server no more find others than these are on
    average, which is how many times as long as its service a visit waits.
    """
    if queue.speeds:
        return None
    wait = maximum(ZERO, wait)
    if queue.traits.is_insensitive:
        others = apply("mean", wait, own.service) if queue.servers is ONE else ONE
        share = share_with_others(queue, own, minimum(ONE, others))
        square = square_of_wait(own, wait, spread)
    else:
        share = maximum(LEAST_SHARE, minimum(ONE, queue.share_waiting))
        if varies is None:
            return share, StageLaw(waits=ZERO, work=ZERO, service=wait / share)
        square = varies + wait**2
    among = apply("mean", wait, share)
    found = apply("mean", square / share, among**2) - 1
    found = maximum(_LEAST_VARIED, minimum(_MOST_VARIED, found))
    return share, StageLaw(waits=ZERO, work=ZERO, service=among, variation=found)


class UnlikeClosedWait(Struct, frozen=True, kw_only=True):
    """A wait of a share of the visits behind short services, or behind long ones.

    Those who wait do so for an exponential time: with chance `often` of the mean `long`, else of
    the mean `short`.
    """

    waits: Formula
    lasts: TwoTimes

    @property
    def variance(self) -> Formula:
        """The variance of the wait of all visits."""
        lasts = self.lasts
        parts = ((1 - lasts.share, lasts.short), (lasts.share, lasts.long))
        mean = self.waits * total(share * time for share, time in parts)
        return 2 * self.waits * total(share * time**2 for share, time in parts) - mean**2

    def stage(self, service: Formula, variation: Formula) -> StageLaw:
        """Return the law of the wait and of a service."""
        lasts = self.lasts
        parts = ((1 - lasts.share, lasts.short), (lasts.share, lasts.long))
        return StageLaw(
            waits=self.waits,
            work=lasts.long,
            service=service,
            variation=variation,
            counted=service,
            parts=tuple(
                WorkPart(
                    found=self.waits * share,
                    load=ZERO,
                    work=time,
                    spread=ONE,
                    found_together=self.waits,
                )
                for share, time in parts
            ),
        )


def unlike_closed_wait(
    queue: Queue, unlike: UnlikeWork, wait: Formula, longer: Formula
) -> UnlikeClosedWait:
    """Return the law of a mean wait of a visit, which is so much `longer` than in product form.

    Those who come while a long service goes on wait for what is left of it, and as all others do.
    """
    share = maximum(LEAST_SHARE, minimum(ONE, queue.share_waiting * unlike.found))
    mean = apply("mean", maximum(ZERO, wait), share)
    least = unlike.left * _NEXT_TO_NOTHING
    alike = maximum(least, apply("mean", wait - longer, share))
    long = maximum(mean, alike + unlike.left)
    often = apply("mean", maximum(ZERO, mean - alike), maximum(least, long - alike))
    return UnlikeClosedWait(
        waits=share, lasts=TwoTimes(short=alike, long=long, share=minimum(ONE, often))
    )


def as_fast(queue: Queue, station: ClosedStation) -> Formula:
    """Return how many times as fast as one core a station serves each visit."""
    return ONE if station.servers is queue.servers else queue.servers
