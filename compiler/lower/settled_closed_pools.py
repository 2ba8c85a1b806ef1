"""Pools of closed streams, once these are settled: how much is held, how it is waited for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.lower.closed import ClosedStream
from qps.compiler.lower.disciplines.closed_network import PoolInClosedNetwork
from qps.compiler.lower.disciplines.pool import Pool
from qps.compiler.lower.held import Room
from qps.compiler.lower.label_doubts import Gate
from qps.compiler.lower.load_graph import ResourceLoad
from qps.compiler.lower.lower_queues import PlacedQueue
from qps.compiler.lower.queueing import Queue, Visit
from qps.compiler.lower.traffic_parts import ClassTraffic, StationTraffic
from qps.compiler.quantities.certainty import together
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
        demands: Mapping[str, StationTraffic],
        results: Iterable[ClassTraffic],
        resources: Mapping[str, ResourceLoad],
        put_in: Substitution,
        gate: Gate,
    ) -> None:
        self.resources: dict[str, ResourceLoad] = {}
        self.queues: dict[str, PlacedQueue] = {}
        self.rooms: dict[str, Room] = {}
        self._gate = gate
        by_name = {result.name: result for result in results}
        taking: dict[str, list[ClosedStream]] = {}
        for stream in streams.values():
            for pool in stream.pools:
                taking.setdefault(pool.resource, []).append(stream)
        for name, all_of in taking.items():
            demand = demands[name]
            self._keep(name, all_of, resources[name], demand.holds[0].amount)
            taken = [
                (by_name[one.name], hold.stage)
                for one in all_of
                for hold in demand.holds
                if hold.stream == one.name and hold.stage is not None
            ]
            visits = [
                replace(of.visits[at].changed(put_in), service=ZERO, batch=ONE) for of, at in taken
            ]
            self.queues[name] = PlacedQueue(_queue(name, all_of, visits), put_in)
            for (of, at), visit in zip(taken, visits, strict=True):
                of.visits[at] = visit

    def _keep(
        self, name: str, streams: Sequence[ClosedStream], load: ResourceLoad, amount: Formula
    ) -> None:
        parts, whose, kept = dict(load.parts), dict(load.streams), total(load.parts.values())
        for one in streams:
            held = one.pool(name).held(one.network.nested_times(one.name))
            much = one.throughput * held * one.pool(name).unit
            parts[one.stream] = parts.get(one.stream, ZERO) + much
            whose[one.stream] = whose.get(one.stream, ZERO) + much
        pool = streams[0].pool(name)
        whole = minimum(_NEARLY_ALL, total(parts.values()))
        known = together(*(self._gate.of(one.name).lowered(one.known) for one in streams))
        self.resources[name] = replace(
            load,
            load=whole,
            unsettled=whole,
            parts=parts,
            streams=whose,
            known=known,
            open_load=kept,
        )
        left = (ONE - pool.kept) / pool.unit / pool.copies * amount
        self.rooms[name] = Room(kept=pool.kept, left=left, places=pool.places)


def _queue(name: str, streams: Sequence[ClosedStream], visits: Sequence[Visit]) -> Queue:
    stated = Pool(adds=ZERO, tail=ZERO, share=ZERO)
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
