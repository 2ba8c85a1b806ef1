"""Calls that are made several times at once: which of their visits come together, and how many."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from qps.compiler.lower.queues.batches import Others
from qps.compiler.lower.queues.visits import QueueVisit
from qps.compiler.lower.response_time.response_stages import LatencyPart, TimeSpent
from qps.engine.expressions.formulas import ONE, ZERO, Formula, apply, total


def batch_of(copies: Formula, *, is_whole: bool) -> tuple[Formula, Formula]:
    """Return the largest batch of so many copies on average, and how many others each is with.

    Where that is no whole number there is one copy more or less: they come as evenly as may be.
    """
    if is_whole:
        return copies, copies - 1
    least = apply("floor", copies)
    return apply("ceil", copies), least * (2 * copies - least - 1) / copies


def note_others(visits: Iterable[QueueVisit]) -> None:
    """Note of each visit in a batch what the others do: each visit of the queue by its share.

    Where all copies make one visit, alike, nothing else need be known than how many they are.
    """
    together: dict[tuple[tuple[int, int], str], list[QueueVisit]] = {}
    for visit in visits:
        if visit.others is not None:
            together.setdefault((visit.others.of, visit.resource), []).append(visit)
    for alike in together.values():
        shares = [one.others.share for one in alike if one.others is not None]
        services = [one.service for one in alike]
        share = total(shares)
        work = total(s * time for s, time in zip(shares, services, strict=True))
        square = total(s * time**2 for s, time in zip(shares, services, strict=True))
        for one in alike:
            assert one.others is not None
            is_plain = len(alike) == 1 and share is ONE and one.others.count is one.batch - 1
            own = Others(
                of=one.others.of, count=one.others.count, share=share, work=work, square=square
            )
            one.others = None if is_plain else own


def comes_later(before: Sequence[LatencyPart], wait: LatencyPart) -> bool:
    """Return whether copies of one call may come to a wait at different times, or one by one.

    Such are those that have waited before, or take their time for something by chance.
    """
    return any(_delays(part, wait) for part in before)


def _delays(part: LatencyPart, wait: LatencyPart) -> bool:
    if part.spent is not TimeSpent.WAIT and part.value is ZERO:
        return False
    chain, own = part.calls[1:], wait.calls[1:]
    for one, other in zip(chain, own, strict=False):
        if one.number != other.number:  # else both are passed, unless they exclude each other
            return one.choice is None or one.choice != other.choice
    return part.spent is TimeSpent.WAIT or bool(chain)
