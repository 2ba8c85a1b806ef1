"""Quantiles of stages one after the other, in calls, and together, by what each may be late.

A call that is made `times` is made so often on average: as the whole part of it says, and once
more for a share of what comes by. The time of calls that are made together is that of the slowest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction

from msgspec import Struct

from qps.compiler.lower.response_time.response_stages import FanOutStage, LatencyPart, every
from qps.compiler.quantities.certainty import (
    EXACT,
    Certainty,
)
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

_NEXT_TO_NOTHING = number(Fraction(1, 10**9))


def _longest(times: Iterable[Formula]) -> Formula:
    distinct = list(dict.fromkeys(times))
    return distinct[0] if len(distinct) == 1 else maximum(*distinct)


class Allotment(Struct, frozen=True):
    """What may go wrong in a share of items: `late` for each wait, `more` for each call.

    A wait is longer than its quantile, or a call is made once more than is counted. The sum of all
    shares is that which a quantile leaves, so that it is a bound however these depend on each other
    (Bonferroni).
    """

    late: Fraction
    more: Fraction
    among: Formula = ONE
    """Calls that are made at once: each has such a part of what may be late."""

    def shared(self, fan_out: FanOutStage) -> Allotment:
        """Return what is left for each of the calls that are made at once."""
        return Allotment(self.late, self.more, self.among * fan_out.count)

    def level(self, part: LatencyPart) -> Fraction | Formula:
        """Return the level of the quantile of a wait: of one that few pass, a lower level."""
        times = part.times
        if times is ONE and self.among is ONE:
            return 1 - self.late
        late = number(self.late) / self.among
        # Where bounds are rounded, the quotient may be a bit above 1.
        return maximum(ZERO, 1 - late / maximum(times, late))

    def times(self, part: LatencyPart) -> Formula:
        """Return how often an item passes a stage at most, but for what its calls are allotted."""
        found: Formula = ONE
        reached: Formula = ONE
        for call in part.calls:
            if call.times is ONE:
                continue
            often = call.times
            if not call.is_whole:
                more = number(self.more)
                if reached is not ONE:
                    least = maximum(reached, _NEXT_TO_NOTHING)
                    more = more / least
                    if call.reached is not reached * call.times:  # kinds that call both more often
                        often = call.reached / least
                often = maximum(ZERO, apply("ceil", often - more))
                if call.most is not None:  # more than once at most: then as often as any kind
                    most = apply("ceil", call.most)
                    often = maximum(often, most * minimum(ONE, maximum(ZERO, most - 1)))
            found, reached = found * often, call.reached
        return found


def allotted(parts: Sequence[LatencyPart], level: Fraction, *, varies: bool) -> list[Allotment]:
    """Return ways to allot what a quantile leaves; each makes a bound of it.

    Either no call is counted less often than it may be made, or each that may be left out gets
    its part; of nested ones those outside, since what is left out takes with it what is inside.
    """
    left = 1 - level
    waits = _passages(parts) + varies
    calls = len(_left_out(parts))
    ways = [Allotment(left / waits, Fraction(0))] if waits else []
    if calls:
        each = left / (waits + calls)
        ways.append(Allotment(each, each))
    return ways or [Allotment(left, Fraction(0))]


def _passages(parts: Sequence[LatencyPart]) -> int:
    """Return how many waits there are."""
    return sum(part.queue is not None for part in every(parts))


def _left_out(parts: Sequence[LatencyPart]) -> set[int]:
    """Return the calls whose leaving out has a part: one outside takes with it what is inside."""
    found: set[int] = set()
    outer: set[int] = set()
    for part in every(parts):
        *before, last = [None, *(call for call in part.calls if not call.is_whole)]
        if last is not None:
            found.add(last.number)
        for call in before:
            if call is not None:
                (outer if call.is_share else found).add(call.number)
    return found - outer


def calls_certainty(parts: Sequence[LatencyPart], *, varies: bool) -> Certainty:
    """Return what calls do to how a quantile is known.

    It is exact where nothing varies but whether one call is made, or calls within each other.
    """
    made = [call for part in every(parts) for call in part.calls if call.times is not ONE]
    if not made:
        return EXACT
    waits = any(part.queue is not None for part in every(parts))
    varies = varies or any(part.slowest is not None for part in every(parts))
    left_out = _left_out(parts)
    is_alone = len(left_out) <= 1 and all(map(_is_chain, every(parts)))
    if is_alone and not waits and not varies:
        return EXACT
    if not left_out and not any(p.queue is not None and p.times is not ONE for p in every(parts)):
        return EXACT  # nothing that is called several times varies
    return known_by("calls-allotted", list(dict.fromkeys(call.node for call in made)))


def kinds_certainty(parts: Sequence[LatencyPart]) -> Certainty:
    """Return what kinds of users and items do to how a quantile is known."""
    if not any(part.differs for part in every(parts)):
        return EXACT
    return known_by("slowest-kind")


def calls_vary(parts: Sequence[LatencyPart]) -> Certainty:
    """Return how a variance is known that does not count who makes a call and who does not."""
    made = [call for part in every(parts) for call in part.calls if not call.is_whole]
    if not made:
        return EXACT
    return known_by("no-call-variance", list(dict.fromkeys(call.node for call in made)))


def _is_chain(part: LatencyPart) -> bool:
    """Return whether a call that may be left out stands in no call but of such a share."""
    often = [call for call in part.calls if call.times is not ONE]
    last = max((at for at, call in enumerate(often) if not call.is_whole), default=0)
    return all(call.is_share for call in often[:last])


def quantile_of(
    parts: Sequence[LatencyPart],
    allotment: Allotment,
    of_stage: Callable[[LatencyPart, Allotment], Formula],
) -> Formula:
    """Return the sum of the quantiles of stages, of branches the longest."""
    found: list[Formula] = []
    for part in parts:
        if part.branches:
            if part.fan_out is not None:
                each = allotment.shared(part.fan_out)
                found.append(quantile_of(part.branches[0], each, of_stage))
                continue
            found.append(
                _longest(quantile_of(branch, allotment, of_stage) for branch in part.branches)
            )
            continue
        times = allotment.times(part)
        stage = of_stage(part, allotment)
        found.append(stage if times is ONE else stage * times)
    return total(found)
