"""The law of waits for unlike services as formulas, step by step: what its operations come to."""

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
_NEARLY = number(1 - Fraction(1, 10**9))
_LIGHT, _LESS_IF_FULL = number(Fraction(9, 10)), number(Fraction(3, 5))


class FormulaLengths(Struct, frozen=True, kw_only=True):
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


def two_lengths(mean: Formula, between: Formula, third: Formula, within: Formula) -> FormulaLengths:
    """Return two lengths with a mean, a variance and a third central moment.

    Around these services vary by a variance `within`.
    """
    between = maximum(between, mean**2 * _LEAST)
    half = third / between / 2
    reach = square_root(between + half**2)
    long, short = mean + half + reach, maximum(mean * _LEAST, mean + half - reach)
    often = (reach - half) / (2 * reach)
    return FormulaLengths(
        mean=mean,
        share=minimum(ONE, often * long / mean),
        short=short,
        long=long,
        varied=within / (between + mean**2),
        variation=(between + within) / mean**2,
    )


def unlike_ratio(of: FormulaLengths, servers: Formula, load: Formula) -> Formula:
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


def _more_even(of: FormulaLengths, servers: Formula, busy: Formula) -> Formula:
    """Return how many times as long as for exponential services of one length one waits."""
    there = maximum(ONE, servers)
    return wait_ratio(of.varied, there, busy / there)


def wait_of(
    of: FormulaLengths, servers: Formula, load: Formula
) -> tuple[Formula, Formula, Formula, Formula]:
    """Return the mean wait of those who wait, their two times, and the share of the long one."""
    below = minimum(load, _NEARLY)
    spare, left = 1 - below, (1 + of.varied) / 2 / servers
    short, long = of.short * left, of.long * left
    both = short + long - below * (of.share * short + (1 - of.share) * long)
    reach = both + square_root(maximum(ZERO, both**2 - 4 * spare * short * long))
    mean = of.mean / servers * unlike_ratio(of, servers, below)
    near, far = minimum(mean, 2 * spare * short * long / reach), maximum(mean, reach / 2)
    share = (mean - near) / maximum(mean * _LEAST, far - near)
    return (
        apply("waiting", mean, load),
        near / spare,
        apply("waiting", far, load),
        minimum(ONE, share),
    )
