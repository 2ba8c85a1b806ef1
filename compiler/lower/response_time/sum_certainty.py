"""How the quantile of a sum of stages is known: are they independent, and is each law known?"""

from __future__ import annotations

from collections.abc import Sequence

from qps.compiler.lower.queues.queue_certainty import (
    cannot_overtake,
    quantile_certainty,
    stage_certainty,
    without_law,
)
from qps.compiler.lower.queues.station_queue import Queue
from qps.compiler.lower.response_time.calls_that_meet import last_that_meets
from qps.compiler.lower.response_time.fork_paths import forks_known, grid_known, lines_of
from qps.compiler.lower.response_time.latency_paths import FanOutPath, LatencyPath
from qps.compiler.lower.response_time.repeated_visits import alternative_paths, repeated_queues
from qps.compiler.lower.response_time.response_stages import every
from qps.compiler.quantities.certainty import EXACT, Certainty, together
from qps.compiler.quantities.methods import known_by
from qps.engine.expressions.formulas import ONE


def paths_known(paths: Sequence[LatencyPath]) -> Certainty:
    """Return what calls made together do to how a quantile is known."""
    if len(paths) < 2:  # noqa: PLR2004 - one way
        return EXACT
    return known_by("any-parallel-late")


def waits_known(path: LatencyPath) -> list[Certainty]:
    """Return how each wait of a way is known: errors of calls that meet were measured with it."""
    meeting = {
        part.queue.resource
        for fork in path.parts
        if fork.branches and last_that_meets(fork) is not None
        for part in every([fork])
        if part.queue is not None
    }
    queues = [part.queue for part in path.added if part.queue is not None]
    added = (
        without_law(queue) if queue.resource in meeting else stage_certainty(queue)
        for queue in queues
    )
    aside = (quantile_certainty(part.queue) for part in path.aside if part.queue is not None)
    return [*added, path.fan_out_known, *aside]


def added_known(path: LatencyPath) -> Certainty:
    """Return how the quantile of a sum is known of stages that are known: are they independent?"""
    if path.has_fork:
        known = forks_known(path.parts)
        if path.is_on_grid:
            known = together(known, grid_known(path.parts))
        return together(known, *map(added_known, lines_of(path)))
    queues = [part.queue for part in path.added if part.queue is not None]
    if path.fan_out is not None:
        return _added_to_calls(queues, path.fan_out)
    if len(queues) < 2 and not path.repeats:  # noqa: PLR2004 - there is no other
        return EXACT
    names = list(dict.fromkeys(queue.resource for queue in queues))
    if _are_independent(path):
        return EXACT
    again = repeated_queues(path.added)
    found = [_fitted_mixture(part.queue) for _, part in again.values() if part.queue]
    if again:
        found.append(known_by("repeat-visits", list(again)))
    if len(names) > 1:
        found.append(known_by("independent-waits", names))
    return together(*found)


def _added_to_calls(queues: Sequence[Queue], fan_out: FanOutPath) -> Certainty:
    """Return how the sum is known of some waits and of calls that are made at once."""
    inside = [part.queue for part in fan_out.added if part.queue is not None]
    if not queues or (len(queues) < 2 and not inside):  # noqa: PLR2004 - there is no other
        return EXACT
    names = dict.fromkeys(queue.resource for queue in (*queues, *inside))
    return known_by("independent-waits", list(names))


def _fitted_mixture(queue: Queue) -> Certainty:
    """Return what two moments do that stand for a mix of services, where it is waited again."""
    if queue.is_modeled_as_uniform or queue.law.has_wait_of_each_visit:
        return EXACT
    return known_by("gamma-mixture", queue.resource, apart=queue.times_apart)


def _are_independent(path: LatencyPath) -> bool:
    """Return whether the times in the queues of a path are independent of each other."""
    if any(
        not call.is_share for part in path.parts for call in part.calls if call.times is not ONE
    ):
        return False
    each = (
        [part.queue for part in one if part.queue is not None]
        for one in alternative_paths(path.added)
    )
    return all(map(_is_in_order, each))


def _is_in_order(queues: Sequence[Queue]) -> bool:
    queues = [queue for queue in queues if not queue.never_waits]  # nothing rests on others
    names = [queue.resource for queue in queues]
    if len(names) < 2:  # noqa: PLR2004 - there is no other
        return True
    return len(set(names)) == len(names) and cannot_overtake(queues)


def added_up(count: int, *, varies: bool) -> Certainty:
    """Return how a quantile is known that is a sum of so many."""
    method = "sum-of-percentiles-and-jitter" if varies else "sum-of-percentiles"
    return known_by(method, count=count)
