"""The rates of closed streams, whose users wait for their answer and think before the next request.

While streams are walked, the rate of one flow of a closed stream is a symbol x; all loads are
linear in it. What stands before x says how long a cycle needs each resource, so that x is
determined by mean value analysis over the stations that the stream waits for (`closed_rate`);
everything else that takes time in a cycle is a delay, as thinking is (`cycle_demands`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.diagnostics.suggest import listed
from qps.compiler.lower.closed_networks.closed_network_solution import ClosedNetwork
from qps.compiler.lower.closed_networks.closed_stations import ClosedStation
from qps.compiler.lower.closed_networks.closed_stream_solution import Closed, ClosedStream
from qps.compiler.lower.closed_networks.cycle import Cycle
from qps.compiler.lower.closed_networks.elastic_with_closed import demand_at, elastic_stations
from qps.compiler.lower.closed_networks.saturated_delays import blocked_networks
from qps.compiler.lower.closed_streams.closed_holds import holding
from qps.compiler.lower.closed_streams.closed_refusals import refused
from qps.compiler.lower.closed_streams.cycle_demands import ClosedClass
from qps.compiler.lower.closed_streams.load_parts import LoadParts, load_parts
from qps.compiler.lower.closed_streams.open_work_found import with_open_work
from qps.compiler.lower.closed_streams.saturable_resources import saturable_resources
from qps.compiler.lower.closed_streams.shadow_servers import by_ranks
from qps.compiler.lower.closed_streams.unlike_work_found import with_unlike_work
from qps.compiler.lower.expressions.lower_expressions import ExpressionLowering
from qps.compiler.lower.labels.class_premises import is_summed_exactly
from qps.compiler.lower.labels.one_service_pools import PoolsOfOneTime
from qps.compiler.lower.traffic.traffic_parts import ClassTraffic, NetworkTraffic
from qps.compiler.quantities.certainty import EXACT, Certainty
from qps.compiler.quantities.methods import known_by
from qps.engine.expressions.formulas import (
    ONE,
    ZERO,
    Formula,
    apply,
    maximum,
    minimum,
    number,
    total,
)
from qps.engine.expressions.point_values import EvaluationPoint
from qps.engine.expressions.substitution import Substitution


def closed_classes(
    traffic: NetworkTraffic,
    unfilled: frozenset[str],
    of_one_time: PoolsOfOneTime,
    expressions: ExpressionLowering,
) -> Closed:
    """Return what the closed classes come to; QpsError where that is not known.

    Pools that are never full are `unfilled`: they hold up nobody. Others may be `of_one_time`.
    """
    demands, streams = traffic.stations, {one.name: one for one in expressions.model.streams}
    loads = {name: demand.load for name, demand in demands.items()}
    classes = [(streams[one.stream], one) for one in traffic.closed]
    sources = {one.closed.symbol: stream for stream, one in classes if one.closed is not None}
    if not sources:
        return Closed()
    parted = {n: load_parts(n, load, sources, expressions) for n, load in loads.items()}
    pools = holding(classes, demands, unfilled, of_one_time)
    closing = [
        ClosedClass(
            stream=stream,
            traffic=one,
            source=one.closed,
            demands=demands,
            parted=parted,
            streams=sources,
            holding=pools,
            expressions=expressions,
        )
        for stream, one in classes
        if one.closed is not None
    ]
    solved = dict(zip(sources, _solved(closing, expressions), strict=True))
    elastic = tuple(expressions.elastic.values())
    open_loads = {name: part.open_load for name, part in parted.items() if part.by}
    taken_by = {one.symbol for one in elastic}
    beside = elastic_stations(solved, loads, open_loads, elastic)
    values = {symbol: one.rate for symbol, one in solved.items()}
    at_rates = Substitution(values)
    by_station = {
        name: demand_at(parted[name].by, open_load, solved, elastic)
        for name, open_load in open_loads.items()
        if name not in beside and not taken_by.isdisjoint(open_load.symbols)
    }
    held = {name: at_rates(loads[name]) for name in by_station}
    return Closed(
        streams={one.name: one for one in solved.values()},
        values=values,
        loads=held | _filled(solved.values(), parted) | _paced(solved, parted),
        open_loads=open_loads,
        elastic_stations=beside,
        full_demands=by_station,
        unfilled=unfilled,
        own={one.traffic.name: one.own for one in closing},
        loading={
            name: tuple(dict.fromkeys(sources[symbol].name for symbol in part.by))
            for name, part in parted.items()
            if part.by
        },
    )


def _solved(
    closing: Sequence[ClosedClass], expressions: ExpressionLowering
) -> Iterator[ClosedStream]:
    """Yield what each class comes to in the network that it is one of."""
    cycles = {one.cycle.name: one.cycle for one in closing}
    sources, demands = closing[0].streams, closing[0].demands
    in_product_form = _networks(list(cycles.values()))
    waiting = with_open_work(in_product_form, cycles, demands, sources, expressions)
    of_one = {one.cycle.name: Substitution({one.source.symbol: ONE}) for one in closing}
    waiting = with_unlike_work(waiting, cycles, demands, of_one, expressions)
    back = blocked_networks(waiting, cycles, saturable_resources(closing, waiting))
    networks = back.networks
    rates = {
        one.source.symbol: networks[one.cycle.name].rate(one.cycle.name) / one.cycle.flows
        for one in closing
    }
    for one in closing:
        network = networks[one.cycle.name]
        _refuse_classes(one.cycle, one.stream, network)
        _refuse_many(one.cycle, one.stream, expressions)
        known = one.solution(back, _network_known(network, expressions), rates)
        rests_on = known.rate.symbols
        slowed_by = (e.name for e in expressions.elastic.values() if e.symbol in rests_on)
        yield replace(known, slowed_by=frozenset(slowed_by))


def without_own_waits(traffic: NetworkTraffic, closed: Closed) -> NetworkTraffic:
    """Return traffic in which no waiting counts as missing at what each holder has of its own."""

    def without(one: ClassTraffic) -> ClassTraffic:
        own = closed.own.get(one.name)
        if not own:
            return one
        return replace(
            one,
            uncounted={n: None for n in one.uncounted if n not in own},
            unmodeled_queues={
                n: unwaited for n, unwaited in one.unmodeled_queues.items() if n not in own
            },
            unbounded={n: None for n in one.unbounded if n not in own},
        )

    return traffic.of_each(without)


def _networks(cycles: Sequence[Cycle]) -> dict[str, ClosedNetwork]:
    """Return the network that each stream is a class of: those that meet at a station are one."""
    together_with = {one.name: {one.name} for one in cycles}
    at: dict[tuple[str, int | None], str] = {}
    for one in cycles:
        held = [(pool.resource, None) for pool in one.pools]
        for place in [*((own.resource, own.rank) for own in one.stations), *held]:
            other = at.setdefault(place, one.name)
            joined = together_with[one.name] | together_with[other]
            together_with |= dict.fromkeys(joined, joined)
    found = {
        one.name: _network([each for each in cycles if each.name in together_with[one.name]])
        for one in cycles
    }
    return by_ranks(found, {one.name: one for one in cycles})


def _refuse_classes(cycle: Cycle, stream: ir.Stream, network: ClosedNetwork) -> None:
    """Refuse several classes where calls are made together.

    Or where there are pools, or speeds, while some go before others somewhere.
    """
    others = listed([name for name in network.names if name != cycle.name], "and")
    if cycle.forks and not network.is_of_one:
        why = f"it makes parallel calls and shares a resource with closed stream {others}"
        hint = "make the calls sequential for a conservative result"
        raise refused(stream, why, hint)
    ranked = [one.resource for one in network.stations if one.rank is not None]
    if network.is_of_one or not network.is_nested or not ranked:
        return
    raise refused(
        stream,
        f"it shares a pool or load-dependent speeds with {others}, with priorities at {ranked[0]}",
        f"use a discipline without priorities there: `queueing {ranked[0].rpartition('.')[2]} ps`",
    )


def _refuse_many(cycle: Cycle, stream: ir.Stream, expressions: ExpressionLowering) -> None:
    """Refuse what would take too long: pools of very many places for as many users."""
    if not cycle.outer_pools:
        return
    from qps.engine.queueing_networks.load_dependent_mva import MOST_PLACES  # noqa: PLC0415 - seldom needed

    there = EvaluationPoint({expressions.population: number(expressions.configuration.high)})
    if there.number(expressions.put_in(cycle.jobs)) <= MOST_PLACES:
        return
    for pool in cycle.pools:
        if there.number(expressions.put_in(pool.places * pool.copies)) > MOST_PLACES:
            raise refused(
                stream,
                f"more than {MOST_PLACES:,} items can hold {pool.resource}",
                "remove the pool if it rarely fills",
            )


def _network(classes: Sequence[Cycle]) -> ClosedNetwork:
    own = {one.name: _stations(one, classes) for one in classes}
    places = {
        (station.resource, station.rank): station for each in own.values() for station in each
    }
    nothing = (ZERO,), (ZERO,)
    demands = {
        (one.name, station.resource, station.rank): (station.demands, station.weights)
        for one in classes
        for station in own[one.name]
    }
    return ClosedNetwork(
        names=tuple(one.name for one in classes),
        jobs=tuple(one.jobs for one in classes),
        delays=tuple(_outside(one) for one in classes),
        pools_by_class=tuple(one.outer_pools for one in classes),
        forks=classes[0].forks if len(classes) == 1 else (),
        often=classes[0].visits if len(classes) == 1 else {},
        stations=tuple(
            replace(
                station,
                demands=tuple(demand for (demand,), _ in of_each),
                weights=tuple(weight for _, (weight,) in of_each),
            )
            for place, station in places.items()
            for of_each in [[demands.get((one.name, *place), nothing) for one in classes]]
        ),
    )


def _outside(cycle: Cycle) -> Formula:
    """Return what a cycle takes besides its stations while no pool is held."""
    return maximum(ZERO, cycle.delay - _holding_time(cycle)) if cycle.outer_pools else cycle.delay


def _holding_time(cycle: Cycle) -> Formula:
    """Return how long a cycle holds its pools, but for what it is at stations within these."""
    return total(one.alone - one.station_demand for one in cycle.outer_pools)


def _stations(cycle: Cycle, classes: Sequence[Cycle]) -> tuple[ClosedStation, ...]:
    """Return the stations of a cycle as its network has them.

    What is done at `mixed` stations counts there, and where a pool is held it counts in that, too:
    so it is taken off what a cycle takes besides. Of what is more than that they have less, but for
    those that are nearly full: these let through no more than they do.
    """
    mixed = [one for one in cycle.stations if one.resource in cycle.mixed]
    if not mixed or not cycle.outer_pools:
        return cycle.stations
    more = maximum(ZERO, _holding_time(cycle) - cycle.delay)
    if more is ZERO:
        return cycle.stations
    part = minimum(ONE, apply("mean", more, total(one.demand for one in mixed)))
    found = []
    for one in cycle.stations:
        if one in mixed:
            left = 1 - part * (1 - _load_alone(one, classes) ** _STEEP)
            one = replace(one, demands=(one.demand * left,))  # noqa: PLW2901 - the same station
        found.append(one)
    return tuple(found)


def _load_alone(station: ClosedStation, classes: Sequence[Cycle]) -> Formula:
    """Return how full a station would be if nobody waited, at most 1."""
    found = [station.open_load / station.servers]
    for cycle in classes:
        whole = cycle.delay + total(one.demand for one in cycle.stations)
        here = total(one.demand for one in cycle.stations if one.resource == station.resource)
        found.append(cycle.jobs * here / whole / (station.servers * station.copies))
    return minimum(ONE, total(found))


_STEEP = 8
"""A station that is half full makes hardly anybody wait."""


def _network_known(network: ClosedNetwork, expressions: ExpressionLowering) -> Certainty:
    """Return how a network is known: exactly, where that is not too much."""
    if network.is_nested and not network.is_of_one:
        return known_by("shared-load-dependent", list(network.names))
    if is_summed_exactly(network, expressions):
        return EXACT
    return known_by("linearizer", list(network.names))


def _paced(
    found: Mapping[Formula, ClosedStream], parted: Mapping[str, LoadParts]
) -> dict[str, Formula]:
    """Return the loads of stations with speeds: full is where the last one is reached, and more."""
    loads: dict[str, list[Formula]] = {}
    for symbol, stream in found.items():
        for station in stream.stations:
            if station.speeds:
                load = parted[station.resource].by[symbol] * stream.rate
                loads.setdefault(station.resource, []).append(load)
    return {name: minimum(ONE, total(parts)) for name, parts in loads.items()}


def _filled(
    found: Iterable[ClosedStream],
    parted: Mapping[str, LoadParts],
) -> dict[str, Formula]:
    """Return the loads of resources that closed streams fill: full is 1, and never a bit more.

    The load grows with the rate, so that the minimum of the rates can go outside.
    """
    by_resource: dict[str, list[Formula]] = {}
    for stream in found:
        for limit in stream.limits:
            others = [other.at_most for other in stream.limits if other is not limit]
            slowest = minimum(stream.free / stream.flows, *others)
            by_resource.setdefault(limit.resource, []).append(limit.own * slowest)
    loads = {}
    for name, parts in by_resource.items():
        open_load = parted[name].open_load
        most = ONE if open_load is ZERO else maximum(ONE, open_load)
        loads[name] = minimum(most, total((open_load, *parts)))
    return loads
