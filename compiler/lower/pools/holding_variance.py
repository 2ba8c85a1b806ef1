"""How much the holding time of a pool varies because not every item does everything meanwhile.

Of calls that are made N times, of M each on average, the sum has the variance E[N] V + Var[N] M^2,
where V is that of one call (Wald). V is a sum of the same kind, so that all terms of the second
kind add up, each as often as its caller is reached.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import floor

from qps.compiler.lower.response_time.response_stages import CallFactor, LatencyPart
from qps.engine.expressions.formulas import ONE, ZERO, Formula, apply, total


def variance_of_calls(line: Sequence[LatencyPart], depth: int) -> Formula:
    """Return the variance, in s^2, that calls by chance add to the time of stages without waits.

    `line` are the stages that an item passes, their values averaged over all items of the stream;
    so is what is returned. Calls from a `depth` on count.
    """
    return total(_terms(line, depth))


def _terms(line: Sequence[LatencyPart], depth: int) -> Iterable[Formula]:
    calls: dict[int, list[LatencyPart]] = {}
    for part in line:
        if len(part.calls) > depth:
            calls.setdefault(part.calls[depth].number, []).append(part)
    for parts in calls.values():
        call = parts[0].calls[depth]
        varies = _count_variance(call)
        if varies is not ZERO:
            caller = parts[0].calls[depth - 1].reached if depth else ONE
            yield caller * varies * _time_of_one(parts, call) ** 2
        yield from _terms(parts, depth + 1)


def _time_of_one(parts: Sequence[LatencyPart], call: CallFactor) -> Formula:
    """Return the mean time of one call, in s."""
    return apply("mean", total(part.value for part in parts), call.reached)


def _count_variance(call: CallFactor) -> Formula:
    """Return the variance of how often a caller makes a call: the whole part, and one by chance."""
    if call.is_whole:
        return ZERO
    chance = call.times if call.is_share else call.times - floor(call.times)
    return chance * (ONE - chance)
