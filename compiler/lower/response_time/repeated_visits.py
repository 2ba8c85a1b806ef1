"""Queues that an item waits in more than once on its way."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import product
from math import prod

from qps.compiler.lower.response_time.response_stages import CallFactor, LatencyPart
from qps.compiler.lower.response_time.visit_counts import VisitCount, visits_of
from qps.engine.distributions.stage_paths import MOST_PATHS
from qps.engine.expressions.formulas import ONE, Formula, total


def repeated_queues(
    added: Sequence[LatencyPart], depth: int = 0
) -> dict[str, tuple[Formula, LatencyPart]]:
    """Return how often queues are waited in that are visited again, each with one of its visits.

    It is so often for each time that `depth` calls are made around them.
    Who comes back soon finds what was found before: all waits in one queue are one, so often.
    """
    repeated: dict[str, tuple[Formula, LatencyPart]] = {}
    for way in alternative_paths(added):
        found: dict[str, list[LatencyPart]] = {}
        for part in way:
            assert part.queue is not None
            found.setdefault(part.queue.resource, []).append(part)
        for name, parts in found.items():
            if len(parts) > 1 or _passages(parts[0], depth) is not ONE:
                repeated[name] = _waits_of_first(parts, depth), parts[0]
    return repeated


def repeated_by_chance(
    again: Mapping[str, tuple[Formula, LatencyPart]], added: Sequence[LatencyPart], depth: int
) -> dict[str, VisitCount]:
    """Return how often those of the queues are passed that some items pass more often than others.

    They stand in calls that are drawn anew each time, within `depth` others. So often as a call is
    made on average it counts for all: nearly so, where some make it once more.
    """
    found: dict[str, VisitCount] = {}
    for name, (_, first) in again.items():
        parts = [one for one in added if one.queue and one.queue.resource == name]
        if all(call.choice is None and not call.is_share for call in _calls_around(parts, depth)):
            continue
        count = visits_of(parts, depth, partial(_relative_wait, first))
        if not count.is_constant:
            found[name] = count
    return found


def _relative_wait(first: LatencyPart, part: LatencyPart) -> Formula:
    """Return how many waits of a first visit that of another one in the same queue is."""
    if first.queue is None or first.visit is None or part.visit is None:
        return ONE
    return first.queue.law.relative_wait(part.visit, first.visit)


def _calls_around(parts: Sequence[LatencyPart], depth: int) -> Iterator[CallFactor]:
    """Yield the calls within `depth` others that may not be made just once."""
    return (call for part in parts for call in part.calls[depth:] if call.times is not ONE)


def repeats_by_share(added: Sequence[LatencyPart], depth: int = 0) -> bool:
    """Return whether a queue is waited in again in calls within `depth` that may not be made."""
    again = repeated_queues(added, depth)
    for part in added:
        assert part.queue is not None
        if part.queue.resource in again and not all(
            call.is_whole and not call.is_share for call in _calls_around([part], depth)
        ):
            return True
    return False


def is_counted(added: Sequence[LatencyPart], depth: int = 0) -> bool:
    """Return whether what is waited in again is so in calls that are made once at least.

    Then all waits are one, as often as it is passed on average: nearly so, where some are passed
    once more than others.
    """
    again = repeated_queues(added, depth)
    parts = [one for one in added if one.queue is not None and one.queue.resource in again]
    calls = _calls_around(parts, depth)
    return all(not call.is_share and call.most is None for call in calls)


def alternative_paths(added: Sequence[LatencyPart]) -> Iterator[Sequence[LatencyPart]]:
    """Yield what an item may pass of some stages: of alternatives one, each with the others' all.

    Where there are too many ways all stages are one, as if they did not exclude each other.
    """
    choices: dict[int, dict[int, None]] = {}
    for call in (call for part in added for call in part.calls):
        if call.choice is not None:
            choices.setdefault(call.choice, {})[call.number] = None
    if prod(map(len, choices.values())) > MOST_PATHS:
        yield added
        return
    for chosen in product(*choices.values()):
        numbers = dict(zip(choices, chosen, strict=True))
        yield [
            part
            for part in added
            if all(numbers.get(call.choice, call.number) == call.number for call in part.calls)  # type: ignore[arg-type]
        ]


def _waits_of_first(parts: Sequence[LatencyPart], depth: int) -> Formula:
    """Return how many waits of the first visit those of several visits of a queue are."""
    assert parts[0].queue is not None
    law, times = parts[0].queue.law, [_passages(part, depth) for part in parts]
    visits = [part.visit for part in parts if part.visit is not None]
    known = law.wait_together(visits) if all(one is ONE for one in times) else None
    if known is not None:
        return known
    waits = (law.relative_wait(visit, visits[0]) for visit in visits)
    return total(many * wait for many, wait in zip(times, waits, strict=True))


def _passages(part: LatencyPart, depth: int) -> Formula:
    """Return how often a stage is passed, but for calls that are made by a share."""
    found: Formula = ONE
    for call in part.calls[depth:]:
        if call.times is not ONE and not call.is_share:
            found = found * (call.most or call.times)
    return found
