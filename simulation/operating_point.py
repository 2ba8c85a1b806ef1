"""What a load graph has solved of its network at a population: all that playing does not find out.

Playing needs no waits, but it has to know what users make of the network: the values of elastic
parameters, about how often those send requests who wait for their answers, and what playout buffers
are set to.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from qps.compiler.lower.expressions.item_kinds import averaged, mixtures_of
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.lower.queues.pool_holding import PoolCapacity
from qps.compiler.lower.response_times import TOO_LATE
from qps.engine.expressions.formulas import Formula, total
from qps.engine.expressions.point_values import EvaluationPoint
from qps.engine.expressions.substitution import Substitution


class Buffer(Struct, frozen=True, kw_only=True):
    """The `delay` of a playout buffer in s, and the `late` share of the items, which it drops."""

    delay: Formula
    late: Formula | None = None


class OperatingPoint(Struct, frozen=True, kw_only=True):
    """The solution of a network for so many `users`.

    `values` evaluates formulas, in which `elastic` puts the values of elastic parameters.
    `utilizations` and `background` are of stations, the latter what no item causes, over all
    kinds; `rooms` are of pools. Of classes, `rates` are items a second of each flow, `jitter` are
    variances in s^2 of stations on the way, and `buffers` those of playout.
    """

    users: int
    values: EvaluationPoint
    elastic: Substitution
    utilizations: Mapping[str, float]
    background: Mapping[str, Formula]
    rooms: Mapping[str, PoolCapacity]
    rates: Mapping[str, Formula]
    jitter: Mapping[str, tuple[Formula, ...]]
    buffers: Mapping[str, Buffer]


def operating_point(graph: LoadGraph, users: int) -> OperatingPoint:
    """Return what a load graph has solved of its network for so many users."""
    network, values = graph.network, graph.at(users)
    mixtures = mixtures_of(network.kinds)
    return OperatingPoint(
        users=users,
        values=values,
        elastic=Substitution({one.parameter.symbol: one.value for one in graph.elastic}),
        utilizations={name: values.number(one.load) for name, one in graph.resources.items()},
        background={
            name: total(averaged(load, mixtures) for _, load in station.background)
            for name, station in network.stations.items()
        },
        rooms=graph.analysis.rooms,
        rates={name: one.rate for name, one in graph.streams.items()},
        jitter={
            name: tuple(part.value for part in one.jitter) for name, one in graph.streams.items()
        },
        buffers={
            one.stream: _buffer(graph, one.stream)
            for one in network.classes.values()
            if one.playout is not None
        },
    )


def _buffer(graph: LoadGraph, name: str) -> Buffer:
    stream = graph.streams[name]
    late = next((part.value for part in stream.losses if part.stage == TOO_LATE), None)
    return Buffer(delay=stream.buffer, late=late)
