"""Processor sharing: all who are there are served at once, each equally fast.

The mean is exact for any law of the service times and any mix of visits (Sakata, Noguchi and
Oizumi 1969; with several servers, of which each visit has one at most, as a symmetric queue, Kelly
1979): a visit takes as many times its own service as it would on average find shares. What comes in
batches is exact for exponential service (Kleinrock, Muntz and Rodemich 1971).

A quantile is that of a Weibull law with the mean and the variance of the time from arrival to
departure, which for one server is (2 + load)/(2 - load) mean squares (Coffman, Muntz and Trotter
1970). In sums it is an exponential time and, for some visits, a second one, with the same mean and
variance and about the same share of very short times, of which a gamma law has far too many. Both
are held against the law itself in tests/queueing/test_sharing.py.

Arrivals that are not random count by two moments. As many are there as if all were served in the
order of arrival, for the next to leave is any of them: so the mean is longer by as much as there,
and of exponential services who comes finds a geometric number. At speeds the numbers are a chain
whose weight grows, with a traffic a and a speed v, (c^2 + 1) a/((c^2 - 1) a + 2 v) times from one
number to the next, and 2 a/((c^2 - 1) a + 2 v) times from none to one: a diffusion with the drift
and the variance of that number, which is the chain itself where c^2 is 1, and the approximation
for one speed where all are alike.
"""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

from msgspec.structs import replace

from qps.compiler.lower.queues.stage_law import StageLaw
from qps.compiler.lower.queues.station_queue import DisciplineLaw, Queue
from qps.compiler.lower.queues.visits import QueueVisit, mean_service
from qps.compiler.quantities.certainty import Certainty
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

_MOST_POWERS = 32
"""Speeds up to which weights are powers of the load: of more, they pass what a float holds."""
_LEAST = number(Fraction(1, 10**9))
_TINY = number(Fraction(1, 10**40))
_BEND = number(Fraction(83, 1000))
_OFTEN, _TIMES_AS_OFTEN = number(Fraction(11, 20)), number(Fraction(19, 50))
_GAMMA = [number(Fraction(one)) for one in ("0.422784", "0.322467", "-0.067353")]
"""Taylor's series of ln Gamma(2 + x)."""


class SharingLaw(DisciplineLaw, frozen=True):
    """Equal servers that all who are there share."""

    is_better_alone: ClassVar[bool] = True
    counts_stated_arrivals: ClassVar[bool] = True
    theorem: ClassVar[str] = "processor-sharing"
    """By which the mean is exact."""

    def wait(self, queue: Queue, own: QueueVisit) -> Formula:
        """Return by how much a visit takes longer than its service."""
        delay = sharing_delay(queue) * queue.times_random
        return apply("waiting", own.service * delay, queue.load)

    def quantile(self, queue: Queue, own: QueueVisit, level: Fraction | Formula) -> Formula:
        """Return the quantile of the time from arrival to departure less the mean service."""
        mean = own.service + self.wait(queue, own)
        return mean * _weibull(self._spread(queue, own), level) - own.service

    def later_than_service(self, queue: Queue, own: QueueVisit, seconds: Formula) -> Formula | None:
        """Return the share that takes longer from arrival to departure than its mean service."""
        mean = own.service + self.wait(queue, own)
        return _weibull_tail(self._spread(queue, own), (seconds + own.service) / mean)

    def stage(self, queue: Queue, own: QueueVisit) -> StageLaw | None:
        """Return the time from arrival to departure, exponential, and longer for some."""
        mean = own.service + self.wait(queue, own)
        return replace(_longer_for_some(mean, self._spread(queue, own)), counted=own.service)

    def waiting_law(self, queue: Queue, own: QueueVisit) -> tuple[Formula, StageLaw] | None:
        """Return who shares at all, and how much longer than their services these take."""
        if queue.has_batches:
            return None
        share, wait = share_with_others(queue, own), self.wait(queue, own)
        among = apply("mean", wait, share)
        square = square_of_wait(own, wait, self._spread(queue, own))
        return share, _longer_for_some(among, apply("mean", square / share, among**2) - 1)

    def _spread(self, queue: Queue, own: QueueVisit) -> Formula:
        """Return the variance of that time, in mean squares."""
        if queue.arrivals is ONE or queue.servers is not ONE:
            return sharing_variance(queue, own)
        delay = sharing_delay(queue) * queue.times_random
        spare = maximum(ZERO, 1 - queue.load)
        return 1 + 2 * delay / maximum(_LEAST, delay + spare) / _changing(queue, own)

    def keeps_randomness(self, queue: Queue) -> bool:
        """What leaves is random, however service times vary: the queue is quasi-reversible."""
        return not queue.has_batches

    def mean_known(self, queue: Queue) -> Certainty:
        """Copies that come together are taken as exponential ones."""
        method = "batch-sharing" if queue.has_batches else self.theorem
        return known_by(method, queue.resource)

    def quantiles_known(self, queue: Queue) -> Certainty:
        """They are of a law that has two moments of the true one."""
        is_plain = queue.is_modeled_as_uniform and not queue.has_batches
        method = "sharing-percentiles" if is_plain else "sharing-with-a-constant-number"
        return _of_random(known_by(method, queue.resource), queue)

    def waits_known(self, queue: Queue) -> Certainty:
        """Their laws have two moments of the true ones, or about these."""
        return known_by("sharing-waits", queue.resource)


