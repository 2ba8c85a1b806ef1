"""Pools on the way of a stream: what is held from one point of it to a later one."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.lower.flows import Demand
from qps.compiler.lower.held import Hold
from qps.compiler.lower.latency_parts import wait_for
from qps.compiler.lower.stream_demands import StreamDemands
from qps.compiler.lower.walk.under_way import UnderWay
from qps.compiler.lower.walk.walk_waits import WalkedWaits
from qps.compiler.network.itinerary import Take
from qps.compiler.network.stations_and_pools import StationKind
from qps.engine.formulas import ONE


class _Begun(Struct, frozen=True):
    """A hold that has begun: what is known of it so far, and how much was lost before."""

    hold: Hold
    losses: int
    demand: Demand


class WalkedPools:
    """The pools of one walk along a stream."""

    def __init__(
        self, streams: StreamDemands, stream: ir.Stream, under_way: UnderWay, waits: WalkedWaits
    ) -> None:
        self._streams = streams
        self._stream = stream
        self._under_way = under_way
        self._waits = waits
        self._begun: dict[str, _Begun] = {}

    def pass_by(self, mark: ir.PoolMark, depth: int) -> None:
        """Take some of a pool, or give it back; so many calls have begun and not ended."""
        if mark.point is ir.PoolPoint.TAKEN:
            self._take(mark, depth)
        elif mark.pool in self._begun:  # what was taken on a condition may be nothing
            self._give(mark.pool)

    def _take(self, mark: ir.PoolMark, depth: int) -> None:
        expressions, under_way, name = self._streams.expressions, self._under_way, mark.pool
        resource = self._resource(mark)
        primary = under_way.flow.primary
        if resource is None or primary is None or not expressions.holds(mark.condition):
            return
        capacity = self._streams.capacity(name, resource)
        amount = ONE
        if mark.amount is not None:
            what = f"{self._stream.name}.{name}.taken"
            amount = expressions.symbol(what, mark.amount)
        count = expressions.count(mark.node)
        demand = self._streams.demand(name, resource.span, at=mark.node, kind=StationKind.STORE)
        demand.capacity = capacity
        under_way.result.passes[name] = ONE
        flows = under_way.flow.total / count
        visit = self._waits.visit(name, flows * under_way.flow.rates[primary], flows)
        latency = under_way.result.latency
        waits = resource.queueing is None
        stage = len(latency) if waits else None
        if waits:
            place = self._streams.configuration.place_of(name)
            under_way.result.visits[len(latency)] = visit
            under_way.append(wait_for(name, place=place))
        hold = Hold(
            pool=name,
            stream=self._stream.name,
            visit=visit,
            amount=amount,
            machines=count,
            stage=stage,
            begins=len(latency),
            ends=len(latency),
            depth=depth,
            span=mark.span,
            reached=under_way.reached,
        )
        self._begun[name] = _Begun(hold, len(under_way.result.losses), demand)
        under_way.result.itinerary.take(name, lambda hold: Take(hold, name, amount, mark.span))

    def _give(self, name: str) -> None:
        begun, result = self._begun.pop(name), self._under_way.result
        losses = result.losses[begun.losses :]
        hold = replace(
            begun.hold,
            ends=len(result.latency),
            is_lossy=bool(losses),
            finds_no_room=any(one.at is not None for one in losses),
        )
        begun.demand.holds.append(hold)
        result.itinerary.give(name)

    def _resource(self, mark: ir.PoolMark) -> ir.Resource | None:
        node = self._streams.configuration.nodes[mark.node]
        machine = ir.machine_at(self._streams.model, node)
        return None if machine is None else machine.resource(mark.resource)
