"""The quantile of a latency as that of a sum: stages one after the other, of which laws are known.

What is waited for by a law of its own goes into one sum, calls with what is inside of them, of
which the table of operations has the quantile. Of calls that are made together each makes a way
through all stages; the latency is that of the longest. What has a quantile alone, as periodic
queues and jitter have, is later with its part of the share that may be, so that the sum of all is
a bound (Bonferroni).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction

from msgspec.structs import replace

from qps.compiler.lower.queues.stage_law import LastCopy, StageLaw
from qps.compiler.lower.response_time.associated_answers import independent_batches, order_of
from qps.compiler.lower.response_time.fork_paths import fork_path
from qps.compiler.lower.response_time.last_copies import come_together, last_copy_of, last_known
from qps.compiler.lower.response_time.latency_paths import FanOutPath, LatencyPath
from qps.compiler.lower.response_time.repeated_shares import has_outcomes
from qps.compiler.lower.response_time.repeated_visits import is_counted, repeats_by_share
from qps.compiler.lower.response_time.response_stages import FanOutStage, LatencyPart
from qps.compiler.lower.response_time.stage_operands import (
    operands_by_outcome,
    operands_of,
    stage_at,
)
from qps.compiler.lower.response_time.stage_sequence import calls_certainty
from qps.engine.distributions.stage_paths import MOST_PATHS
from qps.engine.expressions.formulas import ONE, ZERO, Formula, apply, number

_MOST_PATHS = 16


def paths_of(
    parts: Sequence[LatencyPart], is_added: Callable[[LatencyPart], bool]
) -> tuple[LatencyPath, ...]:
    """Return the ways through stages of which a sum gives the quantile; none where it does not."""
    forked = fork_path(parts, is_added)
    if forked is not None:
        return (forked,)
    found = _summed(parts, is_added)
    if any(map(_lacks_law, found)) or any(way.repeats and way.aside for way in found):
        return ()
    if all(way.is_alone for way in found):
        return ()
    if not all(way.varies for way in found) and (
        len(found) > 1 or calls_certainty(parts, varies=False).is_exact
    ):
        return ()  # what is passed gives the quantile without a sum
    return found


def later_paths(
    parts: Sequence[LatencyPart], is_added: Callable[[LatencyPart], bool]
) -> tuple[LatencyPath, ...]:
    """Return the ways through stages of which a sum gives the tail; none where it does not."""
    forked = fork_path(parts, is_added)
    if forked is not None:
        return (forked,)
    found = _summed(parts, is_added)
    if any(path.aside for path in found if _has_calls_together(path)) or any(
        map(_lacks_law, found)
    ):
        return ()
    return () if any(path.aside and not _own_share(path, ONE) for path in found) else found


def _summed(
    parts: Sequence[LatencyPart], is_added: Callable[[LatencyPart], bool]
) -> tuple[LatencyPath, ...]:
    """Return the ways through stages; none where one is not passed as sums have it."""
    lines = _lines(parts)
    if any(sum(part.fan_out is not None for part in line) > 1 for line in lines):
        return ()
    found = tuple(_path_of(line, is_added, len(lines)) for line in lines)
    is_sum = all(_is_simple(way) and way.chances <= MOST_PATHS for way in found)
    return found if is_sum else ()


def later_share(path: LatencyPath, seconds: Fraction) -> Formula:
    """Return the share of what goes one way that takes longer than a time, in s."""
    found = None if path.has_fork else _own_share(path, number(seconds))
    if found is not None:
        return found
    operands = path.operands or StageLaw(waits=ZERO, work=ZERO).operands()
    left = number(seconds) / path.scale - path.fixed
    if path.fan_out is not None:
        return path.fan_out.later(left, path.operands)
    return apply("fork_tail" if path.has_fork else "stages_tail", left, *operands)


def _has_calls_together(path: LatencyPath) -> bool:
    return any(part.fan_out is not None for part in path.parts)


def _lacks_law(path: LatencyPath) -> bool:
    """Return whether calls are made at once of which no law is known."""
    return _has_calls_together(path) and path.fan_out is None


def _own_share(path: LatencyPath, seconds: Formula) -> Formula | None:
    """Return the same of one queue, where the law of its wait has a formula of its own.

    What is served is always served for one time then, or nothing is.
    """
    waits = (*path.added, *path.aside)
    if len(waits) != 1 or path.repeats or path.fan_out is not None:
        return None
    (part,) = waits
    queue, visit = part.queue, part.visit
    assert queue is not None
    assert visit is not None
    served = stage_at(part).counted if path.added else ZERO
    return queue.law.later_than_service(queue, visit, seconds - path.fixed - served)


def _lines(parts: Iterable[LatencyPart]) -> list[tuple[LatencyPart, ...]]:
    """Return all ways through branches; none where there are too many, or made more than once."""
    found: list[tuple[LatencyPart, ...]] = [()]
    for part in parts:
        if not part.branches or part.fan_out is not None:
            found = [(*line, part) for line in found]
            continue
        if not all(call.times is ONE or call.is_share for call in part.calls):
            return []
        branches = [_lines(branch) for branch in part.branches]
        if not all(branches):
            return []  # of one branch there are too many: the others are not the longest
        found = [(*before, *line) for before in found for lines in branches for line in lines]
        if len(found) > _MOST_PATHS:
            return []
    return found


def fan_out_path(
    branch: Sequence[LatencyPart],
    fan_out: FanOutStage,
    depth: int,
    is_added: Callable[[LatencyPart], bool],
) -> FanOutPath | None:
    """Return what calls take that are made at once, in so many others; None where no law is known.

    Of those that are made at once within each of them all are waited for, so that it is as if each
    of these were made from outside.
    """
    parts, within = _flat(branch, ONE)
    if within is not ONE and fan_out.answers is not None:
        return None
    if any(part.branches for part in parts):
        return None
    path = _path_of(tuple(parts), is_added, 1, depth)
    if path.aside or path.chances > MOST_PATHS or not _is_simple(path):
        return None
    if repeats_by_share(path.added, depth):
        return None
    node = branch[0].calls[depth].node
    order = order_of(fan_out, parts, depth)
    required = order.required * within
    alone = FanOutPath(
        required=required,
        spare=order.spare,
        fixed=path.fixed,
        operands=path.operands,
        added=path.added,
        node=node,
        order_known=order.known([node]),
        is_one=required is ONE and order.spare is ZERO,
    )
    if within is not ONE or fan_out.answers is not None or not come_together(parts, fan_out):
        return alone
    last = last_copy_of(parts, fan_out, depth)
    if last is not None:
        return _of_last(alone, parts, last, fan_out)
    return replace(alone, order_known=last_known(last, fan_out, node, parts))


def _of_last(
    alone: FanOutPath, parts: Sequence[LatencyPart], last: LastCopy, fan_out: FanOutStage
) -> FanOutPath:
    """Return the calls as batches, one at each machine, of which the last copy counts."""
    is_one, known = fan_out.machines is ONE, last_known(last, fan_out, alone.node, parts)
    wait = last.wait.operands()
    if last.service is not None:
        # All machines have much to do at the same times, so that there is one wait for them all.
        batches = ONE if is_one else fan_out.batches
        required = batches * last.parallel
        return replace(
            alone,
            required=required,
            operands=last.service.operands(),
            before=wait,
            order_known=known,
        )
    (part,) = (part for part in parts if part.queue is not None)
    required = ONE if is_one else independent_batches(fan_out, part)
    return replace(
        alone, required=required, operands=wait, is_one=required is ONE, order_known=known
    )


def _flat(parts: Sequence[LatencyPart], required: Formula) -> tuple[Sequence[LatencyPart], Formula]:
    """Return stages with those of calls that are made at once among them, and how many ways."""
    found: list[LatencyPart] = []
    for part in parts:
        if part.fan_out is None or part.fan_out.answers is not None:
            found.append(part)
            continue
        inside, required = _flat(part.branches[0], required * part.fan_out.count)
        found += inside
    return found, required


def _path_of(
    line: tuple[LatencyPart, ...],
    is_added: Callable[[LatencyPart], bool],
    paths: int,
    depth: int = 0,
) -> LatencyPath:
    """Return a way through stages that stand in so many calls as are not looked at."""
    at_once = next((part for part in line if part.fan_out is not None), None)
    fan_out = None
    if at_once is not None and at_once.fan_out is not None:
        is_made = all(call.times is ONE for call in at_once.calls[depth:])
        deep = len(at_once.calls)
        if is_made:
            fan_out = fan_out_path(at_once.branches[0], at_once.fan_out, deep, is_added)
    parts, line = line, tuple(part for part in line if part is not at_once)
    waits = [part for part in line if part.queue is not None]
    added = tuple(part for part in waits if is_added(part))
    if not depth and repeats_by_share(added) and has_outcomes(line):
        fixed, operands, chances = operands_by_outcome(line, is_added)
    else:
        fixed, operands, chances = operands_of(line, added, depth)
    if fan_out is not None:
        fixed += fan_out.fixed
    return LatencyPath(
        parts=parts,
        added=added,
        aside=tuple(part for part in waits if part not in added),
        fixed=fixed,
        operands=tuple(operands),
        paths=paths,
        chances=chances,
        fan_out=fan_out,
    )


def _is_simple(path: LatencyPath) -> bool:
    """Return whether it is known how often a queue is passed again, and how long it is then."""
    if not repeats_by_share(path.added) or is_counted(path.added):
        return True
    return all(call.most is None for part in path.parts for call in part.calls)
