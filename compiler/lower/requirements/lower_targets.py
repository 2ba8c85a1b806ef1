"""Planning targets: the load at which a resource counts as saturated.

A margin is planned by a load below 1. What is beyond capacity is lost all the same only beyond 1.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from qps.compiler import ir
from qps.compiler.lower.expressions.lower_expressions import ExpressionLowering
from qps.compiler.lower.load_graph import Targets
from qps.compiler.network.network import Network
from qps.engine.expressions.formulas import ONE, Formula, minimum


def bounds_load(requirement: ir.Requirement, name: str, resources: Collection[str]) -> bool:
    """Return whether a requirement limits the load of a resource, of these, from above.

    `lan.load` is that of all that a link has; `server.cpu.load` says nothing of its threads.
    """
    measure = requirement.measure.expr
    if not isinstance(measure, ir.Measured) or measure.kind is not ir.MeasureKind.LOAD:
        return False
    if not requirement.at_most or requirement.confidence_capacity is not None:
        return False
    if measure.subject in resources:
        return name == measure.subject
    return name.startswith(measure.subject + ".")


def targets_of(
    network: Network,
    resources: Collection[str],
    requirements: Sequence[ir.Requirement],
    numbers: ExpressionLowering,
) -> Targets:
    """Return the targets of resources; requirements on their loads win over them.

    Of several targets the closest one holds. Where the spec limits the load itself, that limit is
    what was planned; without any target, saturation is at 1.
    """
    of: dict[str, Formula] = {}
    stated: dict[str, Formula] = {}
    limits: dict[str, Formula] = {}
    for name in resources:
        target = _closest(name, network, numbers)
        limit = (
            None
            if target is None and not numbers.elastic
            else _limit(name, requirements, resources, numbers)
        )
        if target is None:
            of[name] = ONE
        elif limit is not None:
            of[name] = limit
        else:
            value = numbers.symbol(f"target of {target.full_name}", target.value)
            of[name] = stated[target.full_name] = value
        limits[name] = limit or of[name]
    return Targets(of=of, limits=limits if numbers.elastic else {}, stated=stated)


def _closest(resource: str, network: Network, numbers: ExpressionLowering) -> ir.Target | None:
    """Return the target that is stated of what is closest to a resource, None for none."""
    place = network.place_of(resource)
    is_link = place in network.links
    ranked = [(t.rank(resource, place, is_link=is_link), t) for t in numbers.model.targets]
    rank, target = max(ranked, key=lambda pair: pair[0], default=((0, 0), None))
    return target if any(rank) else None


def _limit(
    resource: str,
    requirements: Sequence[ir.Requirement],
    resources: Collection[str],
    numbers: ExpressionLowering,
) -> Formula | None:
    """Return the highest load that the requirements allow, None where they say nothing."""
    limits = [
        numbers.symbol(f"limit of {requirement.name}", requirement.limit)
        for requirement in requirements
        if bounds_load(requirement, resource, resources)
    ]
    return minimum(*limits) if limits else None
