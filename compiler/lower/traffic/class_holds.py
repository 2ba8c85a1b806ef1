"""The holds of a class: what its flows take of pools, and where they give it back."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from qps.compiler.lower.queues.pool_holding import Hold
from qps.compiler.lower.traffic.class_visits import ClassVisits
from qps.compiler.lower.traffic.flow_state import FlowState
from qps.compiler.lower.traffic.traffic_parts import StationTraffic
from qps.compiler.network.itinerary import Give, Take
from qps.compiler.network.stations_and_pools import Pool
from qps.engine.expressions.formulas import ONE


class ClassHolds:
    """The holds of one class, of which those begin and end that its itinerary comes to."""

    def __init__(
        self,
        pools: Mapping[str, Pool],
        state: FlowState,
        visits: ClassVisits,
        demands: Mapping[str, StationTraffic],
    ) -> None:
        self._pools = pools
        self._state = state
        self._result = state.result
        self._visits = visits
        self._demands = demands
        self._begun: dict[int, tuple[Hold, int]] = {}  # with how much was lost before

    def take(self, node: Take, depth: int) -> None:
        """Begin a hold, in so many calls, behind the wait for its pool."""
        now, result, pool = self._state, self._result, self._pools[node.pool]
        machines = pool.place.copies
        flows = now.total / machines
        result.passes[pool.name] = ONE
        visit = self._visits.visit(pool.name, flows * now.rate, flows)
        stage = None
        if not pool.is_unmodeled:
            stage = len(result.latency)
            self._visits.add_wait(visit)
        hold = Hold(
            pool=pool.name,
            of=result.name,
            visit=visit,
            amount=node.amount,
            machines=machines,
            stage=stage,
            begins=len(result.latency),
            ends=len(result.latency),
            depth=depth,
            span=node.span,
            reached=now.reached,
        )
        self._begun[node.hold] = hold, len(result.losses)

    def give(self, node: Give) -> None:
        """End a hold: it lasts through the stages since it began."""
        hold, lost = self._begun.pop(node.hold)
        losses = self._result.losses[lost:]
        given = replace(
            hold,
            ends=len(self._result.latency),
            is_lossy=bool(losses),
            finds_no_room=any(one.at is not None for one in losses),
        )
        self._demands[hold.pool].holds.append(given)
