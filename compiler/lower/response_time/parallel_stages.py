"""The stages of a latency in line: calls that are made together are one stage with branches."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from msgspec.structs import replace

from qps.compiler.lower.response_time.alternative_copies import as_alike_copies
from qps.compiler.lower.response_time.calls_that_meet import as_one_batch
from qps.compiler.lower.response_time.fan_outs import has_law, time_of_fan_out
from qps.compiler.lower.response_time.fork_paths import fork_mean
from qps.compiler.lower.response_time.parallel_calls import slowest_of
from qps.compiler.lower.response_time.response_stages import LatencyPart


def in_line(parts: Sequence[LatencyPart], depth: int = 0) -> tuple[LatencyPart, ...]:
    """Return stages one after the other: what is called together is one of them."""
    found: list[LatencyPart] = []
    for fork, group in groupby(parts, key=lambda part: _fork_of(part, depth)):
        inside = list(group)
        if fork is None:
            found += inside
        else:
            found.append(_together(inside, fork[0]))
    return tuple(found)


def _together(parts: Sequence[LatencyPart], at: int) -> LatencyPart:
    """Return the stage of calls that are made together, which stand in so many others."""
    branches = tuple(
        in_line(list(branch), at + 1)
        for _, branch in groupby(parts, key=lambda part: part.calls[at].number)
    )
    calls, first = parts[0].calls[:at], parts[0].calls[at]
    if first.fan_out is not None:
        branches = (as_alike_copies(tuple(branches[0]), at),)
        time = time_of_fan_out(branches[0], first.fan_out, at)
        return LatencyPart(
            stage=f"calls of {first.node} together",
            value=time.value * calls[-1].reached if calls else time.value,
            calls=calls,
            branches=branches,
            slowest_known=time.known,
            has_waits_known=time.has_waits_known,
            fan_out=first.fan_out,
        )
    met = as_one_batch(branches)
    branches = branches if met is None else tuple(met)
    nodes = [branch[0].calls[at].node for branch in branches]
    slowest = slowest_of(branches, nodes, at)
    found = LatencyPart(
        stage=f"{' and '.join(nodes)} together",
        value=slowest.value,
        calls=calls,
        branches=branches,
        slowest_known=slowest.known,
    )
    is_by_law = slowest.is_by_moments or met is not None
    forked = fork_mean(found, has_law) if is_by_law else None
    if forked is None:
        return found
    mean, known = forked
    return replace(
        found,
        value=mean * calls[-1].reached if calls else mean,
        slowest_known=known,
        has_waits_known=met is not None,
    )


def _fork_of(part: LatencyPart, depth: int) -> tuple[int, int] | None:
    """Return the first fork from a depth on that a stage stands in, and how deep that is."""
    for at, call in enumerate(part.calls[depth:], depth):
        if call.fork is not None:
            return at, call.fork
    return None
