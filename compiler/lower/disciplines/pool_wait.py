"""Pools: so many places, each held by an item until all is done that stands in between."""

from __future__ import annotations

from fractions import Fraction

from qps.compiler.lower.queues.stage_law import StageLaw
from qps.compiler.lower.queues.station_queue import Law, Queue
from qps.compiler.lower.queues.visits import Visit
from qps.compiler.quantities.certainty import EXACT, Certainty, together
from qps.compiler.quantities.methods import known_by
from qps.engine.expressions.formulas import ONE, Formula, apply, maximum, minimum


class Pool(Law, frozen=True, kw_only=True):
    """What a pool adds to a latency: of those who are later by it at all, `tail` on average.

    What an item does while it holds a place has stages of its own in its latency, the waits for
    queues there as if any number could hold one. Where services there `vary` more than exponential
    ones, those who hold a place meet at long ones, and it lets through less than is predicted; so
    it does where services at the `unlike` stations are far apart.
    """

    adds: Formula
    tail: Formula
    share: Formula
    vary: bool = False
    unlike: tuple[str, ...] = ()

    def wait(self, queue: Queue, own: Visit) -> Formula:  # noqa: ARG002 - all wait alike
        """Return by how much the pool makes a visit later, on average."""
        return self.adds

    def share_waiting(self, queue: Queue) -> Formula:  # noqa: ARG002
        """Return which share of the visits is later by it."""
        return self.share

    def quantile(
        self,
        queue: Queue,  # noqa: ARG002
        own: Visit,  # noqa: ARG002
        level: Fraction | Formula,
    ) -> Formula:
        """Return the quantile of what is added: exponential for those who are later by it."""
        return self.tail * apply("ln", maximum(ONE, self.share / (1 - level)))

    def stage(self, queue: Queue, own: Visit) -> StageLaw | None:  # noqa: ARG002
        """Return what is added: exponential for those who are later by it."""
        return StageLaw(waits=minimum(ONE, self.share), work=self.tail)

    def waiting_stage(self, queue: Queue, own: Visit) -> StageLaw | None:
        """Return what is added: all of it is waiting."""
        return self.stage(queue, own)

    def keeps_randomness(self, queue: Queue) -> bool:  # noqa: ARG002
        """What waits for a place goes on when another one is done."""
        return False

    def mean_known(self, queue: Queue) -> Certainty:
        """Of what is done meanwhile the pool sees no more than how much of it fits."""
        known = known_by("pool-wait", queue.resource, case="unlike" if self.vary else "alike")
        if not self.unlike:
            return known
        return together(known, known_by("unlike-while-held", queue.resource, by=list(self.unlike)))

    def quantiles_known(self, queue: Queue) -> Certainty:  # noqa: ARG002
        """The same."""
        return EXACT
