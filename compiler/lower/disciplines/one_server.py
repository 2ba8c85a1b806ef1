"""Random arrivals at one server, first come first served: mm1, md1 and mg1.

The mean is that of Pollaczek and Khinchine over the mix of batches; several cores count as one
that is as fast as all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import ClassVar

from qps.compiler.lower.queueing import Law, Queue, Stage, Visit
from qps.compiler.quantities.certainty import (
    EXACT,
    Certainty,
    approximation,
    together,
    upper_bound,
)
from qps.engine.formulas import ONE, ZERO, Formula, apply, maximum, number

_NEXT_TO_NOTHING = number(Fraction(1, 10**9))


_APART = (
    "predicted percentiles were 0.88–1.1× simulated where service times differ "
    "up to 3×, 0.79–1.16× up to 5×, 0.59–1.47× up to 10×, 0.45–21× beyond"
)
_APART_ERRORS = ((3, 0.15), (5, 0.25), (10, 0.5))


def error_apart(times: float | None, errors: Sequence[tuple[float, float]]) -> float | None:
    """Return how far off is what rests on two moments where services differ so many times.

    None beyond what was measured: one of a hundred that takes twenty times as long is as rare as it
    is long, and two moments do not tell which.
    """
    if times is None:
        return None
    return next((error for most, error in errors if times <= most), None)


class OneServer(Law, frozen=True):
    """A queue in front of one server."""

    counts_arrivals: ClassVar[bool] = True
    counts_bursts: ClassVar[bool] = True

    def wait(self, queue: Queue, own: Visit) -> Formula:
        """Return the mean wait: that for all who are there, and for those of the own batch."""
        before = (own.batch - 1) / 2 * own.service / queue.servers
        share = self.share_waiting(queue)
        return apply("waiting", share * queue.held / queue.servers, queue.load) + before

    def share_waiting(self, queue: Queue) -> Formula:
        """Return which share of the visits has to wait."""
        return queue.load

    def quantile(self, queue: Queue, own: Visit, level: Fraction | Formula) -> Formula:
        """Return the quantile of wait and service less the mean service."""
        if queue.variation is ZERO:
            is_alone = own.batch is ONE
            each = apply("md1_quantile" if is_alone else "batch_quantile", queue.load, level)
            return queue.longest_batch / queue.servers * each
        longest = queue.longest_service
        if queue.has_batches:
            # A copy has left when all of its batch have: wait and service of one of these.
            most = queue.largest_batch
            held = apply("gamma_quantile", queue.load, queue.variation**2 / most, level)
            return longest * most * held - own.service
        if queue.variation is ONE:
            service = _of_some_length(own.service, longest)
            return service * self._sojourn(queue, service / longest, level) - own.service
        return (
            longest * apply("gamma_quantile", queue.load, queue.variation**2, level) - own.service
        )

    def stage(self, queue: Queue, own: Visit) -> Stage | None:
        """Return the law of Pollaczek and Khinchine; a copy waits for all of its batch."""
        before = (own.batch - 1) * own.service / queue.servers
        return Stage(
            waits=self.share_waiting(queue),
            load=queue.load,
            work=queue.mean_batch,
            spread=queue.unevenness,
            servers=queue.servers,
            service=own.service + before,
            variation=queue.variation**2 / own.batch,
            counted=own.service,
        )

    def stage_known(self, queue: Queue) -> Certainty:
        """Laws of which two moments are known are taken as gamma distributed."""
        name = queue.resource
        if queue.has_batches:
            return _batches_known(queue)
        found = []
        if queue.variation not in (ZERO, ONE):
            found.append(
                approximation(
                    (
                        f"service times at `{name}` are assumed gamma distributed: within 10 % of "
                        "such"
                    ),
                    error=0.1,
                )
            )
        if not queue.is_told_as_uniform:
            found.append(
                approximation(
                    (
                        f"different visits to `{name}` are assumed gamma distributed together: "
                        f"{_APART}"
                    ),
                    error=error_apart(queue.times_apart, _APART_ERRORS),
                )
            )
        return together(*found)

    def _sojourn(self, queue: Queue, part: Formula, level: Fraction | Formula) -> Formula:
        """Return the quantile of wait and exponential service, in service times."""
        rate = queue.servers * (1 - queue.load) * part
        return apply("sojourn_quantile", self.share_waiting(queue), rate, level)

    def mean_known(self, queue: Queue) -> Certainty:
        """Several cores are taken as one."""
        if queue.servers is ONE:
            return EXACT
        reason = f"the cores of `{queue.resource}` are modeled as one fast core"
        is_proven = queue.variation in (ZERO, ONE) and queue.is_told_as_uniform
        return upper_bound(reason) if is_proven else approximation(reason)

    def quantiles_known(self, queue: Queue) -> Certainty:
        """Service times of other laws, batches and mixes are bounded."""
        name, found = queue.resource, []
        if queue.variation not in (ZERO, ONE):
            found.append(
                approximation(
                    f"service times at `{name}` are assumed gamma distributed, as a bound"
                )
            )
        return together(*found, mixed_quantiles(queue))


def mixed_quantiles(queue: Queue) -> Certainty:
    """Return what batches and visits that differ do to how quantiles are known."""
    name = queue.resource
    if queue.has_batches:
        return _batches_known(queue)
    if not queue.is_told_as_uniform:
        return upper_bound(f"all visits to `{name}` count as the longest")
    return EXACT


def _batches_known(queue: Queue) -> Certainty:
    """Return what batches do to how quantiles are known.

    Of fixed services, and of exponential ones, the law of a whole batch is known. Of others two
    moments are, which bound no quantile.
    """
    reason = f"copies that leave together at `{queue.resource}` wait for the whole batch"
    if queue.variation in (ZERO, ONE):
        return upper_bound(reason)
    return approximation(f"{reason}, known by two moments")


def _of_some_length(service: Formula, longest: Formula) -> Formula:
    """Return a service time by which can be divided: what takes no time waits, too.

    Where the population may leave nothing of it, a billionth of the longest stands for nothing.
    """
    may_vanish = service is not longest and any(s.is_population for s in service.symbols)
    return maximum(service, longest * _NEXT_TO_NOTHING) if may_vanish else service
