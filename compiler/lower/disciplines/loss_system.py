"""No room to wait: who finds all servers busy is lost, by Erlang's B, whatever the service law.

Arrivals that are stated not to be random have a peakedness z: of them as much is lost as at random
of a part z of the traffic at a part z of the servers (Hayward; Fredericks 1980).
"""

from __future__ import annotations

from fractions import Fraction

from qps.compiler.lower.queues.offered_load import OfferedLoad
from qps.compiler.lower.queues.stage_law import StageLaw
from qps.compiler.lower.queues.station_queue import DisciplineLaw, Queue
from qps.compiler.lower.queues.visits import QueueVisit
from qps.compiler.quantities.certainty import Certainty, together
from qps.compiler.quantities.methods import known_by
from qps.engine.expressions.formulas import ONE, ZERO, Formula, apply

_MOST_UNEVEN = 3
"""The largest coefficient of variation of arrivals that was measured."""


class Loss(DisciplineLaw, frozen=True):
    """Servers without a queue: those that are served do not wait."""

    def wait(self, queue: Queue, own: QueueVisit) -> Formula:  # noqa: ARG002 - nobody waits
        """Return that nobody waits."""
        return ZERO

    def quantile(self, queue: Queue, own: QueueVisit, level: Fraction | Formula) -> Formula:
        """Return by how much the service exceeds its mean."""
        return queue.own_tail(own, level)

    def stage(self, queue: Queue, own: QueueVisit) -> StageLaw:
        """Return the service, of a gamma law: nobody waits."""
        return StageLaw(
            waits=ZERO,
            work=ZERO,
            service=own.service,
            variation=queue.variation**2,
            counted=own.service,
        )

    def keeps_randomness(self, queue: Queue) -> bool:  # noqa: ARG002 - none does
        """Return that what is served leaves less at random than all that comes."""
        return False

    def lost_of(self, offered: OfferedLoad) -> Formula:
        """Return which share finds all servers busy."""
        parts = offered.peakedness
        return apply("erlang_b", offered.servers / parts, offered.traffic / parts)

    def mean_known(self, queue: Queue) -> Certainty:
        """Calls that come one by one are lost so, whatever the law of their service times."""
        method = "batch-at-a-room" if queue.has_batches else "loss-system"
        return known_by(method, queue.resource)

    def loss_known(self, queue: Queue) -> Certainty:
        """It is Erlang's whatever the law of the service times, of calls that come one by one."""
        method = "batch-at-a-room" if queue.has_batches else "erlang-b"
        known = known_by(method, queue.resource)
        if queue.offered is None or queue.offered.peakedness is ONE:
            return known
        is_measured = queue.most_uneven is not None and queue.most_uneven <= _MOST_UNEVEN
        return together(known, known_by("hayward", queue.resource, is_measured=is_measured))

    def quantiles_known(self, queue: Queue) -> Certainty:
        """Times to serve are taken as exponential."""
        return known_by("exponential-service-times", queue.resource)
