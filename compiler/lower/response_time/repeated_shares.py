"""Calls by a share in which a queue is waited in again: what is made of them, outcome by outcome.

Who comes back to a queue finds about what was found before, so that all waits there are one, as
often as it is passed. That is known for each outcome: which of the calls are made, and which not.
What is called 2.3 times on average is called twice, and by some once more.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from itertools import product
from math import prod

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler.lower.response_time.response_stages import CallFactor, LatencyPart
from qps.engine.distributions.stage_paths import MOST_PATHS
from qps.engine.expressions.formulas import ONE, ZERO, Formula, apply, total


class LatencyOutcome(Struct, frozen=True, kw_only=True):
    """What an item passes with a `chance`: parts of a latency, in calls that are all made."""

    chance: Formula
    parts: tuple[LatencyPart, ...]


def has_outcomes(line: Sequence[LatencyPart]) -> bool:
    """Return whether the outcomes are which calls are made: how often each, or not at all."""
    draws = _draws(line)
    are_known = all(call.most is None for draw in draws for call in draw)
    return are_known and prod(len(draw) + 1 for draw in draws) <= MOST_PATHS


def _is_drawn(call: CallFactor) -> bool:
    """Return whether a call is made by a share, or once more by one."""
    return call.times is not ONE and (call.is_share or not call.is_whole)


def outcomes_of(line: Sequence[LatencyPart]) -> Iterator[LatencyOutcome]:
    """Yield what may happen on a line of stages; a call is made only where that around it is.

    Of alternatives one is made, or none by what is left of 1.
    """
    draws = _draws(line)
    around = [_around(line, draw[0]) for draw in draws]
    for chosen in product(*map(_options, draws)):
        made: dict[int, Formula] = {}
        chance: Formula = ONE
        for one, outer in zip(chosen, around, strict=True):  # what is around a call comes first
            if not made.keys() >= set(outer):
                chance = chance if one.is_rest else ZERO
                continue
            chance = chance * one.chance
            if one.number is not None:
                made[one.number] = one.times
        if chance is ZERO:
            continue
        left_out = {call.number for draw in draws for call in draw} - made.keys()
        parts = (
            _built(part, made)
            for part in line
            if not any(call.number in left_out for call in part.calls)
        )
        yield LatencyOutcome(chance=chance, parts=tuple(parts))


class _Option(Struct, frozen=True, kw_only=True):
    """What may become of calls that exclude each other: which one is made, and how often.

    Where the call around them is not made, one option counts alone, which `is_rest`.
    """

    chance: Formula
    number: int | None = None
    times: Formula = ONE
    is_rest: bool = False


def _options(draw: Sequence[CallFactor]) -> list[_Option]:
    """Return what may become of calls: one of a share, none; or of one as often as is whole."""
    first = draw[0]
    if first.is_share:
        made = [_Option(chance=one.times, number=one.number) for one in draw]
        return [*made, _Option(chance=1 - total(one.times for one in draw), is_rest=True)]
    least = apply("floor", first.times)
    more = first.times - least
    return [
        _Option(chance=more, number=first.number, times=least + 1),
        _Option(chance=1 - more, number=first.number, times=least, is_rest=True),
    ]


def _built(part: LatencyPart, times: Mapping[int, Formula]) -> LatencyPart:
    """Return a stage in calls that are made, each so often; without those that are made once."""
    calls = [
        replace(call, times=times[call.number], is_whole=True) if call.number in times else call
        for call in part.calls
        if call.times is not ONE
    ]
    several = tuple(call for call in calls if call.times is not ONE)
    return _within(part, len(part.calls), several)


def _within(part: LatencyPart, depth: int, around: tuple[CallFactor, ...]) -> LatencyPart:
    """Return a stage, and what is made together there, with other calls around so many."""
    branches = tuple(tuple(_within(one, depth, around) for one in line) for line in part.branches)
    found = replace(part, calls=(*around, *part.calls[depth:]), branches=branches)
    return found.reached_from(ONE)


def _draws(line: Sequence[LatencyPart]) -> list[tuple[CallFactor, ...]]:
    """Return the calls that are made by chance: each alone, or with those that exclude it."""
    found: dict[Hashable, dict[int, CallFactor]] = {}
    for call in (call for part in line for call in _outer_chances(part)):
        draw = call.number if call.choice is None else ("choice", call.choice)
        found.setdefault(draw, {})[call.number] = call
    return [tuple(calls.values()) for calls in found.values()]


def _around(line: Sequence[LatencyPart], call: CallFactor) -> list[int]:
    """Return the calls by chance in which another one stands."""
    part = next(part for part in line if any(one.number == call.number for one in part.calls))
    at = [one.number for one in part.calls].index(call.number)
    return [one.number for one in part.calls[:at] if _is_drawn(one)]


def _outer_chances(part: LatencyPart) -> Iterator[CallFactor]:
    """Yield the calls around a stage that are drawn once: not those in one that is made again."""
    for call in part.calls:
        if _is_drawn(call):
            yield call
        if call.times is not ONE and not call.is_share:
            return