class SharingAtSpeeds(SharingLaw, frozen=True):
    """A server that all who are there share, faster or slower by how many they are.

    The numbers of visits are a chain of births and deaths, whatever the law of the services.
    """

    theorem: ClassVar[str] = "load-dependent-sharing"

    def wait(self, queue: Queue, own: QueueVisit) -> Formula:
        """Return by how much a visit takes longer than its service at speed 1."""
        chain = _Chain(queue)
        return own.service * (chain.longer - 1)

    def quantile(self, queue: Queue, own: QueueVisit, level: Fraction | Formula) -> Formula:
        """Return the quantile of the time from arrival to departure less the mean service."""
        return own.service * (_Chain(queue).longer * _weibull(self._spread(queue, own), level) - 1)

    def _spread(self, queue: Queue, own: QueueVisit) -> Formula:
        """Return the same of a server that is faster by how many are there."""
        return 1 + 2 * (_Chain(queue).square - 1) / _changing(queue, own)

    def waiting_law(self, queue: Queue, own: QueueVisit) -> tuple[Formula, StageLaw] | None:  # noqa: ARG002
        """Return None: who is alone is not served as fast as others."""
        return None

    def quantiles_known(self, queue: Queue) -> Certainty:
        """They are of a law that has about two moments of the true one."""
        return _of_random(known_by("sharing-at-speeds", queue.resource), queue)


def _of_random(known: Certainty, queue: Queue) -> Certainty:
    """Return how a law is known; the error of uneven arrivals was measured with that of the law."""
    is_within = queue.arrivals is not ONE and queue.is_modeled_as_uniform
    return replace(known, error=0.0) if is_within else known


