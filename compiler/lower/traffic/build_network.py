"""The network that a spec means in one configuration, before anything is worked out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.lower.expressions.item_kinds import Mixed
from qps.compiler.lower.expressions.lower_expressions import ExpressionLowering
from qps.compiler.lower.load_graph import Calibration
from qps.compiler.lower.traffic.station_queues import host_cores_of, speeds_of, variation_of
from qps.compiler.lower.unmodeled_waits import UnmodeledQueue
from qps.compiler.lower.walk.build_classes import StreamClass, build_class
from qps.compiler.lower.walk.network_builder import NetworkBuilder
from qps.compiler.network.arrivals import ArrivalProcess
from qps.compiler.network.class_kinds import with_classes_by_kind
from qps.compiler.network.classes import Class, ItemKinds
from qps.compiler.network.itinerary import Take
from qps.compiler.network.network import Elastic, Link, Network
from qps.compiler.network.passages import Passage, passages, visits_of
from qps.compiler.network.spread import CopySelection, CopySelectionKind
from qps.compiler.network.stations_and_pools import Place, Pool, Station
from qps.engine.expressions.formulas import ONE, Formula


class SpecNetwork(Struct, frozen=True, kw_only=True):
    """The network of a spec, with what its classes are of in the model.

    `places` are its stations and pools in the order in which streams come there.
    `unmodeled_queues` are the stations of which nothing says how they are waited for,
    `calibrations` are those of fitted costs by station and component. Streams that are `absent`
    have no class: their conditions do not hold.
    """

    network: Network
    places: tuple[str, ...]
    classes: tuple[StreamClass, ...]
    unmodeled_queues: Mapping[str, UnmodeledQueue]
    calibrations: Mapping[tuple[str, str], Calibration]
    absent: frozenset[str]


def build_network(numbers: ExpressionLowering) -> SpecNetwork:
    """Return the network of a model in a configuration, of which the numbers are; all in symbols.

    QpsError where a value is outside its range, or a stream has no way.
    """
    model = numbers.model
    for parameter in numbers.in_order_of_service():  # so they take what is left
        numbers.lower(ir.ParameterValue(parameter.name, is_elastic=True))
    builder = NetworkBuilder(
        model=model, configuration=numbers.configuration, expressions=numbers.keeping_classes()
    )
    there = tuple(one for one in model.streams if numbers.holds(one.condition))
    walked = tuple(build_class(stream, builder) for stream in there)
    builder.idle()
    return SpecNetwork(
        network=with_classes_by_kind(_network_of(builder, (one.of for one in walked), numbers)),
        places=tuple(builder.stations),
        classes=walked,
        unmodeled_queues=builder.unmodeled_queues,
        calibrations=builder.calibrations,
        absent=frozenset(one.name for one in model.streams if one not in there),
    )


def _network_of(
    builder: NetworkBuilder, classes: Iterable[Class], expressions: ExpressionLowering
) -> Network:
    configuration = builder.configuration
    by_name = {one.name: one for one in classes}
    known = builder.stations.items()
    stations = {
        name: _with_service(one, expressions) for name, one in known if name not in builder.pools
    }
    pools = {name: _pool(builder.stations[name], builder) for name in builder.pools}
    return Network(
        population=expressions.population,
        low=configuration.low,
        high=configuration.high,
        stations=_with_spreads(stations, pools, by_name),
        pools=pools,
        classes={name: _with_arrivals(one, stations) for name, one in by_name.items()},
        kinds=_kinds(expressions.mixtures.values()),
        elastic=tuple(
            Elastic(symbol=one.symbol, least=one.least, most=one.most, rank=one.priority)
            for one in expressions.elastic.values()
        ),
        switches=dict(expressions.switches or {}),
        nodes=tuple(configuration.nodes),
        links={
            link.name: Link(network.medium.value, link.ends)
            for link in configuration.links.values()
            if (network := ir.network_at(builder.model, link)) is not None
        },
    )


def _with_service(station: Station, expressions: ExpressionLowering) -> Station:
    """Return a station with how its service varies, and how many it has room for, if waited for."""
    queueing = station.queueing
    if queueing is None:
        return station
    capacity, period, host_cores = queueing.room, queueing.period, queueing.host_cores
    name = station.name
    return replace(
        station,
        variation=variation_of(name, queueing, expressions),
        speeds=speeds_of(name, queueing, expressions),
        room=None if capacity is None else expressions.symbol(f"{name}.room", capacity),
        period=None if period is None else expressions.symbol(f"{name}.period", period),
        host_cores=ONE if host_cores is None else host_cores_of(name, host_cores, expressions),
    )


def _with_arrivals(one: Class, stations: Mapping[str, Station]) -> Class:
    """Return a class of which the first station that is waited for says how items arrive."""
    if one.arrivals.process is not ArrivalProcess.POISSON or one.is_closed:
        return one
    names = (name for passage in passages(one) for name in passage.stations)
    first = next((stations[n] for n in names if n in stations and stations[n].waits), None)
    if first is None or not _is_periodic(first):
        return one
    return replace(one, arrivals=replace(one.arrivals, process=ArrivalProcess.PERIODIC))


def _is_periodic(station: Station) -> bool:
    queueing = station.queueing
    return queueing is not None and queueing.discipline is ir.Discipline.PERIODIC


def _with_spreads(
    stations: Mapping[str, Station], pools: Mapping[str, Pool], classes: Mapping[str, Class]
) -> dict[str, Station]:
    """Return stations with how visits are spread over copies: as all of them are."""
    places = {pool.place.name for pool in pools.values()}
    places |= {one.holder.name for one in classes.values() if one.holder.name is not None}
    tied = [
        station
        for station in stations.values()
        if station.place.name in places and station.place.copies is not ONE
    ]
    found = dict(stations)
    visits = visits_of(map(passages, classes.values())) if tied else {}
    for station in tied:
        spread = _spread(station.place.name, visits.get(station.name, ()))
        found[station.name] = replace(station, spread=spread)
    return found


def _spread(node: str, visits: Sequence[Passage]) -> CopySelection:
    if visits and all(one.of.holder.name == node for one in visits):
        return CopySelection(CopySelectionKind.OWN)
    pools = {_pool_there(node, one.holds) for one in visits}
    if len(pools) == 1 and (pool := pools.pop()):
        return CopySelection(CopySelectionKind.WITH_HOLD, pool)
    return CopySelection()


def _pool_there(node: str, takes: Sequence[Take]) -> str:
    """Return the pool of a node of which a part is held; empty where none is."""
    return next((one.pool for one in takes if one.pool.startswith(f"{node}.")), "")


def _pool(store: Station, builder: NetworkBuilder) -> Pool:
    background: dict[str, list[Formula]] = {}
    for by, load in (*builder.permanent_holds.get(store.name, ()), *store.background):
        background.setdefault(by, []).append(load)
    machines, is_unmodeled = builder.pools[store.name]
    assert store.capacity is not None
    return Pool(
        name=store.name,
        place=Place(store.place.name, machines),
        capacity=store.capacity,
        span=store.span,
        background=tuple((by, load) for by, loads in background.items() for load in loads),
        is_unmodeled=is_unmodeled,
    )


def _kinds(mixed: Iterable[Mixed]) -> tuple[ItemKinds, ...]:
    of: dict[str, list[Mixed]] = {}
    for one in mixed:
        of.setdefault(one.of, []).append(one)
    return tuple(
        ItemKinds(
            of=name,
            of_users=each[0].of_users,
            names=each[0].kinds,
            shares=tuple(share for share, _ in each[0].each),
            values={one.symbol: tuple(value for _, value in one.each) for one in each},
            means={one.symbol: one.mean for one in each},
        )
        for name, each in of.items()
    )
