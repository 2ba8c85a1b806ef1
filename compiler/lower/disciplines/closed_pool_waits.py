"""Pools that users wait for who wait for their answer: by the network of their cycle."""

from __future__ import annotations

from fractions import Fraction

from qps.compiler.lower.disciplines.closed_wait_laws import LEAST_SHARE, MOST_VARIED
from qps.compiler.lower.disciplines.closed_waits import InClosedNetwork
from qps.compiler.lower.disciplines.gamma_stages import gamma_law
from qps.compiler.lower.queues.stage_law import StageLaw
from qps.compiler.lower.queues.station_queue import Queue
from qps.compiler.lower.queues.visits import QueueVisit
from qps.compiler.quantities.certainty import Certainty, together
from qps.engine.expressions.formulas import (
    ONE,
    ZERO,
    Formula,
    apply,
    maximum,
    minimum,
    number,
    square_root,
    total,
)

_LEAST = number(Fraction(1, 10**9))


class PoolInClosedNetwork(InClosedNetwork, frozen=True):
    """A pool that users wait for who wait for their answer."""

    def wait(self, queue: Queue, own: QueueVisit) -> Formula:
        """Return the mean wait of a visit: all who take of it wait alike."""
        closed = self.stream_of(own)
        assert closed is not None
        return closed.network.wait(closed.name, queue.resource) / closed.visits[queue.resource]

    def stage(self, queue: Queue, own: QueueVisit) -> StageLaw:
        """Return the wait, of a gamma law: of a share that waits.

        Beyond the knee nearly all wait: how many do so varies no more than how many do not. The
        wait is a difference of times: where hardly anybody waits, roundings must not make it less
        than none.
        """
        wait, closed = maximum(ZERO, self.wait(queue, own)), self.stream_of(own)
        assert closed is not None
        among, variation = self._law_of_those_who_wait(queue.resource, wait)
        share = maximum(LEAST_SHARE, minimum(ONE, apply("mean", wait, among)))
        waiting = total(
            one.network.wait(one.name, queue.resource) * one.throughput for one in self.streams
        )
        pool = closed.pool(queue.resource)
        square = maximum(_LEAST, waiting) ** 2
        of_full = apply("mean", total(closed.network.jobs) * pool.copies, square)
        varies = minimum(MOST_VARIED, (1 + variation) / share - 1, of_full)
        return gamma_law(wait, varies, own.service)

    def waiting_stage(self, queue: Queue, own: QueueVisit) -> StageLaw | None:
        """Return the same: all of it is waiting."""
        return self.stage(queue, own)

    def waiting_law(self, queue: Queue, own: QueueVisit) -> tuple[Formula, StageLaw] | None:  # noqa: ARG002
        """Return None: it is a stage."""
        return None

    def _law_of_those_who_wait(self, name: str, wait: Formula) -> tuple[Formula, Formula]:
        """Return the mean wait of those who wait at all, and its squared variation.

        While all places are held, those who wait are a queue of one server, of the others who would
        be elsewhere (the machine repair model). Whoever comes finds all but itself.
        """
        pools = [(one, one.pool(name)) for one in self.streams]
        first = pools[0][1]
        places, copies = first.places, first.copies
        taken = total(one.throughput * pool.visits for one, pool in pools) / copies
        held = total(
            one.throughput * pool.holding_time(one.network.nested_times(one.name))
            for one, pool in pools
        )
        users, each = total(self.streams[0].network.jobs), apply("mean", held / copies, taken)
        others = maximum(ZERO, users - held / copies - wait * taken)
        most = maximum(ZERO, users - 1 - places)
        away = apply("mean", places * others, maximum(_LEAST, held / copies))
        found, varies = _waiting_of_few(most, away)
        varied = 1 + (total(pool.variation for _, pool in pools) / len(pools) - 1) / places
        row = found + (1 + varied) / 2
        return row * each / places, (row * varied + varies) / row**2

    def mean_known(self, queue: Queue) -> Certainty:  # noqa: ARG002 - it is that of the stream
        """As well as all that goes on in a cycle."""
        return together(*(stream.known for stream in self.streams))

    def keeps_randomness(self, queue: Queue) -> bool:  # noqa: ARG002
        """What waits for a place goes on when another one is done."""
        return False


def _waiting_of_few(users: Formula, away: Formula) -> tuple[Formula, Formula]:
    """Return the mean and the variance of how many wait for one server, of so many users.

    These are away so many mean services long. A visit is assumed to find as large a part of the
    others as all users find on average (Schweitzer 1979). Where few wait their number is geometric,
    and where most do, that of the others is Poisson's.
    """
    among = 1 - ONE / maximum(ONE, users)
    more = away + 1 - users * among
    waiting = apply("mean", 2 * users, more + square_root(more**2 + 4 * among * users))
    geometric, others = waiting * (1 + waiting), maximum(ZERO, users - waiting)
    return waiting, apply("mean", geometric * others, geometric + others)
