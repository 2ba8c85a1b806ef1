"""Waiting in queues: how long an item waits at a resource, on average and in the worst cases.

A batch waits like one visit as long as all its copies, and a copy waits for those before it
besides. Random arrivals see time averages, so that all streams wait as long for what they find; a
periodic flow finds only the others.

What a discipline makes of them is in `disciplines/`, a module for each family.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

from msgspec import Struct

from qps.compiler import ir
from qps.compiler.lower.queues.offered_load import OfferedLoad
from qps.compiler.lower.queues.on_off_sources import (
    BurstLoad,
    BurstyFlows,
    burst_and_batch_factor,
    bursts_of,
)
from qps.compiler.lower.queues.queue_work import QueueWork
from qps.compiler.lower.queues.stage_law import LastCopy, StageLaw, WorkPart
from qps.compiler.lower.queues.visits import QueueVisit
from qps.compiler.quantities.certainty import EXACT, Certainty
from qps.engine.expressions.formulas import ONE, ZERO, Formula, apply, maximum, minimum, total
from qps.engine.expressions.monomials import expanded

MOST_PARTS = 16
"""Of the work that is waited for, of services that differ: of more, two moments count."""


class Quota(Struct, frozen=True, kw_only=True):
    """A CPU limit: `host_cores` work until the quota of a `period` (s) is used up.

    That quota is what the servers of the queue do in a period.
    """

    period: Formula
    host_cores: Formula


class Queue(QueueWork, frozen=True, kw_only=True, dict=True):
    """A queue in its place, with all that visits it.

    `law` and `traits` are those of its discipline. `shaped_by` is a queue on the way here that
    leaves what arrives less or more random than the discipline says, `arrivals` how uneven it is:
    the square of the coefficient of variation of the times between two of them. `is_in_step` where
    all flows have one period; `most_uneven` is the largest coefficient of variation of arrivals
    that is stated, None where nobody knows; an item makes `most_visits`, None where calls repeat
    some. `quota` is what a CPU limit says besides.
    `offered` is what comes to a queue that loses what finds no room, `passed` what bursts come to
    at queues that all of them have passed before they come here.
    """

    law: DisciplineLaw
    traits: ir.Traits
    speeds: tuple[Formula, ...] = ()
    quota: Quota | None = None
    shaped_by: str | None = None
    arrivals: Formula = ONE
    is_in_step: bool = True
    most_uneven: float | None = 1.0
    most_visits: int | None = 1
    offered: OfferedLoad | None = None
    passed: tuple[BurstLoad, ...] = ()
    has_enough: Formula = ZERO
    """1 where all who come hold places of pools that are no more than the servers, else 0."""
    never_waits: bool = False
    """True where that is 1 at any population: then nobody waits, however they come."""
    load_known: Certainty = EXACT
    """How it is known what comes: by elastic parameters, where these load it."""

    # -- what is known of the visits -------------------------------------------------------

    @property
    def is_modeled_as_uniform(self) -> bool:
        """True where the result is that for equal visits, whatever the formulas look like.

        At equal numbers the formulas of a mix come to those of equal visits, but for periodic
        flows, where that of a mix is a bound.
        """
        return self.is_uniform or (self.is_alike and not self.law.is_bound_for_mixes)

    @property
    def bursts(self) -> BurstLoad | None:
        """What flows come to that are on and off for times that are known."""
        if not self.law.counts_bursts:
            return None
        flows, others = [], [self.background]
        for visit in self.visits:
            load = visit.rate * visit.service / self.servers
            if visit.burst is None:
                others.append(load)
                continue
            # At each of several places there is a bit of every flow, or the whole of its own ones.
            met = visit.flows * visit.place.count if visit.is_spread else visit.flows
            sources = met / visit.batch / visit.burst.share
            flows.append(BurstyFlows(visit.burst, sources, load * visit.batch / met))
        return bursts_of(flows, total(others))

    @property
    def models_servers(self) -> bool:
        """True where the servers that there are, are those of the formula."""
        return self.servers is ONE or self.traits.counts_servers

    @property
    def is_in_product_form(self) -> bool:
        """True where it may be a station of a network in product form (Baskett et al. 1975)."""
        if self.traits.is_insensitive:
            return not self.has_batches
        return self.traits.has_product_form and self.is_modeled_as_uniform and self.is_exponential

    @property
    def is_exponential(self) -> bool:
        """True where each that comes is served for an exponential time by a known server."""
        return self.variation is ONE and not self.has_batches and self.models_servers

    @property
    def keeps_randomness(self) -> bool:
        """True where what leaves at random has arrived at random."""
        is_plain = not any(v.is_uneven or v.is_bursty or v.meets for v in self.visits)
        return is_plain and self.background is ZERO and self.law.keeps_randomness(self)

    # -- what the discipline says ----------------------------------------------------------

    def wait(self, own: QueueVisit) -> Formula:
        """Return the mean time that a visit waits, in s; infinite from load 1 on."""
        found, bursts = self.law.wait(self, own), self.bursts
        if bursts is None:
            return found
        is_of_them = own.burst is not None
        behind = self.beyond_passed(bursts.wait(is_of_them=is_of_them), is_of_them=is_of_them)
        longer = self.longer_in_bursts(own, bursts, found) if self.traits.is_random else ZERO
        return self._joined(found, behind, bursts) + found * longer

    def beyond_passed(self, piled: Formula, *, is_of_them: bool) -> Formula:
        """Return what is left of what piles up behind bursts: at queues before it has done so."""
        before = [one.piled(is_of_them=is_of_them) for one in self.passed]
        return maximum(ZERO, piled - maximum(*dict.fromkeys(before))) if before else piled

    def longer_in_bursts(self, own: QueueVisit, bursts: BurstLoad, wait: Formula) -> Formula:
        """Return by which part items are waited for longer, for they come unevenly in bursts."""
        left, is_of_them = self.residual / self.servers, own.burst is not None
        return bursts.longer(self.load, left, wait, is_of_them=is_of_them)

    def quantile(self, own: QueueVisit, level: Fraction | Formula) -> Formula:
        """Return what a share `level` of the visits does not wait longer than, in s.

        It is the quantile of wait and service less the mean service, which is in the latency
        already. Where visits differ, it is that of a queue in which all are as long as the
        longest at the same load: the residual service times are longer there in distribution,
        and so is their geometric sum, the wait. Where kinds differ, it is that of the slowest.
        """
        found, bursts = self._quantile(own.slowest, level), self.bursts
        if bursts is None:
            return found
        behind = bursts.quantile(level, is_of_them=own.burst is not None)
        return self._joined(found, behind, bursts)

    def _quantile(self, own: QueueVisit, level: Fraction | Formula) -> Formula:
        """Return the quantile as the discipline has it, the wait longer where arrivals are uneven.

        Waits fall off as an exponential; that grows with the mean.
        """
        found = self.law.quantile(self, own, level)
        if self.arrivals is ONE or not self.law.counts_arrivals:
            return found
        served = self.own_tail(own, level)
        return served + maximum(ZERO, found - served) * self.times_random

    def stage(self, own: QueueVisit) -> StageLaw | None:
        """Return the law of wait and service of a visit, of kinds of the slowest.

        Where arrivals are uneven, what is waited for is longer by as much as on average. What
        bursts do to it is not in it.
        """
        if id(own) not in self._stages:
            self._stages[id(own)] = own, self._stage(own)
        return self._stages[id(own)][1]

    @cached_property
    def _stages(self) -> dict[int, tuple[QueueVisit, StageLaw | None]]:
        return {}  # by which visit it is: outcomes of calls request the same ones again

    def _stage(self, own: QueueVisit) -> StageLaw | None:
        found = self.law.stage(self, own.slowest)
        if found is None or self.arrivals is ONE or not self.law.counts_arrivals:
            return found
        return found.lasting(self.times_random)

    def own_tail(self, own: QueueVisit, level: Fraction | Formula) -> Formula:
        """Return by how much the service alone exceeds its mean at a level: no wait is in it."""
        if self.variation is ZERO:
            return ZERO
        return own.slowest.service * (apply("gamma_quantile", ZERO, self.variation**2, level) - 1)

    def _joined(self, items: Formula, behind: Formula, bursts: BurstLoad) -> Formula:
        """Return the wait for single items and behind bursts, together.

        Items that come at random within a burst wait longer than both: what one leaves, the other
        one finds. Of a low quantile, which is below the mean service, there is no wait.
        """
        if not self.traits.is_random:
            return items + behind
        both = maximum(ZERO, minimum(items, behind, bursts.flows.burst.lasting))
        return items + behind + burst_and_batch_factor(self.load, both)

    # -- what laws are made of -------------------------------------------------------------

    @property
    def residual_wait(self) -> Formula:
        """How long what has to wait does so, where that is this over the load that is left.

        It is what is left of a batch in service, but for arrivals that are not random.
        """
        if self.arrivals is ONE:
            return self.residual
        return self.mean_batch * apply("uneven", self.arrivals, self.unevenness, self.load)

    @property
    def times_random(self) -> Formula:
        """How often as long as for random arrivals what has to wait does so."""
        if self.arrivals is ONE:
            return ONE
        found = apply("uneven", self.arrivals, self.unevenness, self.load)
        return found / ((1 + self.unevenness) / 2)

    @property
    def unevenness(self) -> Formula:
        """The square of the coefficient of variation of the work of what comes together."""
        if self.is_modeled_as_uniform:
            return self.variation**2 / self.visits[0].batch
        return maximum(ZERO, apply("mean", 2 * self.residual, self.mean_batch) - 1)

    @property
    def work_parts(self) -> tuple[WorkPart, ...]:
        """The work that is waited for by its services; none where these are alike, or too many.

        Load that no visit causes has the services of all visits. Of several servers the one that
        is free first ends a wait: what is left of one service is not the law of that.
        """
        is_one = self.servers is ONE and not self.is_modeled_as_uniform
        if not is_one or self.has_others or any(one.most is not None for one in self.visits):
            return ()
        works: dict[tuple[Formula, Formula], Formula] = {}
        for visit in self.visits:
            kind = visit.service, visit.batch
            works[kind] = works.get(kind, ZERO) + visit.rate * visit.service
        if len(works) > MOST_PARTS:
            return ()
        known = total(works.values())
        # Where they cause all of it no quotient is needed, by which it would hardly be seen that
        # each grows with the population; steps by chance are written out in the load, and not here.
        others = self.load - known / self.servers
        is_all = expanded(others, others.symbols) is ZERO
        return tuple(
            WorkPart(
                load=work / self.servers if is_all else apply("mean", self.load * work, known),
                work=service * batch,
                spread=self.variation**2 / batch,
            )
            for (service, batch), work in works.items()
        )


class DisciplineLaw(Struct, frozen=True):
    """What a discipline comes to: one of `disciplines/`, in the table there."""

    is_bound_for_mixes: ClassVar[bool] = False
    """True where the result for a mix of visits is a bound, also where all are alike."""
    counts_arrivals: ClassVar[bool] = False
    """True where the wait follows from how uneven arrivals are, and its law is as much longer."""
    counts_stated_arrivals: ClassVar[bool] = False
    """True where so it is of arrivals that are stated, and its law has that in it already."""
    counts_bursts: ClassVar[bool] = False
    """True where what bursts pile up is waited for in the order in which it comes."""
    is_better_alone: ClassVar[bool] = False
    """True where a quantile of its own is nearer than that of its stage."""
    waits_longer_in_bursts: ClassVar[bool] = True
    """True where it is proven that a mean wait is no shorter where arrivals come in bursts."""
    has_wait_of_each_visit: ClassVar[bool] = False
    """True if the wait of each visit of an item that comes back is known."""
    rests_on_periods: ClassVar[bool] = False
    """True where it makes a difference whether the periods of flows are equal."""
    includes_service: ClassVar[bool] = True
    """False where its quantiles, and its law, are of a wait alone."""

    def unevenness(self, queue: Queue, own: QueueVisit) -> Formula:  # noqa: ARG002
        """Return the squared variation of wait and service together, as if exponential."""
        return ONE

    @abstractmethod
    def wait(self, queue: Queue, own: QueueVisit) -> Formula:
        """Return the mean time that a visit waits, in s."""

    @abstractmethod
    def quantile(self, queue: Queue, own: QueueVisit, level: Fraction | Formula) -> Formula:
        """Return the quantile of wait and service less the mean service, in s."""

    def stage(self, queue: Queue, own: QueueVisit) -> StageLaw | None:  # noqa: ARG002 - of most there is none
        """Return the law of wait and service of a visit; None where there is but a quantile."""
        return None

    def last_copy(self, queue: Queue, own: QueueVisit) -> LastCopy | None:  # noqa: ARG002 - of most there is none
        """Return the law of the time until all copies are served that come together."""
        return None

    def stage_known(self, queue: Queue) -> Certainty:
        """Return what that law does to how quantiles are known, besides."""
        return self.quantiles_known(queue)

    def later_than_service(self, queue: Queue, own: QueueVisit, seconds: Formula) -> Formula | None:
        """Return the share that takes longer than its mean service by a time, in s.

        None where that has no formula of its own: it has one where service times are fixed.
        """
        if queue.bursts is not None or queue.arrivals is not ONE:
            return None
        is_fixed = self.has_fixed_service(queue)
        return self.waiting_tail(queue, own.slowest, seconds) if is_fixed else None

    def waiting_stage(self, queue: Queue, own: QueueVisit) -> StageLaw | None:  # noqa: ARG002 - of most there is none
        """Return the law of the wait of a visit, without its service; None where there is none."""
        return None

    def waiting_law(self, queue: Queue, own: QueueVisit) -> tuple[Formula, StageLaw] | None:  # noqa: ARG002
        """Return which share waits, and the law of their wait, where that is no stage of a sum."""
        return None

    def waiting_tail(self, queue: Queue, own: QueueVisit, seconds: Formula) -> Formula | None:  # noqa: ARG002
        """Return the share that waits longer than a time, where that has a formula of its own."""
        return None

    def waiting_quantile(self, queue: Queue, level: Fraction | Formula) -> Formula | None:  # noqa: ARG002
        """Return the quantile of the wait alone, where that has a formula of its own."""
        return None

    def has_fixed_service(self, queue: Queue) -> bool:  # noqa: ARG002 - of most nothing is known
        """Return whether a quantile less the mean service is one of the wait alone."""
        return False

    def waits_known(self, queue: Queue) -> Certainty:
        """Return what the law of a wait without its service does to how it is known."""
        return self.quantiles_known(queue)

    def together(self, own: QueueVisit, fork: int) -> Formula | None:  # noqa: ARG002 - most know none
        """Return how long calls take that are made together, where it knows of all of them."""
        return None

    def relative_wait(self, own: QueueVisit, first: QueueVisit) -> Formula:  # noqa: ARG002 - most wait alike
        """Return how many times as long an item waits in a visit as in one that it made before."""
        return ONE

    def wait_together(self, visits: Sequence[QueueVisit]) -> Formula | None:  # noqa: ARG002
        """Return how many waits of the first visit those of an item in some are, if known."""
        return None

    def keeps_randomness(self, queue: Queue) -> bool:
        """Return whether what arrives at random leaves at random: equal exponential service."""
        return queue.is_exponential and queue.is_modeled_as_uniform

    def rates_known(self, queue: Queue) -> Certainty:
        """Return how the rates are known of users who wait here: as their waits are."""
        return self.mean_known(queue)

    def mean_for_quantile(self, queue: Queue) -> Certainty:
        """Return how the mean wait is known but for what errors of quantiles count as well."""
        return self.mean_known(queue)

    def includes_arrival_error(self, queue: Queue) -> bool:  # noqa: ARG002 - most do not
        """Return whether what shapes arrivals is in the errors that it states."""
        return False

    @abstractmethod
    def mean_known(self, queue: Queue) -> Certainty:
        """Return what the discipline does to how the mean wait is known."""

    @abstractmethod
    def quantiles_known(self, queue: Queue) -> Certainty:
        """Return what it does to how quantiles are known, besides."""

    def loss_known(self, queue: Queue) -> Certainty:  # noqa: ARG002 - in most all find room
        """Return how the share is known that finds no room where what comes does so at random."""
        return EXACT

    def lost_of(self, offered: OfferedLoad) -> Formula:  # noqa: ARG002 - in most all find room
        """Return which share of what is offered finds no room."""
        return ZERO

    def lost(self, queue: Queue, own: QueueVisit) -> Formula:  # noqa: ARG002 - of most all lose alike
        """Return which share of a stream is beyond what a resource can do."""
        return 1 - 1 / maximum(1, queue.load)
