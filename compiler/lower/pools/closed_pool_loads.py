"""Pools of closed streams, once these are solved: how much is held, how it is waited for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.lower.closed_networks.closed_stream_solution import ClosedStream
from qps.compiler.lower.disciplines.closed_pool_waits import PoolInClosedNetwork
from qps.compiler.lower.disciplines.pool_wait import PoolLaw
from qps.compiler.lower.label_doubts import Gate
from qps.compiler.lower.queues.pool_holding import Hold, PoolCapacity
from qps.compiler.lower.queues.station_queue import Queue
from qps.compiler.lower.queues.visits import QueueVisit
from qps.compiler.lower.resource_loads import ResourceLoad
from qps.compiler.lower.traffic.station_queues import PlacedQueue
from qps.compiler.lower.traffic.traffic_parts import ClassTraffic, StationTraffic
from qps.compiler.quantities.certainty import Certainty, together
from qps.engine.expressions.formulas import ONE, ZERO, Formula, minimum, number, total
from qps.engine.expressions.substitution import Substitution

_NEARLY_ALL = number(1 - Fraction(1, 10**9))
"""Users who think leave some of a pool free at times, however many they are."""
_TRAITS = ir.Traits(counts_servers=True)


class UsersPools(Struct, frozen=True, kw_only=True):
    """The pools of closed streams: loads, queues and rooms by their names.

    `classes` are all classes with how those of users wait for these.
    """

    resources: dict[str, ResourceLoad]
    queues: dict[str, PlacedQueue]
    rooms: dict[str, PoolCapacity]
    classes: dict[str, ClassTraffic]


def users_pools(
    streams: Mapping[str, ClosedStream],
    *,
    demands: Mapping[str, StationTraffic],
    classes: Mapping[str, ClassTraffic],
    resources: Mapping[str, ResourceLoad],
    put_in: Substitution,
    gate: Gate,
) -> UsersPools:
    """Return the pools that closed streams wait for."""
    found = UsersPools(resources={}, queues={}, rooms={}, classes=dict(classes))
    taking: dict[str, list[ClosedStream]] = {}
    for stream in streams.values():
        for pool in stream.pools:
            taking.setdefault(pool.resource, []).append(stream)
    for name, all_of in taking.items():
        holds = demands[name].holds
        known = together(*(gate.of(one.name).lowered(one.known) for one in all_of))
        held = ((one.stream, _holding_time(one, name)) for one in all_of)
        found.resources[name] = pool_load_of_users(resources[name], held, known)
        found.rooms[name] = _room(all_of[0], name, holds[0])
        visits = list[QueueVisit]()
        for one in all_of:
            own = found.classes[one.name]
            stages = [h.stage for h in holds if h.of == one.name and h.stage is not None]
            waits = {
                at: replace(own.visits[at].changed(put_in), service=ZERO, batch=ONE)
                for at in stages
            }
            found.classes[one.name] = replace(own, visits=own.visits | waits)
            visits += waits.values()
        found.queues[name] = PlacedQueue(_queue(name, all_of, visits), put_in)
    return found


def pool_load_of_users(
    load: ResourceLoad, holds: Iterable[tuple[str, Formula]], known: Certainty
) -> ResourceLoad:
    """Return the load of a pool of which users of some streams hold so much."""
    found = load.with_holds(holds, known)
    whole = minimum(_NEARLY_ALL, found.load)
    return replace(found, load=whole, unresolved=whole, open_load=total(load.parts.values()))


def _holding_time(stream: ClosedStream, name: str) -> Formula:
    pool = stream.pool(name)
    return (
        stream.throughput * pool.holding_time(stream.network.nested_times(stream.name)) * pool.unit
    )


def _room(stream: ClosedStream, name: str, hold: Hold) -> PoolCapacity:
    pool = stream.pool(name)
    left = (ONE - pool.permanent) / pool.unit / pool.copies * hold.amount
    return PoolCapacity(permanent=pool.permanent, left=left, places=pool.places)


def _queue(name: str, streams: Sequence[ClosedStream], visits: Sequence[QueueVisit]) -> Queue:
    stated = PoolLaw(adds=ZERO, tail=ZERO, share=ZERO)
    return Queue(
        resource=name,
        law=PoolInClosedNetwork(stated, tuple(streams)),
        traits=_TRAITS,
        variation=ZERO,
        servers=streams[0].pool(name).places,
        load=ZERO,
        visits=tuple(visits),
        background=ZERO,
    )
