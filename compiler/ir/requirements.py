"""What users need: measures, requirements, planning targets, quality."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

from qps.compiler.diagnostics.source import Span
from qps.compiler.ir.parameters import Quantity


class Measure(Struct, frozen=True):
    """A measure of the spec's own."""

    name: str
    value: Quantity
    doc: str | None


class Requirement(Struct, frozen=True, kw_only=True):
    """`measure <= limit` (or >=); `is_axis` where it is one of the axes of quality."""

    name: str
    measure: Quantity
    limit: Quantity
    at_most: bool
    strict: bool
    ideal: Quantity | None
    is_axis: bool
    span: Span


class TargetScope(Enum):
    """What a planning target holds for; the closer one wins."""

    PLACE = "place"  # a node, a link, or one resource of it
    RESOURCE = "resource"  # a resource of that name, of every machine
    LINKS = "links"  # every link


class Target(Struct, frozen=True):
    """How full resources may be by plan, as a share of their capacity."""

    name: str
    scope: TargetScope
    value: Quantity
    span: Span

    def rank(self, resource: str, *, is_link: bool) -> int:
        """Return how closely a resource in place is named, 0 for not at all."""
        match self.scope:
            case TargetScope.LINKS:
                return int(is_link)
            case TargetScope.RESOURCE:
                return int(not is_link and resource.split(".")[1] == self.name)
        is_named = resource == self.name or resource.startswith(self.name + ".")
        return 1 + len(self.name.split(".")) if is_named else 0


class Metric(Enum):
    """How the axes of quality are joined."""

    EUCLIDEAN = "euclidean"
    WORST = "worst"
    FORMULA = "formula"


class Quality(Struct, frozen=True):
    """The metric; `formula` is set where the spec gives its own."""

    metric: Metric
    formula: Quantity | None
    span: Span | None
