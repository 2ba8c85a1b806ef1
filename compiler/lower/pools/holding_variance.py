"""How much the holding time of a pool varies because not every item does everything meanwhile.

Of calls that are made N times, of M each on average, the sum has the variance E[N] V + Var[N] M^2,
where V is that of one call (Wald). V is a sum of the same kind, so that all terms of the second
kind add up, each as often as its caller is reached.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import floor

from qps.compiler.lower.response_time.response_stages import CallFactor, LatencyPart
from qps.engine.expressions.formulas import ONE, ZERO, Formula, apply, maximum, total

_Time = tuple[Formula, Formula, Formula, Formula]
"""How often a call is made, and mean, variance and third cumulant of its time."""


def cumulants_of_calls(line: Sequence[LatencyPart], depth: int) -> tuple[Formula, Formula]:
    """Return the variance, in s^2, and the third cumulant, in s^3, that calls by chance add.

    To the time of stages without waits, of one who comes there. `line` are the stages that an item
    passes, their values averaged over all items of the stream. Calls from a `depth` on count.
    """
    calls: dict[int, list[LatencyPart]] = {}
    for part in line:
        if len(part.calls) > depth:
            calls.setdefault(part.calls[depth].number, []).append(part)
    variance, third = ZERO, ZERO
    choices: dict[int, list[_Time]] = {}
    for parts in calls.values():
        call = parts[0].calls[depth]
        one = (call.times, _time_of_one(parts, call), *cumulants_of_calls(parts, depth + 1))
        if call.choice is not None:
            choices.setdefault(call.choice, []).append(one)
            continue
        often, mean, inner, inner_third = one
        varies = _count_variance(call)
        variance += often * inner + varies * mean**2
        third += often * inner_third + 3 * varies * mean * inner
        third += _count_third(call) * mean**3
    for alternatives in choices.values():
        mean = total(chance * time for chance, time, _, _ in alternatives)
        square = total(chance * (v + time**2) for chance, time, v, _ in alternatives)
        cube = total(chance * (k + 3 * time * v + time**3) for chance, time, v, k in alternatives)
        variance += maximum(ZERO, square - mean**2)
        third += cube - 3 * mean * square + 2 * mean**3
    return variance, third


def _count_third(call: CallFactor) -> Formula:
    """Return the third central moment of how often a caller makes a call."""
    if call.is_whole:
        return ZERO
    chance = call.times if call.is_share else call.times - floor(call.times)
    return chance * (ONE - chance) * (ONE - 2 * chance)


def _time_of_one(parts: Sequence[LatencyPart], call: CallFactor) -> Formula:
    """Return the mean time of one call, in s."""
    return apply("mean", total(part.value for part in parts), call.reached)


def _count_variance(call: CallFactor) -> Formula:
    """Return the variance of how often a caller makes a call: the whole part, and one by chance."""
    if call.is_whole:
        return ZERO
    chance = call.times if call.is_share else call.times - floor(call.times)
    return chance * (ONE - chance)
