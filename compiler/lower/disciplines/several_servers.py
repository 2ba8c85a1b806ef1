"""Random arrivals at the cores of a processor with one queue: mmc, by Erlang's C."""

from __future__ import annotations

from qps.compiler.lower.disciplines.one_server import OneServer
from qps.compiler.lower.queueing import Queue
from qps.compiler.quantities.certainty import EXACT, Certainty, approximation
from qps.engine.formulas import Formula, apply


class SeveralServers(OneServer, frozen=True):
    """One queue in front of equal servers."""

    def share_waiting(self, queue: Queue) -> Formula:
        """Return which share of the visits finds all servers busy."""
        return apply("erlang_c", queue.servers, queue.servers * queue.load)

    def mean_known(self, queue: Queue) -> Certainty:
        """Visits that differ are averaged."""
        if queue.is_told_as_uniform:
            return EXACT
        return approximation(
            f"visits of the cores of `{queue.resource}` differ (Lee and Longton 1959)"
        )

    def with_bursts(self, reason: str) -> Certainty:
        """Of several servers it is not proven that bursts make it longer."""
        return approximation(reason)
