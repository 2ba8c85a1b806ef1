"""Pools: so many places, each held by an item until all is done that stands in between."""

from __future__ import annotations

from fractions import Fraction

from msgspec import Struct

from qps.compiler.lower.disciplines.gamma_stages import quantile_of
from qps.compiler.lower.queues.stage_law import StageLaw, WorkPart
from qps.compiler.lower.queues.station_queue import DisciplineLaw, Queue
from qps.compiler.lower.queues.unlike_services import TwoTimes
from qps.compiler.lower.queues.visits import QueueVisit
from qps.compiler.quantities.certainty import EXACT, Certainty, of_another, together
from qps.compiler.quantities.methods import known_by
from qps.engine.expressions.formulas import ONE, Formula, apply, maximum, minimum, number, total

_LEAST, _NEARLY = number(Fraction(1, 10**12)), number(1 - Fraction(1, 10**12))

EXPONENTIAL, DELAY, FLOW_EQUIVALENT = "erlang-c-of-a-pool", "delay-while-held", "pool-wait"
"""The methods: of holds that are one exponential service, that wait for nothing, and others."""


class PoolMethod(Struct, frozen=True):
    """How it is known how long a pool is waited for: an `id` of the table of methods.

    The squared coefficient of variation of delays is so far `apart` from that of exponential ones.
    """

    id: str
    apart: float = 0.0


_BY_FLOW_EQUIVALENT = PoolMethod(FLOW_EQUIVALENT)


class PoolLaw(DisciplineLaw, frozen=True, kw_only=True):
    """What a pool adds to a latency: of those who are later by it at all, `tail` on average.

    Where that `lasts` two times, it is by these.

    What an item does while it holds a place has stages of its own in its latency, the waits for
    queues there as if any number could hold one. Where services there `vary` more than exponential
    ones, those who hold a place meet at long ones, and it lets through less than is predicted; so
    it does where services at the `unlike` stations are far apart. At those `throttled` a CPU limit
    pauses those who hold a place, behind whom others line up meanwhile.
    """

    adds: Formula
    tail: Formula
    share: Formula
    lasts: TwoTimes | None = None
    vary: bool = False
    unlike: tuple[str, ...] = ()
    throttled: tuple[str, ...] = ()
    by: PoolMethod = _BY_FLOW_EQUIVALENT

    def wait(self, queue: Queue, own: QueueVisit) -> Formula:  # noqa: ARG002 - all wait alike
        """Return by how much the pool makes a visit later, on average."""
        return self.adds

    def share_waiting(self, queue: Queue) -> Formula:  # noqa: ARG002
        """Return which share of the visits is later by it."""
        return self.share

    def quantile(
        self,
        queue: Queue,  # noqa: ARG002
        own: QueueVisit,  # noqa: ARG002
        level: Fraction | Formula,
    ) -> Formula:
        """Return the quantile of what is added: exponential for those who are later by it."""
        if self.lasts is not None:
            return quantile_of(level, self._of_two(self.lasts).operands())
        return self.tail * apply("ln", maximum(ONE, self.share / (1 - level)))

    def stage(self, queue: Queue, own: QueueVisit) -> StageLaw | None:  # noqa: ARG002
        """Return what is added: exponential for those who are later by it."""
        if self.lasts is not None:
            return self._of_two(self.lasts)
        return StageLaw(waits=minimum(ONE, self.share), work=self.tail)

    def _of_two(self, lasts: TwoTimes) -> StageLaw:
        """Return what is added where those who are later by it are so for two times.

        A stage is passed by who waits for work of two kinds, and for no more of it: the more who
        wait, the shorter are such works.
        """
        share = maximum(_LEAST, minimum(_NEARLY, self.share))
        loads = (share * (1 - lasts.share), share * lasts.share)
        works = ((1 - share) * lasts.short, (1 - share) * lasts.long)
        kinds = list(zip(loads, works, strict=True))
        mean = share / total(load / work for load, work in kinds)
        left = total(load * work for load, work in kinds) / share
        return StageLaw(
            waits=share,
            load=share,
            work=mean,
            spread=2 * left / mean - 1,
            parts=tuple(WorkPart(load=load, work=work, spread=ONE) for load, work in kinds),
        )

    def waiting_stage(self, queue: Queue, own: QueueVisit) -> StageLaw | None:
        """Return what is added: all of it is waiting."""
        return self.stage(queue, own)

    def keeps_randomness(self, queue: Queue) -> bool:  # noqa: ARG002
        """What waits for a place goes on when another one is done."""
        return False

    def mean_known(self, queue: Queue) -> Certainty:
        """Of what is done meanwhile the pool sees no more than how much of it fits.

        Where that is no queue, the places are servers, for services that are as long as the holds.
        """
        if self.by.id == EXPONENTIAL:
            return known_by(EXPONENTIAL, queue.resource)
        if self.by.id == DELAY:
            return known_by(DELAY, queue.resource, case="mean", apart=self.by.apart)
        known = known_by("pool-wait", queue.resource, case="unlike" if self.vary else "alike")
        if self.unlike:
            by = list(self.unlike)
            known = together(known, known_by("unlike-while-held", queue.resource, by=by))
        if self.throttled:
            by = list(self.throttled)
            known = together(known, known_by("held-while-throttled", queue.resource, by=by))
        return known

    def mean_for_quantile(self, queue: Queue) -> Certainty:
        """Errors of percentiles were measured with those of the mean."""
        return EXACT if self.by.id == DELAY else self.mean_known(queue)

    def waits_known(self, queue: Queue) -> Certainty:
        """Of delays that are not exponential nothing but latencies was measured."""
        known = self.quantiles_known(queue)
        return of_another(known) if self.by.id == DELAY else known

    def quantiles_known(self, queue: Queue) -> Certainty:
        """The wait of those who wait is taken as exponential, as it is for exponential holds."""
        if self.by.id == DELAY:
            return known_by(DELAY, queue.resource, case="percentiles", apart=self.by.apart)
        return EXACT
