"""What a stream's users see: latency, jitter, loss, rate and throughput."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from typing import Self

from msgspec.structs import replace

from qps.compiler.lower.queues.queue_certainty import (
    uncounted,
)
from qps.compiler.lower.response_time.call_times import calls_known, latency_of_calls
from qps.compiler.lower.response_time.class_latency import ClassLatency
from qps.compiler.lower.response_time.response_parts import LossKind, LossPart, QueuePart
from qps.compiler.lower.response_time.response_stages import every
from qps.compiler.lower.response_time.waiting_times import (
    number_waiting,
    waiting_stages,
    without_service,
)
from qps.compiler.lower.unmodeled_waits import UnmodeledQueue
from qps.compiler.quantities.certainty import EXACT, Certainty, of_another, opposite, together
from qps.compiler.quantities.measured_errors import ErrorQuantity
from qps.compiler.quantities.methods import known_by
from qps.engine.expressions.formulas import (
    Formula,
    product,
    total,
)


class StreamMeasures(ClassLatency, frozen=True, kw_only=True, dict=True):
    """What a stream's users see.

    Besides the latency, `buffer` (the playout delay) in s, `queues` in s, `loss` as a share, `rate`
    in items/s and `throughput` in bit/s for one flow where it arrives.
    """

    buffer: Formula
    losses: tuple[LossPart, ...]
    rate: Formula
    throughput: Formula
    queues: tuple[QueuePart, ...] = ()
    item: str = "bit"
    """What the rate counts: the first item of the stream, or bits."""
    rests_on: tuple[str, ...] = ()
    """The resources on its way, and what its playout buffer requires."""
    unmodeled_queues: tuple[UnmodeledQueue, ...] = ()
    """Those of its resources that state no queueing of which nothing says that none is meant."""
    rate_known: Certainty = EXACT
    """How its rate is known: that of users who wait is as their waits are."""
    late_certainty: Certainty = EXACT
    """How the share is known that comes too late for the playout buffer."""

    @property
    def max_wait(self) -> Formula:
        """The time that all full queues hold: the most that they can add to the latency."""
        return total(part.value for part in self.queues)

    @property
    def saturating(self) -> tuple[str, ...]:
        """The resources on its way that lose items where they are loaded beyond 1."""
        return tuple(part.resource for part in self.losses if part.resource is not None)

    @property
    def lost_known(self) -> Certainty:
        """How the share is known that is lost but for what is beyond capacities."""
        losses = [part.known for part in self.losses]
        known = together(
            known_by("flow-balance", self.name), self.late_certainty, *losses, self.elastic_known
        )
        return self.doubts.known(known, ErrorQuantity.LOSS)

    @property
    def arriving_known(self) -> Certainty:
        """How it is known what arrives: as what was sent is, and what is lost on the way."""
        known = together(of_another(opposite(self.lost_known)), self.rate_known)
        return self.doubts.known(known, ErrorQuantity.RATE)

    def latency_of_calls(self, node: str) -> Formula | None:
        """Return the mean time of a call of a node, in s; None where none is made."""
        return latency_of_calls(self.latency, node)

    def calls_certainty(self, node: str) -> Certainty:
        """Return how the mean time of a call of a node is known."""
        missing = [name for name in self.uncounted if self.is_in_calls(name, node)]
        known = together(calls_known(self.latency, node), uncounted(missing), self.elastic_known)
        return self.doubts.known_in_part(known)

    def is_in_calls(self, resource: str, node: str) -> bool:
        """Return whether a resource is passed in a call of a node."""
        inside = [p for p in every(self.latency) if any(call.node == node for call in p.calls)]
        return any(f"{resource}.".startswith(f"{part.place}.") for part in inside)

    # -- waiting -------------------------------------------------------------------------

    @property
    def mean_wait(self) -> Formula:
        """The mean time that an item waits for resources and pools, in s; QpsError as `waits`."""
        return self.waits.mean_latency

    @property
    def number_waiting(self) -> Formula:
        """How many of its items wait on average, at all stations together."""
        return total(number_waiting(self.latency))

    @property
    def wait_certainty(self) -> Certainty:
        """How the mean wait is known."""
        known = of_another(self.waits.unchecked_mean_certainty)
        return self.doubts.known_in_part(known, ErrorQuantity.WAIT)

    def wait_quantile_certainty(self, level: Fraction) -> Certainty:
        """Return how the quantile of the wait of a level is known."""
        known = of_another(self.waits_alone.unchecked_quantile_certainty(level))
        return self.doubts.known_in_part(known, ErrorQuantity.WAIT_QUANTILE)

    @cached_property
    def waits(self) -> Self:
        """The same stream as if all that takes time were its waits; QpsError where they overlap."""
        return replace(
            self,
            latency=waiting_stages(self.latency),
            jitter=(),
            playout=None,
            buffer_certainty=EXACT,
            kinds=tuple(kind.waits for kind in self.kinds),
        )

    @cached_property
    def waits_alone(self) -> Self:
        """The same with the laws of the waits, without services; QpsError where there are none."""
        return replace(
            self.waits,
            latency=without_service(self.waits.latency),
            kinds=tuple(kind.waits_alone for kind in self.kinds),
        )

    @property
    def number_certainty(self) -> Certainty:
        """How the number of items that wait is known: as their rate and their wait are."""
        waits = together(*(part.certainty for part in every(self.latency) if part.queue))
        found = together(waits, uncounted(self.uncounted), self.rate_known, self.elastic_known)
        return self.doubts.known_in_part(of_another(found), ErrorQuantity.WAIT)

    # -- loss ----------------------------------------------------------------------------

    @property
    def loss(self) -> Formula:
        """The share of items that is lost at any stage."""
        return self.lost_by(*LossKind)

    def lost_by(self, *kinds: LossKind) -> Formula:
        """Return the share of items that is lost for one of some reasons."""
        return 1 - product(1 - part.value for part in self.losses if part.kind in kinds)
