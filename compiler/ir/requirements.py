"""What users need: measures, requirements, planning targets, quality."""

from __future__ import annotations

from enum import Enum
from fractions import Fraction

from msgspec import Struct

from qps.compiler.diagnostics.source import Span
from qps.compiler.ir.parameters import Quantity
from qps.compiler.ir.stated_queueing import Queueing


class Measure(Struct, frozen=True, kw_only=True):
    """A measure of the spec's own."""

    name: str
    value: Quantity
    doc: str | None
    source: str | None = None
    percentile_of: str = ""
    """The latency or wait in front of a list, where it is one of the percentiles in this."""


class ConfidenceCapacity(Struct, frozen=True):
    """Up to which population a requirement holds with its certainty, of so many samples.

    `population` is None where nothing requests that; in a sample it may be an `error` off, as a
    part of it, where that is estimated by a surface through others.
    """

    population: int | None
    samples: int
    error: float = 0.0


NOT_EVALUATED = ConfidenceCapacity(None, 0)
"""Of a requirement where only values are requested: it judges nothing."""

WITHOUT_CONFIDENCE = ConfidenceCapacity(None, 1)
"""Of a requirement that is judged by one value of each number: a sample, such as pages draw."""


class Requirement(Struct, frozen=True, kw_only=True):
    """`measure <= limit` (or >=); `is_axis` where it is one of the axes of quality.

    `measure_name` is what the spec calls the measure: the name of a requirement that states no
    certainty.

    With `certainty` it must hold in that share of all that numbers which are not known may be;
    `promised` is up to which population it does, and how that is known, once that was found.
    """

    name: str
    measure_name: str
    measure: Quantity
    limit: Quantity
    at_most: bool
    strict: bool
    ideal: Quantity | None
    is_axis: bool
    span: Span
    certainty: Fraction | None = None
    confidence_capacity: ConfidenceCapacity | None = None


class ResourceScope(Enum):
    """What a planning target or a way of waiting holds for; the closer one wins."""

    PLACE = "place"  # a node, a link, or one resource of it
    RESOURCE = "resource"  # a resource of that name, of every machine
    LINKS = "links"  # every link


class OfResources(Struct, frozen=True, kw_only=True):
    """What is stated of resources from outside: of a place, of all of a name, or of all links.

    What an `instance` states holds for what that has, and there wins over what stands further
    outside.
    """

    name: str
    scope: ResourceScope
    span: Span
    instance: str = ""

    @property
    def full_name(self) -> str:
        """What it is called: with its instance, where it holds for resources of a name in that."""
        is_qualified = self.scope is ResourceScope.PLACE or not self.instance
        return self.name if is_qualified else f"{self.instance}.{self.name}"

    def rank(self, resource: str, place: str, *, is_link: bool) -> tuple[int, int]:
        """Return how closely a resource of a place is named, (0, 0) for not at all."""
        if self.scope is ResourceScope.PLACE:
            is_named = resource == self.name or resource.startswith(self.name + ".")
            return (2, len(self.name.split("."))) if is_named else (0, 0)
        if self.instance and not place.startswith(f"{self.instance}."):
            return (0, 0)
        within = 1 + len(self.instance.split(".")) if self.instance else 1
        if self.scope is ResourceScope.LINKS:
            return (1, within) if is_link else (0, 0)
        kind = resource[len(place) + 1 :].partition(".")[0]
        return (1, within) if not is_link and kind == self.name else (0, 0)


class Target(OfResources, frozen=True, kw_only=True):
    """How full resources may be by plan, as a share of their capacity."""

    value: Quantity


class Wait(OfResources, frozen=True, kw_only=True):
    """How what arrives waits for resources that state nothing of their own, or for a place."""

    queueing: Queueing


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
