"""How the waits of a queue are known: what is exact, what bounds, what approximates.

Exact is meant for the model that the discipline states (docs/traffic.md): the label says where
the formula does more or less than that model, and to which side it then errs.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import sqrt

from qps.compiler import ir
from qps.compiler.diagnostics.suggest import listed
from qps.compiler.ir.think_times import RANDOM
from qps.compiler.lower.queueing import Queue
from qps.compiler.quantities.certainty import (
    EXACT,
    Certainty,
    approximation,
    lower_bound,
    together,
    upper_bound,
)
from qps.engine.formulas import ONE, ZERO
from qps.engine.queue_numbers import normal_quantile


def mean_certainty(queue: Queue) -> Certainty:
    """Return how the mean wait in a queue is known."""
    bursts = EXACT
    if _is_bursty(queue):
        known = approximation if queue.discipline is ir.Discipline.MMC else lower_bound
        bursts = known(f"the bursts at `{queue.resource}` are averaged out: the truth is more")
    return together(_arrivals(queue), _visits(queue), _servers(queue), _periods(queue), bursts)


def quantile_certainty(queue: Queue) -> Certainty:
    """Return how the quantiles of the wait in a queue are known."""
    name = queue.resource
    found = [_arrivals(queue), _visits(queue), _servers(queue), _periods(queue)]
    if _is_bursty(queue):
        found.append(
            approximation(
                f"the bursts at `{name}` are averaged out: the late ones are later, without bound"
            )
        )
    if queue.variation not in (ZERO, ONE):
        found.append(
            approximation(f"service times at `{name}` are taken as gamma distributed, as a bound")
        )
    if queue.has_batches:
        found.append(upper_bound(f"copies that leave together at `{name}` wait for a whole batch"))
    elif not queue.is_told_as_uniform:
        found.append(upper_bound(f"all visits of `{name}` count as long as the longest"))
    return together(*found)


def uncounted(resources: Sequence[str]) -> Certainty:
    """Return how a latency is known that counts no waiting at some resources."""
    if not resources:
        return EXACT
    return lower_bound(f"no waiting is counted at {listed(list(resources), 'and')}")


def unlawful(resources: Sequence[str]) -> Certainty:
    """Return how a jitter is known that lacks the variance of the waits at some resources."""
    if not resources:
        return EXACT
    told = listed(list(resources), "and")
    return lower_bound(f"the variance of the waits at {told} is not counted: no jitter law says it")


def jitter_certainty(resources: Sequence[str], level: Fraction) -> Certainty:
    """Return how a quantile of jitter is known, of which nothing but the variance is stated.

    Of all laws of a variance, that of two points is the latest (Cantelli 1928).
    """
    share = float(level)
    normal, worst = normal_quantile(share), sqrt(share / (1 - share))
    return approximation(
        f"the jitter of {listed(list(resources), 'and')} is taken as normal, {normal:.3g} standard "
        f"deviations; other laws have up to {worst:.3g}"
    )


def _is_bursty(queue: Queue) -> bool:
    return any(visit.is_bursty for visit in queue.visits)


def _arrivals(queue: Queue) -> Certainty:
    parts = []
    name = queue.resource
    if queue.shaped_by is not None:
        parts.append(
            approximation(
                f"arrivals at `{name}` are as if `{queue.shaped_by}` did not shape them: two "
                "stages in a row were told 0.57 to 1.42 times as long as simulated"
            )
        )
    if any(visit.meets for visit in queue.visits):
        parts.append(
            approximation(
                f"copies of one item that meet at `{name}` count as apart: the truth may be more"
            )
        )
    asking = dict.fromkeys(visit.of[0] for visit in queue.visits if visit.is_asked_again)
    if asking and queue.discipline in RANDOM:
        # Of a network in product form: an arrival finds less than in open traffic of that rate.
        has_form = queue.discipline in (ir.Discipline.MM1, ir.Discipline.MMC)
        is_proven = queue.is_told_as_uniform and has_form
        known = upper_bound if is_proven else approximation
        parts.append(
            known(
                f"users of {listed(list(asking), 'and')} wait for answers before they ask again, "
                "and are taken as open traffic"
            )
        )
    return together(*parts)


def _visits(queue: Queue) -> Certainty:
    parts = []
    name = queue.resource
    if any(visit.is_uneven for visit in queue.visits):
        parts.append(approximation(f"visits of `{name}` that differ count with their mean"))
    if queue.background is not ZERO:
        parts.append(approximation(f"other load of `{name}` counts as visits of mean size"))
    return together(*parts)


def _servers(queue: Queue) -> Certainty:
    name = queue.resource
    if queue.discipline is ir.Discipline.MMC:
        if queue.is_told_as_uniform:
            return EXACT
        return approximation(f"visits of the cores of `{name}` differ (Lee and Longton 1959)")
    if queue.servers is ONE:
        return EXACT
    reason = f"the cores of `{name}` count as one that is as fast as all of them"
    is_proven = queue.variation in (ZERO, ONE) and queue.is_told_as_uniform
    return upper_bound(reason) if is_proven else approximation(reason)


def _periods(queue: Queue) -> Certainty:
    if queue.discipline is not ir.Discipline.PERIODIC:
        return EXACT
    if any(visit.is_thinned for visit in queue.visits):
        return approximation(
            f"a share of periodic items is taken as periodic at `{queue.resource}`"
        )
    if len(queue.visits) == 1:
        return EXACT
    if not queue.is_in_step:
        return approximation(
            f"flows at `{queue.resource}` of different periods count as several of the longest"
        )
    if queue.is_uniform and queue.background is ZERO:
        return EXACT
    return upper_bound(f"flows at `{queue.resource}` differ in size")
