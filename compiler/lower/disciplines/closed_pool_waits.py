"""Pools that users wait for who wait for their answer: by the network of their cycle."""

from __future__ import annotations

from qps.compiler.lower.disciplines.closed_wait_laws import LEAST_SHARE
from qps.compiler.lower.disciplines.closed_waits import InClosedNetwork
from qps.compiler.lower.disciplines.gamma_stages import gamma_law
from qps.compiler.lower.queues.stage_law import StageLaw
from qps.compiler.lower.queues.station_queue import Queue
from qps.compiler.lower.queues.visits import QueueVisit
from qps.compiler.quantities.certainty import Certainty, together
from qps.engine.expressions.formulas import ONE, ZERO, Formula, apply, maximum, minimum, total


class PoolInClosedNetwork(InClosedNetwork, frozen=True):
    """A pool that users wait for who wait for their answer."""

    def wait(self, queue: Queue, own: QueueVisit) -> Formula:
        """Return the mean wait of a visit: all who take of it wait alike."""
        closed = self.stream_of(own)
        assert closed is not None
        return closed.network.wait(closed.name, queue.resource) / closed.visits[queue.resource]

    def stage(self, queue: Queue, own: QueueVisit) -> StageLaw:
        """Return the wait, of a gamma law.

        Some wait, as many as servers for as long would let wait, each for an exponential time.
        Beyond the knee nearly all wait: how many do so varies no more than how many do not. The
        wait is a difference of times: where hardly anybody waits, roundings must not make it less
        than none.
        """
        wait, closed = maximum(ZERO, self.wait(queue, own)), self.stream_of(own)
        assert closed is not None
        waiting = total(
            one.network.wait(one.name, queue.resource) * one.throughput for one in self.streams
        )
        pool = closed.pool(queue.resource)
        spread = apply("mean", total(closed.network.jobs) * pool.copies, waiting**2)
        share = maximum(LEAST_SHARE, minimum(ONE, self._share_waiting(queue.resource, wait)))
        return gamma_law(wait, minimum(2 / share - 1, spread), own.service)

    def waiting_stage(self, queue: Queue, own: QueueVisit) -> StageLaw | None:
        """Return the same: all of it is waiting."""
        return self.stage(queue, own)

    def waiting_law(self, queue: Queue, own: QueueVisit) -> tuple[Formula, StageLaw] | None:  # noqa: ARG002
        """Return None: it is a stage."""
        return None

    def _share_waiting(self, name: str, wait: Formula) -> Formula:
        """Return which share of those who take of a pool waits, by how long all do on average."""
        pools = [(one, one.pool(name)) for one in self.streams]
        first = pools[0][1]
        held = [
            one.throughput * pool.holding_time(one.network.nested_times(one.name))
            for one, pool in pools
        ]
        taken = total(one.throughput * pool.visits for one, pool in pools)
        varied = total(pool.variation for _, pool in pools) / len(pools)
        free = maximum(ZERO, first.places - total(held) / first.copies)
        longest = total(held) * (1 + varied) / 2
        return apply("mean", wait * taken * free, longest)

    def mean_known(self, queue: Queue) -> Certainty:  # noqa: ARG002 - it is that of the stream
        """As well as all that goes on in a cycle."""
        return together(*(stream.known for stream in self.streams))

    def keeps_randomness(self, queue: Queue) -> bool:  # noqa: ARG002
        """What waits for a place goes on when another one is done."""
        return False
