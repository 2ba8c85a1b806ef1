"""How rates and loads are known: by how long users wait, and by what finds no room."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from qps.compiler.lower.closed_networks.closed_stream_solution import Closed, ClosedStream
from qps.compiler.lower.disciplines.closed_waits import InClosedNetwork
from qps.compiler.lower.label_doubts import Gate
from qps.compiler.lower.queues.queue_certainty import loss_certainty, rate_certainty, uncounted
from qps.compiler.lower.resource_loads import ResourceLoad
from qps.compiler.lower.traffic.station_queues import PlacedQueue
from qps.compiler.lower.traffic.traffic_parts import StationTraffic
from qps.compiler.quantities.certainty import EXACT, Certainty, of_another, opposite, together
from qps.compiler.quantities.methods import known_by


def rates_known(
    closed: Closed, queues: Mapping[str, PlacedQueue], gate: Gate
) -> dict[str, Certainty]:
    """Return how the rate of each closed stream is known: too high where waits are too short."""
    known: dict[str, Certainty] = {}
    for one in closed.streams.values():
        waits = opposite(_waits_known(one, queues))
        own = gate.of(one.name).lowered(waits, is_mean=True)
        known[one.stream] = together(known.get(one.stream, EXACT), own)
    return known


def _waits_known(stream: ClosedStream, queues: Mapping[str, PlacedQueue]) -> Certainty:
    met = dict.fromkeys([*(station.resource for station in stream.stations), *stream.alone])
    waits = [rate_certainty(queues[name].queue) for name in met if name in queues]
    return together(*waits, stream.known, uncounted([one.resource for one in stream.limits]))


def with_stations_known(
    streams: Mapping[str, ClosedStream], queues: Mapping[str, PlacedQueue]
) -> dict[str, ClosedStream]:
    """Return closed streams with how the stations are known that they meet."""
    found = {}
    for name, one in streams.items():
        laws = [queues[station.resource].queue.law for station in one.stations]
        known = [law.stations_known for law in laws if isinstance(law, InClosedNetwork)]
        found[name] = replace(one, stations_known=together(*known))
    return found


def loads_known(
    resources: dict[str, ResourceLoad],
    closed: Closed,
    rates: Mapping[str, Certainty],
    demands: Mapping[str, StationTraffic],
    queues: Mapping[str, PlacedQueue],
    gate: Gate,
) -> dict[str, ResourceLoad]:
    """Return resources with how their loads are known: also by what found no room elsewhere."""
    found = dict(resources)
    for name, one in resources.items():
        known = [rates[stream] for stream in closed.loading.get(name, ())]
        thinned = demands[name].thinned_by if name in demands else ()
        lost = [
            gate.checks.known(loss_certainty(queues[at].queue)) for at in thinned if at in queues
        ]
        known += [of_another(opposite(one)) for one in lost]
        found[name] = replace(one, known=together(known_by("utilization-law", name), *known))
    return found
