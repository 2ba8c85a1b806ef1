"""How often an item comes to a queue again in calls that are drawn anew each time they are made.

`call db * 5 { 10 %: read }` draws five times: how often the disk is waited for varies. With K
visits of a queue by an item, the mean and the chance of none follow from the tree of calls, as
draws are independent: of n calls the mean is n times as large, and the chance of none its n-th
power.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby

from msgspec import Struct

from qps.compiler.lower.response_time.response_stages import CallFactor, LatencyPart
from qps.engine.expressions.formulas import ONE, ZERO, Formula, apply, minimum, product, total


class VisitCount(Struct, frozen=True, kw_only=True):
    """How often a queue is passed: on average, and not at all with the chance `none`.

    Where it `is_constant` it is passed as often by all.
    """

    mean: Formula
    none: Formula
    is_constant: bool

    @property
    def any(self) -> Formula:
        """The chance that it is passed at least once."""
        return 1 - self.none

    @property
    def of_those(self) -> Formula:
        """How often it is passed on average by those that pass it."""
        return apply("mean", self.mean, self.any)

    @property
    def rarely_again(self) -> Formula:
        """How much of the time a visit stands alone: 1 where nobody comes twice.

        It is one over the square of how often those come that come at all, which is nearest to
        simulations of 1 and 4 servers (`fitted`: exponents 1 and 2 were tried).
        """
        return minimum(ONE, apply("mean", self.any, self.mean) ** 2)


def visits_of(
    parts: Sequence[LatencyPart], depth: int, weight: Callable[[LatencyPart], Formula]
) -> VisitCount:
    """Return how often parts of one queue are passed, which stand in `depth` other calls.

    Each passage of a part counts as its `weight`.
    """
    found = [_of_group(list(group), depth, weight) for _, group in _grouped(parts, depth)]
    return VisitCount(
        mean=total(one.mean for one in found),
        none=product(one.none for one in found),
        is_constant=all(one.is_constant for one in found),
    )


def _grouped(parts: Sequence[LatencyPart], depth: int) -> groupby[object, LatencyPart]:
    return groupby(parts, key=lambda part: choice_at(part, depth))


def _of_group(
    parts: list[LatencyPart], depth: int, weight: Callable[[LatencyPart], Formula]
) -> VisitCount:
    if len(parts[0].calls) <= depth:
        return VisitCount(mean=total(map(weight, parts)), none=ZERO, is_constant=True)
    each = [list(group) for _, group in groupby(parts, key=lambda part: number_at(part, depth))]
    inside = [visits_of(one, depth + 1, weight) for one in each]
    often = [times_at(one[0], depth) for one in each]
    if len(each) > 1 or parts[0].calls[depth].choice is not None:
        return _of_alternatives(often, inside)
    return _of_calls(parts[0].calls[depth], often[0], inside[0])


def _of_alternatives(chances: Sequence[Formula], inside: Sequence[VisitCount]) -> VisitCount:
    both = list(zip(chances, inside, strict=True))
    is_alike = all(one.is_constant and one.mean is inside[0].mean for one in inside)
    if is_alike and total(chances) is ONE:
        return inside[0]
    return VisitCount(
        mean=total(chance * one.mean for chance, one in both),
        none=1 - total(chance * one.any for chance, one in both),
        is_constant=False,
    )


def _of_calls(call: CallFactor, times: Formula, inside: VisitCount) -> VisitCount:
    if times is ONE:
        return inside
    mean = times * inside.mean
    if call.is_share:
        return VisitCount(mean=mean, none=1 - times * inside.any, is_constant=False)
    if inside.none is ZERO or call.is_whole:
        none = ZERO if inside.none is ZERO else inside.none**times
        return VisitCount(mean=mean, none=none, is_constant=inside.is_constant)
    least = apply("floor", times)
    none = inside.none**least * (1 - (times - least) * inside.any)
    return VisitCount(mean=mean, none=none, is_constant=False)


def number_at(part: LatencyPart, depth: int) -> int | None:
    """Return the number of the call that a stage stands in at a depth."""
    return part.calls[depth].number if len(part.calls) > depth else None


def choice_at(part: LatencyPart, depth: int) -> tuple[bool, int] | None:
    """Return the call that a stage stands in, of alternatives all of these; None for no call."""
    if len(part.calls) <= depth:
        return None
    call = part.calls[depth]
    return (False, call.number) if call.choice is None else (True, call.choice)


def times_at(part: LatencyPart, depth: int) -> Formula:
    """Return how often a call is made for each time that its caller is reached."""
    call, outer = part.calls[depth], part.calls[depth - 1].reached if depth else ONE
    if call.most is not None:
        return call.most
    if call.reached is outer * call.times or call.reached is ONE:
        return call.times
    return apply("mean", call.reached, outer)  # kinds that make both more often
