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

from fractions import Fraction

from msgspec import Struct

from qps.compiler.lower.queues.service_variation import wait_ratio
from qps.engine.expressions.formulas import (
    ONE,
    ZERO,
    Formula,
    apply,
    maximum,
    minimum,
    number,
    square_root,
)

_LEAST = number(Fraction(1, 10**12))
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
