"""What follows from a network: a list of passes, each named for what it finds.

A pass is a function of the network and of what passes before it have found. It returns one frozen
value and changes nothing that it is given; the `numbers` note what was requested of them, and
nothing that is found rests on these notes. In their order:

1. `traffic_of`: flow balance along each itinerary, with kinds as symbols
2. `over_all_kinds`: traffic as means over kinds of items and users
3. `with_losses`: blocking: items rejected by a full queue are lost and add no load downstream
4. `refuse_elastic`: rejects elastic parameters that change how long pools are held
5. `never_full`: pools that have enough places for every possible user
6. `pools_of_one_time`: pools of closed streams that are held for a single exponential service or a
   delay
7. `closed_classes`: throughput of closed streams, as classes of closed networks
8. `without_own_waits`: traffic without waiting times at resources that each user owns alone
9. `requirements_in_force`: requirements of this mode
10. `loads_of`: utilizations, and the remaining capacity that elastic parameters use
11. `stations_of`: station queues, treating all classes as open
12. `with_feedback`: queues to which items come back at once (`disciplines/feedback.py`)
13. `with_enough_servers`: queues that have a server for each unit of the pools around them
14. `gate_of`: premises of theorems that fail
15. `queues_and_labels`: all queues, and the accuracy of loads and rates
16. `with_values`: traffic at these rates and elastic values
17. `pools_of`: loads of pools and waiting times for them, inner pools first
18. `load_labels`: errors of loads by operating point
19. `response_times`: response times and latencies of each stream
"""

from __future__ import annotations

from msgspec.structs import replace

from qps.compiler.lower.all_pools import pools_of
from qps.compiler.lower.closed_streams.closed_labels import with_stations_known
from qps.compiler.lower.closed_streams.closed_network_builder import (
    closed_classes,
    without_own_waits,
)
from qps.compiler.lower.closed_streams.elastic_labels import queues_and_labels, with_values
from qps.compiler.lower.closed_streams.elastic_solution import loads_of
from qps.compiler.lower.expressions.lower_expressions import ExpressionLowering
from qps.compiler.lower.labels.enough_servers import with_enough_servers
from qps.compiler.lower.labels.never_full_pools import never_full
from qps.compiler.lower.labels.one_service_pools import pools_of_one_time
from qps.compiler.lower.labels.premise_checks import gate_of
from qps.compiler.lower.load_graph import Analysis, Calibration, SpecStatements
from qps.compiler.lower.load_labels import load_labels
from qps.compiler.lower.pools.open_pools import refuse_elastic
from qps.compiler.lower.requirements.active_requirements import requirements_in_force
from qps.compiler.lower.requirements.lower_criteria import lower_criteria, named_measures
from qps.compiler.lower.requirements.lower_measures import Measures
from qps.compiler.lower.response_times import response_times
from qps.compiler.lower.traffic.blocking import with_losses
from qps.compiler.lower.traffic.build_network import SpecNetwork
from qps.compiler.lower.traffic.class_traffic import traffic_of
from qps.compiler.lower.traffic.feedback_passes import with_feedback
from qps.compiler.lower.traffic.kind_means import over_all_kinds
from qps.compiler.lower.traffic.station_queues import stations_of
from qps.compiler.lower.traffic.traffic_parts import NetworkTraffic


def analyze(
    spec: SpecNetwork, stated: SpecStatements, numbers: ExpressionLowering, *, by_points: bool
) -> Analysis:
    """Return what follows from a network; QpsError where that is not known.

    Errors of approximations go by where its numbers lie; not so where `by_points` is false.
    """
    network = spec.network
    offered = traffic_of(spec, numbers)
    on_average = over_all_kinds(offered, numbers)
    traffic = with_losses(on_average, network, numbers)
    refuse_elastic(traffic, numbers)
    unfilled = never_full(network, numbers)
    of_one_time = pools_of_one_time(network, numbers)
    closed = closed_classes(traffic, unfilled, of_one_time, numbers)
    counted = without_own_waits(traffic, closed)
    requirements = requirements_in_force(numbers.model, stated.mode, stated.absent)
    loads = loads_of(counted, closed, stated.targets, requirements, numbers)
    arriving = stations_of(counted.stations, loads.resources, loads.put_in, numbers)
    returning = with_feedback(arriving, counted, numbers)
    stations = with_enough_servers(returning, network, numbers)
    gate = gate_of(network, counted, stations, loads.closed, numbers)
    known = queues_and_labels(loads, stations, counted, gate, numbers)
    valued = with_values(counted, known, loads.put_in)
    solved = numbers.with_elastic(known.elastic)
    pools = pools_of(valued, known, loads.put_in, gate, solved)
    labels = load_labels(pools, network, gate, solved, by_points=by_points)
    own = Measures(
        resources=labels.resources,
        streams={},
        prices=stated.prices,
        absent=stated.absent,
        gate=labels.gate,
        at_ends=labels.points.at_ends,
    )
    streams = response_times(spec, pools, known, labels, own, solved)
    measured = replace(own, streams=streams)
    return Analysis(
        resources=labels.resources,
        streams=streams,
        elastic=known.elastic,
        closed=with_stations_known(known.closed.streams, pools.queues),
        rooms=pools.rooms,
        calibrations=_calibrations(spec, valued),
        criteria=lower_criteria(requirements, measured, pools.queues, solved),
        measures=named_measures(measured, solved),
        checks=labels.gate.checks,
    )


def _calibrations(spec: SpecNetwork, traffic: NetworkTraffic) -> tuple[Calibration, ...]:
    """Return the calibrations, with the rates of what was counted."""
    found = spec.calibrations.items()
    return tuple(replace(one, rates=traffic.counted.get(of, {})) for of, one in found)
