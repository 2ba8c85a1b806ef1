"""Locks and pools that are held while a CPU limit pauses who holds them: a warning on it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct

from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Sink
from qps.compiler.diagnostics.source import Span
from qps.compiler.lower.disciplines.cpu_quota import share_slowed
from qps.compiler.lower.disciplines.pool_wait import PoolLaw
from qps.compiler.lower.load_graph import Criterion, LoadGraph
from qps.compiler.lower.queues.station_queue import Queue
from qps.compiler.lower.response_time.response_stages import every

_NOTICEABLE = 0.001
"""Share of visits slowed down by a CPU limit from which percentiles of a lock may be too short."""


class ThrottledHold(Struct, frozen=True, kw_only=True):
    """A pool, and the CPU that pauses who holds it: a `share` of the visits there is slowed."""

    requirement: str
    span: Span | None
    pool: str
    cpu: str
    share: float


def throttled_holds(
    graph: LoadGraph, criteria: Iterable[Criterion], population: int
) -> tuple[ThrottledHold, ...]:
    """Return the pools on the way of required streams that are held on throttled CPUs."""
    there = graph.at(population)
    found: dict[tuple[str, str], ThrottledHold] = {}
    for criterion in criteria:
        for stream in criterion.waits_of:
            for pool, queue in _pools_on_quotas(graph, stream):
                share = there.number(share_slowed(queue))
                if share > _NOTICEABLE:
                    one = ThrottledHold(
                        requirement=criterion.name,
                        span=criterion.span,
                        pool=pool,
                        cpu=queue.resource,
                        share=share,
                    )
                    found.setdefault((pool, queue.resource), one)
    return tuple(found.values())


def _pools_on_quotas(graph: LoadGraph, stream: str) -> Iterator[tuple[str, Queue]]:
    """Yield the pools that a stream waits for, with the CPU of each that may be throttled."""
    waits = [part.queue for part in every(graph.streams[stream].latency) if part.queue is not None]
    queues = {queue.resource: queue for queue in waits}
    for pool, queue in queues.items():
        if isinstance(queue.law, PoolLaw):
            yield from ((pool, queues[name]) for name in queue.law.throttled if name in queues)


def report_throttled_holds(found: Iterable[ThrottledHold], at: str, sink: Sink) -> None:
    """Warn that percentiles are too short where a lock is held over the pauses of a CPU limit."""
    for one in found:
        sink.report(
            codes.THROTTLED_HOLD,
            one.span,
            f"{one.pool} is held while the CPU limit pauses {one.cpu}, which slows "
            f"{one.share * 100:.2g} % of the visits at {at}: p95 and p99 in "
            f"`{one.requirement}` may be several times longer than predicted",
            hint="give it back before the work on the CPU, or raise the limit; "
            "`qps simulate` measures it",
        )
