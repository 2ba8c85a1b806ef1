"""Traffic: how often the items of all classes come to each station, and what load that makes."""

from __future__ import annotations

from collections.abc import Sequence

from qps.compiler.lower.itinerary_flows import ItineraryFlows
from qps.compiler.lower.network_builder import NetworkBuilder
from qps.compiler.lower.traffic_parts import StationTraffic, Traffic
from qps.compiler.lower.walk.lower_streams import WalkedStream
from qps.compiler.network.network import Network
from qps.engine.formulas import ONE


def traffic_of(
    network: Network, walked: Sequence[WalkedStream], builder: NetworkBuilder
) -> Traffic:
    """Return the traffic of all classes, with kinds and elastic parameters as symbols."""
    traffic = Traffic(
        demands={name: _demand_of(name, network) for name in builder.stations},
        results=[],
        losing={},
        counted={},
    )
    for one in walked:
        traffic.results.append(ItineraryFlows(network, one, builder, traffic).result())
    for name, demand in traffic.demands.items():
        _add_kept(demand, name, network)
    return traffic


def _demand_of(name: str, network: Network) -> StationTraffic:
    """Return the demand on a station or pool, with nothing asked of it yet."""
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


def _add_kept(demand: StationTraffic, name: str, network: Network) -> None:
    """Add what idles; what flows take for good is among what their classes ask for."""
    station, of_visits = network.stations.get(name), frozenset(demand.parts)
    kept = network.pools[name].kept if station is None else station.background
    for by, load in kept:
        if by not in of_visits:
            demand.add(by, load)
            if station is not None and station.is_bits and station.rate is not None:
                demand.carried.append(load * station.rate)
