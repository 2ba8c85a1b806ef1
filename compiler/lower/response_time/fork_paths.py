"""A way through stages with forks: calls that are made together, and what is passed besides.

The time of the fork is that of its longest branch. Branches are taken to be independent: so the
share of items that have all answers by a time is the product of those that have each. Requests
come at the same times to queues in several branches, so that they are late together: where queues
are served in turn, such times are associated, and the longest of them is no longer in distribution
than that of independent ones (Baccelli, Makowski and Shwartz 1989). Where at most one branch has
queues, branches are independent.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from itertools import combinations, islice, product

from qps.compiler.lower.queues.station_queue import Queue
from qps.compiler.lower.response_time.associated_answers import order_of
from qps.compiler.lower.response_time.calls_that_meet import last_that_meets, meeting_known
from qps.compiler.lower.response_time.last_copies import last_copy_of, last_known
from qps.compiler.lower.response_time.latency_paths import LatencyPath
from qps.compiler.lower.response_time.repeated_shares import has_outcomes
from qps.compiler.lower.response_time.repeated_visits import is_counted, repeats_by_share
from qps.compiler.lower.response_time.response_stages import (
    CallFactor,
    FanOutStage,
    LatencyPart,
    every,
)
from qps.compiler.lower.response_time.stage_operands import (
    fork_operands,
    operands_by_outcome,
    operands_of,
)
from qps.compiler.quantities.certainty import EXACT, Certainty, CertaintyKind, together
from qps.compiler.quantities.disciplines import Service
from qps.compiler.quantities.methods import known_by
from qps.engine.distributions.stage_paths import MOST_COMBINED, MOST_PATHS
from qps.engine.expressions.formulas import ONE, ZERO, Formula, apply, total
from qps.engine.forks.phase_counts import have_phases, single_fork

_MOST_LINES = 16
_FEW = 3
"""Branches of forks of which the error was measured where there are several."""
_MOST_VARIED, _CALLS = 2, {"few": 10, "many": 100}
"""Fan-outs were measured with so many calls, of services with that coefficient of variation."""
_IsAdded = Callable[[LatencyPart], bool]


def fork_path(parts: Sequence[LatencyPart], is_added: _IsAdded) -> LatencyPath | None:
    """Return the way through stages of which some are forks; None where its law is not known."""
    forks = [part for part in parts if part.branches]
    if not forks or not all(is_known(fork, is_added) for fork in forks):
        return None
    if len(forks) == 1 and forks[0].fan_out is not None and not _is_by_chance(forks[0]):
        return None  # calls at once that all make are a way by themselves
    serial = tuple(part for part in parts if part.queue is not None)
    if not all(map(is_added, serial)) or _share_a_draw(parts) or _meet_again(parts):
        return None
    if not repeats_by_share(serial) and not _is_drawn_again(parts):
        fixed, operands, chances = operands_of(parts, serial)
    elif has_outcomes(parts):
        fixed, operands, chances = operands_by_outcome(parts, is_added)
    elif is_counted(serial) and not _is_drawn_again(parts):
        fixed, operands, chances = operands_of(parts, serial)
    else:
        return None
    if not _varies(parts):
        return None
    return LatencyPath(
        parts=tuple(parts),
        added=tuple(part for part in every(parts) if part.queue is not None),
        aside=(),
        fixed=fixed,
        operands=tuple(operands),
        chances=chances,
        has_fork=True,
        is_on_grid=_is_on_grid(operands, chances),
        mean=_mean_of_network(parts),
    )


def _is_by_chance(part: LatencyPart) -> bool:
    return any(call.times is not ONE for call in part.calls)


def fork_mean(fork: LatencyPart, is_added: _IsAdded) -> tuple[Formula, Certainty] | None:
    """Return the mean time of a fork for each time that it is begun; None where no law is known."""
    if not is_known(fork, is_added) or _share_a_draw([fork]) or _meet_again([fork]):
        return None
    if any(part.differs for part in every([fork])):
        return None  # stages have what they come to for the slowest kind
    operands, chances = fork_operands(fork)
    known = forks_known([fork])
    if _is_on_grid(operands, chances):
        known = together(known, grid_known([fork]))
    return apply("fork_mean", *operands), known


def _is_on_grid(operands: Sequence[Formula], chances: int) -> bool:
    """Return whether a grid of times may tell the law: no phases do, nor branches by themselves."""
    if have_phases(operands, _number):
        return chances > MOST_PATHS
    return chances > MOST_COMBINED or single_fork(operands, _number) is None


def _number(operand: Formula) -> float | None:
    return None if operand.exact is None else float(operand.exact)


def grid_known(parts: Sequence[LatencyPart]) -> Certainty:
    """Return how the law of forks is known that a grid of times tells."""
    nodes = dict.fromkeys(node for fork in parts if fork.branches for node in _nodes(fork))
    return known_by("fork-grid", list(nodes))


def is_known(fork: LatencyPart, is_added: _IsAdded) -> bool:
    """Return whether the law of each branch is known: that of stages, or of forks again."""
    if fork.fan_out is not None and not _is_apart(fork, fork.fan_out):
        return False
    deep = len(fork.calls)
    for branch in fork.branches:
        waits = tuple(part for part in branch if part.queue is not None)
        if not all(map(is_added, waits)) or _is_drawn_again(branch):
            return False
        differs = any(call.most is not None for part in waits for call in part.calls)
        if differs and repeats_by_share(waits, deep) and not is_counted(waits, deep):
            return False
        if not all(is_known(part, is_added) for part in branch if part.branches):
            return False
    return True


def _is_apart(fork: LatencyPart, fan_out: FanOutStage) -> bool:
    """Return whether each of the calls at once has a machine for itself, and makes none at once.

    Or all go to one, where the law of the last is known.
    """
    if fan_out.machines is ONE and last_copy_of(fork.branches[0], fan_out, len(fork.calls)):
        return True
    return fan_out.is_apart and not any(part.branches for part in fork.branches[0])


def fork_known(fork: LatencyPart) -> Certainty:
    """Return how the time of a fork is known besides its stages: are its branches independent?"""
    nodes = _nodes(fork)
    if fork.fan_out is not None:
        last = last_copy_of(fork.branches[0], fork.fan_out, len(fork.calls))
        if last is not None:
            return last_known(last, fork.fan_out, nodes[0], fork.branches[0])
        order = order_of(fork.fan_out, fork.branches[0], len(fork.calls))
        waits = [part.queue for part in fork.branches[0] if part.queue is not None]
        if order.is_one:
            return EXACT
        if fork.fan_out.answers is None and any(one.variation is not ONE for one in waits):
            return known_by("fan-out-longest", nodes, case=_measured_case(fork.fan_out, waits))
        return order.known(nodes)
    if last_that_meets(fork) is not None:
        return meeting_known(fork, nodes)
    queues = [[part.queue for part in every(branch) if part.queue] for branch in fork.branches]
    inside = [fork_known(part) for branch in fork.branches for part in branch if part.branches]
    if sum(map(bool, queues)) < 2:  # noqa: PLR2004 - others are late by themselves
        return together(known_by("fork-independent", nodes), *inside)
    if _is_of_waiting_users(fork):
        case = "few" if len(fork.branches) <= _FEW else ""
        return together(known_by("closed-forks", nodes, case=case), *inside)
    is_proven = all(_is_served_in_turn(queue) for branch in queues for queue in branch)
    known = known_by("fork-associated" if is_proven else "fork-estimated", nodes)
    return together(known, *inside)


def _measured_case(fan_out: FanOutStage, queues: Sequence[Queue]) -> str:
    """Return in which random fan-outs the longest of calls was measured, if in any like these.

    Each call had one queue, whose server takes the same service of all in turn.
    """
    if len(queues) != 1 or queues[0].servers is not ONE or not _is_served_in_turn(queues[0]):
        return ""
    varies = _number(queues[0].variation)
    is_alike = len({visit.service for visit in queues[0].visits}) == 1
    if not is_alike or varies is None or varies > _MOST_VARIED:
        return ""
    return next((case for case, most in _CALLS.items() if fan_out.most <= most), "")


def forks_known(parts: Sequence[LatencyPart]) -> Certainty:
    """Return how the time of all forks is known that stages have.

    What comes to a fork from another one is no Poisson process, and late where that was.
    """
    forks = [part for part in parts if part.branches]
    known = [fork_known(fork) for fork in forks]
    busy = [fork for fork in forks if _resources([fork])]
    nested = [fork for fork in busy if _has_queues_outside_forks(fork)]
    in_series = any(not _exclude(one, other) for one, other in combinations(busy, 2))
    if not nested and not in_series:
        return together(*known)
    combined = busy if in_series else nested
    nodes = dict.fromkeys(node for fork in combined for node in _nodes(fork))
    is_few = all(len(fork.branches) <= _FEW for fork in _all_forks(forks))
    case = "few" if is_few else ""
    return together(*map(_without_bound, known), known_by("forks-combined", list(nodes), case=case))


def _all_forks(forks: Iterable[LatencyPart]) -> Iterator[LatencyPart]:
    for fork in forks:
        yield fork
        for branch in fork.branches:
            yield from _all_forks(part for part in branch if part.branches)


def _without_bound(known: Certainty) -> Certainty:
    """Return how a fork is known among others: of these the error counts the bound of each."""
    return EXACT if known.kind is CertaintyKind.UPPER_BOUND else known


def _has_queues_outside_forks(fork: LatencyPart) -> bool:
    """Return whether a fork has another one with queues within it, and queues besides."""
    for branch in fork.branches:
        for part in branch:
            if not part.branches or not _resources([part]):
                continue
            queues = sum(one.queue is not None for one in every([fork]))
            if _has_queues_outside_forks(part) or queues > sum(
                one.queue is not None for one in every([part])
            ):
                return True
    return False


def _count(fork: LatencyPart) -> int:
    return sum(part.queue is not None for part in every([fork]))


def _resources(parts: Sequence[LatencyPart]) -> set[str]:
    return {part.queue.resource for part in every(parts) if part.queue is not None}


def _meet_again(parts: Sequence[LatencyPart], *, is_inside: bool = False) -> bool:
    """Return whether a queue is in two forks in a row, or within a branch in a fork and beside it.

    Who finds it long finds it long again: such times are not independent.
    """
    forks = [part for part in parts if part.branches]
    for fork, other in combinations(forks, 2):
        if not _exclude(fork, other) and _resources([fork]) & _resources([other]):
            return True
    if is_inside:
        line = _resources([part for part in parts if not part.branches])
        if any(line & _resources([fork]) for fork in forks):
            return True
    return any(_meet_again(branch, is_inside=True) for fork in forks for branch in fork.branches)


def _mean_of_network(parts: Sequence[LatencyPart]) -> Formula | None:
    """Return the mean where users wait: their network knows it better than laws of each branch."""
    forks = [part for part in parts if part.branches]
    if not any(map(_is_of_waiting_users, forks)) or any(part.differs for part in every(parts)):
        return None
    return total(part.value for part in parts)


def _is_of_waiting_users(fork: LatencyPart) -> bool:
    """Return whether the network says how long its branches take: it is a closed one."""
    for part in every([fork]):
        number = part.calls[len(fork.calls)].fork
        if part.queue is None or part.visit is None or number is None:
            continue
        if part.queue.law.together(part.visit, number) is not None:
            return True
    return False


def _nodes(fork: LatencyPart) -> list[str]:
    return [branch[0].calls[len(fork.calls)].node for branch in fork.branches]


def _is_served_in_turn(queue: Queue) -> bool:
    """Return whether times there grow with services, and with how close requests come."""
    return queue.traits.service is Service.IN_TURN and not queue.traits.loses


def lines_of(path: LatencyPath) -> Iterator[LatencyPath]:
    """Yield what is passed in line on a way: of each fork one branch, of some ways the first."""
    for line in islice(_lines(path.parts), _MOST_LINES):
        yield LatencyPath(
            parts=line,
            added=tuple(part for part in line if part.queue is not None),
            aside=(),
            fixed=ZERO,
            operands=(),
        )


def _lines(parts: Sequence[LatencyPart]) -> Iterator[tuple[LatencyPart, ...]]:
    each = [
        [line for branch in part.branches for line in _lines(branch)]
        if part.branches
        else [(part,)]
        for part in parts
    ]
    for chosen in product(*each):
        yield tuple(part for line in chosen for part in line)


def _exclude(one: LatencyPart, other: LatencyPart) -> bool:
    """Return whether two stages are in alternatives of which one is passed."""
    return any(
        a.choice is not None and a.choice == b.choice and a.number != b.number
        for a, b in zip(one.calls, other.calls, strict=False)
    )


def _share_a_draw(parts: Sequence[LatencyPart]) -> bool:
    """Return whether branches, or one and what is in line with it, are drawn together."""
    seen: set[Hashable] = set()
    for line in _by_itself(parts, 0):
        drawn = {_draw(call) for calls in line for call in calls if call.times is not ONE}
        if seen & drawn:
            return True
        seen |= drawn
    return False


def _by_itself(parts: Sequence[LatencyPart], depth: int) -> Iterator[list[tuple[CallFactor, ...]]]:
    """Yield the calls of a line from a depth on, and those of each branch of its forks."""
    yield [part.calls[depth:] for part in parts]
    for fork in parts:
        for branch in fork.branches:
            yield from _by_itself(branch, len(fork.calls))


def _is_drawn_again(parts: Sequence[LatencyPart]) -> bool:
    """Return whether something is drawn once for stages between which there are others."""
    for draw in {_draw(call) for part in parts for call in part.calls if call.times is not ONE}:
        at = [k for k, part in enumerate(parts) if draw in map(_draw, part.calls)]
        if at[-1] - at[0] >= len(at):
            return True
    return False


def _draw(call: CallFactor) -> Hashable:
    return call.number if call.choice is None else ("choice", call.choice)


def _varies(parts: Sequence[LatencyPart]) -> bool:
    """Return whether anything varies: a wait, or what is passed by chance."""
    return any(
        part.queue is not None or any(call.times is not ONE for call in part.calls)
        for part in every(parts)
    )
