"""How long one waits for several servers where services are short or long by chance.

Two moments do not determine that wait (Gupta, Harchol-Balter, Dai and Zwart 2010): the long
services that are under way leave the short ones more or fewer servers, and where many servers are
left, seldom too few. So services are taken as of two lengths, of which a share makes the same first
three moments. Of those who wait, about as many as would wait for long services on what the short
ones leave of the servers wait for the end of long services, and the others for that of short ones;
where lengths are less far apart, some more wait for long ones. Where all servers are nearly full
that is the wait of Lee and Longton (1959); of one server it is that of Pollaczek and Khinchine.

For exponential services of two lengths 5 to 500 times apart in the loads, on 1 to 100 servers,
it was 0.84 to 1.27 times the wait that follows from the chain, 96 % of it 0.9 to 1.1 times; for
fixed ones it was 1.01 to 1.09 times a simulated wait. The laws are operations of formulas
(`engine/queueing/unlike_laws.py`), which states how they move with the load.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from msgspec import Struct

from qps.compiler.lower.queues.pool_holding import weighted_mean
from qps.compiler.lower.queues.stage_law import StageLaw, WorkPart
from qps.engine.expressions.cancellation import canceled
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
from qps.engine.expressions.memo import memoized

_LEAST = number(Fraction(1, 10**12))
_NO_TIME = number(Fraction(1, 10**40))
_MOST_VARIED = number(Fraction(13, 5))
"""The mean square over the square of the mean, of which a gamma law is left: below 8/3."""


class ServiceLengths(Struct, frozen=True, kw_only=True):
    """Services of two lengths, of a `mean`: both have the moments that are stated.

    Their variance is `between` squares of the mean, and their `third` central moment so many cubes
    of it. Around each length services vary, by a variance of `varied` squares of the length.
    """

    mean: Formula
    between: Formula
    third: Formula
    varied: Formula


class ServiceMoments(Struct, frozen=True, kw_only=True):
    """The `mean` of services of one kind, and how they vary.

    They are short or long by chance, with a variance of `between` and a `third` central moment, and
    around that they vary by a variance `within`.
    """

    mean: Formula
    between: Formula = ZERO
    third: Formula = ZERO
    within: Formula = ZERO


def lengths_of(
    kinds: Sequence[ServiceMoments], rates: Sequence[Formula], varied: Formula | None = None
) -> ServiceLengths | None:
    """Return the two lengths of services of some kinds, each so often; None where all are alike.

    All vary around their lengths as `varied` says, where that is known.
    """
    times = [one.mean for one in kinds]
    mean = maximum(_NO_TIME, weighted_mean(times, rates))
    between = weighted_mean([one.between for one in kinds], rates)
    if len(set(times)) > 1:
        between += weighted_mean([(time - mean) ** 2 for time in times], rates)
    if between is ZERO:
        return None
    thirds = [
        one.third + 3 * (one.mean - mean) * one.between + (one.mean - mean) ** 3 for one in kinds
    ]
    if varied is None:
        within = weighted_mean([one.within for one in kinds], rates)
        varied = within / (between + mean**2)
    return ServiceLengths(
        mean=_without_population(mean),
        between=_without_population(between / mean**2),
        third=_without_population(weighted_mean(thirds, rates) / mean**3),
        varied=_without_population(varied),
    )


@memoized
def _without_population(value: Formula) -> Formula:
    """Return what has the same values; where each rate is one for each user it stays as it is."""
    for one in value.symbols:
        if one.is_population:
            return canceled(value, one)
    return value


def unlike_ratio(of: ServiceLengths, servers: Formula, load: Formula) -> Formula:
    """Return how many times as long as for exponential services one waits, at a load below 1.

    Of lengths that are hardly apart two moments determine it: it is `wait_ratio`.
    """
    return apply("unlike_ratio", of.between, of.third, of.varied, servers, load)


class TwoTimes(Struct, frozen=True, kw_only=True):
    """A wait of those who have one: exponential, and for a share with another mean."""

    short: Formula
    long: Formula
    share: Formula

    def lasting(self, times: Formula) -> TwoTimes:
        """Return the same, so many times as long."""
        return TwoTimes(short=self.short * times, long=self.long * times, share=self.share)


def two_times(alike: Formula, ratio: Formula, variation: Formula) -> TwoTimes:
    """Return a wait that is so many times as long as for exponential services, `alike`.

    Some find many long services, and wait as all do where all servers are nearly full: services
    have the squared `variation`. The others wait as for exponential services.
    """
    full = (1 + variation) / 2
    share = maximum(ZERO, minimum(ONE, (ratio - 1) / maximum(_LEAST, full - 1)))
    return TwoTimes(
        short=alike * minimum(ONE, ratio), long=alike * maximum(full, ratio), share=share
    )


class UnlikeWait(Struct, frozen=True, kw_only=True):
    """How long those wait who do: the `mean`, and the two times that it lasts."""

    mean: Formula
    lasts: TwoTimes

    def stage(self, waits: Formula) -> StageLaw:
        """Return the wait of all, of which a share `waits`, without any service.

        Where it is waited again, it is what is left of a gamma distributed time of the same mean
        and variance; that varies less where long waits are very few.
        """
        lasts = self.lasts
        parts = ((1 - lasts.share, lasts.short), (lasts.share, lasts.long))
        squares = 2 * total(share * time**2 for share, time in parts)
        varies = minimum(_MOST_VARIED, maximum(2 * ONE, apply("mean", squares, self.mean**2)))
        spread = (3 * varies - 4) / (8 - 3 * varies)
        return StageLaw(
            waits=waits,
            work=2 * self.mean / (1 + spread),
            spread=spread,
            parts=tuple(
                WorkPart(
                    found=waits * share, load=ZERO, work=time, spread=ONE, found_together=waits
                )
                for share, time in parts
            ),
        )


def unlike_wait(of: ServiceLengths, servers: Formula, load: Formula) -> UnlikeWait:
    """Return how long those wait who do, of services of two lengths, first come first served.

    Of exponential services the wait for several servers falls off as that for one which is as fast
    as all of them (Takahashi 1981): where all are busy long enough nothing else counts. So the two
    times are those of Pollaczek and Khinchine, of what is left of either length as if it were
    exponential, and as many wait for the long one as the mean says. From load 1 on they have no
    end.
    """
    each, left = of.mean / servers, (1 + of.varied) / 2
    ratio = unlike_ratio(of, servers, load)
    mean = apply("waiting", each * ratio, load)
    near, far = (
        each * left * lasts
        for lasts in (
            apply("unlike_short", of.between, of.third, load),
            apply("unlike_long", of.between, of.third, load),
        )
    )
    share = apply("unlike_share", of.between, of.third, ratio / left, load)
    times = TwoTimes(short=minimum(mean, near), long=maximum(mean, far), share=share)
    return UnlikeWait(mean=mean, lasts=times)