class _Chain:
    """How many are there: weights up to the last speed, from where on they are geometric.

    Weights but the first are over the traffic, so that all is defined where there is none.
    """

    def __init__(self, queue: Queue) -> None:
        self.last = queue.speeds[-1]
        self._uneven = _shared_unevenness(queue)
        self.load = queue.load
        if self._uneven is not ONE:
            self.load = self._step(queue.load * self.last, self.last)
        self.spare = maximum(ZERO, 1 - self.load)
        many = number(len(queue.speeds))
        beyond = (many * self.spare) ** 2 + 2 * many * self.load * self.spare
        self._beyond = (beyond + self.load * (1 + self.load)) / self.last
        if len(queue.speeds) > _MOST_POWERS:
            self._from_behind(queue)
        else:
            self._in_powers(queue)

    def _step(self, traffic: Formula, speed: Formula) -> Formula:
        """Return how many times as often there is one more, who makes it a speed."""
        if self._uneven is ONE:
            return traffic / speed
        return traffic * (1 + self._uneven) / self._slowed(traffic, speed)

    def _first(self, traffic: Formula, speed: Formula) -> Formula:
        """Return how often there is one, over the traffic."""
        return ONE / speed if self._uneven is ONE else 2 / self._slowed(traffic, speed)

    def _slowed(self, traffic: Formula, speed: Formula) -> Formula:
        """Return what a traffic is over: never less than what even arrivals leave of the speed."""
        uneven = self._uneven - 1
        return maximum(uneven * traffic, minimum(ZERO, uneven) * speed) + 2 * speed

    def _in_powers(self, queue: Queue) -> None:
        """Sum the weights as they are: a rational function of the load."""
        traffic = queue.load * self.last
        weights = [self._first(traffic, queue.speeds[0])]
        for speed in queue.speeds[1:]:
            weights.append(weights[-1] * self._step(traffic, speed))
        *before, self.end = weights
        self.own = total(self.spare * one * n for n, one in enumerate(before, 1))
        self.own = self.own + self.end * len(weights)
        self.all = self.spare * (1 + traffic * total(before)) + traffic * self.end
        stretched = total(
            weight * speed * (n / speed) ** 2
            for n, (weight, speed) in enumerate(zip(before, queue.speeds, strict=False), 1)
        )
        self.second = self.spare**3 * stretched + self.end * self._beyond

    def _from_behind(self, queue: Queue) -> None:
        """Sum the weights as shares of all, each sum over that of the next: no power overflows.

        Of each number, sums are over its own weight: the sum of all weights from there on times the
        spare share of the server, the same of numbers times weights, and the squares.
        """
        traffic = minimum(ONE, queue.load) * self.last
        sums, numbers, squares = [ONE], number(len(queue.speeds)), ZERO
        for count in range(len(queue.speeds) - 1, 0, -1):
            step = self._step(traffic, queue.speeds[count])
            sums.append(self.spare + step * sums[-1])
            numbers = count * self.spare + step * numbers
            squares = count**2 / queue.speeds[count - 1] + step * squares
        first = self._first(traffic, queue.speeds[0])
        every = self.spare + traffic * first * sums[-1]
        self.all = ONE
        self.own = apply("mean", first * numbers, every)
        end = apply("mean", first * sums[-1], every)
        for speed, before, behind in zip(reversed(queue.speeds[1:]), sums[1:], sums, strict=False):
            end = end * apply("mean", self._step(traffic, speed) * behind, before)
        self.end = end
        self.second = apply("mean", self.spare**3 * first * squares, every) + end * self._beyond

    @property
    def longer(self) -> Formula:
        """How many times its service a visit takes on average."""
        return self.own / self.all + apply("waiting", self.end * self.load / self.all, self.load)

    @property
    def square(self) -> Formula:
        """The mean square of that where nobody comes or goes meanwhile, in squares of the mean."""
        first = self.spare * self.own + self.end * self.load
        found = self.second * self.all / first**2
        return found if self._uneven is ONE else maximum(ONE, found)


def _shared_unevenness(queue: Queue) -> Formula:
    """Return c^2 of arrivals that, of exponential services, would find as many beyond the knee."""
    if queue.arrivals is ONE or queue.unevenness is ONE:
        return queue.arrivals
    served = queue.unevenness
    return maximum(ZERO, 2 * (queue.arrivals + served) / (1 + served) - 1)


def share_with_others(queue: Queue, own: QueueVisit, most: Formula = ONE) -> Formula:
    """Return which share of the visits shares at all, of which so many find others at `most`.

    Alone is who finds a server free and, while he is served, no more come than there are servers:
    of one server for any of the exponential services in a mix.
    """
    often = minimum(most, queue.share_waiting)
    free, spare = 1 - often, queue.servers * (1 - minimum(ONE, queue.load))
    sized = apply("mean", own.service, mean_service(queue.visits))
    return maximum(_LEAST, 1 - free**2 / maximum(_LEAST, free + sized * often * spare))


