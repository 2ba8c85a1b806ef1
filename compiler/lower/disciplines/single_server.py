"""Random arrivals at one server, first come first served: mm1, md1 and mg1.

The mean is that of Pollaczek and Khinchine over the mix of batches; several cores count as one
that is as fast as all of them.
"""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

from msgspec.structs import replace

from qps.compiler.lower.queues.stage_law import LastCopy, StageLaw
from qps.compiler.lower.queues.station_queue import DisciplineLaw, Queue
from qps.compiler.lower.queues.visits import QueueVisit
from qps.compiler.quantities.certainty import EXACT, Certainty, together
from qps.compiler.quantities.methods import known_by
from qps.engine.expressions.formulas import ONE, ZERO, Formula, apply, maximum, minimum, number

_NEXT_TO_NOTHING = number(Fraction(1, 10**9))
_FEW, _NARROW = number(Fraction(1, 20)), number(Fraction(1, 100))


class OneServer(DisciplineLaw, frozen=True):
    """A queue in front of one server."""

    counts_arrivals: ClassVar[bool] = True
    counts_bursts: ClassVar[bool] = True

    def wait(self, queue: Queue, own: QueueVisit) -> Formula:
        """Return the mean wait: that for all who are there, and for those of the own batch."""
        before = own.other_work / 2 / queue.servers
        share = self.share_waiting(queue)
        return apply("waiting", share * queue.residual_wait / queue.servers, queue.load) + before

    def share_waiting(self, queue: Queue) -> Formula:
        """Return which share of the visits has to wait."""
        return queue.load

    def quantile(self, queue: Queue, own: QueueVisit, level: Fraction | Formula) -> Formula:
        """Return the quantile of wait and service less the mean service."""
        if queue.has_batches and not _waits_for_whole_batch(queue):
            stage = self.stage(queue, own)
            assert stage is not None
            known = level if isinstance(level, Formula) else number(level)
            return apply("stages_quantile", known, *stage.operands()) - stage.counted
        if queue.variation is ZERO:
            is_alone = own.batch is ONE
            each = apply("md1_quantile" if is_alone else "batch_quantile", queue.load, level)
            return queue.longest_batch / queue.servers * each
        longest = queue.longest_service
        if queue.has_batches:
            # A copy has left when all of its batch have: wait and service of one of these.
            most = queue.largest_batch
            held = apply("gamma_quantile", queue.load, queue.variation**2 / most, level)
            return longest * most * held - own.service
        if queue.variation is ONE:
            service = _of_some_length(own.service, longest)
            return service * self._sojourn(queue, service / longest, level) - own.service
        return (
            longest * apply("gamma_quantile", queue.load, queue.variation**2, level) - own.service
        )

    def stage(self, queue: Queue, own: QueueVisit) -> StageLaw | None:
        """Return the law of wait and service.

        A copy waits for all of its batch where that makes a bound, else for those before it.
        """
        is_whole = not queue.has_batches or _waits_for_whole_batch(queue)
        return self._of_batches(queue, own) if is_whole else self._by_place(queue, own)

    def _of_batches(self, queue: Queue, own: QueueVisit) -> StageLaw:
        """Return the law of Pollaczek and Khinchine; a copy waits for all of its batch."""
        before, varies = own.other_work / queue.servers, queue.variation**2 / own.batch
        return StageLaw(
            waits=self.share_waiting(queue),
            load=queue.load,
            work=queue.mean_batch,
            spread=queue.unevenness,
            servers=queue.servers,
            service=own.service + before,
            variation=varies,
            counted=own.service,
            parts=queue.work_parts,
        )

    def last_copy(self, queue: Queue, own: QueueVisit) -> LastCopy | None:
        """Return the wait for all that are there, and for all of the batch."""
        return LastCopy(wait=self._of_batches(queue, own), variation=queue.variation)

    def waiting_stage(self, queue: Queue, own: QueueVisit) -> StageLaw | None:
        """Return the wait of Pollaczek and Khinchine alone; copies wait for each other, too."""
        stage = self._by_place(queue, own) if queue.has_batches else self.stage(queue, own)
        return stage and replace(stage, service=ZERO, variation=ONE, counted=ZERO)

    def _by_place(self, queue: Queue, own: QueueVisit) -> StageLaw:
        """Return the law of a copy that waits for those of its batch that stand before it."""
        found, varies = self._of_batches(queue, own), queue.variation**2
        then = self._for_copies(own, varies, queue.servers)
        return replace(found, service=own.service, variation=varies, then=then)

    @staticmethod
    def _for_copies(
        own: QueueVisit, varies: Formula, servers: Formula
    ) -> tuple[Formula, Formula, Formula] | None:
        """Return which share of the copies waits for others of the batch, and how long these do.

        A copy has any place in it: of n others it waits for 0 to n, each as likely.
        """
        others = own.other_visits
        if others is ZERO:
            return None
        late = maximum(_FEW, others / (1 + others))
        mean = own.other_work / 2 / servers / late
        each = maximum(_NEXT_TO_NOTHING, others)
        square = (4 * each + 2) / 3 / each + 2 * varies / each
        return late, mean, maximum(_NARROW, late * square - 1)

    def waiting_tail(self, queue: Queue, own: QueueVisit, seconds: Formula) -> Formula | None:  # noqa: ARG002 - all wait alike
        """Return Erlang's tails: of exponential service on any number of servers, and of fixed."""
        if queue.has_batches or not queue.is_uniform:
            return None
        service, spare = queue.visits[0].service, maximum(ZERO, 1 - queue.load)
        if queue.variation is ONE:
            rate = queue.servers * spare / service
            return self.chance_to_wait(queue) * apply("exp", -(rate * seconds))
        if queue.variation is ZERO and queue.servers is ONE:
            return apply("md1_tail", queue.load, seconds / service)
        return None

    def waiting_quantile(self, queue: Queue, level: Fraction | Formula) -> Formula | None:
        """Return Erlang's quantile: of exponential service on any number of servers."""
        if queue.has_batches or not queue.is_uniform or queue.variation is not ONE:
            return None
        later = apply("ln", maximum(ONE, self.chance_to_wait(queue) / (1 - level)))
        return apply("waiting", queue.visits[0].service / queue.servers * later, queue.load)

    def chance_to_wait(self, queue: Queue) -> Formula:
        """Return the same as `share_waiting`, but no more than all."""
        return minimum(ONE, self.share_waiting(queue))

    def has_fixed_service(self, queue: Queue) -> bool:
        """Return whether this is the wait alone: copies leave with the last of their batch."""
        is_one_law = queue.is_modeled_as_uniform and queue.servers is ONE
        return queue.variation is ZERO and is_one_law and not queue.has_batches

    def waits_known(self, queue: Queue) -> Certainty:
        """Return how the law of the wait is known: exactly of equal exponential service."""
        if queue.has_batches:
            return known_by("batch-waits", queue.resource)
        if not queue.is_modeled_as_uniform or queue.variation is not ONE:
            return self.stage_known(queue)
        return known_by("erlang-c", queue.resource)

    def stage_known(self, queue: Queue) -> Certainty:
        """Services of which two moments are known are taken as gamma distributed.

        So is a mix of more services than a sum has parts.
        """
        name = queue.resource
        if queue.has_batches:
            return _batches_known(queue)
        found = []
        if queue.variation not in (ZERO, ONE):
            found.append(known_by("gamma-service", name))
        elif queue.work_parts:
            found.append(known_by("mixture-wait", name))
        if queue.is_modeled_as_uniform:
            found.append(_alike_known(queue))
        elif not queue.work_parts:
            found.append(known_by("gamma-mixture", name, apart=queue.times_apart))
        return together(*found)

    def _sojourn(self, queue: Queue, part: Formula, level: Fraction | Formula) -> Formula:
        """Return the quantile of wait and exponential service, in service times."""
        rate = queue.servers * (1 - queue.load) * part
        return apply("sojourn_quantile", self.share_waiting(queue), rate, level)

    def mean_known(self, queue: Queue) -> Certainty:
        """Several cores are taken as one."""
        if queue.servers is ONE:
            return known_by("pollaczek-khinchine", queue.resource)
        is_proven = queue.variation in (ZERO, ONE) and queue.is_modeled_as_uniform
        return known_by("one-fast-core", queue.resource, is_proven=is_proven)

    def quantiles_known(self, queue: Queue) -> Certainty:
        """Service times of other laws, batches and mixes are bounded."""
        if queue.has_batches and not _waits_for_whole_batch(queue):
            return _batches_known(queue)
        is_known = queue.variation in (ZERO, ONE)
        known = EXACT if is_known else known_by("gamma-service-bound", queue.resource)
        return together(known, mixed_quantiles(queue))


