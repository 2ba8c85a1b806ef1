"""A queue to which items come back after they are served: feedback, first come first served.

Of items that come back at once it is known what they find.

Who comes at random finds items in some pass. When it comes back, each of these has done the same,
just before it, and all who came since stand in front of it, too. So with A(j) for the mean work of
those found in the j-th pass after the one in which they are found, and E(i) for the load of all
i-th passes, the mean wait of an item in its pass k is

    W(k) = A(k - 1) + sum over j < k of (W(j) + s(j)) E(k - j)

By Little's law A(j) follows from the waits themselves: a linear system, whose matrix has no
elements below 0 and whose largest eigenvalue is 1 where the load is. Of what is being served a
residual is found, which is as long as the whole for exponential service (Takács 1963, of
items that come back by chance). Percentiles scale the law of one pass.

Who comes back after a while finds less and less of those whom he met before, and in the end what
random arrivals find. What is left of the difference goes by how far the queue forgets meanwhile,
whose time is R/(1 - load) with the mean residual service R, what a wait lasts for those who have
one: exp(-d/time) after a fixed time d, and the mean of that, 1/(1 + d/time), after a random one.
Passes that are different times apart count as the mean of them all. Held against
`laboratory/questions/delayed_feedback_simulation.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import ClassVar

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler.lower.queues.stage_law import StageLaw
from qps.compiler.lower.queues.station_queue import DisciplineLaw, Queue
from qps.compiler.lower.queues.visits import QueueVisit
from qps.compiler.quantities.certainty import Certainty, together
from qps.compiler.quantities.methods import known_by
from qps.engine.expressions.formulas import (
    ONE,
    ZERO,
    Formula,
    apply,
    formula,
    maximum,
    minimum,
    number,
    total,
)

_NEVER = number(Fraction(10**9))
"""In s: a ratio of waits is one of numbers, also where both have no end."""

PassId = tuple[str, int]
"""What distinguishes a visit from all others: `QueueVisit.of`."""


class Gap(Struct, frozen=True):
    """The time between two passes: what is fixed of it, and the mean of what is random."""

    fixed: Formula = ZERO
    random: Formula = ZERO

    def left(self, forgets: Formula) -> Formula:
        """Return what is left of what was found, of a queue that forgets at a rate."""
        found = ONE if self.fixed is ZERO else apply("exp", -(self.fixed * forgets))
        return found if self.random is ZERO else found / (1 + self.random * forgets)


class Passes(Struct, frozen=True, kw_only=True):
    """Items that make the same visits of a queue one after the other, at a rate.

    Each visit has a mean service time, and each but the last a gap behind it.
    """

    rate: Formula
    visits: tuple[PassId, ...]
    services: tuple[Formula, ...]
    gaps: tuple[Gap, ...]


class FeedbackQueue(DisciplineLaw, frozen=True):
    """One server to which some items come back; `stated` is the discipline that it has.

    They come back at once where it `is_immediate`, or some of them after a time.
    """

    has_wait_of_each_visit: ClassVar[bool] = True

    stated: DisciplineLaw
    waits: dict[PassId, Formula]
    in_a_row: dict[tuple[PassId, ...], Formula]
    """The mean waits of visits that are made in a row, all of them together."""
    is_immediate: bool = True

    def wait(self, queue: Queue, own: QueueVisit) -> Formula:  # noqa: ARG002 - of each visit it is known
        """Return the mean wait of a visit, on average over the passes that it is."""
        return self.waits[own.of]

    def factor(self, queue: Queue, own: QueueVisit) -> Formula:
        """Return how many times as long a visit waits as for arrivals that are all at random."""
        alone = minimum(self.stated.wait(queue, own), _NEVER)
        return apply("mean", minimum(self.wait(queue, own), _NEVER), alone)

    def relative_wait(self, own: QueueVisit, first: QueueVisit) -> Formula:
        """Return how many times as long a visit waits as another one."""
        waits = (minimum(self.waits[one.of], _NEVER) for one in (own, first))
        return apply("mean", *waits)

    def wait_together(self, visits: Sequence[QueueVisit]) -> Formula | None:
        """Return how many waits of the first visit those are that are made in a row."""
        known = self.in_a_row.get(tuple(visit.of for visit in visits))
        if known is None:
            return None
        first = minimum(self.waits[visits[0].of], _NEVER)
        return apply("mean", minimum(known, _NEVER), first)

    def quantile(self, queue: Queue, own: QueueVisit, level: Fraction | Formula) -> Formula:
        """Return the quantile of wait and service less the mean service."""
        stage = self.stage(queue, own)
        found = apply("stages_quantile", formula(level), *stage.operands())
        return found - stage.counted

    def stage(self, queue: Queue, own: QueueVisit) -> StageLaw:
        """Return the law of one visit at random, longer or shorter as its mean wait is."""
        stage = self.stated.stage(queue, own)
        assert stage is not None
        return stage.lasting(self.factor(queue, own))

    def waiting_stage(self, queue: Queue, own: QueueVisit) -> StageLaw | None:
        """Return the law of the wait alone of one visit at random, likewise."""
        stage = self.stated.waiting_stage(queue, own)
        return stage and stage.lasting(self.factor(queue, own))

    def keeps_randomness(self, queue: Queue) -> bool:
        """Return whether what arrives at random leaves at random."""
        return self.stated.keeps_randomness(queue)

    def mean_known(self, queue: Queue) -> Certainty:
        """How waits are known of items that come back."""
        method = "feedback-queue" if self.is_immediate else "feedback-after-a-time"
        return known_by(method, queue.resource)

    def mean_for_quantile(self, queue: Queue) -> Certainty:
        """The same: errors of quantiles were measured with those of means."""
        return replace(self.mean_known(queue), error=0.0)

    def stage_known(self, queue: Queue) -> Certainty:
        """Return how the law of one pass is known, which is that of random arrivals scaled."""
        scaled = known_by("feedback-percentiles", queue.resource, apart=queue.times_apart)
        return together(self.stated.stage_known(queue), scaled)

    def waits_known(self, queue: Queue) -> Certainty:
        """Return how the law of the wait alone is known."""
        scaled = known_by("feedback-percentiles", queue.resource, apart=queue.times_apart)
        return together(self.stated.waits_known(queue), scaled)

    def quantiles_known(self, queue: Queue) -> Certainty:
        """The same: a quantile is that of the stage."""
        return self.stage_known(queue)


def feedback_queue(queue: Queue, kinds: Sequence[Passes]) -> FeedbackQueue:
    """Return the law of a queue with the mean wait of each visit, and of those made in a row."""
    found = _MeanWaits(kinds, queue.variation)
    left = _left(queue, kinds)
    gone = (1 - left) * minimum(queue.law.wait(queue, queue.visits[0]), _NEVER)
    waits: dict[PassId, list[Formula]] = {}
    rates: dict[PassId, list[Formula]] = {}
    in_a_row: dict[tuple[PassId, ...], Formula] = {}
    for kind in kinds:
        each = [found.wait(kind, at) for at in range(len(kind.visits))]
        if left is not ONE:
            each = [left * one + gone for one in each]
        in_a_row[kind.visits] = total(each)
        for visit, wait in zip(kind.visits, each, strict=True):
            waits.setdefault(visit, []).append(kind.rate * wait)
            rates.setdefault(visit, []).append(kind.rate)
    means = {one: apply("mean", total(waits[one]), total(rates[one])) for one in waits}
    return FeedbackQueue(queue.law, means, in_a_row, is_immediate=left is ONE)


def _left(queue: Queue, kinds: Sequence[Passes]) -> Formula:
    """Return what is left, between two passes, of what makes them differ from random arrivals."""
    if all(gap == Gap() for kind in kinds for gap in kind.gaps):
        return ONE
    forgets = apply("mean", maximum(ZERO, 1 - queue.load), queue.residual)
    each = [(kind.rate, gap.left(forgets)) for kind in kinds for gap in kind.gaps]
    return apply("mean", total(rate * one for rate, one in each), total(rate for rate, _ in each))


class _MeanWaits:
    """The mean waits of kinds of items; passes are counted from 0."""

    def __init__(self, kinds: Sequence[Passes], variation: Formula) -> None:
        self._kinds = kinds
        self._longest = max(len(kind.visits) for kind in kinds)
        loads = [total(kind.rate * _of(kind, at) for kind in kinds) for at in range(self._longest)]
        self._loads = loads
        # The work in front of an item in its pass i + 1 for each unit of time in the first.
        self._grown: list[Formula] = [ONE]
        for at in range(1, self._longest):
            self._grown.append(total(loads[j - 1] * self._grown[at - j] for j in range(1, at + 1)))
        self._found = self._solved((1 + variation**2) / 2)

    def wait(self, kind: Passes, at: int) -> Formula:
        """Return the mean wait of a pass of a kind of items."""
        since = (
            self._grown[i] * (_of(kind, at - i) + self._found[at - i]) for i in range(1, at + 1)
        )
        return total((self._found[at], *since))

    def _solved(self, residual: Formula) -> list[Formula]:
        """Return the mean work of those found in each later pass, by elimination.

        Nothing is subtracted but loads from 1, so that all that is divided grows.
        """
        size = self._longest
        known = [self._of_services(later, residual) for later in range(size)]
        matrix = [[self._returning(i + j) for j in range(size)] for i in range(size)]
        for at in range(size):
            own = matrix[at][at]
            known[at] = apply("waiting", known[at], own)
            matrix[at] = [
                ZERO if j == at else apply("waiting", one, own) for j, one in enumerate(matrix[at])
            ]
            for other in range(size):
                often = matrix[other][at]
                if other == at or often is ZERO:
                    continue
                known[other] += often * known[at]
                matrix[other] = [
                    ZERO if j == at else one + often * matrix[at][j]
                    for j, one in enumerate(matrix[other])
                ]
        return known

    def _returning(self, later: int) -> Formula:
        """Return what is found later for each unit of work found before it."""
        left = self._longest - later
        return total(self._grown[i] * self._loads[later + i] for i in range(left))

    def _of_services(self, later: int, residual: Formula) -> Formula:
        """Return the work found later of items whose services are under way or awaited."""
        found = []
        for kind in self._kinds:
            for at in range(len(kind.visits) - later):
                own = _of(kind, at) * (residual if later == 0 else ONE)
                since = (self._grown[i] * _of(kind, at - i) for i in range(1, at + 1))
                found.append(kind.rate * _of(kind, at + later) * total((own, *since)))
        return total(found)


def _of(kind: Passes, at: int) -> Formula:
    return kind.services[at] if at < len(kind.services) else ZERO
