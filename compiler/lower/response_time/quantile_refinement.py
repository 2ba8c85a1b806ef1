"""Quantiles that are overestimated where they are added up, or of the slowest kind alone: nearer.

The quantiles of several waits do not meet in one item, nor is every item of the slowest kind: their
sum, or the slowest, is a bound, and at the median two to four times what was simulated. Nearer is
a law that has the mean of all that varies, and the variance that waits, services and calls by a
share have where they are independent and exponential: with some chance nothing, else an exponential
time. Of one call by a share it is the law itself. An item takes no less than what all items pass
does alone; what is always the same is added to it. Of kinds the far tail is made by the slowest:
there it is half way between (the geometric mean); below, kinds vary the times by as much again. The
less of the two counts, and a bound that is proven stays as it is reported.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from fractions import Fraction

from msgspec import Struct

from qps.compiler.lower.response_time.response_stages import CallFactor, LatencyPart, every
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
"""So much at least is divided by: where nobody makes a call, nothing may vary."""
_ENDLESS = number(10**12)
"""So many seconds are enough: what has no end is in the sum of all stages that is added to."""
_TAIL = Fraction(9, 10)
"""From this level on it is a tail."""


REFINED = known_by("nearer-percentile")
LATER = known_by("later-by-two-moments")


class _Varying(Struct, frozen=True):
    """What varies by itself: its `mean`, in s, and its `variance`, in s^2; whether all pass it."""

    mean: Formula
    variance: Formula
    is_always: bool


def refined(
    quantile: Formula, level: Fraction, parts: Sequence[LatencyPart], *, is_of_kinds: bool
) -> Formula:
    """Return a quantile of stages that is added up, or of the slowest kind, nearer to the truth."""
    groups = list(_varying(parts))
    if not groups:
        return quantile
    late = number(1 - level)
    always = [one for one in groups if one.is_always]
    is_tail = level >= _TAIL
    of_kinds = ONE if is_of_kinds and not is_tail else ZERO
    found = _quantile(groups, late, of_kinds)
    if always and len(always) < len(groups):
        found = maximum(found, _quantile(always, late, of_kinds))
    found = total(part.value for part in parts) - total(one.mean for one in groups) + found
    if is_of_kinds and is_tail:
        found = square_root(quantile * found)
    return minimum(quantile, found)


def later_by_two_moments(
    seconds: Fraction, parts: Sequence[LatencyPart], *, is_of_kinds: bool
) -> Formula:
    """Return the share of items that takes longer than a time, by the same law."""
    groups = list(_varying(parts))
    always = [one for one in groups if one.is_always]
    of_kinds = ONE if is_of_kinds else ZERO
    fixed = total(part.value for part in parts) - total(one.mean for one in groups)
    beyond = number(seconds) - fixed
    found = [_share(groups, beyond, of_kinds)]
    if always and len(always) < len(groups):
        found.append(_share(always, beyond, of_kinds))
    is_less = minimum(ONE, apply("ceil", maximum(ZERO, -beyond)))  # than what is always the same
    return maximum(is_less, *found)


def _share(groups: Sequence[_Varying], beyond: Formula, of_kinds: Formula) -> Formula:
    """Return which share of the sums exceeds a time, of the law of `_quantile`."""
    share, each = _two_moments(groups, of_kinds)
    return minimum(ONE, share * apply("exp", -maximum(ZERO, beyond) / each))


def _quantile(groups: Sequence[_Varying], late: Formula, of_kinds: Formula) -> Formula:
    """Return what a share `late` of the sums exceeds, of a law of two moments."""
    share, each = _two_moments(groups, of_kinds)
    return each * apply("ln", maximum(ONE, share / late))


def _two_moments(groups: Sequence[_Varying], of_kinds: Formula) -> tuple[Formula, Formula]:
    """Return the share that takes any time, and how long these do on average.

    By what kinds differ the squared variation of each is more. The law is nothing with the chance
    1 - q, else exponential of mean m/q: then its squared variation is 2/q - 1. Below 1 the same
    formula is that of an exponential time which begins later.
    """
    # What `maximum` is of is one part of a formula: no square of a sum is multiplied out.
    mean = maximum(_LEAST, total(one.mean for one in groups))
    more = of_kinds * total(maximum(ZERO, one.mean) ** 2 for one in groups)
    squares = total(one.variance for one in groups) + more
    each = maximum(_LEAST, (mean + squares / mean) / 2)
    return mean / each, each


def _varying(parts: Sequence[LatencyPart]) -> Iterator[_Varying]:
    """Yield what varies by itself: stages that all pass, and calls by a share.

    A wait with its service varies as an exponential time does, and of users who wait for answers as
    the law of their station says: less where nearly all of them are there. All that stands in one
    call is passed together, by a share q of the items: with its mean M and of each stage the
    varying mean m that is a variance of m^2/q and M^2 (1/q - 1). Where all make the call it is as
    if it stood outside, whether that is a number that is stated or one that moves.
    """
    groups: dict[Hashable, list[LatencyPart]] = {}
    shares: dict[Hashable, Formula] = {}
    for at, part in enumerate(parts):
        made = _shares(part)
        if not made:
            mean = minimum(_ENDLESS, _varying_mean(part))
            if mean is not ZERO:
                yield _Varying(mean, mean**2 * _uneven(part), is_always=True)
            continue
        key: Hashable = ("stage", at) if part.branches else made[0].number
        reached = minimum(*(one.reached for one in made))
        shares[key] = minimum(ONE, maximum(_LEAST, reached))
        groups.setdefault(key, []).append(part)
    for key, inside in groups.items():
        share = shares[key]
        whole = minimum(_ENDLESS, total(part.value for part in inside))
        means = [minimum(_ENDLESS, _varying_mean(part)) for part in inside]
        fixed = (whole - total(means)) * apply("floor", share)
        squares = [one**2 * _uneven(part) for one, part in zip(means, inside, strict=True)]
        within = total(squares) / share
        yield _Varying(whole - fixed, within + whole**2 * (1 / share - 1), is_always=False)


def _shares(part: LatencyPart) -> list[CallFactor]:
    """Return the calls by a share that a stage stands in, the outermost; of branches if all do."""
    inside = [next((c for c in one.calls if not c.is_whole), None) for one in every((part,))]
    made = [call for call in inside if call is not None]
    return made if len(made) == len(inside) else []


def _varying_mean(part: LatencyPart) -> Formula:
    if part.branches:
        return part.value if any(one.queue is not None for one in every((part,))) else ZERO
    if part.queue is None or part.visit is None:
        return ZERO
    if not part.queue.law.includes_service:
        return part.value
    is_fixed = part.queue.variation is ZERO and not part.queue.traits.is_insensitive
    return part.value + (ZERO if is_fixed else part.visit.service * part.times)


def _uneven(part: LatencyPart) -> Formula:
    """Return the squared variation of a wait with its service: at most that of an exponential.

    Of waits alone it is more, as some do not wait.
    Where first come is first served and some take more than ten times as long as others, a wait
    varies as much as the services do that are waited for.
    """
    if part.branches or part.queue is None or part.visit is None:
        return ONE
    if not part.queue.law.includes_service:
        return part.queue.law.unevenness(part.queue, part.visit)
    if not part.queue.traits.is_insensitive and part.queue.is_far_apart:
        return maximum(ONE, part.queue.spread)
    found = part.queue.law.unevenness(part.queue, part.visit)
    return ONE if found is ONE else minimum(ONE, found)
