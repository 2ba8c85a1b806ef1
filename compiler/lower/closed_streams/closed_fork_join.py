"""Calls that closed streams make together: where a cycle goes on in several branches at once.

Each branch takes some time besides its stations; the next step waits for the slowest. What is
visited in one branch is visited nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from qps.compiler import ir
from qps.compiler.lower.closed_networks.fork_join_stations import ForkJoin, ForkJoinBranch, Own
from qps.compiler.lower.closed_streams.closed_refusals import refused
from qps.compiler.lower.traffic.traffic_parts import ClassTraffic
from qps.engine.expressions.formulas import Formula

Path = tuple[tuple[int, int], ...]
"""The calls made together that a stage stands in: of each the fork, and which of its calls."""

ROOT: Path = ()
"""Where no calls are made together."""


def path_of(result: ClassTraffic, stage: int) -> Path:
    """Return in which calls made together a stage stands."""
    calls = result.latency[stage].calls if stage < len(result.latency) else ()
    return tuple((call.fork, call.number) for call in calls if call.fork is not None)


def homes_of(stream: ir.Stream, result: ClassTraffic) -> dict[str, Path]:
    """Return where each resource is waited for; an error where that is in several branches."""
    homes: dict[str, Path] = {}
    for stage, visit in result.visits.items():
        path = path_of(result, stage)
        if homes.setdefault(visit.resource, path) != path:
            raise refused(
                stream,
                f"it makes parallel calls, and {visit.resource} is visited inside and "
                "outside one of them",
                "make the calls sequential for a conservative result",
            )
    return homes


def refuse_forks(stream: ir.Stream, result: ClassTraffic) -> None:
    """Refuse calls made together of which some are left out, or lost."""
    for part in result.latency:
        if any(call.fork is not None for call in part.calls):
            if result.losses:
                why = f"it makes parallel calls, and items are lost ({result.losses[0].stage})"
                raise refused(stream, why, "remove the loss, or make the calls sequential")
            if not all(call.is_whole for call in part.calls):
                why = "some of its parallel calls are optional"
                hint = "use a whole number of calls, or make them sequential"
                raise refused(stream, why, hint)


def forks_of(
    result: ClassTraffic,
    homes: Mapping[str, Path],
    stations: Sequence[str],
    own: Mapping[str, Own],
    delay: Callable[[Path], Formula],
) -> tuple[ForkJoin, ...]:
    """Return the calls that a cycle makes together, with what each branch is."""
    paths = dict.fromkeys(path_of(result, stage) for stage in range(len(result.latency)))

    def within(around: Path) -> tuple[ForkJoin, ...]:
        depth = len(around)
        inside = [path for path in paths if len(path) > depth and path[:depth] == around]
        found: dict[int, dict[int, None]] = {}
        for path in inside:
            fork, call = path[depth]
            found.setdefault(fork, {})[call] = None
        return tuple(
            ForkJoin(fork, tuple(branch((*around, (fork, call))) for call in calls))
            for fork, calls in found.items()
        )

    def branch(at: Path) -> ForkJoinBranch:
        here = tuple(name for name in stations if homes[name] == at)
        machines = tuple(one for name, one in own.items() if homes[name] == at)
        return ForkJoinBranch(delay=delay(at), own=machines, stations=here, forks=within(at))

    return within(ROOT)
