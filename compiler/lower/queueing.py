"""Waiting in queues: how long an item waits at a resource, on average and in the worst cases.

A *visit* is one crossing of a port of a link, or one run of steps at one node on one resource.
Copies that leave together are a *batch*: it waits like one visit as long as all of them, and a
copy waits for those before it besides. Random arrivals see time averages, so that all streams wait
as long for what they find; a periodic flow finds only the others. Load that no visit causes (idle
load, constant costs) counts as visits of mean size.

The formulas are those of Pollaczek and Khinchine over the mix of batches, of Erlang (M/M/c), and
of N D/D/1, the superposition of N periodic flows (Roberts and Virtamo 1991; docs/language.md,
"Waiting in queues"). Those of unequal flows are in `periodic_queueing`.
"""

from __future__ import annotations

from fractions import Fraction

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.lower.periodic_queueing import PeriodicClass, others_quantile, others_wait
from qps.engine.formulas import ONE, ZERO, Formula, apply, maximum, number, total

_ROUNDING = number(Fraction(1, 10**9))

_NEXT_TO_NOTHING = number(Fraction(1, 10**9))


class Visit(Struct, kw_only=True):
    """What one stream asks of a queue: grows while its run of steps is walked.

    `rate` visits a second at one machine or port, of `flows` of them; `service` is the time of
    one visit on one server, in s. `of` tells the visits of a stream apart. `batch` visits come
    together, copies of one item. `after` names the queues that the stream has waited in before.

    What is averaged away is noted: `is_uneven` where what happens within the run makes its visits
    differ (some items are dropped half way), so that the service time is a mean; `is_bursty`
    where its flows are active only at times; `meets` where copies of one item that went
    different ways may come together; `is_asked_again` where users who think between two requests
    are taken as open traffic; `is_thinned` where not all items of its flows make it. Where
    users or items are of several kinds, `most` is the longest service and the largest batch of any.
    """

    resource: str
    rate: Formula
    flows: Formula
    service: Formula = ZERO
    of: tuple[str, int] = ("", 0)
    batch: Formula = ONE
    after: tuple[str, ...] = ()
    is_uneven: bool = False
    is_bursty: bool = False
    meets: bool = False
    is_asked_again: bool = False
    is_thinned: bool = False
    most: tuple[Formula, Formula] | None = None

    @property
    def slowest(self) -> Visit:
        """The visit of the kind that takes longest."""
        if self.most is None:
            return self
        service, batch = self.most
        return replace(self, service=service, batch=batch)


