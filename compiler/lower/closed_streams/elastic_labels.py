"""How elastic parameters are known, and what rests on them: as well as what others leave is.

A parameter takes what loads leave, so that it is too low where a load that it fills is estimated
too high. Where that is not exact, all that is made of it is no better, wherever it stands.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler.lower.closed_networks.closed_stream_solution import Closed
from qps.compiler.lower.closed_networks.elastic_parameters import ElasticFormula
from qps.compiler.lower.closed_streams.closed_labels import loads_known, rates_known
from qps.compiler.lower.closed_streams.elastic_solution import ElasticLoads
from qps.compiler.lower.expressions.label_propagation import followed
from qps.compiler.lower.expressions.lower_expressions import ExpressionLowering
from qps.compiler.lower.label_doubts import Gate
from qps.compiler.lower.queues.station_queue import Queue
from qps.compiler.lower.resource_loads import ResourceLoad
from qps.compiler.lower.traffic.station_queues import PlacedQueue, queues_of
from qps.compiler.lower.traffic.traffic_parts import ClassTraffic, NetworkTraffic, StationTraffic
from qps.compiler.quantities.certainty import (
    EXACT,
    Certainty,
    CertaintyKind,
    approximation,
    opposite,
    together,
)
from qps.engine.expressions.formulas import Formula
from qps.engine.expressions.substitution import Substitution

Leaves = Mapping[Formula, Certainty]
"""How each elastic parameter is known that is not exact, by its symbol."""


class LabeledSolution(Struct, frozen=True, kw_only=True):
    """What is solved, with how it is known: loads, queues, closed and elastic rates.

    `rates` has that for the rate of each closed stream.
    """

    resources: dict[str, ResourceLoad]
    queues: dict[str, PlacedQueue]
    closed: Closed
    elastic: tuple[ElasticFormula, ...]
    rates: dict[str, Certainty]


def queues_and_labels(
    all_loads: ElasticLoads,
    stations: Mapping[str, Queue],
    traffic: NetworkTraffic,
    gate: Gate,
    expressions: ExpressionLowering,
) -> LabeledSolution:
    """Return the queues, and loads, closed classes and elastic parameters with how each is known.

    Waits of closed classes decide how loads are known, these what is left for elastic parameters,
    and these the waits: so queues are made once without that, and where any is not exact, with it.
    """
    resources, closed, put_in = all_loads.resources, all_loads.closed, all_loads.put_in
    demands = traffic.stations
    queues = queues_of(stations, demands, put_in, expressions, closed)
    rates = rates_known(closed, queues, gate)
    loads = loads_known(resources, closed, rates, demands, queues, gate)
    elastic = _by_loads(all_loads.elastic, loads)
    leaves = _leaves(elastic)
    if leaves:
        closed = _slowed(closed, elastic)
        placed = queues_of(stations, demands, put_in, expressions, closed)
        queues = _queues_resting(placed, demands, leaves)
        rates = rates_known(closed, queues, gate)
        loads = loads_known(resources, closed, rates, demands, queues, gate)
        loads = _loads_resting(loads, demands, leaves)
    return LabeledSolution(
        resources=loads, queues=queues, closed=closed, elastic=elastic, rates=rates
    )


def with_values(
    traffic: NetworkTraffic, known: LabeledSolution, put_in: Substitution
) -> NetworkTraffic:
    """Return traffic with what rates of closed classes and elastic parameters come to put in.

    How classes are known follows from the elastic parameters that stood in them.
    """
    leaves = _leaves(known.elastic)
    if leaves:
        traffic = traffic.of_each(lambda one: _with_leaves(one, leaves))
    if not known.elastic and not known.closed.values:
        return traffic
    found = traffic.of_each(lambda one: one.changed(put_in))
    counted = {
        of: {item: put_in(rate) for item, rate in rates.items()}
        for of, rates in traffic.counted.items()
    }
    return replace(found, counted=counted)


def _with_leaves(one: ClassTraffic, leaves: Leaves) -> ClassTraffic:
    """Return a class with how it is known, in which elastic parameters still stand."""
    stages = [
        *(value for part in one.latency for value in (part.value, part.per_visit)),
        *(call.times for part in one.latency for call in part.calls),
        *(part.value for part in one.losses),
        *(part.value for part in one.queues),
        *one.passes.values(),
    ]
    rates = [one.rate, one.throughput]
    return replace(one, known=_resting(stages, leaves), rate_known=_resting(rates, leaves))


def _by_loads(
    elastic: Sequence[ElasticFormula], resources: Mapping[str, ResourceLoad]
) -> tuple[ElasticFormula, ...]:
    """Return elastic parameters with how they are known, by the loads that limit them.

    An error of a load is one of what is left by many times as much, so that none is reported. What
    one takes too much, the next one has too little.
    """
    taken: dict[str, Certainty] = {}
    found = []
    for one in elastic:
        loads = (together(resources[n].known, taken.get(n, EXACT)) for n in one.left)
        own = opposite(_without_error(together(*loads)))
        taken |= {name: together(taken.get(name, EXACT), own) for name in one.left}
        found.append(replace(one, known=own))
    return tuple(found)


def _leaves(elastic: Sequence[ElasticFormula]) -> dict[Formula, Certainty]:
    return {one.parameter.symbol: one.known for one in elastic if not one.known.is_exact}


def _slowed(closed: Closed, elastic: Sequence[ElasticFormula]) -> Closed:
    """Return closed streams with how they are known where elastic parameters make them slower."""
    streams = {}
    for name, one in closed.streams.items():
        by = [each.known for each in elastic if each.parameter.name in one.slowed_by]
        streams[name] = replace(one, known=together(one.known, *by))
    return replace(closed, streams=streams)


def _loads_resting(
    resources: Mapping[str, ResourceLoad], demands: Mapping[str, StationTraffic], leaves: Leaves
) -> dict[str, ResourceLoad]:
    """Return resources with how their loads are known where elastic parameters load them."""
    found = dict(resources)
    for name, demand in demands.items():
        own = _resting([load for loads in demand.parts.values() for load in loads], leaves)
        if not own.is_exact:
            known = together(resources[name].known, own)
            found[name] = replace(resources[name], known=known, open_known=own)
    return found


def _queues_resting(
    queues: Mapping[str, PlacedQueue], demands: Mapping[str, StationTraffic], leaves: Leaves
) -> dict[str, PlacedQueue]:
    """Return queues with how it is known what comes to them: waits grow with that."""
    found = dict(queues)
    for name, placed in queues.items():
        parts = [load for loads in demands[name].parts.values() for load in loads]
        sizes = [one for v in demands[name].visits for one in (v.rate, v.flows, v.service, v.batch)]
        own = _resting([*parts, *sizes], leaves)
        if not own.is_exact:
            found[name] = replace(placed, queue=replace(placed.queue, load_known=own))
    return found


def _resting(formulas: Sequence[Formula], leaves: Leaves) -> Certainty:
    """Return how values are known in which elastic parameters stand."""
    rests = (one for one in formulas if not one.symbols.isdisjoint(leaves))
    return together(*(followed(one, leaves) for one in rests))


def _without_error(known: Certainty) -> Certainty:
    is_near = known.kind is CertaintyKind.APPROXIMATION
    return approximation(*known.because) if is_near else known
