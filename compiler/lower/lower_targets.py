"""Planning targets: the load at which a resource counts as saturated.

A margin is planned by a load below 1. What is beyond capacity is lost all the same only beyond 1.
"""

from __future__ import annotations

from collections.abc import Collection

from msgspec import Struct, field

from qps.compiler import ir
from qps.compiler.lower.lower_expressions import ExpressionLowering
from qps.compiler.network.network import Network
from qps.engine.formulas import ONE, Formula, minimum


def bounds_load(requirement: ir.Requirement, name: str, resources: Collection[str]) -> bool:
    """Return whether a requirement limits the load of a resource, of these, from above.

    `lan.load` is that of all that a link has; `server.cpu.load` says nothing of its threads.
    """
    asked = requirement.measure.expr
    if not isinstance(asked, ir.Measured) or asked.kind is not ir.MeasureKind.LOAD:
        return False
    if not requirement.at_most or requirement.promised is not None:
        return False
    if asked.subject in resources:
        return name == asked.subject
    return name.startswith(asked.subject + ".")


class Targets(Struct, frozen=True, kw_only=True):
    """The targets of a model, and the requirements on loads that win over them.

    `stated` fills with the targets that hold for any resource, by the names of the spec.
    """

    model: ir.Model
    expressions: ExpressionLowering
    requirements: tuple[ir.Requirement, ...]
    network: Network
    resources: Collection[str]
    stated: dict[str, Formula] = field(default_factory=dict)

    def requirements_of(self, resource: str) -> list[ir.Requirement]:
        """Return the requirements on the load of a resource."""
        return [r for r in self.requirements if bounds_load(r, resource, self.resources)]

    def limit_of(self, resource: str) -> Formula | None:
        """Return the highest load that the requirements allow, None where they say nothing."""
        limits = [
            self.expressions.symbol(f"limit of {requirement.name}", requirement.limit)
            for requirement in self.requirements_of(resource)
        ]
        return minimum(*limits) if limits else None

    def of(self, resource: str) -> Formula:
        """Return the load at which a resource counts as saturated.

        Of several targets the closest one holds. Where the spec limits the load itself, that limit
        is what was planned; without any target, saturation is at 1.
        """
        place = self.network.place_of(resource)
        is_link = place in self.network.links
        ranked = [(t.rank(resource, place, is_link=is_link), t) for t in self.model.targets]
        rank, target = max(ranked, key=lambda pair: pair[0], default=((0, 0), None))
        if target is None or not any(rank):
            return ONE
        limit = self.limit_of(resource)
        if limit is not None:
            return limit
        value = self.expressions.symbol(f"target of {target.told}", target.value)
        self.stated[target.told] = value
        return value
