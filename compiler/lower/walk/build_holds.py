"""Pools on the way of a stream: what is held from one point of it to a later one."""

from __future__ import annotations

from qps.compiler import ir
from qps.compiler.lower.walk.class_state import ClassState
from qps.compiler.lower.walk.network_builder import NetworkBuilder
from qps.compiler.network.itinerary import Take
from qps.compiler.network.stations_and_pools import Place, StationKind
from qps.engine.expressions.formulas import ONE


class PoolBuilder:
    """The pools of one walk along a stream."""

    def __init__(self, network: NetworkBuilder, stream: ir.Stream, state: ClassState) -> None:
        self._network = network
        self._stream = stream
        self._state = state
        self._open_holds: set[str] = set()

    def pass_by(self, mark: ir.PoolMark) -> None:
        """Take some of a pool, or give it back."""
        if mark.point is ir.PoolPoint.TAKE:
            self._take(mark)
        elif mark.pool in self._open_holds:  # what was taken on a condition may be nothing
            self._open_holds.remove(mark.pool)
            self._state.itinerary.give(mark.pool)

    def _take(self, mark: ir.PoolMark) -> None:
        network, expressions, name = self._network, self._network.expressions, mark.pool
        machine = ir.machine_at(network.model, network.configuration.nodes[mark.node])
        resource = None if machine is None else machine.resource(mark.resource)
        if resource is None or self._state.flow.primary is None:
            return
        if not expressions.holds(mark.condition):
            return
        capacity = network.capacity(name, resource)
        amount = ONE
        if mark.amount is not None:
            what = f"{self._stream.name}.{name}.taken"
            amount = expressions.symbol(what, mark.amount)
        count = expressions.count(mark.node)
        place = Place(mark.node, ONE)
        network.come_to(name, place, StationKind.STORE, resource.span, capacity=capacity)
        network.pools[name] = count, resource.queueing is not None
        self._open_holds.add(name)
        self._state.itinerary.take(name, lambda hold: Take(hold, name, amount, mark.span))
