"""The quantile of a closed stream's latency: that of the time of a cycle at all of its stations.

Where a latency is the whole cycle of a class of a network, the table of operations has the law of
all stays together; where there are several classes, by its moments. How many are found at one
station says how many are not at others: the stays are no independent stages.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from fractions import Fraction

from msgspec import Struct

from qps.compiler.lower.closed_networks.closed_stream_solution import ClosedStream
from qps.compiler.lower.disciplines.closed_waits import InClosedNetwork
from qps.compiler.lower.queues.station_queue import Queue
from qps.compiler.lower.response_time.response_stages import LatencyPart, TimeSpent
from qps.compiler.quantities.certainty import Certainty, together
from qps.compiler.quantities.methods import known_by
from qps.engine.expressions.formulas import ONE, ZERO, Formula, apply, number, total


class CycleSum(Struct, frozen=True, kw_only=True):
    """What a cycle of a stream takes: `fixed`, and the time at its stations, of which `queues` are.

    It visits them so `often`, or as if so often, for services that differ.
    """

    stream: ClosedStream
    fixed: Formula
    queues: tuple[Queue, ...]
    often: tuple[Formula, ...]

    def quantile(self, level: Fraction) -> Formula:
        """Return what a share of all cycles does not exceed."""
        visits = {
            queue.resource: (often, queue.traits.is_insensitive)
            for queue, often in zip(self.queues, self.often, strict=True)
        }
        stays = self.stream.network.quantile(self.stream.name, number(level), visits)
        return self.fixed + stays

    @property
    def known(self) -> Certainty:
        """How that is known."""
        once: list[str] = []
        again: list[str] = []
        shared: list[str] = []
        for queue, often in zip(self.queues, self.often, strict=True):
            found = shared if queue.traits.is_insensitive else once if often is ONE else again
            found.append(queue.resource)
        is_of_one = self.stream.network.is_of_one
        of = "one class" if is_of_one else "several classes"
        passes = "cycle-without-overtaking" if is_of_one else "cycle-by-moments"
        parts = {passes: once, "cycle-repeat-visits": again, "cycle-sharing": shared}
        return together(*(known_by(method, at, case=of) for method, at in parts.items() if at))


def cycle_of(parts: Sequence[LatencyPart]) -> CycleSum | None:
    """Return the cycle that the stages of a latency are; None where they are something else."""
    waits = [part for part in parts if part.queue is not None]
    with_queues = {part.place for part in waits}
    if any(part.branches or part.differs or _is_by_chance(part, with_queues) for part in parts):
        return None
    stream = _stream_of(waits)
    if stream is None or stream.network.is_nested:
        return None
    if stream.network.behind or stream.network.found or stream.network.unlike:
        return None
    if _calls_by_chance(waits) and (not stream.network.is_of_one or _are_shared(waits)):
        return None  # a few moments say nothing of users of whom some call and others do not
    visits: dict[str, list[LatencyPart]] = {}
    for part in waits:
        assert part.queue is not None
        visits.setdefault(part.queue.resource, []).append(part)
    if any(map(_are_alternatives, visits.values())):
        return None
    at = stream.network.names.index(stream.name)
    stations = [one.resource for one in stream.network.stations if one.demands[at] is not ZERO]
    if set(visits) != set(stations):
        return None
    often = {name: total(part.times for part in visits[name]) for name in stations}
    if any(often[name] is not stream.visits[name] for name in stations):
        return None
    queues = tuple(visits[name][0].queue for name in stations)
    if any(queue is None or queue.speeds or not _is_exponential(queue) for queue in queues):
        return None
    fixed = [part.value for part in parts if part.queue is None]
    served = [part.visit.service * part.times for part in waits if part.visit is not None]
    return CycleSum(
        stream=stream,
        fixed=total(fixed) - total(served),
        queues=tuple(queue for queue in queues if queue is not None),
        often=tuple(_as_if_alike(visits[name], often[name]) for name in stations),
    )


def _as_if_alike(visits: Sequence[LatencyPart], often: Formula) -> Formula:
    """Return how many equal exponential services vary as much as those of some visits do."""
    services = [(part.times, part.visit.service) for part in visits if part.visit is not None]
    if len({service for _, service in services}) == 1:
        return often
    once = total(times * service for times, service in services)
    return apply("mean", once**2, total(times * service**2 for times, service in services))


def _is_by_chance(part: LatencyPart, with_queues: Collection[str]) -> bool:
    """Return whether a step at a node takes time of some items and not of others: no fixed time.

    Where nobody waits it is work as well as a delay; at nodes `with_queues` it is part of a stay.
    """
    is_step = part.spent is TimeSpent.DELAY or (part.is_work and part.place not in with_queues)
    if not is_step or not part.calls:
        return False
    return part.place == part.calls[-1].node and not all(call.is_whole for call in part.calls)


def _calls_by_chance(visits: Sequence[LatencyPart]) -> bool:
    return any(not call.is_whole for part in visits for call in part.calls)


def _are_shared(visits: Sequence[LatencyPart]) -> bool:
    """Return whether some share a processor: the law of such stays is for visits that all make."""
    return any(part.queue is not None and part.queue.traits.is_insensitive for part in visits)


def _are_alternatives(visits: Sequence[LatencyPart]) -> bool:
    """Return whether visits of a station take unlike services, and not all items make each.

    As one exponential service of their mean they are seldom long, or never short.
    """
    services = {part.visit.service for part in visits if part.visit is not None}
    return _calls_by_chance(visits) and len(services) > 1


def _is_exponential(queue: Queue) -> bool:
    """Return whether stays are those of exponential services."""
    return queue.traits.is_insensitive or queue.variation is ONE


def _stream_of(waits: Sequence[LatencyPart]) -> ClosedStream | None:
    """Return the one closed stream that all waits are of, at stations of its network."""
    found: set[int] = set()
    stream = None
    for part in waits:
        queue, visit = part.queue, part.visit
        if queue is None or visit is None or not isinstance(queue.law, InClosedNetwork):
            return None
        stream = queue.law.stream_of(visit)
        if stream is None or queue.resource in stream.alone:
            return None
        found.add(id(stream))
    return stream if len(found) == 1 else None
