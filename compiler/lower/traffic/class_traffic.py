"""Traffic: how often the items of all classes come to each station, and what load that makes."""

from __future__ import annotations

from msgspec.structs import replace

from qps.compiler.lower.expressions.lower_expressions import ExpressionLowering
from qps.compiler.lower.traffic.build_network import SpecNetwork
from qps.compiler.lower.traffic.itinerary_flows import ItineraryFlows
from qps.compiler.lower.traffic.traffic_parts import NetworkTraffic, StationTraffic
from qps.compiler.network.network import Network
from qps.engine.expressions.formulas import ONE


def traffic_of(spec: SpecNetwork, numbers: ExpressionLowering) -> NetworkTraffic:
    """Return the traffic of all classes, with kinds and elastic parameters as symbols."""
    network, of_kinds = spec.network, numbers.keeping_classes()
    traffic = NetworkTraffic(
        stations={name: _without_traffic(name, network) for name in spec.places}
    )
    streams = {one.of.name: one for one in spec.classes}
    for of in network.classes.values():
        own = replace(streams[of.stream], of=of)
        met = replace(spec, network=network.seen_by(of))
        found = ItineraryFlows(met, own, of_kinds, traffic).result()
        traffic.classes[found.name] = found
    for name, station in traffic.stations.items():
        _add_background(station, name, network)
    return traffic


def _without_traffic(name: str, network: Network) -> StationTraffic:
    """Return what is demanded of a station or pool before any class comes there: nothing."""
    pool = network.pools.get(name)
    if pool is not None:
        return StationTraffic(span=pool.span, capacity=pool.capacity)
    station = network.stations[name]
    return StationTraffic(
        span=station.span,
        queueing=station.queueing,
        servers=station.servers,
        background=[load for _, load in station.background],
        count=station.place.copies,
        port_of=station.port_of,
        capacity=station.capacity or ONE,
    )


def _add_background(traffic: StationTraffic, name: str, network: Network) -> None:
    """Add what idles; what flows take for good is among what their classes demand."""
    station, of_visits = network.stations.get(name), frozenset(traffic.parts)
    background = network.pools[name].background if station is None else station.background
    for by, load in background:
        if by not in of_visits:
            traffic.add(by, load)
            if station is not None and station.is_bits and station.rate is not None:
                traffic.throughputs.append(load * station.rate)
