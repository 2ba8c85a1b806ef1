"""The law of a wait alone, at a station of users who wait for their answers."""

from __future__ import annotations

from fractions import Fraction

from qps.compiler.lower.closed_networks.closed_stations import ClosedStation
from qps.compiler.lower.disciplines.processor_sharing import share_with_others, square_of_wait
from qps.compiler.lower.queues.stage_law import StageLaw
from qps.compiler.lower.queues.station_queue import Queue
from qps.compiler.lower.queues.visits import QueueVisit
from qps.engine.expressions.formulas import ONE, ZERO, Formula, apply, maximum, minimum, number

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


def as_fast(queue: Queue, station: ClosedStation) -> Formula:
    """Return how many times as fast as one core a station serves each visit."""
    return ONE if station.servers is queue.servers else queue.servers
