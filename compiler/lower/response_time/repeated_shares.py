"""Calls by a share in which a queue is waited in again: what is made of them, outcome by outcome.

Who comes back to a queue finds about what was found before, so that all waits there are one, as
often as it is passed. That is known for each outcome: which of the calls are made, and which not.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from itertools import product
from math import prod

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler.lower.response_time.repeated_visits import repeated_queues
from qps.compiler.lower.response_time.response_stages import CallFactor, LatencyPart
from qps.engine.distributions.stage_paths import MOST_PATHS
from qps.engine.expressions.formulas import ONE, ZERO, Formula, total


class LatencyOutcome(Struct, frozen=True, kw_only=True):
    """What an item passes with a `chance`: parts of a latency, in calls that are all made."""

    chance: Formula
    parts: tuple[LatencyPart, ...]


def has_outcomes(line: Sequence[LatencyPart]) -> bool:
    """Return whether the outcomes are which calls are made: each once, or not at all."""
    draws = _draws(line)
    are_shares = all(call.is_share and call.most is None for draw in draws for call in draw)
    return are_shares and prod(len(draw) + 1 for draw in draws) <= MOST_PATHS


def shows_outcomes(added: Sequence[LatencyPart]) -> bool:
    """Return whether waits that come again are known by outcomes.

    Where services differ, those who come back find less than is found by others: they are only
    where that is known (`disciplines/feedback.py`).
    """
    again = [part.queue for _, part in repeated_queues(added).values() if part.queue is not None]
    return all(queue.is_modeled_as_uniform or queue.law.has_wait_of_each_visit for queue in again)


def outcomes_of(line: Sequence[LatencyPart]) -> Iterator[LatencyOutcome]:
    """Yield what may happen on a line of stages; a call is made only where that around it is.

    Of alternatives one is made, or none by what is left of 1.
    """
    draws = _draws(line)
    around = [_around(line, draw[0]) for draw in draws]
    for chosen in product(*((*draw, None) for draw in draws)):
        made = {call.number for call in chosen if call is not None}
        chance: Formula = ONE
        for call, draw, outer in zip(chosen, draws, around, strict=True):
            if made.issuperset(outer):
                none = 1 - total(one.times for one in draw)
                chance = chance * (none if call is None else call.times)
            elif call is not None:
                chance = ZERO
        if chance is ZERO:
            continue
        left_out = {call.number for draw in draws for call in draw} - made
        parts = (
            _alone(part) for part in line if not any(call.number in left_out for call in part.calls)
        )
        yield LatencyOutcome(chance=chance, parts=tuple(parts))


def _alone(part: LatencyPart) -> LatencyPart:
    """Return a stage as if it stood in no call; of calls that are made together those inside."""
    return _below(part, len(part.calls))


def _below(part: LatencyPart, depth: int) -> LatencyPart:
    branches = tuple(tuple(_below(one, depth) for one in branch) for branch in part.branches)
    return replace(part, calls=part.calls[depth:], branches=branches).reached_from(ONE)


def _draws(line: Sequence[LatencyPart]) -> list[tuple[CallFactor, ...]]:
    """Return the calls that are made by a share: each alone, or with those that exclude it."""
    found: dict[Hashable, dict[int, CallFactor]] = {}
    for call in (call for part in line for call in part.calls if call.times is not ONE):
        draw = call.number if call.choice is None else ("choice", call.choice)
        found.setdefault(draw, {})[call.number] = call
    return [tuple(calls.values()) for calls in found.values()]


def _around(line: Sequence[LatencyPart], call: CallFactor) -> list[int]:
    """Return the calls by a share in which another one stands."""
    part = next(part for part in line if any(one.number == call.number for one in part.calls))
    at = [one.number for one in part.calls].index(call.number)
    return [one.number for one in part.calls[:at] if one.times is not ONE]