def square_of_wait(own: QueueVisit, wait: Formula, spread: Formula) -> Formula:
    """Return the mean square of how much longer than its service a visit takes.

    The time of a service and how many times as long it takes are uncorrelated; of both together
    the variance is `spread`, in mean squares.
    """
    stay = own.service + wait
    return stay**2 * spread + own.service * (own.service - 2 * stay) + wait**2


def _longer_for_some(mean: Formula, variance: Formula) -> StageLaw:
    """Return an exponential time and, for some visits, a second one, with a mean and a variance.

    The variance is in mean squares. Which `part` of the mean the second time is follows from how
    probable very short times are, as it is for a constant number of visits at one server.
    """
    wide = maximum(ZERO, variance - 1) / 2
    below = minimum(ONE, wide)
    rare = 1 - _OFTEN * below + _TIMES_AS_OFTEN * below**2
    part, longer = below * rare, 1 + maximum(ONE, wide) / rare
    return StageLaw(waits=part / longer, work=mean * longer, service=mean * (1 - part))


def sharing_delay(queue: Queue) -> Formula:
    """Return by how many times its service a visit takes longer, times the load that is left."""
    found = queue.share_waiting / queue.servers
    if queue.has_batches:
        found = found + _other_visits(queue) / 2 / queue.servers
    return found


def _other_visits(queue: Queue) -> Formula:
    """Return how many others come together with one, as the mean over all who come."""
    works = [visit.rate * visit.service for visit in queue.visits]
    others = [work * visit.other_visits for work, visit in zip(works, queue.visits, strict=True)]
    return apply("mean", total(others), total(works))


def sharing_variance(queue: Queue, own: QueueVisit | None = None) -> Formula:
    """Return the variance of the time from arrival to departure, in mean squares."""
    load = minimum(ONE, queue.load)
    waiting, spare = minimum(ONE, queue.share_waiting), queue.servers * (1 - load)
    spread = 2 * waiting * (1 + load - waiting) / (spare + waiting) ** 2
    if queue.servers is ONE:
        spread = 2 * load
    return 1 + spread / _changing(queue, own)


def _changing(queue: Queue, own: QueueVisit | None) -> Formula:
    """Return by what part of it a variance is less because those who are there change.

    A short visit meets all along as many as it finds, a long one the mean of them: by Coffman,
    Muntz and Trotter with the time that is left of the services that are found.
    """
    spare = 1 - minimum(ONE, queue.load)
    if queue.is_modeled_as_uniform:
        return 1 + spare
    return ONE if own is None else 1 + spare * apply("mean", own.service, queue.residual)


def _weibull(variance: Formula, level: Fraction | Formula) -> Formula:
    """Return the quantile of a Weibull law of mean 1, its variance from 1 to 3."""
    known = level if isinstance(level, Formula) else number(level)
    power, gamma = _weibull_shape(variance)
    late = maximum(_LEAST, -apply("ln", 1 - known))
    return apply("exp", power * apply("ln", late) - gamma)


def _weibull_tail(variance: Formula, times: Formula) -> Formula:
    """Return the share of the same law that exceeds so many times its mean."""
    power, gamma = _weibull_shape(variance)
    late = apply("exp", (apply("ln", maximum(_TINY, times)) + gamma) / power)
    return apply("exp", -late)


def _weibull_shape(variance: Formula) -> tuple[Formula, Formula]:
    """Return 1/shape of a Weibull law of mean 1, and minus the logarithm of its scale."""
    wide = apply("ln", (1 + variance) / 2)
    power = wide - _BEND * wide**2
    return 1 + power, total(one * power**at for at, one in enumerate(_GAMMA, 1))
