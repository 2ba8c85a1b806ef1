"""A way through stages with a fork: calls that are made together, and what is passed besides.

The time of the fork is that of its longest branch. Branches are taken to be independent: so the
share of items that have all answers by a time is the product of those that have each. Requests
come at the same times to queues in several branches, so that they are late together: where queues
are served in turn, such times are associated, and the longest of them is no longer in distribution
than that of independent ones (Baccelli, Makowski and Shwartz 1989). Where at most one branch has
queues, branches are independent.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from itertools import combinations

from msgspec.structs import replace

from qps.compiler.lower.queues.station_queue import Queue
from qps.compiler.lower.response_time.latency_paths import StagePath
from qps.compiler.lower.response_time.repeated_shares import has_outcomes
from qps.compiler.lower.response_time.repeated_visits import repeats_by_share
from qps.compiler.lower.response_time.response_stages import CallFactor, LatencyPart, every
from qps.compiler.lower.response_time.stage_operands import (
    fork_operands,
    operands_by_outcome,
    operands_of,
)
from qps.compiler.quantities.certainty import Certainty
from qps.compiler.quantities.disciplines import Service
from qps.compiler.quantities.methods import known_by
from qps.engine.distributions.stage_paths import MOST_PATHS
from qps.engine.expressions.formulas import ONE, ZERO, Formula, apply

_IsAdded = Callable[[LatencyPart], bool]


def fork_path(parts: Sequence[LatencyPart], is_added: _IsAdded) -> StagePath | None:
    """Return the way through stages of which one is a fork; None where its law is not told.

    On each way there may be one fork: several are in alternatives that exclude each other.
    """
    forks = [part for part in parts if part.branches]
    if not forks or not all(is_known(fork, is_added) for fork in forks):
        return None
    if not all(_exclude(one, other) for one, other in combinations(forks, 2)):
        return None
    if not all(call.times is ONE or call.is_share for fork in forks for call in fork.calls):
        return None
    serial = tuple(part for part in parts if part.queue is not None)
    if not all(map(is_added, serial)) or _share_a_draw(parts):
        return None
    if not repeats_by_share(serial):
        fixed, operands, chances = operands_of(parts, serial)
    elif has_outcomes(parts):
        fixed, operands, chances = operands_by_outcome(parts, is_added)
    else:
        return None
    if chances > MOST_PATHS or not _varies(parts):
        return None
    return StagePath(
        parts=tuple(parts),
        added=tuple(part for part in every(parts) if part.queue is not None),
        aside=(),
        fixed=fixed,
        operands=tuple(operands),
        chances=chances,
        has_fork=True,
    )


def fork_mean(fork: LatencyPart, is_added: _IsAdded) -> tuple[Formula, Certainty] | None:
    """Return the mean time of a fork for each time that it is begun; None where no law is known."""
    if not is_known(fork, is_added) or _share_a_draw([fork]):
        return None
    if any(part.differs for part in every([fork])):
        return None  # stages have what they come to for the slowest kind
    operands, chances = fork_operands(fork)
    if chances > MOST_PATHS:
        return None
    return apply("fork_mean", *operands), fork_known(fork)


def is_known(fork: LatencyPart, is_added: _IsAdded) -> bool:
    """Return whether the law of each branch is known: a sum of stages, without forks inside."""
    if fork.fan_out is not None:
        return False
    for branch in fork.branches:
        waits = tuple(part for part in branch if part.queue is not None)
        if any(part.branches for part in branch) or not all(map(is_added, waits)):
            return False
        if repeats_by_share(waits):
            return False
    return True


def fork_known(fork: LatencyPart) -> Certainty:
    """Return how the time of a fork is known besides its stages: are its branches independent?"""
    nodes = [branch[0].calls[len(fork.calls)].node for branch in fork.branches]
    queues = [[part.queue for part in branch if part.queue] for branch in fork.branches]
    if sum(map(bool, queues)) < 2:  # noqa: PLR2004 - others are late by themselves
        return known_by("fork-independent", nodes)
    is_proven = all(_is_served_in_turn(queue) for branch in queues for queue in branch)
    return known_by("fork-associated" if is_proven else "fork-estimated", nodes)


def _is_served_in_turn(queue: Queue) -> bool:
    """Return whether times there grow with services, and with how close requests come."""
    return queue.traits.service is Service.IN_TURN and not queue.traits.loses


def lines_of(path: StagePath) -> Iterator[StagePath]:
    """Yield what is passed in line on a way: of each fork one branch."""
    most = max((len(part.branches) for part in path.parts), default=0)
    for at in range(most):
        line: list[LatencyPart] = []
        for part in path.parts:
            line += part.branches[min(at, len(part.branches) - 1)] if part.branches else [part]
        yield StagePath(
            parts=tuple(line),
            added=tuple(part for part in line if part.queue is not None),
            aside=(),
            fixed=ZERO,
            operands=(),
        )


def _exclude(one: LatencyPart, other: LatencyPart) -> bool:
    """Return whether two stages are in alternatives of which one is passed."""
    return any(
        a.choice is not None and a.choice == b.choice and a.number != b.number
        for a, b in zip(one.calls, other.calls, strict=False)
    )


def _share_a_draw(parts: Sequence[LatencyPart]) -> bool:
    """Return whether branches, or one and what is in line with it, are drawn together."""
    seen: set[Hashable] = set()
    lines = [[part for part in parts if not part.branches]]
    for fork in parts:
        lines += [[_without(part, len(fork.calls)) for part in branch] for branch in fork.branches]
    for line in lines:
        drawn = {_draw(call) for part in line for call in part.calls if call.times is not ONE}
        if seen & drawn:
            return True
        seen |= drawn
    return False


def _without(part: LatencyPart, depth: int) -> LatencyPart:
    return replace(part, calls=part.calls[depth:])


def _draw(call: CallFactor) -> Hashable:
    return call.number if call.choice is None else ("choice", call.choice)


def _varies(parts: Sequence[LatencyPart]) -> bool:
    """Return whether anything varies: a wait, or what is passed by chance."""
    return any(
        part.queue is not None or any(call.times is not ONE for call in part.calls)
        for part in every(parts)
    )
