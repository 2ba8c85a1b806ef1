"""A queue to which some come through pools: never more of these are there than hold places.

Others find it as an open queue beside so many who come through pools. As in a mixed network in
product form what they wait grows in proportion to how many of these are there on average: from what
it is without them to what it is as if no pool were ever full. For one server, exponential or shared
by all who are there, that is exact where it is known how many hold a place; it varies by how many
do, between none and all places.
"""

from __future__ import annotations

from fractions import Fraction

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler.lower.queues.stage_law import StageLaw
from qps.compiler.lower.queues.station_queue import DisciplineLaw, Queue
from qps.compiler.lower.queues.visits import QueueVisit
from qps.compiler.quantities.certainty import Certainty, compounded
from qps.compiler.quantities.methods import known_by
from qps.engine.expressions.formulas import (
    ONE,
    ZERO,
    Formula,
    apply,
    maximum,
    minimum,
    number,
    total,
)

_NEARLY = number(1 - Fraction(1, 10**9))
_LEAST = number(Fraction(1, 10**9))


class Through(Struct, frozen=True):
    """A visit `of` some stage that is made while a place is held.

    Its wait is `shrunk` to a part of what it is if no pool is ever full, and there are so many at
    `most` of those who hold a place.
    """

    of: tuple[str, int]
    shrunk: Formula
    most: Formula


class BehindPools(DisciplineLaw, frozen=True):
    """A queue of some discipline, `stated`, with those who come `through` pools."""

    stated: DisciplineLaw
    through: tuple[Through, ...]

    def wait(self, queue: Queue, own: QueueVisit) -> Formula:
        """Return the mean wait; of who comes through a pool as if it were never full."""
        if self._comes_through(own):
            return self.stated.wait(queue, own)
        queue = _finite(queue)
        without, whole = self.stated.wait(self._alone(queue), own), self.stated.wait(queue, own)
        return without + (whole - without) * apply("mean", self._there(queue), self._open(queue))

    def quantile(self, queue: Queue, own: QueueVisit, level: Fraction | Formula) -> Formula:
        """Return the quantile of wait and service less the mean service."""
        stage = self.stage(queue, own)
        if stage is None or self._comes_through(own):
            return self.stated.quantile(queue, own, level)
        known = level if isinstance(level, Formula) else number(level)
        return apply("stages_quantile", known, *stage.operands()) - stage.counted

    def stage(self, queue: Queue, own: QueueVisit) -> StageLaw | None:
        """Return wait and service together, of a gamma law; at several servers apart.

        There those who wait at all do so for an exponential time.
        """
        if self._comes_through(own):
            return self.stated.stage(queue, own)
        wait = self.wait(queue, own)
        if queue.servers is not ONE and not queue.traits.is_insensitive:
            share = maximum(_LEAST, minimum(ONE, _finite(queue).share_waiting))
            return StageLaw(
                waits=share,
                work=wait / share,
                service=own.service,
                variation=queue.variation**2,
                counted=own.service,
            )
        return StageLaw(
            waits=ZERO,
            work=ZERO,
            service=wait + own.service,
            variation=self._variation(_finite(queue), own, wait),
            counted=own.service,
        )

    def _variation(self, queue: Queue, own: QueueVisit, wait: Formula) -> Formula:
        """Return the squared variation of wait and service together.

        Where first comes first, with k of those through pools there a time is the sum of k + 1
        exponential ones; where all are served at once it is exponential, and of other open traffic
        more, as beside users who wait. How many are there varies no more than of open arrivals, nor
        than between none and all places.
        """
        there, most = self._there(queue), total(one.most for one in self.through)
        varies = there * minimum(1 + there, maximum(ZERO, most - there))
        if queue.traits.is_insensitive:
            load = self._alone(queue).load
            return 1 + 2 * load / ((1 + there) * (2 - load)) + 2 * varies / (1 + there) ** 2
        found = (1 + there + varies) / (1 + there) ** 2
        if queue.variation is ONE:
            return found
        late = maximum(_LEAST, minimum(ONE, queue.load))
        spread = wait**2 * found * (2 - late) / late + (own.service * queue.variation) ** 2
        return apply("mean", spread, (wait + own.service) ** 2)

    def keeps_randomness(self, queue: Queue) -> bool:  # noqa: ARG002
        """Who waited for a place comes when another one has gone."""
        return False

    def mean_known(self, queue: Queue) -> Certainty:
        """How many are there of those who come through pools is known about."""
        return compounded(self.stated.mean_known(queue), _known(queue, "average"))

    def quantiles_known(self, queue: Queue) -> Certainty:
        """The law of the times is a guess."""
        return compounded(self.stated.quantiles_known(queue), _known(queue, "percentiles"))

    def stage_known(self, queue: Queue) -> Certainty:
        """The same."""
        return compounded(self.stated.stage_known(queue), _known(queue, "percentiles"))

    # -- who is there ----------------------------------------------------------------------

    def _comes_through(self, own: QueueVisit) -> bool:
        return any(one.of == own.of for one in self.through)

    def _alone(self, queue: Queue) -> Queue:
        """Return the queue without those who come through pools."""
        within = [visit for visit in queue.visits if self._comes_through(visit)]
        load = total(visit.rate * visit.service for visit in within) / queue.servers
        return replace(
            queue,
            visits=tuple(visit for visit in queue.visits if not self._comes_through(visit)),
            load=maximum(ZERO, queue.load - load),
        )

    def _there(self, queue: Queue) -> Formula:
        """Return how many of them are there on average."""
        shrunk = {one.of: one.shrunk for one in self.through}
        return total(
            visit.rate * (visit.service + self.stated.wait(queue, visit) * shrunk[visit.of])
            for visit in queue.visits
            if visit.of in shrunk
        )

    def _open(self, queue: Queue) -> Formula:
        """Return how many would be there if no pool were ever full."""
        return total(
            visit.rate * (visit.service + self.stated.wait(queue, visit))
            for visit in queue.visits
            if self._comes_through(visit)
        )


def _known(queue: Queue, case: str) -> Certainty:
    return known_by("mean-number-of-holders", queue.resource, case=case)


def _finite(queue: Queue) -> Queue:
    return replace(queue, load=minimum(_NEARLY, queue.load))
