"""Pools of a lowered model: how much is held, by Little's law, and how long it is waited for.

What is held is held through all that stands in between, waits included: the waits for queues, and
for other pools, which are solved first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Label, QpsError
from qps.compiler.lower.disciplines.pool_arrivals import BehindPools, Through
from qps.compiler.lower.disciplines.pool_wait import PoolLaw, PoolMethod
from qps.compiler.lower.disciplines.processor_sharing import SharingAtSpeeds, SharingLaw
from qps.compiler.lower.disciplines.single_server import OneServer
from qps.compiler.lower.expressions.lower_expressions import ExpressionLowering
from qps.compiler.lower.label_doubts import Checks
from qps.compiler.lower.labels.labeled_network import NumberFacts
from qps.compiler.lower.pools.holding_times import HoldingTime, OpenPools, holding_time
from qps.compiler.lower.pools.pool_methods import pool_method
from qps.compiler.lower.queues.arrival_variability import from_outside
from qps.compiler.lower.queues.flow_equivalent_server import (
    Filled,
    PoolMachines,
    PoolSubnetwork,
    filled,
    joined,
    let_through,
    overflowing,
)
from qps.compiler.lower.queues.pool_holding import Hold, room_of, weighted_mean
from qps.compiler.lower.queues.station_queue import Queue
from qps.compiler.lower.queues.unlike_services import ServiceLengths, ServiceMoments, lengths_of
from qps.compiler.lower.queues.visits import QueueVisit
from qps.compiler.lower.resource_loads import ResourceLoad
from qps.compiler.lower.traffic.station_queues import PlacedQueue
from qps.compiler.lower.traffic.traffic_parts import ClassTraffic, NetworkTraffic, StationTraffic
from qps.compiler.quantities.certainty import together
from qps.engine.expressions.formulas import ONE, ZERO, Formula, apply, maximum, minimum, total
from qps.engine.expressions.substitution import Substitution

_TRAITS = ir.Traits(counts_servers=True)


def open_pools(
    demands: Mapping[str, StationTraffic],
    by_name: Mapping[str, ClassTraffic],
    resources: Mapping[str, ResourceLoad],
    queues: Mapping[str, PlacedQueue],
    put_in: Substitution,
    numbers: NumberFacts,
    checks: Checks,
) -> OpenPools:
    """Return loads and queues with those of pools; `put_in` is what elastic parameters come to.

    What the `numbers` vouch for says how well it is known, and no more; so do the `checks`.
    """
    by_name = {name: replace(one, visits=dict(one.visits)) for name, one in by_name.items()}
    found = OpenPools(
        resources=dict(resources),
        queues=dict(queues),
        visits={name: one.visits for name, one in by_name.items()},
        networks={},
        filled={},
        holds=[],
        rooms={},
    )
    for name in _inner_first(demands, by_name):
        demand, load = demands[name], found.resources[name]
        held = [holding_time(hold, by_name[hold.of], found, put_in) for hold in demand.holds]
        amounts = [one.rate * one.alone * one.hold.amount for one in held]
        busy = [one.rate * one.alone for one in held]
        taken = [one.hold.amount for one in held]
        found.rooms[name] = headroom = room_of(load.load, demand.capacity, taken, busy)
        network = _network(held, headroom.places)
        if network.alone is ZERO:
            raise _zero_hold_error(held[0].hold)
        most = _most_at_a_time(held, demands, found.resources)
        comes = filled(network, total(one.rate for one in held), most)
        found.networks[name], found.filled[name] = network, comes
        found.holds.extend(demand.holds)
        often = comes.holding_time / network.services * headroom.unit
        each = [(one.hold.of, much * often) for one, much in zip(held, amounts, strict=True)]
        known = together(load.known, *(one.known for one in held))
        found.resources[name] = load.with_holds(each, known)
        vary = any(numbers.is_above_zero(v - 1) for one in held for v in one.variations)
        by = pool_method(name, held, network, numbers, checks)
        queue = _queue(name, held, network, comes, vary=vary, by=by)
        found.queues[name] = PlacedQueue(queue, put_in)
        for visit, one in zip(queue.visits, held, strict=True):
            if one.hold.stage is not None:
                by_name[one.hold.of].visits[one.hold.stage] = visit
    found.queues.update(_behind(found, by_name))
    return found


def _behind(
    found: OpenPools, results: Mapping[str, ClassTraffic]
) -> Iterator[tuple[str, PlacedQueue]]:
    """Yield the queues to which some come through pools and others do not, as these find them."""
    for name, placed in found.queues.items():
        queue = placed.queue
        if not isinstance(queue.law, OneServer | SharingLaw) or isinstance(
            queue.law, SharingAtSpeeds
        ):
            continue
        through = [one for visit in queue.visits if (one := _through(visit, found, results))]
        if through and len(through) < len(queue.visits) and queue.bursts is None:
            law = BehindPools(queue.law, tuple(through))
            yield name, replace(placed, queue=replace(queue, law=law))


def _through(
    visit: QueueVisit, found: OpenPools, results: Mapping[str, ClassTraffic]
) -> Through | None:
    """Return what the innermost pool that is held does to a visit; None where none is held."""
    stages = {one.of: at for at, one in results[visit.of[0]].visits.items()}
    held = [
        hold
        for hold in found.holds
        if hold.of == visit.of[0]
        and hold.stage is not None
        and hold.begins <= stages.get(visit.of, -1) < hold.ends
    ]
    if not held:
        return None
    hold = max(held, key=lambda one: one.begins)
    network, comes = found.networks[hold.pool], found.filled[hold.pool]
    waits = maximum(ZERO, comes.holding_time - network.services)
    shrunk = minimum(ONE, apply("mean", waits, maximum(ZERO, network.opened - network.services)))
    return Through(visit.of, shrunk, network.places * hold.machines / visit.place.count)


def _zero_hold_error(hold: Hold) -> QpsError:
    return QpsError.single(
        codes.NO_ANSWER,
        hold.span,
        f"no work is done while `{hold.pool}` is held",
        hint="move the work between `take` and `give`, or remove both",
    )


def _queue(
    name: str,
    holds: Sequence[HoldingTime],
    network: PoolSubnetwork,
    comes: Filled,
    *,
    vary: bool,
    by: PoolMethod,
) -> Queue:
    """Return the queue for places: longer by two moments where what comes does so unevenly."""
    visits = tuple(replace(one.hold.visit, rate=one.rate, service=ZERO, batch=ONE) for one in holds)
    arrivals = from_outside(visits, comes.load)
    longer = ONE if arrivals is ONE else apply("uneven", arrivals, ONE, comes.load)
    return Queue(
        resource=name,
        law=PoolLaw(
            adds=comes.adds * longer,
            tail=comes.tail * longer,
            share=comes.share,
            lasts=comes.lasts and comes.lasts.lasting(longer),
            vary=vary,
            by=by,
            unlike=tuple(dict.fromkeys(place for one in holds for place in one.unlike)),
            throttled=tuple(dict.fromkeys(place for one in holds for place in one.throttled)),
        ),
        traits=_TRAITS,
        variation=ZERO,
        servers=network.places,
        load=comes.load,
        visits=visits,
        background=ZERO,
        arrivals=arrivals,
    )


# -- what is done meanwhile ----------------------------------------------------------------


def _network(holds: Sequence[HoldingTime], places: Formula) -> PoolSubnetwork:
    """Return what goes on in a pool, of all that take some of it as if they were alike."""
    rates = [one.rate / holds[0].rate for one in holds]  # of what the population moves alike
    services = weighted_mean([one.alone for one in holds], rates)
    names = dict.fromkeys(name for one in holds for name in one.stations)
    if len(holds) == 1:
        stations = list(holds[0].stations.values())
    else:
        stations = [joined([one.stations.get(name) for one in holds], rates) for name in names]
    opened = weighted_mean([one.opened for one in holds], rates)
    machines = PoolMachines(
        node=holds[0].hold.pool.rpartition(".")[0],
        count=holds[0].hold.machines,
        elsewhere=minimum(places, total(one.rate for one in holds) * opened),
    )
    in_line = all(one.is_in_line for one in holds)
    alone, rate = let_through(services, places, machines, stations, in_line=in_line)
    overflows, fills = overflowing(services, places, machines, stations)
    return PoolSubnetwork(
        places=places,
        services=services,
        alone=alone,
        rate=rate,
        uneven=weighted_mean([one.uneven for one in holds], rates),
        opened=opened,
        variance=weighted_mean([one.variance for one in holds], rates)
        + _variance_between([one.alone for one in holds], rates),
        lengths=_lengths(holds, rates),
        is_queued=bool(stations),
        overflows=overflows,
        fills=fills,
    )


def _lengths(holds: Sequence[HoldingTime], rates: Sequence[Formula]) -> ServiceLengths | None:
    """Return the two lengths of holds; None where all are alike, or no third moment is known."""
    kinds = [
        ServiceMoments(
            mean=one.alone,
            between=one.between,
            third=one.third,
            within=one.variance - one.between,
        )
        for one in holds
        if one.third is not None
    ]
    return None if len(kinds) < len(holds) else lengths_of(kinds, rates)


def _variance_between(times: Sequence[Formula], rates: Sequence[Formula]) -> Formula:
    """Return the variance of which of some holds it is, each of a mean time and as often."""
    if len(set(times)) == 1:
        return ZERO
    mean = weighted_mean(times, rates)
    return weighted_mean([(time - mean) ** 2 for time in times], rates)


def _most_at_a_time(
    holds: Sequence[HoldingTime],
    demands: Mapping[str, StationTraffic],
    resources: Mapping[str, ResourceLoad],
) -> Formula | None:
    """Return how many can come at a time, since all hold some of another pool; None for any."""
    found: list[Formula] = []
    for one in holds:
        around = [
            (demand, hold)
            for name, demand in demands.items()
            for hold in demand.holds
            if hold.of == one.hold.of
            and name != one.hold.pool
            and hold.begins < one.hold.begins
            and one.hold.ends <= hold.ends
        ]
        if not around:
            return None
        demand, hold = around[-1]
        if len(demand.holds) > 1:
            return None
        places = (ONE - resources[hold.pool].load) * demand.capacity / hold.amount
        found.append(places * hold.machines / one.hold.machines)
    return total(found)


def refuse_elastic(traffic: NetworkTraffic, expressions: ExpressionLowering) -> None:
    """Refuse an elastic parameter on which it rests how much of a pool is held.

    It takes what is left where loads are in proportion to it, which that of a pool is not.
    """
    demands = traffic.stations
    for parameter in expressions.elastic.values():
        for name, demand in demands.items():
            for hold in demand.holds:
                if _rests_on(parameter.symbol, hold, traffic.classes[hold.of], demands):
                    raise QpsError.single(
                        codes.NO_ANSWER,
                        parameter.span,
                        f"elastic `{parameter.name}` changes the holding time of pool "
                        f"`{name}`, which cannot be solved",
                        secondary=[Label(hold.span, "taken here")],
                        hint="fix the parameter, and find its largest value with `qps solve "
                        f"--for {parameter.name}`",
                    )


def _rests_on(
    symbol: Formula, hold: Hold, result: ClassTraffic, demands: Mapping[str, StationTraffic]
) -> bool:
    resting = [hold.visit.rate, *(part.value for part in result.latency[hold.begins : hold.ends])]
    for index, visit in result.visits.items():
        if hold.begins <= index < hold.ends:
            parts = demands[visit.resource].parts
            resting += [load for loads in parts.values() for load in loads]
    return any(symbol in formula.symbols for formula in resting)


# -- the order of pools --------------------------------------------------------------------


def _inner_first(
    demands: Mapping[str, StationTraffic], results: Mapping[str, ClassTraffic]
) -> list[str]:
    """Return the pools, each behind those that are waited for while it is held."""
    names = [name for name, demand in demands.items() if demand.holds]
    inside = {name: _inside(demands[name], results, names) for name in names}
    ordered: list[str] = []
    while len(ordered) < len(names):
        free = [n for n in names if n not in ordered and inside[n].keys() <= set(ordered)]
        if not free:
            _refuse_circle([name for name in names if name not in ordered], inside)
        ordered += free
    return ordered


def _inside(
    demand: StationTraffic, results: Mapping[str, ClassTraffic], names: Sequence[str]
) -> dict[str, Hold]:
    """Return the pools that are waited for while one is held, with who does."""
    return {
        visit.resource: hold
        for hold in demand.holds
        for index, visit in results[hold.of].visits.items()
        if hold.begins <= index < hold.ends and visit.resource in names
    }


def _refuse_circle(left: Sequence[str], inside: Mapping[str, Mapping[str, Hold]]) -> None:
    """Refuse pools of which each is waited for while the other is held: they may never end."""
    circle = [left[0]]
    while True:
        following = next(name for name in inside[circle[-1]] if name in left)
        if following in circle:
            circle = circle[circle.index(following) :]
            break
        circle.append(following)
    pairs = [(name, circle[(k + 1) % len(circle)]) for k, name in enumerate(circle)]
    first, *others = [inside[name][behind] for name, behind in pairs]
    raise QpsError.single(
        codes.NO_ANSWER,
        first.span,
        f"possible deadlock: `{pairs[0][0]}` and `{pairs[0][1]}` are taken in different orders",
        secondary=[
            Label(hold.span, f"`{name}` is held here while `{behind}` is taken")
            for hold, (name, behind) in zip(others, pairs[1:], strict=True)
        ],
        hint="take them in the same order everywhere",
    )
