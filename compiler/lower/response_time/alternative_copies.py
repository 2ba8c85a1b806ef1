"""Calls at once to one server, each of which makes one of some alternatives there: one batch.

They come together and are served from end to end: the time of the last is that of Pollaczek and
Khinchine for batches as single services. Of n copies, each of which draws a service of the mean s
with chance p and the squared variation c^2, the work of a batch has the mean n m, of m = sum p s,
and n times the variance of one copy, (1 + c^2) sum p s^2 - m^2. So it is a batch of n alike copies
of that mean and variance: the mean time is exact, its law has the moments of the work.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from msgspec.structs import replace

from qps.compiler.lower.queues.station_queue import Queue
from qps.compiler.lower.queues.visits import QueueVisit
from qps.compiler.lower.response_time.response_stages import LatencyPart
from qps.engine.expressions.formulas import (
    ONE,
    ZERO,
    maximum,
    number,
    square_root,
    total,
)
from qps.engine.expressions.monomials import expanded

_MOST_APART = 20
"""Work of services further apart has no gamma law: medians of it were next to nothing."""
_LEAST = number(Fraction(1, 10**12))


def as_alike_copies(line: tuple[LatencyPart, ...], depth: int) -> tuple[LatencyPart, ...]:
    """Return the stages of a copy with its alternatives as one; as they are where they are not.

    The copy stands in `depth` calls and its own. It makes exactly one of the alternatives, each
    waits once in one queue with one server, and nothing else comes there.
    """
    drawn = [part for part in line if len(part.calls) > depth + 1]
    waits = [part for part in drawn if part.queue is not None]
    if len(waits) < 2 or any(part.queue is not None for part in line if part not in drawn):  # noqa: PLR2004 - one is no choice
        return line
    queue, visits = waits[0].queue, [part.visit for part in waits if part.visit is not None]
    if queue is None or not _are_one_choice(drawn, waits, depth):
        return line
    if not _are_all(queue, visits):
        return line
    first, others = visits[0], visits[0].others
    assert others is not None
    square = (1 + queue.variation**2) * others.square
    varies = square_root(maximum(ZERO, square / maximum(_LEAST, others.work**2) - 1))
    batch = replace(first, service=others.work, others=None, rate=total(one.rate for one in visits))
    alike = replace(queue, visits=(batch,), variation=varies, is_alike=True)
    calls = waits[0].calls[: depth + 1]
    own = [
        replace(
            waits[0],
            value=total(part.value for part in waits),
            single=None,
            calls=calls,
            queue=alike,
            visit=batch,
        ),
        *(replace(part, single=None, calls=calls) for part in drawn if part.queue is None),
    ]
    at = line.index(drawn[0])
    before, behind = line[:at], [part for part in line[at:] if part not in drawn]
    return (*before, *own, *behind)


def _are_one_choice(drawn: Sequence[LatencyPart], waits: Sequence[LatencyPart], depth: int) -> bool:
    """Return whether each copy makes exactly one of some calls, in which it waits once."""
    inner = [part.calls[depth + 1 :] for part in drawn]
    if any(len(one) != 1 or one[0].choice is None for one in inner):
        return False
    if any(part.branches or part.differs for part in drawn):
        return False
    if any(call.times is not ONE for part in drawn for call in part.calls[: depth + 1]):
        return False
    made = {one[0].number: one[0] for one in inner}
    numbers = [part.calls[depth + 1].number for part in waits]
    if len({one.choice for one in made.values()}) > 1 or sorted(numbers) != sorted(made):
        return False
    left = total(one.times for one in made.values()) - 1
    return expanded(left, left.symbols) is ZERO


def _are_all(queue: Queue, visits: Sequence[QueueVisit]) -> bool:
    """Return whether nothing else comes to a queue with one server, and copies come at random."""
    if {one.of for one in queue.visits} != {one.of for one in visits}:
        return False
    if len(queue.visits) != len(visits) or queue.background is not ZERO:
        return False
    if queue.servers is not ONE or queue.arrivals is not ONE or queue.bursts is not None:
        return False
    if queue.times_apart is None or queue.times_apart > _MOST_APART:
        return False
    alike = {(one.others, one.batch, one.before is None) for one in visits}
    return len(alike) == 1 and visits[0].others is not None and visits[0].before is None
