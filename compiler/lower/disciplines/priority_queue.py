"""Random arrivals of which some go before others: without preemption, and with it.

Streams of a rank are served first come first served, before all of a later one. Without preemption
who is being served goes on (Cobham 1954; of several servers exact for equal exponential service,
Kella and Yechiali 1985); with it, who goes before takes the server at once, and what was begun goes
on where it was (preemptive resume). Ranks that go before wait only for what they find of others: a
wait has an end where all that goes before it, itself included, is less than can be served.

A quantile is that of a wait of which a share has none and the others a gamma law, with the mean and
the variance that are true for one server (Kesten and Runnenburg 1957), and of the time to serve.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import ClassVar

from qps.compiler.lower.disciplines.gamma_stages import StageOperands, gamma_stage, quantile_of
from qps.compiler.lower.queues.stage_law import StageLaw
from qps.compiler.lower.queues.station_queue import DisciplineLaw, Queue
from qps.compiler.lower.queues.visits import QueueVisit
from qps.compiler.quantities.certainty import Certainty
from qps.compiler.quantities.methods import known_by
from qps.engine.expressions.formulas import (
    ONE,
    ZERO,
    Formula,
    apply,
    maximum,
    minimum,
    number,
    total,
)

_LEAST = number(Fraction(1, 10**9))
_NARROW, _WIDE = number(Fraction(1, 50)), number(20)
"""Gamma laws beyond these have no transform that can be inverted."""


class ByPriority(DisciplineLaw, frozen=True):
    """Who goes first, and does not interrupt."""

    is_better_alone: ClassVar[bool] = True
    interrupts: ClassVar[str] = "non-preemptive"
    """Whether who goes first interrupts: the case of the errors of quantiles."""

    def wait(self, queue: Queue, own: QueueVisit) -> Formula:
        """Return the mean wait: for what is being served, for who is there, and who comes first."""
        ranks = Ranks(queue, own)
        waiting = apply("waiting", ranks.found / queue.servers, ranks.before)
        return apply("waiting", waiting, ranks.upto) + _own_batch(queue, own, ranks)

    def quantile(self, queue: Queue, own: QueueVisit, level: Fraction | Formula) -> Formula:
        """Return the quantile of wait and service less the mean service."""
        return quantile_of(level, *self._wait_and_service(queue, own)) - own.service

    def later_than_service(self, queue: Queue, own: QueueVisit, seconds: Formula) -> Formula | None:
        """Return the share that takes longer than its mean service by a time, of the same law."""
        if queue.bursts is not None or queue.arrivals is not ONE:
            return None
        stages = self._wait_and_service(queue, own)
        operands = (one for stage in stages for one in stage)
        return apply("stages_tail", seconds + own.service, *operands)

    def _wait_and_service(self, queue: Queue, own: QueueVisit) -> Sequence[StageOperands]:
        """Return the wait and the service, one after the other."""
        ranks = Ranks(queue, own)
        share = minimum(ONE, queue.share_waiting)
        spread = ranks.spread(ranks.residual_of(queue.visits), queue.load)
        waits = _gamma_of(self.wait(queue, own), share, spread)
        return waits, gamma_stage(own.service, queue.variation**2)

    def stage(self, queue: Queue, own: QueueVisit) -> StageLaw | None:
        """Return a wait that is exponential for those who have one, and the service."""
        share = self._share_waiting(queue, own)
        return StageLaw(
            waits=share,
            work=self.wait(queue, own) / maximum(share, _LEAST),
            service=own.service,
            variation=queue.variation**2,
            counted=own.service,
        )

    def waiting_law(self, queue: Queue, own: QueueVisit) -> tuple[Formula, StageLaw] | None:
        """Return a gamma law of those who wait."""
        if queue.has_batches:
            return None
        ranks, share = Ranks(queue, own), maximum(_LEAST, minimum(ONE, queue.share_waiting))
        spread = ranks.spread(ranks.residual_of(queue.visits), queue.load)
        wait = self.wait(queue, own) / share
        return share, StageLaw(waits=ZERO, work=ZERO, service=wait, variation=spread)

    def _share_waiting(self, queue: Queue, own: QueueVisit) -> Formula:  # noqa: ARG002 - all alike
        return minimum(ONE, queue.share_waiting)

    def keeps_randomness(self, queue: Queue) -> bool:  # noqa: ARG002 - none does
        """Return that what goes first leaves what comes after it less random."""
        return False

    def lost(self, queue: Queue, own: QueueVisit) -> Formula:
        """Return which share of a stream is never served: what is left for it is too little."""
        ranks = Ranks(queue, own)
        if ranks.before is ZERO:
            return 1 - 1 / maximum(ONE, ranks.upto)
        spare = maximum(ZERO, 1 - ranks.before)
        return 1 - minimum(ONE, apply("ratio", spare, ranks.upto - ranks.before))

    def mean_known(self, queue: Queue) -> Certainty:
        """Of one server it is exact, of several for equal exponential service."""
        name = queue.resource
        if queue.has_batches:
            return known_by("batch-by-priority", name)
        if queue.servers is ONE or (queue.variation is ONE and queue.is_modeled_as_uniform):
            return known_by("priority", name)
        return known_by("priority-scaled", name)

    def quantiles_known(self, queue: Queue) -> Certainty:
        """They are of a law that has two moments of the true one."""
        case = "exponential" if queue.variation is ONE else self.interrupts
        return known_by("priority-gamma", queue.resource, case=case)

    def waits_known(self, queue: Queue) -> Certainty:
        """They are of the same law, without the services."""
        return known_by("priority-waits", queue.resource)


class Preemptive(ByPriority, frozen=True):
    """Who goes first interrupts who is being served.

    Who is not, and waits for nobody, takes the time of its service: where that hardly varies, a law
    without such a step is farthest off next to it.
    """

    interrupts: ClassVar[str] = "preemptive"

    def waiting_law(self, queue: Queue, own: QueueVisit) -> tuple[Formula, StageLaw] | None:
        """Return a gamma law of those who wait at all, before the service or while interrupted.

        Nobody comes first during a service of the mean s with a chance of exp(-r s), where r is the
        rate of these, and of a gamma law of services with (1 + r s v)^(-1/v). What interrupts are
        busy periods of these.
        """
        if queue.has_batches:
            return None
        ranks, v = Ranks(queue, own), queue.variation**2
        first = maximum(_LEAST, minimum(ONE, self._share_waiting(queue, own)))
        waits, held = self._parts(queue, own)
        spread = ranks.spread(ranks.residual_of(ranks.upto_visits), ranks.upto)
        square = waits**2 * (1 + spread) / first
        if queue.servers is not ONE or not ranks.before_visits:
            found = maximum(_NARROW, minimum(_WIDE, spread))
            return first, StageLaw(waits=ZERO, work=ZERO, service=waits / first, variation=found)
        spare = maximum(_LEAST, 1 - ranks.before)
        square += 2 * waits * held + held**2 * (1 + v)
        square += own.service * 2 * ranks.found_of(ranks.before_visits) / spare**3
        comes = total(visit.rate for visit in ranks.before_visits) * own.service
        among = comes if v is ZERO else apply("ln", 1 + comes * v) / maximum(_LEAST, v)
        share = 1 - (1 - first) * apply("exp", -among)
        mean = waits + held
        varies = apply("mean", square * share, mean**2) - 1
        return share, StageLaw(
            waits=ZERO,
            work=ZERO,
            service=mean / share,
            variation=maximum(_NARROW, minimum(_WIDE, varies)),
        )

    def _parts(self, queue: Queue, own: QueueVisit) -> tuple[Formula, Formula]:
        """Return the mean wait before the service, and how long it is interrupted."""
        ranks = Ranks(queue, own)
        if queue.servers is not ONE:
            return self.wait(queue, own), ZERO
        work = ranks.found_of(ranks.upto_visits)
        waiting = apply("waiting", apply("waiting", work, ranks.before), ranks.upto)
        return waiting, apply("waiting", own.service * ranks.before, ranks.before)

    def wait(self, queue: Queue, own: QueueVisit) -> Formula:
        """Return the mean wait, before the service and while it is interrupted."""
        ranks = Ranks(queue, own)
        if queue.servers is ONE:
            waiting, interrupted = self._parts(queue, own)
            return waiting + interrupted + _own_batch(queue, own, ranks)
        # Those up to a rank are a queue of their own: the numbers who wait are distinguished.
        many = _waiting(queue, ranks.upto) - _few_waiting(queue, ranks.before)
        left = ranks.residual_of(ranks.upto_visits)
        return apply("mean", left * many, queue.servers * (ranks.upto - ranks.before))

    def _share_waiting(self, queue: Queue, own: QueueVisit) -> Formula:
        upto = minimum(ONE, Ranks(queue, own).upto)
        return (
            upto if queue.servers is ONE else apply("erlang_c", queue.servers, queue.servers * upto)
        )

    def quantile(self, queue: Queue, own: QueueVisit, level: Fraction | Formula) -> Formula:
        """Return the quantile of wait and service less the mean service."""
        return _of_fixed(queue, super().quantile(queue, own, level))

    def later_than_service(self, queue: Queue, own: QueueVisit, seconds: Formula) -> Formula | None:
        """Return the share that takes longer than its mean service by a time, of the same law."""
        found = super().later_than_service(queue, own, seconds)
        if found is None or queue.variation is not ZERO:
            return found
        return maximum(found, minimum(ONE, apply("ceil", maximum(ZERO, -seconds))))

    def _wait_and_service(self, queue: Queue, own: QueueVisit) -> Sequence[StageOperands]:
        ranks = Ranks(queue, own)
        spread = ranks.spread(ranks.residual_of(ranks.upto_visits), ranks.upto)
        waiting, _ = self._parts(queue, own)
        if queue.servers is not ONE:
            share = apply("erlang_c", queue.servers, queue.servers * ranks.upto)
            served = gamma_stage(own.service, queue.variation**2)
            return _gamma_of(waiting, share, spread), served
        spare = maximum(_LEAST, 1 - ranks.before)
        busy = apply("mean", 2 * ranks.found_of(ranks.before_visits), own.service) / spare
        held = apply("waiting", own.service, ranks.before)
        served = gamma_stage(held, queue.variation**2 + busy)
        return _gamma_of(waiting, minimum(ONE, ranks.upto), spread), served


class Ranks:
    """The visits of a queue as one of them sees them: who goes before it, and who after.

    What no visit causes goes before all; streams that say no priority go last.
    """

    def __init__(self, queue: Queue, own: QueueVisit) -> None:
        self._queue, self._own = queue, own
        self.before_visits = [visit for visit in queue.visits if visit.rank < own.rank]
        self.upto_visits = [visit for visit in queue.visits if visit.rank <= own.rank]
        self._after = sorted({v.rank for v in queue.visits if v.rank > own.rank})
        self.before = self._load(self.before_visits)
        self.upto = self._load(self.upto_visits) if self._after else queue.load

    def _load(self, visits: Sequence[QueueVisit]) -> Formula:
        works = total(visit.rate * visit.service for visit in visits) / self._queue.servers
        return works + self._queue.background

    @property
    def found(self) -> Formula:
        """What is left of the services that go on, in s of all servers together, on average."""
        queue = self._queue
        share = queue.share_waiting
        if not self._after:
            return share * self.residual_of(queue.visits)
        served = [(self.upto, self.residual_of(self.upto_visits))]
        before = self.upto
        for rank in self._after:
            visits = [visit for visit in queue.visits if visit.rank == rank]
            own = total(visit.rate * visit.service for visit in visits) / queue.servers
            # Of what comes later only what is left is ever served.
            served.append((minimum(own, maximum(ZERO, 1 - before)), self.residual_of(visits)))
            before = before + own
        if queue.servers is ONE:
            return total(load * residual for load, residual in served)
        loads = total(load for load, _ in served)
        return share * apply("mean", total(load * left for load, left in served), loads)

    def found_of(self, visits: Sequence[QueueVisit]) -> Formula:
        """Return the same where some visits are all that there are, of one server."""
        if not visits:
            return ZERO
        return self._load(visits) * self.residual_of(visits)

    def residual_of(self, visits: Sequence[QueueVisit]) -> Formula:
        """Return the mean of what is left of a service in some visits."""
        sizes = {(visit.service, visit.batch, visit.others) for visit in visits}
        lefts = [visit.weighed_work(self._queue.variation) / 2 for visit in visits]
        if len(sizes) == 1:
            return lefts[0]
        works = [visit.rate * visit.service for visit in visits]
        weighed = total(work * left for work, left in zip(works, lefts, strict=True))
        return apply("mean", weighed, total(works))

    def spread(self, left: Formula, load: Formula) -> Formula:
        """Return the squared variation of the wait of those who wait.

        It is that of one server that is as fast as all; `left` is of who may be found served, whose
        load is `load`.
        """
        queue = self._queue
        load = minimum(ONE, load)
        found = maximum(load, _LEAST) * left
        visits = queue.visits if load is minimum(ONE, queue.load) else self.upto_visits
        works = [visit.rate * visit.service / queue.servers for visit in visits]
        v = queue.variation**2
        cubes = [
            work * visit.service**2 * (1 + v) * (1 + 2 * v)
            for work, visit in zip(works, visits, strict=True)
        ]
        spare, before = maximum(ZERO, 1 - self.upto), maximum(_LEAST, 1 - self.before)
        own = self.found_of(self.upto_visits) / found
        first = self.found_of(self.before_visits) / found * spare / before
        square = total(cubes) * spare / 3 / found**2 + 2 * own + 2 * first
        return maximum(ZERO, maximum(load, _LEAST) * square - 1)


def _of_fixed(queue: Queue, later: Formula) -> Formula:
    """Return by how much something is later than its service: never earlier, if that is fixed."""
    return maximum(ZERO, later) if queue.variation is ZERO else later


def _own_batch(queue: Queue, own: QueueVisit, ranks: Ranks) -> Formula:
    if own.batch is ONE:
        return ZERO
    return apply("waiting", own.other_work / 2 / queue.servers, ranks.before)


def _waiting(queue: Queue, load: Formula) -> Formula:
    """Return how many wait on average for equal servers, of exponential services."""
    return apply("waiting", _busy(queue, load) * load, load)


def _few_waiting(queue: Queue, load: Formula) -> Formula:
    """Return the same, and much for endless."""
    return _busy(queue, load) * load / maximum(_LEAST, 1 - load)


def _busy(queue: Queue, load: Formula) -> Formula:
    return apply("erlang_c", queue.servers, queue.servers * load)


def _gamma_of(wait: Formula, share: Formula, spread: Formula) -> StageOperands:
    """Return the stage of a wait that a share has."""
    return gamma_stage(wait / maximum(share, _LEAST), spread, share)
