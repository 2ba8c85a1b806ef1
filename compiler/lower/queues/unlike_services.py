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
fixed ones it was 1.01 to 1.09 times a simulated wait.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from msgspec import Struct

from qps.compiler.lower.queues.pool_holding import weighted_mean
from qps.compiler.lower.queues.service_variation import wait_ratio
from qps.compiler.lower.queues.stage_law import StageLaw, WorkPart
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
_NO_TIME = number(Fraction(1, 10**40))
_NEARLY = number(1 - Fraction(1, 10**9))
_MOST_VARIED = number(Fraction(13, 5))
"""The mean square over the square of the mean, of which a gamma law is left: below 8/3."""
_LIGHT, _LESS_IF_FULL = number(Fraction(9, 10)), number(Fraction(3, 5))
"""Fitted to the chains that the errors above were measured on."""


class ServiceLengths(Struct, frozen=True, kw_only=True):
    """Services of two lengths: the mean, which share of the load are `long` ones, and both.

    Around each, services have a variance of `varied` squares of the length; in all, one of
    `variation` squares of the mean.
    """

    mean: Formula
    share: Formula
    short: Formula
    long: Formula
    varied: Formula
    variation: Formula


class ServiceMoments(Struct, frozen=True, kw_only=True):
    """The `mean` of services of one kind, and how they vary.

    They are short or long by chance, with a variance of `between` and a `third` central moment, and
    around that they vary by a variance `within`.
    """

    mean: Formula
    between: Formula = ZERO
    third: Formula = ZERO
    within: Formula = ZERO


def lengths_of(kinds: Sequence[ServiceMoments], rates: Sequence[Formula]) -> ServiceLengths | None:
    """Return the two lengths of services of some kinds, each so often; None where all are alike."""
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
    within = weighted_mean([one.within for one in kinds], rates)
    return two_lengths(mean, between, weighted_mean(thirds, rates), within)


def two_lengths(mean: Formula, between: Formula, third: Formula, within: Formula) -> ServiceLengths:
    """Return two lengths with a mean, a variance and a third central moment.

    Around these services vary by a variance `within`.
    """
    between = maximum(between, mean**2 * _LEAST)
    half = third / between / 2
    reach = square_root(between + half**2)
    long, short = mean + half + reach, maximum(mean * _LEAST, mean + half - reach)
    often = (reach - half) / (2 * reach)
    return ServiceLengths(
        mean=mean,
        share=minimum(ONE, often * long / mean),
        short=short,
        long=long,
        varied=within / (between + mean**2),
        variation=(between + within) / mean**2,
    )


def unlike_ratio(of: ServiceLengths, servers: Formula, load: Formula) -> Formula:
    """Return how many times as long as for exponential services one waits, at a load below 1.

    Of lengths that are hardly apart two moments determine it.
    """
    busy = servers * load
    long, short = busy * of.share, busy * (1 - of.share)
    waits = maximum(_LEAST, apply("erlang_c", servers, busy))
    alone = minimum(ONE, apply("erlang_c", servers - short, long) / waits)
    few = apply("ln", of.mean / of.long)  # long ones of all who come, over their share of the load
    power = (_LIGHT - _LESS_IF_FULL * waits) * (1 - 1 / servers)
    for_long = of.share * (alone + (1 - alone) * apply("exp", power * few))
    later = for_long * of.long * _more_even(of, servers - short, long)
    sooner = (1 - for_long) * of.short * _more_even(of, servers - long, short)
    near = (of.short / of.long) ** 2
    return near * wait_ratio(of.variation, servers, load) + (1 - near) * (later + sooner) / of.mean


def _more_even(of: ServiceLengths, servers: Formula, busy: Formula) -> Formula:
    """Return how many times as long as for exponential services of one length one waits."""
    there = maximum(ONE, servers)
    return wait_ratio(of.varied, there, busy / there)


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
                WorkPart(found=waits * share, load=ZERO, work=time, spread=ONE)
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
    below = minimum(load, _NEARLY)
    spare, left = 1 - below, (1 + of.varied) / 2 / servers
    short, long = of.short * left, of.long * left
    both = short + long - below * (of.share * short + (1 - of.share) * long)
    reach = both + square_root(maximum(ZERO, both**2 - 4 * spare * short * long))
    mean = of.mean / servers * unlike_ratio(of, servers, below)
    near, far = minimum(mean, 2 * spare * short * long / reach), maximum(mean, reach / 2)
    share = (mean - near) / maximum(mean * _LEAST, far - near)
    lasts = TwoTimes(
        short=near / spare, long=apply("waiting", far, load), share=minimum(ONE, share)
    )
    return UnlikeWait(mean=apply("waiting", mean, load), lasts=lasts)
