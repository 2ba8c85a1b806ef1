"""Visits: what one stream demands of a queue, and where it waits."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler.lower.queues.batches import Others
from qps.compiler.lower.queues.on_off_sources import Burst
from qps.engine.expressions.formulas import ONE, ZERO, Formula, apply, maximum, total


class QueuePlace(Struct, frozen=True):
    """Where something waits: one of so many equal places of a name."""

    name: str
    count: Formula


LAST = 1 << 30
"""The rank of what no priority is stated of: it goes last."""


class QueueVisit(Struct, kw_only=True):
    """What one stream demands of a queue: grows while its run of steps is walked.

    `rate` visits a second at one machine or port, of `flows` of them; `service` is the time of
    one visit on one server, in s. `of` distinguishes the visits of a stream. `batch` visits come
    together, copies of one item, at most; where these differ, `others` has with which a copy comes.
    `after` names the queues that the stream has waited in before,
    the last of them is `before`; `joined` is one of them in calls that were made together, of
    which those that wait for each other come in no Poisson process. It waits at one of the
    places of `place`. `variation` is the coefficient of variation of the times between two
    items of a flow, where one is stated.

    What is averaged away is noted: `is_uneven` where what happens within the run makes its visits
    differ (some items are dropped half way), so that the service time is a mean; `is_bursty`
    where its flows are active only at times, by the law of `burst` where that is known; `meets`
    where copies of one item that went different ways may come together; `is_retransmitted` where
    users who think between two requests are taken as open traffic; `is_thinned` where not all items
    of its flows make it; `is_varied` where it is that of one kind of items, of which the same flows
    have others; `is_spread` where each item of a flow goes to any of the places at random, not to
    one of the flow's own; `is_of_kinds` where each of these is of one kind of users, and kinds
    differ; `threads` are those that its steps run on, None for any core.
    Where users or items are of several kinds, `most` is the longest service and the largest batch
    of any.
    """

    resource: str
    rate: Formula
    flows: Formula
    service: Formula = ZERO
    of: tuple[str, int] = ("", 0)
    batch: Formula = ONE
    others: Others | None = None
    after: tuple[str, ...] = ()
    place: QueuePlace = QueuePlace("", ONE)
    before: QueueVisit | None = None
    joined: str | None = None
    variation: Formula | None = None
    is_uneven: bool = False
    is_bursty: bool = False
    burst: Burst | None = None
    meets: bool = False
    is_retransmitted: bool = False
    is_thinned: bool = False
    is_varied: bool = False
    is_spread: bool = False
    is_of_kinds: bool = False
    threads: tuple[str | None, ...] = ()
    rank: int = LAST
    most: tuple[Formula, Formula] | None = None

    @property
    def other_work(self) -> Formula:
        """The mean work that comes together with a copy, in s."""
        if self.others is None:
            return (self.batch - 1) * self.service
        return self.others.count * self.others.work

    @property
    def other_visits(self) -> Formula:
        """How many visits of the queue come together with that of a copy, on average."""
        if self.others is None:
            return self.batch - 1
        return self.others.count * self.others.share

    def weighed_work(self, variation: Formula) -> Formula:
        """Return the mean of a service time and all that comes with it, weighed by that time.

        It is so long until all are served of whom a share of time finds one in service.
        """
        if self.others is None:
            return self.service * (self.batch + variation**2)
        return self.service * (1 + variation**2) + self.other_work

    @property
    def slowest(self) -> QueueVisit:
        """The visit of the kind that takes longest."""
        if self.most is None:
            return self
        service, batch = self.most
        return replace(self, service=service, batch=batch)

    def changed(self, change: Callable[[Formula], Formula]) -> QueueVisit:
        """Return the visit with every formula changed of which its queue is made."""
        burst = self.burst and Burst(change(self.burst.share), change(self.burst.lasting))
        return replace(
            self,
            rate=change(self.rate),
            flows=change(self.flows),
            service=change(self.service),
            batch=change(self.batch),
            others=self.others and self.others.changed(change),
            variation=self.variation and change(self.variation),
            burst=burst,
        )


def mean_service(visits: Sequence[QueueVisit]) -> Formula:
    """Return the mean service time of visits, each of which counts as often as it is made."""
    services = {visit.service for visit in visits}
    if len(services) == 1:
        return services.pop()
    works = [visit.rate * visit.service for visit in visits]
    return apply("mean", total(works), total(visit.rate for visit in visits))


def longest(times: list[Formula]) -> Formula:
    """Return the longest of some times."""
    distinct = list(dict.fromkeys(times))
    return distinct[0] if len(distinct) == 1 else maximum(*distinct)
