"""The mean and the variance of the time of a branch: of its stages, calls by chance, and forks.

Stages are taken to be independent. What is called `t` times is passed as often as the whole part of
that says, and once more by the chance that is left; of alternatives one is passed. A fork within a
branch has the mean of the slowest of its own branches, each gamma distributed, and the largest of
their variances: that of the larger of two exponential times is 1.25 times that of one.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from fractions import Fraction
from itertools import combinations, groupby

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler.lower.queues.stage_law import StageLaw
from qps.compiler.lower.queues.station_queue import Queue
from qps.compiler.lower.queues.visits import longest
from qps.compiler.lower.response_time.response_stages import CallFactor, LatencyPart, every
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

_LEAST = number(Fraction(1, 10**12))


class Moments(Struct, frozen=True, kw_only=True):
    """What is `fixed` of a time, the `mean` and the `variance` of the rest, and its law.

    It `returns` where it comes to a queue again; each time is taken to be independent of others.
    """

    fixed: Formula = ZERO
    mean: Formula = ZERO
    variance: Formula = ZERO
    is_guessed: bool = False
    is_exponential: bool = True
    returns: bool = False

    @property
    def whole(self) -> Formula:
        """The mean of all of it."""
        return self.fixed + self.mean

    @property
    def uneven(self) -> Formula:
        """The squared coefficient of variation of the rest."""
        return ONE if self.is_exponential else self.variance / maximum(self.mean, _LEAST) ** 2

    def of_call(self, call: CallFactor) -> Moments:
        """Return the moments of what a call takes each time that its caller is reached."""
        times = call.times
        if times is ONE:
            return self
        if call.is_whole:
            return replace(
                self,
                fixed=self.fixed * times,
                mean=self.mean * times,
                variance=self.variance * times,
                returns=True,
            )
        sure = ZERO if call.is_share else apply("floor", times)
        chance = times - sure
        return Moments(
            fixed=self.fixed * sure,
            mean=self.fixed * chance + self.mean * times,
            variance=self.variance * times + chance * (1 - chance) * self.whole**2,
            is_guessed=True,
            is_exponential=False,
            returns=self.returns or not call.is_share,
        )


def moments_of(parts: Sequence[LatencyPart], depth: int) -> Moments:
    """Return the moments of a branch, whose call stands in `depth` others."""
    found = _positive(_line(parts, depth))
    queues = [part.queue.resource for part in every(parts) if part.queue is not None]
    return replace(
        found,
        returns=found.returns or len(set(queues)) < len(queues),
        is_exponential=found.is_exponential and len(queues) == 1 and not found.returns,
    )


def slowest_by_moments(branches: Sequence[Moments]) -> Formula:
    """Return the mean of the slowest of independent branches, each fixed but for a gamma law."""
    operands: list[Formula] = []
    for one in branches:
        varied = (ZERO, ZERO) if one.mean is ZERO else (one.mean, one.uneven)
        operands += [one.fixed, *varied]
    return apply("slowest", *operands)


def has_exponential_services(queue: Queue) -> bool:
    """Return whether services are exponential and alike: so is the time at one server."""
    is_plain = queue.variation is ONE and queue.is_modeled_as_uniform and not queue.has_batches
    return is_plain and queue.models_servers


def _line(parts: Sequence[LatencyPart], depth: int) -> Moments:
    """Return the moments of stages one after the other, the calls of which begin at a depth."""
    found: list[Moments] = []
    for draw, group in groupby(parts, key=lambda part: _draw(part, depth)):
        inside = list(group)
        if draw is None:
            found += [_stage(part) for part in inside]
        elif inside[0].calls[depth].choice is None:
            found.append(_line(inside, depth + 1).of_call(inside[0].calls[depth]))
        else:
            found.append(_one_of(inside, depth))
    return _sum(found)


def _draw(part: LatencyPart, depth: int) -> Hashable:
    """Return what decides whether a stage is passed, of the calls from a depth on."""
    if len(part.calls) <= depth:
        return None
    call = part.calls[depth]
    return ("call", call.number) if call.choice is None else ("choice", call.choice)


def _one_of(parts: Sequence[LatencyPart], depth: int) -> Moments:
    """Return the moments of alternatives, of which an item may take none."""
    each: list[tuple[Formula, Moments]] = []
    for _, group in groupby(parts, key=lambda part: part.calls[depth].number):
        inside = list(group)
        each.append((inside[0].calls[depth].times, _line(inside, depth + 1)))
    apart = [
        p * q * (one.whole - other.whole) ** 2 for (p, one), (q, other) in combinations(each, 2)
    ]
    left = maximum(ZERO, 1 - total(chance for chance, _ in each))
    apart += [left * chance * one.whole**2 for chance, one in each]
    return Moments(
        mean=total(chance * one.whole for chance, one in each),
        variance=total((*(chance * one.variance for chance, one in each), *apart)),
        is_guessed=True,
        is_exponential=False,
        returns=any(one.returns for _, one in each),
    )


def _sum(found: Iterable[Moments]) -> Moments:
    each = list(found)
    return Moments(
        fixed=total(one.fixed for one in each),
        mean=total(one.mean for one in each),
        variance=total(one.variance for one in each),
        is_guessed=any(one.is_guessed for one in each),
        is_exponential=all(one.is_exponential for one in each),
        returns=any(one.returns for one in each),
    )


def _stage(part: LatencyPart) -> Moments:
    if part.branches:
        return _fork(part)
    if part.queue is None or part.visit is None:
        return Moments(fixed=part.per_visit)
    return _wait(part, part.queue)


def _fork(part: LatencyPart) -> Moments:
    """Return the moments of calls together within a branch."""
    inside = [_positive(_line(branch, len(part.calls))) for branch in part.branches]
    fixed = longest([one.fixed for one in inside])
    times = part.calls[-1].reached if part.calls else ONE
    if part.fan_out is None:
        mean = slowest_by_moments([replace(one, is_exponential=False) for one in inside])
    else:
        mean = part.value if times is ONE else part.value / times
    return Moments(
        fixed=fixed,
        mean=maximum(ZERO, mean - fixed),
        variance=longest([one.variance for one in inside]),
        is_guessed=True,
        is_exponential=False,
        returns=any(one.returns for one in inside),
    )


def _positive(found: Moments) -> Moments:
    """Return moments of which what is fixed is that of no service that is counted apart."""
    fixed = found.fixed
    return replace(found, fixed=fixed if fixed.is_constant else maximum(ZERO, fixed))


def _wait(part: LatencyPart, queue: Queue) -> Moments:
    """Return the moments of a wait, with those of the service, whose mean is a stage by itself."""
    assert part.visit is not None
    stage = None if queue.bursts is not None else queue.stage(part.visit)
    if stage is None:  # its law is no sum of stages: as if wait and service were exponential
        service = part.visit.service
        mean = part.per_visit + service
        return Moments(
            fixed=-service, mean=mean, variance=mean**2, is_guessed=True, is_exponential=True
        )
    is_exponential = has_exponential_services(queue)
    return Moments(
        fixed=-stage.counted,
        mean=part.per_visit + stage.counted,
        variance=_variance(stage),
        is_guessed=not is_exponential or queue.arrivals is not ONE,
        is_exponential=is_exponential and queue.servers is ONE,
    )


def _variance(stage: StageLaw) -> Formula:
    """Return the variance of a wait, a geometric sum of what is left of services, and a service."""
    spread, spare = stage.spread, maximum(_LEAST, 1 - stage.load)
    left = stage.work / stage.servers
    rest = left * (1 + spread) / 2
    waits, mean = minimum(ONE, stage.waits), rest / spare
    own = left**2 * (1 + spread) * (1 + 5 * spread) / 12 / spare + rest * mean * stage.load / spare
    served = stage.variation * stage.service**2
    if stage.then is not None:
        share, behind, variation = stage.then
        served += share * behind**2 * (1 + variation - share)
    return waits * own + waits * (1 - waits) * mean**2 + served
