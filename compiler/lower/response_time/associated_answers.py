"""The first k of n answers whose times are late together: as order statistics of fewer calls.

Requests come at the same times to all queues, so that the waits of these are correlated. With a
common normal factor of correlation c (a Gaussian copula) the level of the k-th shortest time, on
the scale of a normal law, has about the mean sqrt(1 - c) m and the variance c + (1 - c) v, where m
and v are those of independent times (David and Nagaraja 2003, section 5.4). So the level of a time
that answers come at has a law of that mean and variance: it is taken as beta distributed, as it is
of independent times, with other numbers of answers and calls left. Moments of a level, with
h = mean/sqrt(1 + variance) and r = variance/(1 + variance), are

    p = Phi(h),    V = phi(h)^2 (r + r^2 h^2/2 + r^3 (h^2 - 1)^2/6 + ...),

by the tetrachoric series.

Waits at two queues to which all requests go are correlated by arrivals alone: where c^2 is the
squared variation of services, by 1/(1 + c^2) where services are fixed, and else by less, the more
the less load there is: by 1 - c^2/(1 + c^2) (1 - load/2) of that. With exponential services that is
1/4 where hardly anybody waits, as can be worked out, and 3/8 where queues are full, which fits
simulations (`fitted`: the reflected Brownian motion of two such queues has no simple law).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import pi

from msgspec import Struct

from qps.compiler.lower.queues.station_queue import Queue
from qps.compiler.lower.response_time.response_stages import FanOutStage, LatencyPart
from qps.compiler.quantities.certainty import Certainty
from qps.compiler.quantities.disciplines import Service
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

_LEAST = number(Fraction(1, 10**12))
_ENDLESS = number(10**9)
"""Longer waits, in s, are correlated as these are: those of full queues have no end."""
_OVER_TWO_PI = number(Fraction(1 / (2 * pi)))
_CORRELATED = "fan-out-correlated"
_MOST_CALLS = 100
"""Errors were measured up to so many calls."""


class AnswerOrder(Struct, frozen=True, kw_only=True):
    """As if so many of independent calls were waited for, and so many more were made: `spare`."""

    required: Formula
    spare: Formula
    method: str
    is_measured: bool = True

    def known(self, nodes: Sequence[str]) -> Certainty:
        """Return how the order of calls to some nodes is known."""
        return known_by(self.method, nodes, is_measured=self.is_measured)

    @property
    def is_one(self) -> bool:
        """True where it is the time of one call."""
        return self.required is ONE and self.spare is ZERO


def order_of(fan_out: FanOutStage, parts: Sequence[LatencyPart], depth: int) -> AnswerOrder:
    """Return the order of calls at once, in so many others, of which each passes these stages."""
    required, waits = fan_out.required, [part for part in parts if part.queue is not None]
    if fan_out.answers is None:
        is_sure = all(call.times is ONE for part in parts for call in part.calls[depth:])
        if is_sure and _is_in_step(fan_out, waits):
            required = ONE
        return AnswerOrder(required=required, spare=ZERO, method=fan_out.method)
    if not waits or not all(_is_in_turn(part.queue) for part in waits):
        return AnswerOrder(required=required, spare=fan_out.spare, method=fan_out.method)
    correlation = _correlation(fan_out, waits)
    answers, spare = as_fewer(fan_out.answers, fan_out.count, correlation)
    is_measured = fan_out.most <= _MOST_CALLS
    return AnswerOrder(required=answers, spare=spare, method=_CORRELATED, is_measured=is_measured)


def independent_batches(fan_out: FanOutStage, part: LatencyPart) -> Formula:
    """Return as how many independent machines those are that all calls at once are divided among.

    Requests come at the same times to all of them,
    so that all have much to do at the same times; each has its own services. Batches of n services
    vary as much as one whose squared variation is that of one of them over n. Where each machine
    does the same fixed work for all requests, and nothing else, they are as one.
    """
    queue, own = part.queue, part.visit
    assert queue is not None
    assert own is not None
    shared = apply("mean", own.rate, total(one.rate for one in queue.visits))
    if (
        queue.variation is ZERO
        and shared is ONE
        and queue.background is ZERO
        and own.others is None
    ):
        return ONE
    size = 1 + own.other_visits
    uneven = queue.variation**2 / size + _unequal(fan_out)
    share = maximum(_LEAST, minimum(ONE, queue.share_waiting))
    ahead = own.other_work / (2 * queue.servers)
    waiting = minimum(_ENDLESS, maximum(ZERO, part.per_visit - ahead)) ** 2 * (2 / share - 1)
    alike = _alike(uneven, queue) * shared
    varied = waiting + uneven * (size * own.service / queue.servers) ** 2
    correlation = minimum(ONE, waiting * alike / maximum(_LEAST**3, varied))
    return as_fewer_longest(fan_out.batches, correlation)


def _unequal(fan_out: FanOutStage) -> Formula:
    """Return the squared variation of the size of batches: some have one call more than others."""
    mean = fan_out.count / fan_out.batches
    more = mean - apply("floor", mean)
    return more * (1 - more) / mean**2


def _alike(uneven: Formula, queue: Queue) -> Formula:
    """Return how waits at two queues are correlated to which all go, of services that vary so."""
    load = minimum(ONE, queue.load)
    return (1 - uneven / (1 + uneven) * (1 - load / 2)) / (1 + uneven)


def as_fewer(answers: Formula, count: Formula, correlation: Formula) -> tuple[Formula, Formula]:
    """Return how many independent answers, and calls besides, have the law of correlated ones."""
    level, variance = _level(answers, count, correlation)
    above = level**2
    moment = _of_part(variance / (1 + variance), above) * _density_squared(above)
    mean = apply("normal_tail", -level)
    many = mean * (1 - mean) / maximum(_LEAST, moment) - 1
    return maximum(ONE, mean * many), maximum(ZERO, (1 - mean) * many - 1)


def as_fewer_longest(count: Formula, correlation: Formula) -> Formula:
    """Return of how many independent times the longest has the mean level of correlated ones."""
    level, _ = _level(count, count, correlation)
    return maximum(ONE, apply("normal_tail", -level) / apply("normal_tail", level))


def _level(answers: Formula, count: Formula, correlation: Formula) -> tuple[Formula, Formula]:
    """Return the h of the level of an answer in order, on the scale of a normal law.

    And the variance of that level.
    """
    share = answers / (count + 1)
    alone = apply("normal_quantile", share)
    squared = alone**2
    spread = share * (1 - share) / (count + 2) / _density_squared(squared)
    part = 2 * spread / (1 + square_root(1 + 2 * spread * squared))
    part -= (_of_part(part, squared) - spread) / (1 + part * squared)  # a step of Newton's
    varies = part / (1 - minimum(1 - _LEAST, part))
    variance = correlation + (1 - correlation) * varies
    return alone * square_root((1 - correlation) * (1 + varies) / (1 + variance)), variance


def _of_part(part: Formula, squared: Formula) -> Formula:
    """Return the tetrachoric series, of which three terms are enough up to a part of a half."""
    return part + part**2 * squared / 2 + part**3 * (squared - 1) ** 2 / 6


def _density_squared(squared: Formula) -> Formula:
    """Return the square of the density of the normal law, at a number of that square."""
    return apply("exp", -squared) * _OVER_TWO_PI


def _is_in_turn(queue: Queue | None) -> bool:
    return queue is not None and queue.traits.service is Service.IN_TURN and not queue.traits.loses


def _correlation(fan_out: FanOutStage, waits: Sequence[LatencyPart]) -> Formula:
    """Return how the times of two calls are correlated: by the waits of both."""
    together, varied = [], []
    for part in waits:
        queue, visit = part.queue, part.visit
        assert queue is not None
        assert visit is not None
        share = maximum(_LEAST, minimum(ONE, queue.share_waiting))
        waiting = minimum(_ENDLESS, part.per_visit) ** 2 * (2 / share - 1)
        uneven = queue.variation**2
        alike = _alike(uneven, queue)
        others = maximum(_LEAST, visit.place.count - 1)
        met = minimum(ONE, maximum(ZERO, fan_out.count - 1) / others)
        own = apply("mean", visit.rate, total(one.rate for one in queue.visits))
        together.append(waiting * alike * met * own)
        varied.append(waiting + uneven * visit.service**2)
    return minimum(ONE, total(together) / maximum(_LEAST**3, total(varied)))


def _is_in_step(fan_out: FanOutStage, waits: Sequence[LatencyPart]) -> bool:
    """Return whether all calls take equally long: each machine gets one, of the same fixed work."""
    if not fan_out.is_each or len(waits) != 1:
        return False
    queue = waits[0].queue
    return (
        queue is not None
        and _is_in_turn(queue)
        and queue.variation is ZERO
        and queue.background is ZERO
        and len(queue.visits) == 1
        and queue.visits[0].batch is ONE
    )
