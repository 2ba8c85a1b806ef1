"""What all pools come to: those of closed classes, those that are never full, and all others."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler.lower.closed_streams.elastic_labels import LabeledSolution
from qps.compiler.lower.expressions.lower_expressions import ExpressionLowering
from qps.compiler.lower.label_doubts import Gate
from qps.compiler.lower.labels.labeled_network import NumberFacts
from qps.compiler.lower.pools.closed_pool_loads import users_pools
from qps.compiler.lower.pools.open_pools import open_pools
from qps.compiler.lower.pools.unfilled_pools import unfilled_pools
from qps.compiler.lower.queues.pool_holding import PoolCapacity
from qps.compiler.lower.resource_loads import ResourceLoad
from qps.compiler.lower.traffic.station_queues import PlacedQueue
from qps.compiler.lower.traffic.traffic_parts import NetworkTraffic
from qps.engine.expressions.substitution import Substitution


class Pools(Struct, frozen=True, kw_only=True):
    """All loads and queues, those of pools with them, and what each pool has to give.

    In the `traffic` classes wait for pools, too.
    """

    resources: Mapping[str, ResourceLoad]
    queues: Mapping[str, PlacedQueue]
    rooms: Mapping[str, PoolCapacity]
    traffic: NetworkTraffic


def pools_of(
    traffic: NetworkTraffic,
    known: LabeledSolution,
    put_in: Substitution,
    gate: Gate,
    expressions: ExpressionLowering,
) -> Pools:
    """Return what pools come to, those of open classes the inner ones first."""
    stations, resources = traffic.stations, known.resources
    of_users = users_pools(
        known.closed.streams,
        demands=stations,
        classes=traffic.classes,
        resources=resources,
        put_in=put_in,
        gate=gate,
    )
    never_full = unfilled_pools(
        known.closed.unfilled,
        demands=stations,
        classes=of_users.classes,
        queues=known.queues | of_users.queues,
        resources=resources,
        rates=known.rates,
        put_in=put_in,
        gate=gate,
    )
    waiting = replace(traffic, classes=never_full.classes)
    held_by_users = of_users.resources | never_full.resources
    others = open_pools(
        {name: one for name, one in stations.items() if name not in held_by_users},
        waiting.classes,
        resources,
        known.queues | of_users.queues,
        put_in,
        NumberFacts(expressions),
        gate.checks,
    )
    rooms = others.rooms | of_users.rooms | never_full.rooms
    return Pools(
        resources=_causes_first(others.resources | held_by_users, rooms),
        queues=others.queues,
        rooms=rooms,
        traffic=waiting.with_visits(others.visits),
    )


def _causes_first(
    resources: Mapping[str, ResourceLoad], rooms: Mapping[str, PoolCapacity]
) -> dict[str, ResourceLoad]:
    """Return loads, those of pools last, the inner ones first.

    A pool is full because of what its holders do meanwhile. Of resources that saturate together,
    the first is called the bottleneck: that is the cause.
    """
    others = {name: load for name, load in resources.items() if name not in rooms}
    return others | {name: resources[name] for name in rooms if name in resources}
