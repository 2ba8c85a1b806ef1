"""Pools: so many places, each held by an item until all is done that stands in between."""

from __future__ import annotations

from fractions import Fraction

from qps.compiler.lower.disciplines.several_servers import SeveralServers
from qps.compiler.lower.queueing import Queue, Visit
from qps.compiler.quantities.certainty import Certainty, approximation
from qps.engine.formulas import ONE, Formula, apply, maximum


class Pool(SeveralServers, frozen=True):
    """One queue in front of the places of a pool: held times are its service times.

    What an item does while it holds a place has stages of its own in its latency.
    """

    def quantile(self, queue: Queue, _: Visit, level: Fraction | Formula) -> Formula:
        """Return the quantile of the wait alone: those who wait at all wait exponentially long."""
        tail = apply("waiting", queue.residual / queue.servers, queue.load)
        return tail * apply("log", maximum(ONE, self.share_waiting(queue) / (1 - level)))

    def mean_known(self, queue: Queue) -> Certainty:
        """Held times vary in a way of which only the mean and the variance are known."""
        return approximation(
            f"the wait for `{queue.resource}` is that for as many servers, each as long as it is "
            "held (Lee and Longton 1959)"
        )
