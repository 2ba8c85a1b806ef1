"""Pools that are never full: nobody waits for one, and its holding time gives its load."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler.lower.label_doubts import Gate
from qps.compiler.lower.pools.closed_pool_loads import pool_load_of_users
from qps.compiler.lower.pools.holding_times import of_each, stages_within
from qps.compiler.lower.queues.pool_holding import Hold, PoolCapacity, room_of
from qps.compiler.lower.resource_loads import ResourceLoad
from qps.compiler.lower.response_time.parallel_stages import in_line
from qps.compiler.lower.traffic.station_queues import PlacedQueue
from qps.compiler.lower.traffic.traffic_parts import ClassTraffic, StationTraffic
from qps.compiler.quantities.certainty import Certainty, together
from qps.engine.expressions.formulas import Formula, total
from qps.engine.expressions.substitution import Substitution


class UnfilledPools(Struct, frozen=True, kw_only=True):
    """The loads and rooms of pools that are never full, by their names.

    `classes` are all classes without the waits for these.
    """

    resources: dict[str, ResourceLoad]
    rooms: dict[str, PoolCapacity]
    classes: dict[str, ClassTraffic]


def unfilled_pools(
    names: Collection[str],
    *,
    demands: Mapping[str, StationTraffic],
    classes: Mapping[str, ClassTraffic],
    queues: Mapping[str, PlacedQueue],
    resources: Mapping[str, ResourceLoad],
    rates: Mapping[str, Certainty],
    put_in: Substitution,
    gate: Gate,
) -> UnfilledPools:
    """Return what pools come to of which closed streams take, and classes without their waits."""
    found, rooms = dict[str, ResourceLoad](), dict[str, PoolCapacity]()
    holds = {n: [h for h in demands[n].holds if h.stage is not None] for n in sorted(names)}
    waits = {(hold.of, hold.stage) for each in holds.values() for hold in each}
    without = {
        name: replace(
            one, visits={at: v for at, v in one.visits.items() if (name, at) not in waits}
        )
        for name, one in classes.items()
    }
    for name, each in holds.items():
        demand, load = demands[name], resources[name]
        amount, held_load = demand.holds[0].amount, total(load.parts.values())
        rooms[name] = headroom = room_of(held_load, demand.capacity, [amount], ())
        held, known = list[tuple[str, Formula]](), list[Certainty]()
        for hold in each:
            assert hold.stage is not None
            one, rate = without[hold.of], put_in(classes[hold.of].visits[hold.stage].rate)
            time, how = _holding_time(hold, one, queues)
            held.append((one.stream, rate * time * amount * headroom.unit))
            # By Little's law: so many are held as come in a second, times how long each is.
            known += [rates[one.stream], gate.of(hold.of).lowered(how)]
        found[name] = pool_load_of_users(load, held, together(*known))
    return UnfilledPools(resources=found, rooms=rooms, classes=without)


def _holding_time(
    hold: Hold, result: ClassTraffic, queues: Mapping[str, PlacedQueue]
) -> tuple[Formula, Certainty]:
    """Return how long something is held, with what is waited for meanwhile, and how it is known."""
    stages, around = stages_within(hold, result, queues)
    line = in_line(stages, hold.depth)
    time, known = total(part.value for part in line), [part.certainty for part in line]
    return of_each(time, around), together(*known)
