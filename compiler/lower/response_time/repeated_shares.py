"""Calls by a share in which a queue is waited in again: what is made of them, outcome by outcome.

Who comes back to a queue finds about what was found before, so that all waits there are one, as
often as it is passed. That is known for each outcome: which of the calls are made, and which not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler.lower.response_time.response_stages import CallFactor, LatencyPart
from qps.engine.distributions.stage_paths import MOST_PATHS
from qps.engine.expressions.formulas import ONE, Formula


class Outcome(Struct, frozen=True, kw_only=True):
    """What an item passes with a `chance`: parts of a latency, in calls that are all made."""

    chance: Formula
    parts: tuple[LatencyPart, ...]


def has_outcomes(line: Sequence[LatencyPart]) -> bool:
    """Return whether the outcomes are which calls are made: each once, or not at all.

    Each is drawn by itself: alternatives exclude each other, and are not told so.
    """
    made = [call for part in line for call in part.calls if call.times is not ONE]
    are_draws = all(call.is_share and call.most is None and call.choice is None for call in made)
    return are_draws and 2 ** len(_optional(line)) <= MOST_PATHS


def outcomes_of(line: Sequence[LatencyPart]) -> Iterator[Outcome]:
    """Yield what may happen on a line of stages; a call is made only where that around it is."""
    optional = _optional(line)
    outer = {call.number: _around(line, call) for call in optional}
    for chosen in product((True, False), repeat=len(optional)):
        is_made = {call.number: made for call, made in zip(optional, chosen, strict=True)}
        chance: Formula = ONE
        for call in optional:
            is_reached = all(is_made[number] for number in outer[call.number])
            if is_reached:
                chance = chance * (call.times if is_made[call.number] else 1 - call.times)
            elif is_made[call.number]:
                break
        else:
            parts = (
                replace(part, calls=())
                for part in line
                if all(is_made.get(call.number, True) for call in part.calls)
            )
            yield Outcome(chance=chance, parts=tuple(parts))


def _optional(line: Sequence[LatencyPart]) -> list[CallFactor]:
    """Return the calls that are made by a share."""
    found = {call.number: call for part in line for call in part.calls if call.times is not ONE}
    return list(found.values())


def _around(line: Sequence[LatencyPart], call: CallFactor) -> list[int]:
    """Return the calls by a share in which another one stands."""
    part = next(part for part in line if any(one.number == call.number for one in part.calls))
    at = [one.number for one in part.calls].index(call.number)
    return [one.number for one in part.calls[:at] if one.times is not ONE]
