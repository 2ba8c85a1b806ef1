"""What of a latency is waiting: its stages that are waits, and the law of these without service.

A stage of a queue has the law of wait and service, of which the service is taken out here. Only
where an item first waits and is then served, and where all who are there share, is there a law of
the wait alone: what interrupts a service is no wait before it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import ClassVar

from msgspec.structs import replace

from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.lower.disciplines.gamma_stages import StageOperands, one_of, quantile_of
from qps.compiler.lower.queues.stage_law import StageLaw
from qps.compiler.lower.queues.station_queue import DisciplineLaw, Queue
from qps.compiler.lower.queues.visits import QueueVisit
from qps.compiler.lower.response_time.response_stages import (
    LatencyPart,
    TimeSpent,
    every,
    queue_resource,
)
from qps.compiler.quantities.certainty import Certainty
from qps.engine.expressions.formulas import ONE, Formula, apply, maximum, minimum, number

_LEAST_SHARE = number(Fraction(1, 1000))
"""So many wait at least."""


class WaitLaw(DisciplineLaw, frozen=True):
    """The wait at a queue that has the `stated` discipline, without the service behind it."""

    includes_service: ClassVar[bool] = False

    stated: DisciplineLaw

    def unevenness(self, queue: Queue, own: QueueVisit) -> Formula:  # noqa: ARG002 - all alike
        """Return the squared variation of the wait: exponential for those who have one."""
        return 2 / minimum(ONE, maximum(_LEAST_SHARE, queue.share_waiting)) - 1

    def wait(self, queue: Queue, own: QueueVisit) -> Formula:
        """Return the mean wait, in s."""
        return self.stated.wait(_as_stated(queue, self.stated), own)

    def quantile(self, queue: Queue, own: QueueVisit, level: Fraction | Formula) -> Formula:
        """Return the quantile of the wait, in s; QpsError where its law is not known."""
        there = _as_stated(queue, self.stated)
        if self.stated.has_fixed_service(there):
            return there.quantile(own, level)
        if there.bursts is None and there.arrivals is ONE:
            found = self.stated.waiting_quantile(there, level)
            if found is not None:
                return found
        operands = self.operands(queue, [(ONE, own)])
        if operands is None:
            raise no_distribution(queue.resource)
        return quantile_of(level, operands)

    def operands(
        self, queue: Queue, visits: Sequence[tuple[Formula, QueueVisit]]
    ) -> StageOperands | None:
        """Return the wait of one of some visits, each with its chance, as a stage of a sum.

        None where there is no law of it.
        """
        if len(visits) == 1 and (stage := self.stage(queue, visits[0][1])) is not None:
            return stage.operands()
        there = _as_stated(queue, self.stated)
        if there.bursts is not None or (there.arrivals is not ONE and self.stated.counts_arrivals):
            return None
        laws = [(chance, self.stated.waiting_law(there, visit)) for chance, visit in visits]
        if any(law is None for _, law in laws):
            return None
        return one_of((chance * law[0], law[1]) for chance, law in laws if law is not None)

    def stage(self, queue: Queue, own: QueueVisit) -> StageLaw | None:
        """Return the law of the wait; None where there is none that a sum can take."""
        there = _as_stated(queue, self.stated)
        found = None if there.bursts is not None else self.stated.waiting_stage(there, own)
        if found is None or there.arrivals is ONE or not self.stated.counts_arrivals:
            return found
        return found.lasting(there.times_random)

    def later_than_service(self, queue: Queue, own: QueueVisit, seconds: Formula) -> Formula | None:
        """Return the share that waits longer than a time; None where a sum must say that."""
        there = _as_stated(queue, self.stated)
        if there.bursts is not None or there.arrivals is not ONE:
            return None
        found = self.stated.waiting_tail(there, own.slowest, seconds)
        if found is None and self.stage(queue, own) is None:
            operands = self.operands(queue, [(ONE, own)])
            return None if operands is None else apply("stages_tail", seconds, *operands)
        return found

    def keeps_randomness(self, queue: Queue) -> bool:
        """Return whether what arrives at random leaves at random."""
        return self.stated.keeps_randomness(_as_stated(queue, self.stated))

    def mean_known(self, queue: Queue) -> Certainty:
        """Return how the mean wait is known."""
        return self.stated.mean_known(_as_stated(queue, self.stated))

    def quantiles_known(self, queue: Queue) -> Certainty:
        """Return how the law of the wait is known."""
        return self.stated.waits_known(_as_stated(queue, self.stated))


def _as_stated(queue: Queue, law: DisciplineLaw) -> Queue:
    return replace(queue, law=law)


def waiting_stages(parts: Sequence[LatencyPart]) -> tuple[LatencyPart, ...]:
    """Return the stages of a latency in which an item waits for a resource or a pool.

    QpsError where calls are made together: an item waits for several at the same time.
    """
    for part in parts:
        if part.branches and any(map(_is_wait, every([part]))):
            raise QpsError.single(
                codes.NO_ANSWER,
                None,
                f"the waiting time of parallel calls ({part.stage}) is not a sum",
                hint="use the waiting time of a station, such as `web.cpu.wait`",
            )
    return tuple(part for part in parts if _is_wait(part))


def without_service(parts: Sequence[LatencyPart]) -> tuple[LatencyPart, ...]:
    """Return the same stages with the law of the wait alone."""
    return tuple(map(_alone, parts))


def _alone(part: LatencyPart) -> LatencyPart:
    if part.queue is None:
        raise no_distribution(queue_resource(part))
    return replace(part, queue=replace(part.queue, law=WaitLaw(part.queue.law)))


def _is_wait(part: LatencyPart) -> bool:
    return part.queue is not None or (part.spent is TimeSpent.WAIT and queue_resource(part) != "")


def number_waiting(parts: Sequence[LatencyPart]) -> Iterator[Formula]:
    """Yield how many items of a stream wait at each visit, on average, by Little's law."""
    seen = set[tuple[str, tuple[str, int]]]()
    for part in every(parts):
        if part.queue is None or part.visit is None:
            continue
        key = part.queue.resource, part.visit.of
        if key not in seen:
            seen.add(key)
            yield part.visit.rate * part.visit.place.count * part.per_visit


def no_share(stream: str) -> QpsError:
    """Return that no law is known of which a share of a stream's items could be."""
    return QpsError.single(
        codes.NO_ANSWER,
        None,
        f"the share of `{stream}` beyond a time is not available: jitter has no distribution",
        hint=f"limit a percentile instead: `{stream}.p95 <= 2 s`",
    )


def no_share_of_waits(resource: str) -> QpsError:
    """Return that of the wait at a resource quantiles are known, but no shares."""
    return QpsError.single(
        codes.NO_ANSWER,
        None,
        f"the share of visits of `{resource}` that wait longer than a time is not available: only "
        "percentiles are",
        hint=f"limit a percentile instead: `{resource}.wait.p95 <= 2 s`",
    )


def no_distribution(resource: str) -> QpsError:
    """Return that the mean wait at a resource is known, but not its law."""
    return QpsError.single(
        codes.NO_ANSWER,
        None,
        f"only the mean waiting time at `{resource}` is available, not its distribution",
        hint="use the mean, such as `page.wait`, or a percentile of the latency: `page.p95`",
    )
