"""Loads, with how far off they are where that was measured on random networks."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler.lower.all_pools import Pools
from qps.compiler.lower.expressions.lower_expressions import ExpressionLowering
from qps.compiler.lower.label_doubts import Gate
from qps.compiler.lower.labels.labeled_network import NumberFacts
from qps.compiler.lower.labels.operating_points import OperatingPoints
from qps.compiler.lower.labels.sampled_range import far_apart
from qps.compiler.lower.resource_loads import ResourceLoad
from qps.compiler.network.network import Network
from qps.compiler.quantities.certainty import CertaintyKind
from qps.compiler.quantities.measured_errors import ErrorQuantity


class LoadLabels(Struct, frozen=True, kw_only=True):
    """Resources with the errors of their loads; what lowers other labels, and by which points."""

    resources: dict[str, ResourceLoad]
    gate: Gate
    points: OperatingPoints


def load_labels(
    pools: Pools,
    network: Network,
    gate: Gate,
    expressions: ExpressionLowering,
    *,
    by_points: bool,
) -> LoadLabels:
    """Return resources with how their loads are known, each with its error.

    Errors go by where the numbers lie; not so where `by_points` is false.
    """
    numbers = NumberFacts(expressions)
    doubts = gate.with_unlike(far_apart(pools.queues, network, numbers))
    points = OperatingPoints(pools.resources, numbers if by_points else None)
    resources = {
        name: replace(
            one, known=doubts.load_known(name, one.known, points.of, quantity=_of(name, network))
        )
        if one.known.kind is CertaintyKind.APPROXIMATION
        else one
        for name, one in points.resources.items()
    }
    return LoadLabels(resources=resources, gate=doubts, points=points)


def _of(name: str, network: Network) -> ErrorQuantity:
    """Return what the load of a resource is: how much is held of it, or how busy it is."""
    return ErrorQuantity.POOL if name in network.pools else ErrorQuantity.LOAD
