"""Random arrivals at the cores of a processor with one queue: mmc, mdc and mgc, by Erlang's C."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

from msgspec.structs import replace

from qps.compiler.lower.disciplines.batch_waits import copy_wait, last_wait
from qps.compiler.lower.disciplines.single_server import OneServer, mixed_quantiles
from qps.compiler.lower.queues.service_variation import wait_ratio
from qps.compiler.lower.queues.stage_law import LastCopy, StageLaw
from qps.compiler.lower.queues.station_queue import Queue
from qps.compiler.lower.queues.unlike_services import UnlikeWait, unlike_wait
from qps.compiler.lower.queues.visits import QueueVisit, mean_service
from qps.compiler.quantities.certainty import EXACT, Certainty, compounded, together
from qps.compiler.quantities.methods import known_by
from qps.engine.expressions.formulas import (
    ONE,
    ZERO,
    Formula,
    apply,
    maximum,
    minimum,
    number,
)

_LEAST = number(Fraction(1, 10**9))


class SeveralServers(OneServer, frozen=True):
    """One queue in front of equal servers."""

    waits_longer_in_bursts: ClassVar[bool] = False

    def wait(self, queue: Queue, own: QueueVisit) -> Formula:
        """Return the mean wait; of services that differ by their lengths."""
        if queue.has_batches and queue.servers is not ONE:
            return copy_wait(queue, own).mean * queue.times_random
        unlike = _unlike(queue)
        if unlike is None:
            return super().wait(queue, own)
        return self.share_waiting(queue) * unlike.mean * queue.times_random

    def stage(self, queue: Queue, own: QueueVisit) -> StageLaw | None:
        """Return the law of wait and service; of services that differ by their lengths."""
        unlike = _unlike(queue)
        if unlike is None:
            return super().stage(queue, own)
        return replace(
            unlike.stage(self.share_waiting(queue)),
            service=own.service,
            variation=queue.variation**2,
            counted=own.service,
        )

    def _by_place(self, queue: Queue, own: QueueVisit) -> StageLaw:
        """Return the law of a copy: those who wait do so for an exponential time."""
        if queue.servers is ONE:
            return super()._by_place(queue, own)
        found = copy_wait(queue, own)
        return StageLaw(
            waits=found.share,
            work=apply("mean", found.mean, found.share),
            service=own.service,
            variation=queue.variation**2,
            counted=own.service,
        )

    def last_copy(self, queue: Queue, own: QueueVisit) -> LastCopy | None:
        """Return the wait for a server, and for those who are behind; then as many are served."""
        if queue.servers is ONE:
            return super().last_copy(queue, own)
        service = StageLaw(
            waits=ZERO,
            work=ZERO,
            service=own.service,
            variation=queue.variation**2,
            counted=own.service,
        )
        parallel = minimum(queue.servers, 1 + own.other_visits)
        return LastCopy(
            wait=last_wait(queue, own),
            variation=queue.variation,
            service=service,
            parallel=parallel,
        )

    def share_waiting(self, queue: Queue) -> Formula:
        """Return which share of the visits finds all servers busy."""
        return apply("erlang_c", queue.servers, queue.servers * queue.load)

    def chance_to_wait(self, queue: Queue) -> Formula:
        """Return the same: Erlang's formula is never above 1."""
        return self.share_waiting(queue)

    def mean_known(self, queue: Queue) -> Certainty:
        """Visits that differ are averaged."""
        if queue.has_batches and queue.servers is not ONE:
            return known_by("batch-erlang-c", queue.resource)
        if queue.is_modeled_as_uniform:
            return known_by("erlang-c", queue.resource)
        return _unlike_known(queue)

    def mean_for_quantile(self, queue: Queue) -> Certainty:
        """Errors of percentiles were measured with those of the mean."""
        return self.mean_known(queue) if _unlike(queue) is None else EXACT

    def stage_known(self, queue: Queue) -> Certainty:
        """Return how the law of wait and service is known."""
        if _unlike(queue) is None:
            return super().stage_known(queue)
        return _unlike_known(queue, case="percentiles")


