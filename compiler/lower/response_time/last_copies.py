"""Calls at once to fewer machines than calls: of those that come together the last one counts."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from qps.compiler.lower.queues.stage_law import LastCopy
from qps.compiler.lower.queues.visits import QueueVisit
from qps.compiler.lower.response_time.response_stages import FanOutStage, LatencyPart
from qps.compiler.quantities.certainty import EXACT, Certainty
from qps.compiler.quantities.methods import known_by
from qps.engine.expressions.formulas import ONE, ZERO, Formula

_MOST_COPIES = 32
"""Of a batch for the cores of a machine, up to which errors were measured."""
_MEASURED = {ONE: "few", ZERO: "fixed"}
"""Random fan-outs of which errors were measured, by how services vary: exponential, or fixed."""


def come_together(line: Sequence[LatencyPart], fan_out: FanOutStage) -> bool:
    """Return whether calls that pass these stages wait for each other anywhere."""
    waits = (part.queue for part in line if part.queue is not None)
    return not fan_out.is_apart and any(queue.has_batches for queue in waits)


def last_copy_of(line: Sequence[LatencyPart], fan_out: FanOutStage, depth: int) -> LastCopy | None:
    """Return the law of the last copy, where nothing varies but one wait at the node.

    The calls stand in `depth` others. None where each has a machine, where more than one wait is on
    the way or something happens by chance, and where the law is not known.
    """
    waits = [part for part in line if part.queue is not None]
    if fan_out.answers is not None or len(waits) != 1 or not come_together(line, fan_out):
        return None
    (part,) = waits
    made = [call for one in line for call in one.calls[depth:]]
    if any(one.branches for one in line) or any(call.times is not ONE for call in made):
        return None
    queue, visit = part.queue, part.visit
    if queue is not None and visit is not None and fan_out.machines is not ONE:
        visit = _largest_batch(visit)
    if queue is None or visit is None or visit.place.name != made[0].node:
        return None
    if queue.arrivals is not ONE or queue.bursts is not None:
        return None
    return queue.law.last_copy(queue, visit.slowest)


def _largest_batch(visit: QueueVisit) -> QueueVisit:
    """Return the visit where most come together: of several machines some have one call more."""
    others = visit.others
    return replace(visit, others=None) if others is not None and others.share is ONE else visit


def last_known(
    last: LastCopy | None, fan_out: FanOutStage, node: str, line: Sequence[LatencyPart]
) -> Certainty:
    """Return how the time of the last copy is known that passes a line, besides its queue."""
    if last is None:
        is_unlike = _has_unlike_visits(line)
        return known_by("unlike-to-one-machine" if is_unlike else "fan-out-to-one-machine", [node])
    is_few = fan_out.most <= _MOST_COPIES
    case = _MEASURED.get(last.variation, "") if is_few else ""
    if fan_out.machines is not ONE:
        return known_by("fan-out-to-machines", [node], case="few" if case else "")
    if last.service is None:
        return EXACT
    return known_by("fan-out-to-cores", [node], case=case)


def _has_unlike_visits(line: Sequence[LatencyPart]) -> bool:
    """Return whether unlike services wait in one queue, as those of alternatives do."""
    services: dict[str, set[Formula]] = {}
    for part in line:
        if part.queue is not None and part.visit is not None:
            services.setdefault(part.queue.resource, set()).add(part.visit.service)
    return any(len(each) > 1 for each in services.values())
