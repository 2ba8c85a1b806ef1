"""How the waits of a queue are known: what is exact, what bounds, what approximates.

Exact is meant for the model that the discipline states (docs/traffic.md): the label says where
the formula does more or less than that model, and to which side it then errs.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import sqrt

from msgspec.structs import replace

from qps.compiler.diagnostics.suggest import listed
from qps.compiler.lower.queueing import Queue, Visit
from qps.compiler.quantities.certainty import (
    EXACT,
    Certainty,
    approximation,
    compounded,
    lower_bound,
    of_another,
    together,
    upper_bound,
)
from qps.engine.formulas import ONE, ZERO
from qps.engine.queues.queue_numbers import normal_quantile

_ROWS = (
    "in validation, the predicted wait of one to five queues in series was "
    "0.68–1.34× simulated, at a coefficient of variation of 3 down to 0.45×"
)
_BEYOND = "; unreliable above 3, up to 2.5× at 5"
_HARDLY_ANY = "; percentiles where hardly any item waits up to 5×"
_ROWS_ERROR, _UNEVEN_ERROR, _SHAPED_ERROR, _QUANTILE_ERROR = 0.35, 0.6, 0.45, 4.0
"""Of the second, where it is stated how uneven arrivals are, and of quantiles elsewhere.

Of the last, quantiles where it is stated: the wait at a low load is scaled as that at a high one.
"""
_PERIODIC_IN_BURSTS = "predicted waits were 0.77–1.15× simulated, low percentiles 0.65×"
_BURSTS_ERRORS = {False: (0.25, 0.45), True: (0.35, 0.65)}
"""Of means and of quantiles, by whether items arrive at random."""
_RANDOM_IN_BURSTS = "predicted waits were 0.8–1.25× simulated, percentiles 0.47–1.15×"
_STAGES_IN_BURSTS = (
    "predicted percentiles of one to five queues were 0.44–2× simulated, "
    "0.85–1.2× where sources exceed the service rate for less than a "
    "thousandth of the time"
)
_STAGES_IN_BURSTS_ERROR = 1.3
"""Of what is told by stages, shaped by the queues before or not."""


def mean_certainty(queue: Queue) -> Certainty:
    """Return how the mean wait in a queue is known."""
    return _waits(queue, queue.law.mean_known(queue))


def rate_certainty(queue: Queue) -> Certainty:
    """Return how the rates are known of users who wait in a queue, but for which side they err."""
    return _waits(queue, queue.law.rates_known(queue))


def _waits(queue: Queue, of_law: Certainty) -> Certainty:
    bursts = _bursts(queue)
    if _is_averaged(queue):
        reason = f"bursts at `{queue.resource}` are averaged out: true waits are longer"
        bursts = queue.law.with_bursts(reason)
    return compounded(_arrivals(queue), _visits(queue), of_law, bursts, queue.load_known)


def loss_certainty(queue: Queue) -> Certainty:
    """Return how the share is known that finds no room at a queue.

    It has errors of its own: behind arrivals that are not random it may be many times as high,
    where waits are off by a third.
    """
    found = [queue.law.loss_known(queue), of_another(queue.load_known)]
    name, offered = queue.resource, queue.offered
    counts = offered is not None and offered.arrivals is not ONE
    if queue.shaped_by is not None and not (offered is not None and offered.are_counted):
        found.append(
            approximation(
                f"loss at `{name}` ignores that `{queue.shaped_by}` shapes arrivals: it may "
                "be many times larger or smaller"
            )
        )
    elif _is_stated(queue) and not counts:
        found.append(approximation(f"variability of arrivals at `{name}` is ignored"))
    if any(visit.is_bursty for visit in queue.visits):
        found.append(approximation(f"loss at `{name}` ignores bursts"))
    if any(visit.meets for visit in queue.visits):
        found.append(
            approximation(f"copies of one item that meet at `{name}` count as independent")
        )
    return together(*found)


def quantile_certainty(queue: Queue) -> Certainty:
    """Return how the quantiles of the wait in a queue are known."""
    return compounded(_stage_known(queue), queue.law.quantiles_known(queue))


def stage_certainty(queue: Queue) -> Certainty:
    """Return how the law of wait and service in a queue is known."""
    if queue.bursts is None:
        return compounded(_stage_known(queue), queue.law.stage_known(queue))
    known = approximation(
        (
            f"bursts at `{queue.resource}` are modeled as a fluid with exponential "
            f"lengths: {_STAGES_IN_BURSTS}"
        ),
        error=_STAGES_IN_BURSTS_ERROR,
    )
    others = replace(queue, shaped_by=None, visits=tuple(map(_steady, queue.visits)))
    return compounded(known, stage_certainty(others))


def _steady(visit: Visit) -> Visit:
    return replace(visit, burst=None, is_bursty=visit.is_bursty and visit.burst is None)


def _stage_known(queue: Queue) -> Certainty:
    found = [
        _arrivals(queue, of_mean=False),
        _visits(queue),
        queue.law.mean_beside(queue),
        _bursts(queue, of_mean=False),
        queue.load_known,
    ]
    if _is_averaged(queue):
        found.append(
            approximation(
                f"bursts at `{queue.resource}` are averaged out: late items are later, "
                "without bound"
            )
        )
    return compounded(*found)


def uncounted(resources: Sequence[str]) -> Certainty:
    """Return how a latency is known that counts no waiting at some resources."""
    if not resources:
        return EXACT
    return lower_bound(f"queueing delay at {listed(list(resources), 'and')} is excluded")


def unlawful(resources: Sequence[str]) -> Certainty:
    """Return how a jitter is known that lacks the variance of the waits at some resources."""
    if not resources:
        return EXACT
    told = listed(list(resources), "and")
    return lower_bound(
        f"variance of queueing delay at {told} is excluded: no jitter is known for it"
    )


def jitter_certainty(resources: Sequence[str], level: Fraction) -> Certainty:
    """Return how a quantile of jitter is known, of which nothing but the variance is stated.

    Of all laws of a variance, that of two points is the latest (Cantelli 1928).
    """
    share = float(level)
    normal, worst = normal_quantile(share), sqrt(share / (1 - share))
    return approximation(
        f"jitter of {listed(list(resources), 'and')} is assumed normal, {normal:.3g} "
        f"standard deviations; other distributions reach {worst:.3g}"
    )


def _is_averaged(queue: Queue) -> bool:
    counts = queue.law.counts_bursts
    return any(v.is_bursty and not (counts and v.burst) for v in queue.visits)


def _bursts(queue: Queue, *, of_mean: bool = True) -> Certainty:
    if not queue.law.counts_bursts or all(visit.burst is None for visit in queue.visits):
        return EXACT
    return approximation(
        (
            f"bursts at `{queue.resource}` are modeled as a fluid with exponential "
            "lengths: "
            f"{_RANDOM_IN_BURSTS if queue.traits.is_random else _PERIODIC_IN_BURSTS}"
        ),
        error=_BURSTS_ERRORS[queue.traits.is_random][not of_mean],
    )


def _tells_shape(queue: Queue) -> bool:
    """Return whether the queues before this one count in its arrivals."""
    return queue.law.tells_shape(queue) or (queue.offered is not None and queue.offered.are_counted)


def _arrivals(queue: Queue, *, of_mean: bool = True) -> Certainty:
    parts = []
    name = queue.resource
    if queue.arrivals is not ONE:
        shaped = "" if queue.shaped_by is None else f", shaped by `{queue.shaped_by}`,"
        told = _ROWS + _BEYOND + (_HARDLY_ANY if _is_stated(queue) and not of_mean else "")
        parts.append(
            approximation(
                f"arrivals at `{name}`{shaped} use two moments: {told}",
                error=_uneven_error(queue, of_mean=of_mean),
            )
        )
    elif queue.shaped_by is not None and not _tells_shape(queue):
        parts.append(
            approximation(
                (
                    f"arrivals at `{name}` ignore that `{queue.shaped_by}` shapes them: the "
                    "predicted time of two stages in series was 0.57–1.42× simulated"
                ),
                error=_SHAPED_ERROR,
            )
        )
    counts = queue.offered is not None and queue.offered.arrivals is not ONE
    counts |= queue.law.counts_arrivals or queue.arrivals is not ONE
    if _is_stated(queue) and not counts:
        parts.append(approximation(f"variability of arrivals at `{name}` is ignored"))
    if queue.law.rests_on_periods and any(
        visit.is_spread and visit.place.count is not ONE for visit in queue.visits
    ):
        parts.append(
            approximation(
                f"items pick any `{name}` at random, modeled as if each flow had its own: "
                "true waits may be longer"
            )
        )
    if any(v.batch is not ONE and v.before and v.before.batch is not ONE for v in queue.visits):
        # Those that the last queue let go one after the other come over its time.
        parts.append(upper_bound(f"copies that left together count at `{name}` as simultaneous"))
    if any(visit.meets for visit in queue.visits):
        parts.append(
            approximation(
                f"copies of one item that meet at `{name}` count as independent: true waits "
                "may be longer"
            )
        )
    asking = dict.fromkeys(visit.of[0] for visit in queue.visits if visit.is_asked_again)
    if asking and queue.traits.is_random:
        # Of a network in product form: an arrival finds less than in open traffic of that rate.
        is_proven = queue.is_told_as_uniform and queue.traits.has_product_form
        known = upper_bound if is_proven else approximation
        parts.append(known(f"closed traffic of {listed(list(asking), 'and')} is modeled as open"))
    return together(*parts)


def _uneven_error(queue: Queue, *, of_mean: bool) -> float | None:
    """Return how far off two moments may be; None where nobody knows."""
    if queue.is_very_uneven:
        return None
    if _is_stated(queue):
        return _UNEVEN_ERROR if of_mean else _QUANTILE_ERROR
    return _ROWS_ERROR if of_mean else _UNEVEN_ERROR


def _is_stated(queue: Queue) -> bool:
    return any(visit.variation is not None for visit in queue.visits)


def _visits(queue: Queue) -> Certainty:
    parts = []
    name = queue.resource
    if any(visit.is_uneven for visit in queue.visits):
        parts.append(approximation(f"different visits to `{name}` count with their mean"))
    if queue.background is not ZERO:
        parts.append(approximation(f"other load of `{name}` counts as visits of mean size"))
    return together(*parts, _threads(queue))


def _threads(queue: Queue) -> Certainty:
    """Return what it does that single threads are waited for, and a core besides.

    What runs on one thread alone finds a core whenever it has its thread.
    """
    threads = {thread for visit in queue.visits for thread in visit.threads}
    if threads <= {None}:
        return EXACT
    is_alone = len(threads) == 1 and queue.background is ZERO
    known = upper_bound if is_alone else approximation
    return known(
        f"waits for a core of `{queue.resource}` besides the thread count as for other items"
    )
