"""Calls that closed streams make together: where a cycle goes on in several branches at once.

Each branch takes some time besides its stations; the next step waits for the slowest. What is
visited in one branch is visited nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from qps.compiler import ir
from qps.compiler.lower.closed_networks.closed_stations import ClosedStation
from qps.compiler.lower.closed_networks.fork_join_stations import ForkJoin, ForkJoinBranch, Own
from qps.compiler.lower.closed_streams.closed_refusals import refused
from qps.compiler.lower.traffic.traffic_parts import ClassTraffic
from qps.engine.expressions.formulas import ONE, Formula

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
    """Refuse calls made together where items are lost."""
    if result.losses and any(
        call.fork is not None for part in result.latency for call in part.calls
    ):
        why = f"it makes parallel calls, and items are lost ({result.losses[0].stage})"
        raise refused(stream, why, "remove the loss, or make the calls sequential")


def refuse_with_forks(
    stream: ir.Stream, pools: Iterable[str], stations: Sequence[ClosedStation]
) -> None:
    """Refuse what cannot be combined with parallel calls: `pools` held meanwhile, and others."""
    paced = [one.resource for one in stations if one.speeds]
    ranked = [one.resource for one in stations if one.rank is not None]
    for name, why in (
        *((name, "is held meanwhile") for name in pools),
        *((name, "has load-dependent speeds") for name in paced),
        *((name, "has priorities") for name in ranked),
    ):
        text = f"it makes parallel calls, and {name} {why}"
        raise refused(stream, text, "make the calls sequential for a conservative result")


def _counts_of(result: ClassTraffic) -> dict[Path, tuple[Formula, Formula]]:
    """Return how often a cycle makes calls together, and how often each of them."""
    found: dict[Path, tuple[Formula, Formula]] = {}
    for part in result.latency:
        path, often = ROOT, ONE
        for call in part.calls:
            around, often = often, often * call.times
            if call.fork is not None:
                path = (*path, (call.fork, call.number))
                found.setdefault(path, (around, often))
    return found


def forks_of(
    result: ClassTraffic,
    homes: Mapping[str, Path],
    stations: Sequence[str],
    own: Mapping[str, Own],
    delay: Callable[[Path], Formula],
    averaged: Callable[[Formula], Formula],
) -> tuple[ForkJoin, ...]:
    """Return the calls that a cycle makes together, with what each branch is.

    How often they are made is `averaged` over kinds.
    """
    counts = _counts_of(result)
    paths = dict.fromkeys(path_of(result, stage) for stage in range(len(result.latency)))

    def within(around: Path) -> tuple[ForkJoin, ...]:
        depth = len(around)
        inside = [path for path in paths if len(path) > depth and path[:depth] == around]
        found: dict[int, dict[int, None]] = {}
        for path in inside:
            fork, call = path[depth]
            found.setdefault(fork, {})[call] = None
        return tuple(
            ForkJoin(
                number=fork,
                often=averaged(counts[*around, (fork, next(iter(calls)))][0]),
                branches=tuple(branch((*around, (fork, call))) for call in calls),
            )
            for fork, calls in found.items()
        )

    def branch(at: Path) -> ForkJoinBranch:
        here = tuple(name for name in stations if homes[name] == at)
        machines = tuple(one for name, one in own.items() if homes[name] == at)
        return ForkJoinBranch(
            often=averaged(counts[at][1]),
            delay=delay(at),
            own=machines,
            stations=here,
            forks=within(at),
        )

    return within(ROOT)