class Queue(Struct, frozen=True, kw_only=True):
    """A queue in its place, with all that visits it; `load` is that of the resource.

    `servers` are the cores, 1 for a port; `variation` is the coefficient of variation of the
    service time, 1 for mm1 and mmc; `background` is the load that no visit causes. `shaped_by` is
    a queue on the way here that leaves what arrives less or more random than the discipline says;
    `is_in_step` where all flows have one period, `is_alike` where all visits have one service time
    and all batches one size at the numbers that the spec gives.
    """

    resource: str
    discipline: ir.Discipline
    variation: Formula
    servers: Formula
    load: Formula
    visits: tuple[Visit, ...]
    background: Formula
    shaped_by: str | None = None
    is_in_step: bool = True
    is_alike: bool = False

    # -- what is known of the visits -------------------------------------------------------

    @property
    def is_uniform(self) -> bool:
        """True where all visits have one service time, and all batches one size, as formulas."""
        return len({(visit.service, visit.batch) for visit in self.visits}) == 1

    @property
    def is_told_as_uniform(self) -> bool:
        """True where what is told is what it is for equal visits, whatever the formulas look like.

        At equal numbers the formulas of a mix come to those of equal visits, but for periodic
        flows, where that of a mix is a bound.
        """
        is_mixed = self.discipline is ir.Discipline.PERIODIC
        return self.is_uniform or (self.is_alike and not is_mixed)

    @property
    def has_batches(self) -> bool:
        """True where copies come together."""
        return any(visit.batch is not ONE for visit in self.visits)

    @property
    def keeps_randomness(self) -> bool:
        """True where what leaves at random has arrived at random: equal exponential service."""
        is_modelled = self.discipline is ir.Discipline.MMC or self.servers is ONE
        is_plain = not any(v.is_uneven or v.is_bursty or v.meets for v in self.visits)
        is_exponential = self.variation is ONE and self.is_told_as_uniform and not self.has_batches
        return is_exponential and is_modelled and is_plain and self.background is ZERO

    # -- the mean ------------------------------------------------------------------------

    def wait(self, own: Visit) -> Formula:
        """Return the mean time that a visit waits, in s; infinite from load 1 on."""
        before = (own.batch - 1) / 2 * own.service / self.servers
        if self.discipline is ir.Discipline.PERIODIC:
            return self._periodic_wait(own) + before
        waiting = self.load
        if self.discipline is ir.Discipline.MMC:
            waiting = apply("erlang_c", self.servers, self.servers * self.load)
        return apply("waiting", waiting * self._half / self.servers, self.load) + before

    @property
    def _half(self) -> Formula:
        """The mean of what is left of a batch in service.

        That is the mean square of the batches over twice their mean. For equal visits it is half
        their service time (all of it for exponential ones); the long ones of a mix weigh more.
        """
        if self.is_uniform:
            visit = self.visits[0]
            return visit.service * (visit.batch + self.variation**2) / 2
        works = [visit.rate * visit.service for visit in self.visits]
        squares = [
            work * visit.service * (visit.batch + self.variation**2)
            for work, visit in zip(works, self.visits, strict=True)
        ]
        return apply("mean", total(squares), total(works)) / 2

    # -- periodic flows --------------------------------------------------------------------

    def _periodic_wait(self, own: Visit) -> Formula:
        """Return what a batch finds of the other flows, on average."""
        if self.is_uniform:
            batch = self.visits[0].batch * self.visits[0].service
            return batch / self.servers * apply("periodic_wait", self._in_a_period, self.load)
        mine = [visit for visit in self.visits if visit.of == own.of]
        waits = [others_wait(self._classes(visit), self._period, self.load) for visit in mine]
        if len(waits) == 1:
            return waits[0]
        rates = [visit.rate for visit in mine]
        found = [rate * wait for rate, wait in zip(rates, waits, strict=True)]
        return apply("mean", total(found), total(rates))

    def _classes(self, own: Visit | None = None) -> list[PeriodicClass]:
        """Return the flows that a visit finds, its own one excepted, and the other load."""
        classes = []
        for visit in self.visits:
            one = int(visit is own)
            flows = visit.flows / visit.batch
            count = visit.rate / visit.batch * self._period
            classes.append(
                PeriodicClass(
                    maximum(0, count - one) if one else count,
                    maximum(0, flows - one) if one else flows,
                    visit.batch * visit.service / self.servers,
                )
            )
        if self.background is not ZERO:
            works = [visit.rate * visit.service for visit in self.visits]
            size = apply("mean", total(works), total(visit.rate for visit in self.visits))
            count = apply("mean", self.background * self._period, size / self.servers)
            classes.append(PeriodicClass(count, None, size / self.servers))
        return classes

    @property
    def _period(self) -> Formula:
        return _longest([apply("mean", visit.flows, visit.rate) for visit in self.visits])

    @property
    def _in_a_period(self) -> Formula:
        """Batches in the longest period of the flows: their number where all have the same one.

        A faster flow counts as several of the longest period at random phases, which are less
        regular than it is, so that the wait is rather too long than too short.
        """
        if len(self.visits) == 1:
            return self.visits[0].flows / self.visits[0].batch
        rates = total(visit.rate for visit in self.visits)
        return rates / self.visits[0].batch * self._period

    # -- quantiles -----------------------------------------------------------------------

    def quantile(self, own: Visit, level: Fraction | Formula) -> Formula:
        """Return what a share `level` of the visits does not wait longer than, in s.

        It is the quantile of wait and service less the mean service, which is in the latency
        already. Where visits differ, it is that of a queue in which all are as long as the
        longest at the same load: the residual service times are longer there in distribution,
        and so is their geometric sum, the wait. Where kinds differ, it is that of the slowest.
        """
        own = own.slowest
        if self.discipline is ir.Discipline.PERIODIC:
            return self._periodic_quantile(own, level)
        if self.variation is ZERO:
            is_alone = own.batch is ONE
            each = apply("md1_quantile" if is_alone else "batch_quantile", self.load, level)
            return self._longest_batch / self.servers * each
        longest = _longest([visit.service for visit in self.visits])
        if self.has_batches:
            # A copy has left when all of its batch have: wait and service of one of these.
            most = _longest([visit.batch for visit in self.visits])
            held = apply("gamma_quantile", self.load, self.variation**2 / most, level)
            return longest * most * held - own.service
        if self.variation is ONE:
            service = self._of_some_length(own.service, longest)
            return service * self._sojourn(service / longest, level) - own.service
        return longest * apply("gamma_quantile", self.load, self.variation**2, level) - own.service

    def own_tail(self, own: Visit, level: Fraction | Formula) -> Formula:
        """Return by how much the service alone exceeds its mean at a level: no wait is in it."""
        if self.variation is ZERO:
            return ZERO
        return own.slowest.service * (apply("gamma_quantile", ZERO, self.variation**2, level) - 1)

    def _periodic_quantile(self, own: Visit, level: Fraction | Formula) -> Formula:
        before = (own.batch - 1) * own.service / self.servers
        if self.is_uniform:
            held = apply("periodic_quantile", self._in_a_period, self.load, level)
            return self._longest_batch / self.servers * held + before
        longest = self._longest_batch / self.servers
        found = [
            others_quantile(self._classes(mine), self._period, self.load, longest, level)
            for mine in self.visits
            if mine.of == own.of
        ]
        return _longest(found) + before

    @staticmethod
    def _of_some_length(service: Formula, longest: Formula) -> Formula:
        """Return a service time by which can be divided: what takes no time waits, too.

        Where the population may leave nothing of it, a billionth of the longest stands for nothing.
        """
        may_vanish = service is not longest and any(s.is_population for s in service.symbols)
        return maximum(service, longest * _NEXT_TO_NOTHING) if may_vanish else service

    @property
    def _longest_batch(self) -> Formula:
        return _longest([visit.batch * visit.service for visit in self.visits])

    def _sojourn(self, part: Formula, level: Fraction | Formula) -> Formula:
        """Return the quantile of wait and exponential service, in service times."""
        waiting = self.load
        if self.discipline is ir.Discipline.MMC:
            waiting = apply("erlang_c", self.servers, self.servers * self.load)
        rate = self.servers * (1 - self.load) * part
        return apply("sojourn_quantile", waiting, rate, level)


def endless(load: Formula) -> Formula:
    """Return what waits for a resource of which nobody says how: nothing, infinite beyond 1.

    At 1 it is as much as it can do. A load that is 1 but for rounding counts as 1.
    """
    return apply("waiting", ZERO, load - _ROUNDING)


def _longest(times: list[Formula]) -> Formula:
    distinct = list(dict.fromkeys(times))
    return distinct[0] if len(distinct) == 1 else maximum(*distinct)
