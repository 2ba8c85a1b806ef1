"""How long items wait at a station, and how many do: over all its visits, at one of its places."""

from __future__ import annotations

from fractions import Fraction

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler.lower.disciplines.gamma_stages import quantile_of
from qps.compiler.lower.queues.pool_holding import weighted_mean
from qps.compiler.lower.queues.queue_certainty import mean_certainty, quantile_certainty
from qps.compiler.lower.queues.station_queue import Queue
from qps.compiler.lower.queues.visits import QueueVisit, longest
from qps.compiler.lower.response_time.waiting_times import (
    WaitLaw,
    no_distribution,
    no_share_of_waits,
)
from qps.compiler.quantities.certainty import Certainty
from qps.engine.expressions.formulas import ONE, Formula, apply, number, total


class StationWaits(Struct, frozen=True, kw_only=True):
    """The waits at a queue; times in s.

    A visit counts as often as it is made. Load that no visit causes waits for nobody.
    """

    queue: Queue

    @property
    def mean(self) -> Formula:
        """The mean wait of a visit."""
        return self._over_visits([self.queue.wait(visit) for visit in self.queue.visits])

    @property
    def number(self) -> Formula:
        """How many items wait on average at one machine or port, by Little's law."""
        return total(visit.rate * self.queue.wait(visit) for visit in self.queue.visits)

    @property
    def mean_known(self) -> Certainty:
        """How the mean wait is known, and the mean number of those who wait."""
        return mean_certainty(self.queue)

    def quantile(self, level: Fraction) -> Formula:
        """Return the wait that a share `level` of the visits does not exceed.

        QpsError where that has no law. Where visits wait by laws of their own, it is that of one of
        them.
        """
        queue = self.queue
        if any(queue.law.waiting_law(queue, visit) is None for visit in queue.visits):
            self._refuse_ranks()
            return longest([self._alone.quantile(visit, level) for visit in queue.visits])
        whole = total(visit.rate for visit in queue.visits)
        visits = [(apply("mean", visit.rate, whole), visit) for visit in queue.visits]
        operands = WaitLaw(queue.law).operands(self._alone, visits)
        if operands is None:
            raise no_distribution(queue.resource)
        return quantile_of(level, operands)

    def tail(self, seconds: Fraction) -> Formula:
        """Return the share of the visits that wait longer than a time; QpsError likewise."""
        return self._over_visits([self._tail_of(visit, seconds) for visit in self.queue.visits])

    @property
    def quantiles_known(self) -> Certainty:
        """How quantiles of the wait are known, and shares of the visits by their wait."""
        return quantile_certainty(self._alone)

    @property
    def _alone(self) -> Queue:
        return replace(self.queue, law=WaitLaw(self.queue.law))

    def _tail_of(self, visit: QueueVisit, seconds: Fraction) -> Formula:
        law, later = WaitLaw(self.queue.law), number(seconds)
        found = law.later_than_service(self._alone, visit, later)
        if found is not None:
            return found
        stage = self._alone.stage(visit)
        if stage is None:
            has_quantiles = self.queue.law.waiting_quantile(self.queue, ONE / 2) is not None
            refused = no_share_of_waits if has_quantiles else no_distribution
            raise refused(self.queue.resource)
        return apply("stages_tail", later, *stage.operands())

    def _over_visits(self, values: list[Formula]) -> Formula:
        return weighted_mean(values, [visit.rate for visit in self.queue.visits])

    def _refuse_ranks(self) -> None:
        if self.queue.traits.has_ranks:
            raise no_distribution(self.queue.resource)
