"""When a request is where: its calls as a tree, each with its start and end, of the mean of all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from msgspec import Struct

from qps.compiler.lower.response_time.response_stages import CallFactor, LatencyPart, every
from qps.compiler.quantities.certainty import Certainty, together
from qps.engine.expressions.formulas import ONE, ZERO, Formula, apply, maximum, product, total


class CallPassage(Struct, frozen=True, kw_only=True):
    """A call, or a node or link on the way, so deep within calls.

    It is passed `times` for each time that what is around it is, `often` for each item, and takes
    so long `each` time. From `starts` to `ends` is its part of the mean latency, seconds after the
    source. `calls` is the node where it is a call.
    """

    depth: int
    name: str
    times: Formula
    each: Formula
    starts: Formula
    ends: Formula
    known: Certainty
    often: Formula
    calls: str | None = None
    stages: tuple[LatencyPart, ...] = ()
    """What it is made of, in order, where it is no call and nothing that is called together."""
    is_together: bool = False
    """True where it is all calls that are made together: those stand next, so much deeper."""


def waterfall(parts: Sequence[LatencyPart]) -> list[CallPassage]:
    """Return the tree of a latency, calls before what is in them; nothing where there is none."""
    if not any(part.calls for part in every(parts)):
        return []
    return passages(parts)


def passages(parts: Sequence[LatencyPart]) -> list[CallPassage]:
    """Return the tree of a latency whether or not anything is called."""
    return list(_passages(parts, 0, 0, ZERO))


def _passages(
    parts: Sequence[LatencyPart], at: int, depth: int, starts: Formula
) -> Iterator[CallPassage]:
    """Yield what stages are made of that stand in `at` calls."""
    for (is_call, name, _), group in groupby(parts, key=lambda part: _group(part, at)):
        inside = list(group)
        takes = total(part.value for part in inside)
        ends = starts + takes
        call = inside[0].calls[at] if is_call else None
        around = inside[0].calls[at - 1].reached if at else ONE
        often = around if call is None else call.reached
        times = ONE if call is None else call.times
        branches = () if is_call else inside[0].branches
        each = _each(inside, at + is_call)
        if any(part.differs for part in every(inside)):  # by those who call, kind by kind
            times = ONE if call is None else apply("mean", often, around)
            each = apply("mean", takes, often)
        yield CallPassage(
            depth=depth,
            name=f"call {name}" if is_call else name,
            times=times,
            each=each,
            starts=starts,
            ends=ends,
            known=together(*(part.certainty for part in inside)),
            often=often,
            calls=name if is_call else None,
            stages=() if is_call or branches else tuple(inside),
            is_together=bool(branches),
        )
        if is_call:
            yield from _passages(inside, at + 1, depth + 1, starts)
        for branch in branches:
            yield from _passages(branch, at, depth + 1, starts)
        starts = ends


def _group(part: LatencyPart, at: int) -> tuple[bool, str, object]:
    """Return what a stage is shown with: the call that it stands in, or what it passes."""
    if len(part.calls) > at:
        return True, part.calls[at].node, part.calls[at].number
    return False, part.place or part.stage, id(part) if part.branches else None


def _each(parts: Sequence[LatencyPart], at: int) -> Formula:
    """Return how long stages take for each time that the call around them is made."""
    return total(
        (
            part.value
            if part.times is ONE
            else maximum(*(_each(branch, at) for branch in part.branches))
        )
        if part.branches
        else part.per_visit * _times(part.calls[at:])
        for part in parts
    )


def _times(calls: Sequence[CallFactor]) -> Formula:
    return product(call.times for call in calls)


def latency_of_calls(parts: Sequence[LatencyPart], node: str) -> Formula | None:
    """Return the mean time of a call of a node, from request to answer; None for no call."""
    made = [one for one in waterfall(parts) if one.calls == node]
    if len(made) < 2:  # noqa: PLR2004 - the mean of one
        return made[0].each if made else None
    often = total(one.often for one in made)
    return apply("mean", total(one.often * one.each for one in made), often)


def calls_known(parts: Sequence[LatencyPart], node: str) -> Certainty:
    """Return how the mean time of a call of a node is known."""
    return together(*(one.known for one in waterfall(parts) if one.calls == node))
