"""Pools of closed streams, once these are settled: how much is held, how it is waited for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.lower.closed import ClosedStream
from qps.compiler.lower.closed_pools import held_time
from qps.compiler.lower.closed_stations import HeldPool
from qps.compiler.lower.disciplines.closed_network import PoolInClosedNetwork
from qps.compiler.lower.disciplines.pool import Pool
from qps.compiler.lower.flows import Demand, StreamResult
from qps.compiler.lower.load_graph import ResourceLoad
from qps.compiler.lower.lower_queues import PlacedQueue
from qps.compiler.lower.pools import Room
from qps.compiler.lower.queueing import Queue
from qps.engine.formulas import ONE, ZERO, Formula, minimum, number, total
from qps.engine.substitution import Substitution

_NEARLY_ALL = number(1 - Fraction(1, 10**9))
"""Users who think leave some of a pool free at times, however many they are."""
_TRAITS = ir.Traits(counts_servers=True)


class ClosedPools:
    """The pools of closed streams: loads, queues and rooms by their names."""

    def __init__(
        self,
        *,
        streams: Mapping[str, ClosedStream],
        demands: Mapping[str, Demand],
        results: Sequence[StreamResult],
        resources: Mapping[str, ResourceLoad],
        put_in: Substitution,
    ) -> None:
        self.resources: dict[str, ResourceLoad] = {}
        self.queues: dict[str, PlacedQueue] = {}
        self.rooms: dict[str, Room] = {}
        by_name = {result.name: result for result in results}
        for stream in streams.values():
            times = stream.network.nested_times if stream.pools else {}
            for pool in stream.pools:
                name, demand = pool.resource, demands[pool.resource]
                held = stream.throughput * held_time(pool, times) * pool.unit
                self._keep(stream, pool, resources[name], held, demand.holds[0].amount)
                queue = _queue(stream, pool, demand, put_in)
                self.queues[name] = PlacedQueue(queue, put_in)
                for visit, hold in zip(queue.visits, demand.holds, strict=True):
                    if hold.stage is not None:
                        by_name[stream.name].visits[hold.stage] = visit

    def _keep(
        self,
        stream: ClosedStream,
        pool: HeldPool,
        load: ResourceLoad,
        held: Formula,
        amount: Formula,
    ) -> None:
        parts = dict(load.parts)
        parts[stream.name] = parts.get(stream.name, ZERO) + held
        whole = minimum(_NEARLY_ALL, total(parts.values()))
        self.resources[pool.resource] = replace(
            load, load=whole, unsettled=whole, parts=parts, known=stream.known
        )
        left = (ONE - pool.kept) / pool.unit / pool.copies * amount
        self.rooms[pool.resource] = Room(kept=pool.kept, left=left, places=pool.places)


def _queue(stream: ClosedStream, pool: HeldPool, demand: Demand, put_in: Substitution) -> Queue:
    stated = Pool(adds=ZERO, tail=ZERO, share=ZERO)
    visits = tuple(
        replace(hold.visit.changed(put_in), service=ZERO, batch=ONE) for hold in demand.holds
    )
    return Queue(
        resource=pool.resource,
        law=PoolInClosedNetwork(stated, (stream,)),
        traits=_TRAITS,
        variation=ZERO,
        servers=pool.places,
        load=ZERO,
        visits=visits,
        background=ZERO,
    )
