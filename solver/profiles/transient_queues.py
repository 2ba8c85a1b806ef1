"""Whether queues reach a steady state within each moment, and what they come to otherwise.

A queue forgets its past within a relaxation time: that of M/M/c is about its service time over
servers, divided by the square of what the root of its load leaves to 1 (Cohen 1982, section
III.7.3; Newell 1982). If moments last much longer, each is in steady state. Otherwise, the queue is
followed through the cycle, as a Markov chain.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite, sqrt

from msgspec import Struct

from qps.compiler import ir
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.quantities.clock_times import moment_name
from qps.engine.queueing.erlang_numbers import inverse_erlang
from qps.solver.profiles.course_answer import TransientQueue
from qps.solver.profiles.moment_values import MomentValues

_STEADY = 12.0
"""Relaxation times after which a queue is in steady state, to a part of e^-12."""
_FOLLOWED = 3
"""Queues that are followed, the slowest first."""
_MOST_STEPS = 1_500
"""Moments of a cycle up to which queues are followed."""
_SHOWN = 0.01
"""Part of the wait in steady state by which a wait must differ."""
_MINUTE = 60.0
_SMALL = 1e-6


class QueueAt(Struct, frozen=True):
    """A queue at a moment: its servers, their mean service time in s, and its load."""

    servers: int
    service: float
    load: float

    @property
    def relaxation(self) -> float:
        """The time in which it forgets its past, in s."""
        spare = 1 - sqrt(min(self.load, 1.0))
        return self.service * (1 + 1 / (self.servers * max(spare, _SMALL) ** 2))


def queues_at(graph: LoadGraph, at: int, numbers: MomentValues) -> dict[str, QueueAt]:
    """Return the stations at which open classes wait, at a population.

    The service time is what an item takes there in all visits: at least that of one.
    """
    found = {}
    classes = graph.network.classes
    for name, station in graph.network.stations.items():
        resource = graph.resources.get(name)
        if not station.waits or resource is None:
            continue
        parts = numbers.at(graph, list(resource.streams.values()), at)
        loading = [one for one, load in zip(resource.streams, parts, strict=True) if load > 0]
        of = [classes[one] for one in loading if one in classes]
        if not of or any(one.amount is not None for one in of):
            continue
        rates = [one.flows * one.arrivals.rate for one in of]
        others = [station.servers, station.place.copies, resource.load]
        servers, copies, load, *each = numbers.at(graph, [*others, *rates], at)
        rate = sum(each)
        service = load * servers * copies / rate if rate > 0 else 0.0
        if isfinite(service) and service > 0 and servers >= 1:
            found[name] = QueueAt(round(servers), service, load)
    return found


def transient_queues(
    moments: Sequence[ir.Moment], queues: Sequence[Mapping[str, QueueAt]], cycle: int
) -> tuple[TransientQueue, ...]:
    """Return the queues whose largest wait in a cycle is not that of a steady state."""
    slowness: dict[str, float] = {}
    if len(moments) > _MOST_STEPS:
        return ()
    for moment, of_moment in zip(moments, queues, strict=True):
        seconds = (moment.end - moment.start) * _MINUTE
        for name, queue in of_moment.items():
            if queue.load < 1 + _SMALL and seconds < _STEADY * queue.relaxation:
                slowness[name] = max(slowness.get(name, 0.0), queue.relaxation / seconds)
    slowest = sorted(slowness, key=lambda name: -slowness[name])[:_FOLLOWED]
    followed = (_followed(name, moments, queues, cycle) for name in slowest)
    return tuple(one for one in followed if one is not None)


def _followed(
    name: str, moments: Sequence[ir.Moment], queues: Sequence[Mapping[str, QueueAt]], cycle: int
) -> TransientQueue | None:
    """Return a queue with its largest wait; None if that is the one of a steady state."""
    from qps.engine.queueing.changing_load_arrays import LoadStep, waits_at_ends  # noqa: PLC0415 - of few specs; it needs numpy

    there = [of_moment.get(name) for of_moment in queues]
    servers = {one.servers for one in there if one is not None}
    if len(servers) > 1:
        return None
    (count,) = servers
    service = max(one.service for one in there if one is not None)
    steps = [
        LoadStep(
            (moment.end - moment.start) * _MINUTE / service,
            0.0 if one is None else one.load * count,
        )
        for moment, one in zip(moments, there, strict=True)
    ]
    waits = waits_at_ends(count, steps)
    if waits is None:
        return None
    place = max(range(len(waits)), key=lambda number: waits[number])
    fullest = max(step.rate for step in steps)
    steady = None
    if fullest < count:
        load = fullest / count
        waits_too = 1 / (inverse_erlang(count, fullest) * (1 - load) + load)
        steady = service * waits_too / (count - fullest)
    if steady is not None and abs(waits[place] * service - steady) < _SHOWN * steady:
        return None
    return TransientQueue(
        resource=name,
        wait=waits[place] * service,
        at=moment_name(moments[place].end, cycle),
        steady_wait=steady,
    )