def mixed_quantiles(queue: Queue) -> Certainty:
    """Return what batches and visits that differ do to how quantiles are known."""
    if queue.has_batches:
        return _batches_known(queue)
    if not queue.is_modeled_as_uniform:
        return known_by("longest-visit", queue.resource)
    return _alike_known(queue)


def _alike_known(queue: Queue) -> Certainty:
    """Return how the law of wait and service is known of equal visits, one by one."""
    if queue.variation not in (ZERO, ONE):
        return EXACT
    of_one = "m-d-1-wait" if queue.variation is ZERO else "m-m-1-sojourn"
    return known_by(of_one if queue.servers is ONE else "erlang-c", queue.resource)


def _waits_for_whole_batch(queue: Queue) -> bool:
    """Return whether a copy is taken to wait for all of its batch, which makes a bound.

    Of fixed services, and of exponential ones, at one server the law of a whole batch is known. Of
    others two moments are, which bound no quantile; and so of copies that differ by chance.
    """
    is_one = queue.servers is ONE or not queue.models_servers
    is_plain = is_one and queue.arrivals is ONE and not queue.has_others
    return is_plain and queue.variation in (ZERO, ONE)


def _batches_known(queue: Queue) -> Certainty:
    """Return what batches do to how quantiles are known."""
    if len(queue.visits) == 1 and queue.times_apart not in (None, 1):
        return known_by("batch-of-alternatives", queue.resource)
    is_whole = _waits_for_whole_batch(queue)
    return known_by("whole-batch" if is_whole else "batch-waits", queue.resource)


def _of_some_length(service: Formula, longest: Formula) -> Formula:
    """Return a service time by which can be divided: what takes no time waits, too.

    Where the population may leave nothing of it, a billionth of the longest stands for nothing.
    """
    may_vanish = service is not longest and any(s.is_population for s in service.symbols)
    return maximum(service, longest * _NEXT_TO_NOTHING) if may_vanish else service
