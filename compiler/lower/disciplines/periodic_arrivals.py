"""Periodic flows at random phases: N D/D/1 (Roberts and Virtamo 1991).

What is found of flows that differ in size is bounded in `periodic_mixtures`.
"""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

from qps.compiler.lower.disciplines.single_server import OneServer
from qps.compiler.lower.queues.periodic_mixtures import PeriodicClass, others_quantile, others_wait
from qps.compiler.lower.queues.stage_law import StageLaw
from qps.compiler.lower.queues.station_queue import Queue
from qps.compiler.lower.queues.visits import QueueVisit, longest, mean_service
from qps.compiler.quantities.certainty import EXACT, Certainty, together
from qps.compiler.quantities.methods import known_by
from qps.engine.expressions.formulas import ONE, ZERO, Formula, apply, maximum, total


class Periodic(OneServer, frozen=True):
    """Flows with one visit, or one batch, in each of their periods."""

    counts_arrivals: ClassVar[bool] = False
    is_bound_for_mixes: ClassVar[bool] = True
    rests_on_periods: ClassVar[bool] = True

    def wait(self, queue: Queue, own: QueueVisit) -> Formula:
        """Return what a batch finds of the other flows, on average, and half of its own."""
        return _found(queue, own) + (own.batch - 1) / 2 * own.service / queue.servers

    def quantile(self, queue: Queue, own: QueueVisit, level: Fraction | Formula) -> Formula:
        """Return the quantile of what is found of the other flows, and all of the own batch."""
        before = (own.batch - 1) * own.service / queue.servers
        largest = queue.longest_batch / queue.servers
        if queue.is_uniform:
            return largest * apply("periodic_quantile", _count(queue), queue.load, level) + before
        period, in_step = _period(queue), queue.is_in_step
        found = [
            others_quantile(
                _classes(queue, mine), period, queue.load, largest, level, is_in_step=in_step
            )
            for mine in queue.visits
            if mine.of == own.of
        ]
        return longest(found) + before

    def stage(self, queue: Queue, own: QueueVisit) -> StageLaw | None:  # noqa: ARG002
        """Return none: what is found of flows in step is no geometric sum."""
        return None

    def waiting_stage(self, queue: Queue, own: QueueVisit) -> StageLaw | None:  # noqa: ARG002
        """Return none, likewise."""
        return None

    def waiting_tail(self, queue: Queue, own: QueueVisit, seconds: Formula) -> Formula | None:  # noqa: ARG002 - all wait alike
        """Return the tail of N D/D/1: of equal flows in step."""
        is_alike = queue.is_uniform and queue.is_in_step and not queue.has_batches
        if not is_alike or queue.background is not ZERO or queue.servers is not ONE:
            return None
        service = queue.visits[0].service
        return apply("periodic_tail", _count(queue), queue.load, seconds / service)

    def waiting_quantile(self, queue: Queue, level: Fraction | Formula) -> Formula | None:  # noqa: ARG002
        """Return none: services are fixed, so that a quantile less the service is one."""
        return None

    def has_fixed_service(self, queue: Queue) -> bool:
        """Return that this is the wait alone, but of copies: these leave with their batch."""
        return not queue.has_batches

    def waits_known(self, queue: Queue) -> Certainty:
        """Return how the law of the wait is known."""
        return self.quantiles_known(queue)

    def mean_known(self, queue: Queue) -> Certainty:
        """Periods and sizes that differ are bounded or approximated."""
        cores = EXACT if queue.servers is ONE else super().mean_known(queue)
        return together(cores, _periods_known(queue))


def _found(queue: Queue, own: QueueVisit) -> Formula:
    if queue.is_uniform:
        batch = queue.visits[0].batch * queue.visits[0].service
        return batch / queue.servers * apply("periodic_wait", _count(queue), queue.load)
    mine = [visit for visit in queue.visits if visit.of == own.of]
    period = _period(queue)
    waits = [others_wait(_classes(queue, visit), period, queue.load) for visit in mine]
    if len(waits) == 1:
        return waits[0]
    rates = [visit.rate for visit in mine]
    found = [rate * wait for rate, wait in zip(rates, waits, strict=True)]
    return apply("mean", total(found), total(rates))


def _classes(queue: Queue, own: QueueVisit | None = None) -> list[PeriodicClass]:
    """Return the flows that a visit finds, its own one excepted, and the other load.

    A flow whose items are of several kinds is large now and small then, as if these came at random.
    """
    classes, period = [], _period(queue)
    for visit in queue.visits:
        count = visit.rate / visit.batch * period
        if visit.is_varied:
            size = visit.batch * visit.service / queue.servers
            classes.append(PeriodicClass(count, None, size))
            continue
        one = int(visit is own)
        flows = visit.flows / visit.batch
        classes.append(
            PeriodicClass(
                maximum(0, count - one) if one else count,
                maximum(0, flows - one) if one else flows,
                visit.batch * visit.service / queue.servers,
            )
        )
    if queue.background is not ZERO:
        size = mean_service(queue.visits)
        count = apply("mean", queue.background * period, size / queue.servers)
        classes.append(PeriodicClass(count, None, size / queue.servers))
    return classes


def _period(queue: Queue) -> Formula:
    return longest([apply("mean", visit.flows, visit.rate) for visit in queue.visits])


def _count(queue: Queue) -> Formula:
    """Batches in the longest period of the flows: their number where all have the same one.

    A faster flow counts as several of the longest period at random phases, which are less
    regular than it is, so that the wait is rather too long than too short.
    """
    first = queue.visits[0]
    if len(queue.visits) == 1:
        return first.flows / first.batch
    return total(visit.rate for visit in queue.visits) / first.batch * _period(queue)


def _periods_known(queue: Queue) -> Certainty:
    name = queue.resource
    if any(visit.is_thinned for visit in queue.visits):
        return known_by("share-of-periodic", name)
    if any(visit.is_varied for visit in queue.visits):
        return known_by("sizes-in-one-flow", name)
    if len(queue.visits) == 1:
        return known_by("nd-d-1", name)
    if not queue.is_in_step:
        return known_by("longest-period", name)
    if queue.is_uniform and queue.background is ZERO:
        return known_by("nd-d-1", name)
    return known_by("unequal-periodic-flows", name)
