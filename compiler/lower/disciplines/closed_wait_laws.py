"""The law of a wait alone, at a station of users who wait for their answers."""

from __future__ import annotations

from fractions import Fraction

from msgspec import Struct

from qps.compiler.lower.closed_networks.closed_stations import ClosedStation, UnlikeWork
from qps.compiler.lower.disciplines.processor_sharing import share_with_others, square_of_wait
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
)

_NEXT_TO_NOTHING = number(Fraction(1, 10**9))
LEAST_SHARE = number(Fraction(1, 20))
"""Of those who come so many wait at least: of fewer no percentile up to p95 tells."""
_LEAST_VARIED, MOST_VARIED = number(Fraction(1, 50)), number(20)
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
    found = maximum(_LEAST_VARIED, minimum(MOST_VARIED, found))
    return share, StageLaw(waits=ZERO, work=ZERO, service=among, variation=found)


class UnlikeClosedWait(Struct, frozen=True, kw_only=True):
    """A wait of a share of the visits as for services that are alike, and of some for a long one.

    The share `waits` does so for a gamma distributed time of a mean `alike` and a squared
    `variation`; independently, `behind` come while a long service goes on, and wait for what is
    `left`.
    """

    waits: Formula
    alike: Formula
    variation: Formula
    behind: Formula
    left: Formula

    @property
    def variance(self) -> Formula:
        """The variance of the wait of all visits."""
        first = self.waits * (1 + self.variation - self.waits) * self.alike**2
        return first + self.behind * (2 - self.behind) * self.left**2

    def stage(self, service: Formula, variation: Formula) -> StageLaw:
        """Return the law of the wait and of a service."""
        return StageLaw(
            waits=self.behind,
            work=self.left,
            service=service,
            variation=variation,
            counted=service,
            then=(self.waits, self.alike, self.variation),
        )


def unlike_closed_wait(
    queue: Queue, unlike: UnlikeWork, wait: Formula, longer: Formula, varies: Formula | None
) -> UnlikeClosedWait:
    """Return the law of a mean wait of a visit, which is so much `longer` than in product form.

    There it has a variance `varies`, None where it is exponential for those who wait.
    """
    share = minimum(minimum(ONE, unlike.arriving), queue.share_waiting * unlike.found)
    share = maximum(LEAST_SHARE, share)
    without = maximum(unlike.left * _NEXT_TO_NOTHING, wait - longer)
    alike, longer = apply("mean", without, share), maximum(ZERO, longer)
    variation = ONE
    if varies is not None:
        square = apply("mean", (varies + without**2) / share, alike**2) - 1
        variation = maximum(_LEAST_VARIED, minimum(ONE, square))
    # Where all who wait would not do so for long enough, what is left is longer: no digits are
    # lost where none but them wait.
    part = apply("mean", longer, share * unlike.left)
    left, part = unlike.left * maximum(ONE, part), minimum(ONE, part)
    behind = share * part
    # All who wait are `share`, and those behind a long service wait as the others do, too.
    others = apply("mean", share * (1 - part), maximum(_NEXT_TO_NOTHING, 1 - behind))
    return UnlikeClosedWait(
        waits=others,
        alike=alike,
        variation=variation,
        behind=behind,
        left=left + alike * maximum(ZERO, 1 - others),
    )


def as_fast(queue: Queue, station: ClosedStation) -> Formula:
    """Return how many times as fast as one core a station serves each visit."""
    return ONE if station.servers is queue.servers else queue.servers
