"""A CPU limit: the cores of a host are shared until the quota of a period is used up.

Of a limit of q cores, the host gives q times the period in each period, as fast as there are
threads for its c cores, and nothing when that is used up (the bandwidth control of Linux; Turner,
Rao and Rao 2010). Two limits are known: where no quota is ever used up visits share c cores, and
where periods are short they share q. In between a share g of the visits is served as in the second:
where the work that is found has an exponential tail of mean h, those for whom it exceeds the quota
Q at a time by chance in the period are (1 - exp(-z))/z of all, z = Q/h; that work begins anew in
each period makes it exp(-z (1 - load)/(1 + cv^2)) times as many, and z is for that by
sqrt((1 + cv^2)/2) smaller. No number in it is fitted; it is held against a simulation of its own in
tests/queueing/test_cpu_quota.py.
"""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler.lower.disciplines.gamma_stages import one_of, quantile_of
from qps.compiler.lower.disciplines.processor_sharing import (
    SharingLaw,
    sharing_delay,
    sharing_variance,
)
from qps.compiler.lower.queues.stage_law import StageLaw
from qps.compiler.lower.queues.station_queue import Queue
from qps.compiler.lower.queues.visits import QueueVisit, mean_service
from qps.compiler.quantities.certainty import EXACT, Certainty
from qps.compiler.quantities.methods import known_by
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

_LEAST = number(Fraction(1, 10**6))
"""A quota that is next to nothing beside the work counts as such a part of it."""
_RARE = number(Fraction(1, 10**12))
"""What is divided by is so much at least: there may be no work."""


class _Part(Struct, frozen=True):
    """Visits that are served alike: their share, and their response time.

    `mean` is in service times, times the load that is left, so that it is finite at all loads;
    `spread` is the squared variation.
    """

    share: Formula
    mean: Formula
    spread: Formula

    @property
    def square(self) -> Formula:
        """The mean square of that time."""
        return self.mean**2 * (1 + self.spread)

    @property
    def law(self) -> StageLaw:
        """A gamma law that has these moments."""
        return StageLaw(waits=ZERO, work=ZERO, service=self.mean, variation=self.spread)


class CpuQuota(SharingLaw, frozen=True):
    """Cores that all who are there share, until a quota is used up."""

    counts_stated_arrivals: ClassVar[bool] = False

    def wait(self, queue: Queue, own: QueueVisit) -> Formula:
        """Return by how much a visit takes longer than its service."""
        return self._mean(queue, own) - own.service

    def quantile(self, queue: Queue, own: QueueVisit, level: Fraction | Formula) -> Formula:
        """Return the quantile of the time from arrival to departure less the mean service."""
        times = quantile_of(level, one_of((part.share, part.law) for part in _parts(queue)))
        return own.service * (apply("waiting", times, queue.load) - 1)

    def stage(self, queue: Queue, own: QueueVisit) -> StageLaw | None:
        """Return the time from arrival to departure as a gamma law of its mean and variance."""
        parts = _parts(queue)
        square = total(part.share * part.square for part in parts)
        return StageLaw(
            waits=ZERO,
            work=ZERO,
            service=self._mean(queue, own),
            variation=square / total(part.share * part.mean for part in parts) ** 2 - 1,
            counted=own.service,
        )

    def waiting_law(self, queue: Queue, own: QueueVisit) -> tuple[Formula, StageLaw] | None:  # noqa: ARG002
        """Return None: who waits for the next period has no law here."""
        return None

    def _mean(self, queue: Queue, own: QueueVisit) -> Formula:
        times = total(part.share * part.mean for part in _parts(queue))
        return own.service * apply("waiting", times, queue.load)

    def keeps_randomness(self, queue: Queue) -> bool:  # noqa: ARG002 - none does
        """Return that visits leave in groups, after each quota."""
        return False

    def mean_known(self, queue: Queue) -> Certainty:
        """Errors are measured for equal visits, one by one."""
        return _accuracy("cpu-quota", queue)

    def mean_for_quantile(self, queue: Queue) -> Certainty:
        """Errors of percentiles are measured with those of the mean."""
        is_plain = queue.is_modeled_as_uniform and not queue.has_batches
        return EXACT if is_plain else self.mean_known(queue)

    def quantiles_known(self, queue: Queue) -> Certainty:
        """Two laws of two moments each are mixed."""
        return _accuracy("cpu-quota-percentiles", queue)


def _accuracy(method: str, queue: Queue) -> Certainty:
    """Return how a number is known: errors are measured for equal visits, one by one."""
    if not queue.is_modeled_as_uniform or queue.has_batches:
        return known_by(method, queue.resource)
    case = "exponential" if queue.variation is ONE else "other"
    return known_by(method, queue.resource, case=case)


def _parts(queue: Queue) -> tuple[_Part, _Part]:
    """Return visits as if no quota were ever used up, and as if periods were short."""
    assert queue.quota is not None
    limit, cores, share = queue.servers, queue.quota.host_cores, share_slowed(queue)
    load = minimum(ONE, queue.load)
    spare, extra = 1 - load, queue.variation**2 - 1
    fast = replace(queue, servers=cores, load=load * minimum(ONE, limit / cores))
    slow = replace(queue, servers=maximum(ONE, limit), load=load)
    at_full_speed = 1 + apply("waiting", sharing_delay(fast), fast.load)
    return (
        _Part(1 - share, spare * at_full_speed, sharing_variance(fast) + extra),
        _Part(
            share,
            (spare + sharing_delay(slow)) / minimum(ONE, limit),
            sharing_variance(slow) + extra,
        ),
    )


def share_slowed(queue: Queue) -> Formula:
    """Return the share of visits that are served as if the quota were a slower host."""
    assert queue.quota is not None
    quota, load = queue.servers * queue.quota.period, minimum(ONE, queue.load)
    mean, left = mean_service(queue.visits), queue.residual
    spare = maximum(ZERO, 1 - load)
    work = maximum(_RARE, mean * spare + load * left)
    found = quota * spare / work
    varies = left / maximum(_RARE, mean)  # (1 + cv^2)/2
    within = maximum(_LEAST, found / square_root(maximum(_RARE, varies)))
    fewer = apply("exp", -found * spare / maximum(_RARE, 2 * varies))
    return fewer * (1 - apply("exp", -within)) / within
