"""Pools that are never full: nobody waits for one, and how long it is held tells its load."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from fractions import Fraction

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler.lower.held import Hold, Room
from qps.compiler.lower.label_doubts import Gate
from qps.compiler.lower.latency import in_line
from qps.compiler.lower.load_graph import ResourceLoad
from qps.compiler.lower.lower_queues import PlacedQueue
from qps.compiler.lower.pools import room_of
from qps.compiler.lower.traffic_parts import ClassTraffic, StationTraffic
from qps.compiler.quantities.certainty import Certainty, together
from qps.engine.formulas import ONE, ZERO, Formula, apply, minimum, number, total
from qps.engine.substitution import Substitution

_NEARLY_ALL = number(1 - Fraction(1, 10**9))
"""One that is always held by as many as there are places is not full: nobody else comes."""


class UnfilledPools(Struct, frozen=True, kw_only=True):
    """The loads and rooms of pools that are never full, by their names."""

    resources: dict[str, ResourceLoad]
    rooms: dict[str, Room]


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
    """Return what pools come to of which closed streams take; their waits are taken out."""
    found, rooms = dict[str, ResourceLoad](), dict[str, Room]()
    comings = {
        name: [
            (hold, one, put_in(one.visits.pop(hold.stage).rate))
            for hold in demands[name].holds
            for one in [classes[hold.stream]]
            if hold.stage is not None
        ]
        for name in sorted(names)
    }
    for name, each in comings.items():
        demand, load = demands[name], resources[name]
        amount, kept = demand.holds[0].amount, total(load.parts.values())
        rooms[name] = room = room_of(kept, demand.capacity, [amount], ())
        parts, whose, known = dict(load.parts), dict(load.streams), list[Certainty]()
        for hold, one, rate in each:
            time, how = _held(hold, one, queues)
            much = rate * time * amount * room.unit
            parts[one.stream] = parts.get(one.stream, ZERO) + much
            whose[one.stream] = whose.get(one.stream, ZERO) + much
            # By Little's law: so many are held as come in a second, times how long each is.
            known += [rates[one.stream], gate.of(hold.stream).lowered(how)]
        whole = minimum(_NEARLY_ALL, total(parts.values()))
        found[name] = replace(
            load,
            load=whole,
            unsettled=whole,
            parts=parts,
            streams=whose,
            known=together(*known),
            open_load=kept,
        )
    return UnfilledPools(resources=found, rooms=rooms)


def _held(
    hold: Hold, result: ClassTraffic, queues: Mapping[str, PlacedQueue]
) -> tuple[Formula, Certainty]:
    """Return how long something is held, with what is waited for meanwhile, and how it is known."""
    stages = [
        part if visit is None else queues[visit.resource].stage(part, visit)
        for index, part in enumerate(result.latency)
        if hold.begins <= index < hold.ends
        for visit in [result.visits.get(index)]
    ]
    line = in_line(stages, hold.depth)
    time, known = total(part.value for part in line), [part.certainty for part in line]
    around = stages[0].calls[hold.depth - 1].reached if hold.depth and stages else ONE
    return time if around is ONE else apply("mean", time, around), together(*known)
