"""How the waits of a queue are known: what is exact, what bounds, what approximates.

Exact is meant for the model that the discipline states (docs/traffic.md): the label says where
the formula does more or less than that model, and to which side it then errs.
"""

from __future__ import annotations

from collections.abc import Sequence

from qps.compiler import ir
from qps.compiler.certainty import (
    EXACT,
    Certainty,
    approximation,
    lower_bound,
    together,
    upper_bound,
)
from qps.compiler.queueing import Queue
from qps.compiler.suggest import listed


def mean_certainty(queue: Queue) -> Certainty:
    """Return how the mean wait in a queue is known."""
    return together(_arrivals(queue), _visits(queue), _servers(queue), _periods(queue))


def quantile_certainty(queue: Queue) -> Certainty:
    """Return how the quantiles of the wait in a queue are known."""
    law = EXACT
    if queue.variation not in (0, 1):
        law = approximation(
            f"service times of `{queue.resource}` are taken as gamma distributed (Kingman's bound)"
        )
    differ = EXACT
    if not queue.is_uniform or queue.background != 0:
        differ = upper_bound(f"all visits of `{queue.resource}` count as long as the longest")
    return together(mean_certainty(queue), law, differ)


def uncounted(resources: Sequence[str]) -> Certainty:
    """Return how a latency is known that counts no waiting at some resources."""
    if not resources:
        return EXACT
    return lower_bound(f"no waiting is counted at {listed(list(resources), 'and')}")


def _arrivals(queue: Queue) -> Certainty:
    if queue.shaped_by is None:
        return EXACT
    return approximation(
        f"arrivals at `{queue.resource}` are taken as if `{queue.shaped_by}` did not shape them"
    )


def _visits(queue: Queue) -> Certainty:
    parts = []
    if queue.is_uneven:
        parts.append(
            approximation(f"visits of `{queue.resource}` that differ count with their mean")
        )
    if queue.background != 0:
        parts.append(
            approximation(f"other load of `{queue.resource}` counts as visits of mean size")
        )
    return together(*parts)


def _servers(queue: Queue) -> Certainty:
    if queue.discipline is ir.Discipline.MMC:
        if queue.is_uniform:
            return EXACT
        return approximation(f"`{queue.resource}` has several cores for visits that differ")
    if queue.servers == 1:
        return EXACT
    reason = f"the cores of `{queue.resource}` count as one that is as fast as all of them"
    is_proven = queue.variation in (0, 1) and queue.is_uniform
    return upper_bound(reason) if is_proven else approximation(reason)


def _periods(queue: Queue) -> Certainty:
    if queue.discipline is not ir.Discipline.PERIODIC or len(queue.rates) == 1:
        return EXACT
    return approximation(f"flows at `{queue.resource}` differ in their periods or sizes")
