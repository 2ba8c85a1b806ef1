"""Calls of unlike services at once to one machine: of those that meet the last one counts.

Their requests come together, as a batch, and are served in turn. One server serves the batch from
end to end: where its services have the means s and one squared variation c^2, the work of the batch
has the mean sum s and the variance c^2 sum s^2, and the response time is that of Pollaczek and
Khinchine for batches as single services. Several servers
serve a batch of as many services of the mean length and that variance; the last of them are served
at once, and these vary as a mixture of the services does.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from msgspec.structs import replace

from qps.compiler.lower.queues.stage_law import LastCopy
from qps.compiler.lower.queues.station_queue import Queue
from qps.compiler.lower.queues.visits import QueueVisit
from qps.compiler.lower.response_time.response_stages import LatencyPart
from qps.compiler.quantities.certainty import Certainty
from qps.compiler.quantities.methods import known_by
from qps.engine.expressions.formulas import ONE, ZERO, Formula, maximum, number, square_root, total

_LEAST = number(Fraction(1, 10**12))
_MOST_CALLS, _MOST_APART = 8, 10
"""Errors were measured of so many calls, of exponential services so many times apart."""


def as_one_batch(branches: Sequence[Sequence[LatencyPart]]) -> list[tuple[LatencyPart, ...]] | None:
    """Return branches that wait in the queue of their batch, where all meet in one queue.

    None where one of them does anything by chance or waits more than once, where others wait there,
    too, and where the law of the last is not known.
    """
    waits = _waits(branches)
    if waits is None:
        return None
    queue, visits = waits[0].queue, [part.visit for part in waits if part.visit is not None]
    assert queue is not None
    if len(visits) != len(waits) or not _are_all(queue, visits):
        return None
    count = number(Fraction(len(visits)))
    mean = total(one.service for one in visits) / count
    batch = replace(
        visits[0],
        service=mean,
        batch=count,
        rate=total(one.rate for one in visits),
        meets=False,
    )
    varies = square_root(queue.variation**2 * _square(visits))
    alike = replace(queue, visits=(batch,), variation=varies, is_alike=True, times_apart=1)
    if queue.law.last_copy(alike, batch) is None:
        return None
    return [
        tuple(part if part.queue is None else replace(part, queue=alike) for part in branch)
        for branch in branches
    ]


def last_that_meets(fork: LatencyPart) -> LastCopy | None:
    """Return the law of the last of some calls that are one batch; None where they are not."""
    waits = None if fork.fan_out is not None else _waits(fork.branches)
    if waits is None:
        return None
    queue, visits = waits[0].queue, [part.visit for part in waits if part.visit is not None]
    assert queue is not None
    if len(queue.visits) != 1 or queue.visits[0].batch is not number(Fraction(len(visits))):
        return None
    last = queue.law.last_copy(queue, queue.visits[0])
    if last is None or last.service is None:
        return last
    squares = _square(visits)
    mixed = (1 + queue.variation**2 / squares) * squares - 1
    return replace(last, service=replace(last.service, variation=mixed))


def _waits(branches: Sequence[Sequence[LatencyPart]]) -> list[LatencyPart] | None:
    """Return the waits of calls that all wait once in the same queue, and do all for sure."""
    parts = [part for branch in branches for part in branch]
    waits = [part for part in parts if part.queue is not None]
    if len(branches) < 2 or len(waits) != len(branches):  # noqa: PLR2004 - one meets none
        return None
    if any(part.branches or part.differs for part in parts):
        return None
    if any(call.times is not ONE for part in parts for call in part.calls):
        return None
    each_once = all(sum(part.queue is not None for part in branch) == 1 for branch in branches)
    if not each_once or len(set(map(_before, branches))) > 1:
        return None
    is_one = len({part.queue.resource for part in waits if part.queue is not None}) == 1
    return waits if is_one else None


def _before(branch: Sequence[LatencyPart]) -> tuple[int, Formula]:
    """Return in how many calls a wait stands, and what is passed before: as soon it is come to."""
    at = next(at for at, part in enumerate(branch) if part.queue is not None)
    return len(branch[at].calls), total(part.value for part in branch[:at])


def _square(visits: Sequence[QueueVisit]) -> Formula:
    """Return the mean square of services over the square of the mean."""
    count = len(visits)
    mean = total(one.service for one in visits) / count
    return total(one.service**2 for one in visits) / count / maximum(_LEAST, mean**2)


def meeting_known(fork: LatencyPart, nodes: Sequence[str]) -> Certainty:
    """Return how the time of calls to some nodes is known that meet in one queue."""
    is_few = len(fork.branches) <= _MOST_CALLS
    case = "measured" if is_few else ""
    return known_by("calls-that-meet", list(dict.fromkeys(nodes)), case=case)


def _are_all(queue: Queue, visits: list[QueueVisit]) -> bool:
    """Return whether nothing else comes to a queue, at random times, and errors were measured."""
    if {one.of for one in queue.visits} != {one.of for one in visits}:
        return False
    if len(queue.visits) != len(visits) or queue.background is not ZERO:
        return False
    if queue.variation is not ONE or queue.times_apart is None or queue.times_apart > _MOST_APART:
        return False
    is_random = queue.arrivals is ONE and queue.bursts is None and not queue.has_batches
    return is_random and all(one.before is None and one.others is None for one in visits)
