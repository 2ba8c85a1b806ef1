"""The work that comes to a queue, and its moments, whatever the discipline is.

A *visit* is one crossing of a port of a link, or one run of steps at one node on one resource.
Copies that leave together are a *batch*. Load that no visit causes (idle load, constant costs)
counts as visits of mean size.
"""

from __future__ import annotations

from fractions import Fraction

from msgspec import Struct

from qps.compiler.lower.queues.unlike_services import ServiceLengths, ServiceMoments, lengths_of
from qps.compiler.lower.queues.visits import QueueVisit, longest
from qps.engine.expressions.formulas import ONE, Formula, apply, maximum, number, total

MOST_APART = 10
"""Services further apart make waits vary more than exponential times."""
_LEAST = number(Fraction(1, 10**40))
"""So much at least is divided by: a pool may be held for no time that is known here."""


class QueueWork(Struct, frozen=True, kw_only=True):
    """What comes to the servers of a queue; `load` is that of the resource.

    `servers` are the cores, 1 for a port; `variation` is the coefficient of variation of the
    service time; `background` is the load that no visit causes. `is_alike` where all visits have
    one service time and all batches one size at the numbers that the spec gives, `times_apart` how
    many times as long as the shortest the longest service is, None where nobody knows.
    """

    resource: str
    variation: Formula
    servers: Formula
    load: Formula
    visits: tuple[QueueVisit, ...]
    background: Formula
    is_alike: bool = False
    times_apart: float | None = None

    @property
    def is_uniform(self) -> bool:
        """True where all visits have one service time, and all batches one size, as formulas."""
        is_one_size = len({(visit.service, visit.batch) for visit in self.visits}) == 1
        return is_one_size and not self.has_others

    @property
    def has_batches(self) -> bool:
        """True where copies come together."""
        return any(visit.batch is not ONE for visit in self.visits)

    @property
    def has_others(self) -> bool:
        """True where copies that come together differ by chance."""
        return any(visit.others is not None for visit in self.visits)

    @property
    def states_arrivals(self) -> bool:
        """True where it is stated of some flow how uneven it is."""
        return any(visit.variation is not None for visit in self.visits)

    @property
    def share_waiting(self) -> Formula:
        """The share of visits that find all servers busy."""
        if self.servers is ONE:
            return self.load
        return apply("erlang_c", self.servers, self.servers * self.load)

    @property
    def residual(self) -> Formula:
        """The mean of what is left of a batch in service.

        That is the mean square of the batches over twice their mean. For equal visits it is half
        their service time (all of it for exponential ones); the long ones of a mix weigh more.
        """
        if self.is_uniform:
            return self.visits[0].weighed_work(self.variation) / 2
        works = [visit.rate * visit.service for visit in self.visits]
        squares = [
            work * visit.weighed_work(self.variation)
            for work, visit in zip(works, self.visits, strict=True)
        ]
        return apply("mean", total(squares), total(works)) / 2

    @property
    def mean_batch(self) -> Formula:
        """The mean work of copies that come together, in s."""
        if self.is_uniform:
            return self.visits[0].service * self.visits[0].batch
        works = [visit.rate * visit.service for visit in self.visits]
        rates = [
            visit.rate / visit.batch
            if visit.others is None
            else apply("mean", work, visit.service + visit.other_work)
            for work, visit in zip(works, self.visits, strict=True)
        ]
        return apply("mean", total(works), total(rates))

    @property
    def is_far_apart(self) -> bool:
        """True where some services are more than ten times as long as others, or nobody knows."""
        return self.times_apart is None or self.times_apart > MOST_APART

    @property
    def spread(self) -> Formula:
        """The squared coefficient of variation of mean service times; below 0 where all are 0."""
        rates = total(visit.rate for visit in self.visits)
        works = total(visit.rate * visit.service for visit in self.visits)
        squares = total(visit.rate * visit.service**2 for visit in self.visits)
        return squares * rates / maximum(_LEAST, works**2) - 1

    @property
    def lengths(self) -> ServiceLengths | None:
        """Two lengths of services that make the same first three moments; None where all are one.

        Batches are not looked at.
        """
        kinds = [ServiceMoments(mean=one.service) for one in self.visits]
        return lengths_of(kinds, [visit.rate for visit in self.visits], self.variation**2)

    @property
    def longest_service(self) -> Formula:
        """The longest service time of any visit, in s."""
        return longest([visit.service for visit in self.visits])

    @property
    def largest_batch(self) -> Formula:
        """The most copies that come together."""
        return longest([visit.batch for visit in self.visits])

    @property
    def longest_batch(self) -> Formula:
        """The longest work of copies that come together, in s."""
        return longest([visit.batch * visit.service for visit in self.visits])
