"""How the waits of a queue are known: what is exact, what bounds, what approximates.

Exact is meant for the model that the discipline states (docs/traffic.md): the label says where
the formula does more or less than that model, and to which side it then errs.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import sqrt

from msgspec.structs import replace

from qps.compiler.lower.queues.station_queue import Queue
from qps.compiler.lower.queues.visits import QueueVisit
from qps.compiler.quantities.certainty import EXACT, Certainty, compounded, of_another, together
from qps.compiler.quantities.methods import known_by
from qps.engine.expressions.formulas import ONE, ZERO
from qps.engine.queueing.queue_numbers import normal_quantile

_MOST_UNEVEN = 3
"""The largest coefficient of variation of arrivals that was held against what is played."""


_MOST_MEETING = 2
"""Copies of one item at a station, up to which errors were measured."""
_MOST_APART = 4
"""Services at several cores to which items return again and again, that were held as well."""
_MOST_VISITS = 4
"""Of one item, that were held against what is played."""


def cannot_overtake(queues: Sequence[Queue]) -> bool:
    """Return whether items cannot overtake each other on their way through some queues.

    Then the times in them are independent of each other (Reich 1957; of networks Walrand and
    Varaiya 1980): every other item comes from outside, or from the queue before. Between the first
    and the last there is one server at each (Burke 1969).
    """
    if any(queue.servers is not ONE for queue in queues[1:-1]):
        return False
    if not all(queue.keeps_randomness for queue in queues):
        return False
    before = (None, *(queue.resource for queue in queues))
    return all(
        not visit.after or visit.after[-1] == last
        for last, queue in zip(before, queues, strict=False)
        for visit in queue.visits
    )


def mean_certainty(queue: Queue) -> Certainty:
    """Return how the mean wait in a queue is known."""
    return _waits(queue, queue.law.mean_known(queue))


def rate_certainty(queue: Queue) -> Certainty:
    """Return how the rates are known of users who wait in a queue, but for which side they err."""
    return _waits(queue, queue.law.rates_known(queue))


def _waits(queue: Queue, of_law: Certainty) -> Certainty:
    if queue.never_waits:
        return known_by("enough-servers", queue.resource)
    bursts = _bursts(queue)
    if _is_averaged(queue):
        is_proven = queue.law.waits_longer_in_bursts
        method = _averaging(queue)
        bursts = known_by(method, queue.resource, case="delay", is_proven=is_proven)
    return compounded(_arrivals(queue), _visits(queue), of_law, bursts, queue.load_known)


def loss_certainty(queue: Queue) -> Certainty:
    """Return how the share is known that finds no room at a queue.

    It has errors of its own: behind arrivals that are not random it may be many times as high,
    where waits are off by a third.
    """
    found = [queue.law.loss_known(queue), of_another(queue.load_known)]
    name, offered = queue.resource, queue.offered
    counts = offered is not None and offered.is_uneven
    if queue.shaped_by is not None and not (offered is not None and offered.are_counted):
        found.append(known_by("loss-ignores-departures", name, by=queue.shaped_by))
    elif queue.states_arrivals and not counts:
        found.append(known_by("arrivals-as-poisson", name))
    if any(visit.is_bursty for visit in queue.visits):
        found.append(known_by("loss-ignores-bursts", name))
    if any(visit.meets for visit in queue.visits):
        found.append(known_by("copies-that-meet", name))
    if any(visit.is_of_kinds for visit in queue.visits):
        found.append(known_by("kinds-averaged", name))
    return together(*found)


def quantile_certainty(queue: Queue) -> Certainty:
    """Return how the quantiles of the wait in a queue are known."""
    if queue.never_waits:
        return _service_known(queue)
    return compounded(_stage_known(queue), queue.law.quantiles_known(queue))


def stage_certainty(queue: Queue) -> Certainty:
    """Return how the law of wait and service in a queue is known."""
    if queue.never_waits:
        return _service_known(queue)
    if queue.bursts is None:
        return compounded(_stage_known(queue), queue.law.stage_known(queue))
    known = known_by("fluid-bursts", queue.resource, case="stages")
    others = replace(queue, shaped_by=None, visits=tuple(map(_steady, queue.visits)))
    return compounded(known, stage_certainty(others))


def without_law(queue: Queue) -> Certainty:
    """Return how all else is known of a queue, but for its law."""
    bursts = _bursts(queue, of_mean=False)
    return compounded(_arrivals(queue, of_mean=False), _visits(queue), bursts, queue.load_known)


def _service_known(queue: Queue) -> Certainty:
    """Return how the law of services is known where nobody waits."""
    if queue.variation in (ZERO, ONE) and queue.is_modeled_as_uniform:
        return compounded(_visits(queue), known_by("stated-service", queue.resource))
    return known_by("exponential-waits", queue.resource)


def _steady(visit: QueueVisit) -> QueueVisit:
    return replace(visit, burst=None, is_bursty=visit.is_bursty and visit.burst is None)


def _stage_known(queue: Queue) -> Certainty:
    found = [
        _arrivals(queue, of_mean=False),
        _visits(queue),
        queue.law.mean_for_quantile(queue),
        _bursts(queue, of_mean=False),
        queue.load_known,
    ]
    if _is_averaged(queue):
        method, name = _averaging(queue), queue.resource
        found.append(known_by(method, name, case="percentiles", is_proven=False))
    return compounded(*found)


def uncounted(resources: Sequence[str]) -> Certainty:
    """Return how a latency is known that counts no waiting at some resources."""
    return known_by("no-queueing-delay", resources) if resources else EXACT


def without_variance(resources: Sequence[str]) -> Certainty:
    """Return how a jitter is known that lacks the variance of the waits at some resources."""
    return known_by("no-delay-variance", resources) if resources else EXACT


def jitter_certainty(resources: Sequence[str], level: Fraction) -> Certainty:
    """Return how a quantile of jitter is known, of which nothing but the variance is stated.

    Of all laws of a variance, that of two points is the latest (Cantelli 1928).
    """
    share = float(level)
    normal, worst = normal_quantile(share), sqrt(share / (1 - share))
    return known_by("normal-jitter", resources, normal=normal, worst=worst)


def _is_averaged(queue: Queue) -> bool:
    counts = queue.law.counts_bursts
    return any(v.is_bursty and not (counts and v.burst) for v in queue.visits)


def _averaging(queue: Queue) -> str:
    """Return by which method bursts are averaged out.

    Errors were measured of bursts of a stated length alone: of others, nothing bounds them.
    """
    unknown = any(visit.is_bursty and visit.burst is None for visit in queue.visits)
    return "bursts-of-unknown-length" if unknown else "bursts-averaged"


def _bursts(queue: Queue, *, of_mean: bool = True) -> Certainty:
    if not queue.law.counts_bursts or all(visit.burst is None for visit in queue.visits):
        return EXACT
    case = "random" if queue.traits.is_random else "periodic"
    return known_by("fluid-bursts", queue.resource, case=_case(case, of_mean=of_mean))


def _counts_arrival_shape(queue: Queue) -> bool:
    """Return whether the queues before this one count in its arrivals."""
    return queue.law.includes_arrival_error(queue) or (
        queue.offered is not None and queue.offered.are_counted
    )


def _arrivals(queue: Queue, *, of_mean: bool = True) -> Certainty:
    parts = []
    name = queue.resource
    if queue.arrivals is not ONE:
        parts.append(_two_moments(queue, of_mean=of_mean))
    elif queue.shaped_by not in (None, name) and not _counts_arrival_shape(queue):
        parts.append(known_by("departures-as-poisson", name, by=queue.shaped_by or ""))
    if _takes_returns_as_random(queue) and not _counts_arrival_shape(queue):
        parts.append(_returns(queue))
    counts = queue.offered is not None and queue.offered.is_uneven
    counts |= queue.law.counts_arrivals or queue.arrivals is not ONE
    if queue.states_arrivals and not counts:
        parts.append(known_by("arrivals-as-poisson", name))
    if queue.law.rests_on_periods and any(
        visit.is_spread and visit.place.count is not ONE for visit in queue.visits
    ):
        parts.append(known_by("copies-picked-at-random", name))
    if any(v.batch is not ONE and v.before and v.before.batch is not ONE for v in queue.visits):
        # Those that the last queue let go one after the other come over its time.
        parts.append(known_by("batch-behind-a-batch", name))
    meeting = sum(visit.meets for visit in queue.visits)
    if meeting > _MOST_MEETING:
        parts.append(known_by("many-copies-that-meet", name))
    elif meeting:
        parts.append(known_by("copies-that-meet", name, case="waits"))
    resends = dict.fromkeys(visit.of[0] for visit in queue.visits if visit.is_retransmitted)
    if resends and queue.traits.is_random:
        # Of a network in product form: an arrival finds less than in open traffic of that rate.
        is_proven = queue.is_modeled_as_uniform and queue.traits.has_product_form
        parts.append(known_by("closed-as-open", list(resends), is_proven=is_proven))
    return together(*parts)


def _two_moments(queue: Queue, *, of_mean: bool) -> Certainty:
    """Return how times are known of arrivals that count by two moments."""
    name, most = queue.resource, queue.most_uneven
    if queue.law.counts_stated_arrivals:
        return known_by(
            "sharing-renewals",
            name,
            case="mean" if of_mean else "percentiles",
            apart=most,
            is_measured=queue.shaped_by is None,
        )
    method = "two-moment-arrivals" if queue.shaped_by is None else "two-moment-departures"
    case = _case("stated" if queue.states_arrivals else "shaped", of_mean=of_mean)
    is_measured = most is not None and most <= _MOST_UNEVEN
    by = queue.shaped_by or ""
    return known_by(method, name, by=by, case=case, is_measured=is_measured)


def _takes_returns_as_random(queue: Queue) -> bool:
    """Return whether items come back, which is not random, and it does not count how soon."""
    comes_back = queue.most_visits != 1 and not queue.law.has_wait_of_each_visit
    return comes_back and not (queue.keeps_randomness or queue.has_batches)


def _returns(queue: Queue) -> Certainty:
    """Return how times are known of items that come back as if at random."""
    most = queue.most_visits
    apart = queue.times_apart
    is_far = queue.servers is ONE or apart is None or apart > _MOST_APART
    if most is None and is_far and not queue.is_modeled_as_uniform:
        return known_by("unlike-returns", queue.resource)
    is_measured = most is not None and most <= _MOST_VISITS and queue.law.counts_arrivals
    return known_by("returns-as-poisson", queue.resource, apart=apart, is_measured=is_measured)


def _case(case: str, *, of_mean: bool) -> str:
    return case if of_mean else f"{case} percentiles"


def _visits(queue: Queue) -> Certainty:
    parts = []
    name = queue.resource
    if any(visit.is_uneven for visit in queue.visits):
        parts.append(known_by("visits-by-their-mean", name))
    if any(visit.is_of_kinds for visit in queue.visits):
        parts.append(known_by("kinds-averaged", name))
    if queue.background is not ZERO:
        parts.append(known_by("other-load-as-visits", name))
    return together(*parts, _threads(queue))


def _threads(queue: Queue) -> Certainty:
    """Return what it does that single threads are waited for, and a core besides.

    What runs on one thread alone finds a core whenever it has its thread.
    """
    threads = {thread for visit in queue.visits for thread in visit.threads}
    if threads <= {None}:
        return EXACT
    is_alone = len(threads) == 1 and queue.background is ZERO
    return known_by("core-and-thread", queue.resource, is_proven=is_alone)