class GeneralServers(SeveralServers, frozen=True):
    """The same where service times have any variation: by `wait_ratio`."""

    def wait(self, queue: Queue, own: QueueVisit) -> Formula:
        """Return the mean wait."""
        if queue.has_batches or _unlike(queue) is not None:
            return super().wait(queue, own)
        return self._random_wait(queue) * queue.times_random

    def _random_wait(self, queue: Queue) -> Formula:
        """Return the mean wait for random arrivals."""
        work = self.share_waiting(queue) * mean_service(queue.visits) / queue.servers
        return apply("waiting", work * ratio_to_exponential(queue), queue.load)

    def quantile(self, queue: Queue, own: QueueVisit, level: Fraction | Formula) -> Formula:
        """Return the quantile of wait and service less the mean service.

        A share waits, for a time that is taken as exponential, and all are served for a time that
        is taken as gamma distributed.
        """
        known = level if isinstance(level, Formula) else number(level)
        stage = self.stage(queue, own)
        assert stage is not None
        return apply("stages_quantile", known, *stage.operands()) - stage.counted

    def stage(self, queue: Queue, own: QueueVisit) -> StageLaw | None:
        """Return the law of wait and service."""
        if queue.has_batches or _unlike(queue) is not None:
            return super().stage(queue, own)
        share, mean = self.share_waiting(queue), self._random_wait(queue)
        return StageLaw(
            waits=share,
            work=mean / maximum(share, _LEAST),
            service=own.service,
            variation=queue.variation**2,
            counted=own.service,
        )

    def waiting_tail(self, queue: Queue, own: QueueVisit, seconds: Formula) -> Formula | None:
        """Return Erlang's tail of exponential service: others are taken as exponential waits."""
        return super().waiting_tail(queue, own, seconds) if queue.variation is ONE else None

    def waiting_quantile(self, queue: Queue, level: Fraction | Formula) -> Formula | None:
        """Return Erlang's quantile, likewise."""
        return super().waiting_quantile(queue, level) if queue.variation is ONE else None

    def has_fixed_service(self, queue: Queue) -> bool:  # noqa: ARG002 - waits are exponential
        """Return that no quantile is that of the wait alone."""
        return False

    def stage_known(self, queue: Queue) -> Certainty:
        """Return how that law is known."""
        known = self.quantiles_known(queue)
        if _unlike(queue) is None:
            return known
        unlike = super().stage_known(queue)
        return unlike if queue.variation is ONE else compounded(known, unlike)

    def mean_known(self, queue: Queue) -> Certainty:
        """Other variations than that of mmc are approximated."""
        if queue.servers is ONE:
            return known_by("pollaczek-khinchine", queue.resource)
        if queue.variation is ONE or queue.has_batches:
            return super().mean_known(queue)
        known = self._alike_known(queue)
        return known if queue.is_modeled_as_uniform else compounded(known, _unlike_known(queue))

    def _alike_known(self, queue: Queue) -> Certainty:
        """Return how the mean wait of equal visits is known."""
        return known_by("kimura", queue.resource)

    def quantiles_known(self, queue: Queue) -> Certainty:
        """The laws of wait and service are taken as such that have the means."""
        if queue.variation is ONE or queue.has_batches:
            return mixed_quantiles(queue)
        return known_by("exponential-waits", queue.resource)


class FixedServers(GeneralServers, frozen=True):
    """The same where service times are fixed, as Cosmetatos has their waits (1976).

    Held against the exact mean of Crommelin (1932) and simulated waits, at loads up to 0.95.
    """

    def _alike_known(self, queue: Queue) -> Certainty:
        return known_by("cosmetatos", queue.resource)

    def quantiles_known(self, queue: Queue) -> Certainty:
        """The wait of those who wait is taken as exponential."""
        if queue.has_batches:
            return mixed_quantiles(queue)
        waits = known_by("exponential-waits-for-fixed-service", queue.resource)
        return waits if _unlike(queue) is not None else together(waits, mixed_quantiles(queue))


def _unlike(queue: Queue) -> UnlikeWait | None:
    """Return the wait for several servers whose services differ; None of equal ones, and batches.

    Where services are equal at the numbers that the spec gives, it is as if their formulas were.
    """
    if queue.servers is ONE or queue.is_modeled_as_uniform or queue.has_batches:
        return None
    lengths = queue.lengths
    return None if lengths is None else unlike_wait(lengths, queue.servers, queue.load)


def _unlike_known(queue: Queue, case: str = "") -> Certainty:
    """Return how a wait is known of visits that differ: how many times makes the error."""
    return known_by("mixed-erlang-c", queue.resource, case=case, apart=queue.times_apart)


def ratio_to_exponential(queue: Queue) -> Formula:
    """Return the wait as a part of what it is for exponential service times."""
    spread = queue.variation**2
    if not queue.is_uniform:
        spread = apply("mean", 2 * queue.residual, mean_service(queue.visits)) - 1
    return wait_ratio(spread, queue.servers, queue.load)
