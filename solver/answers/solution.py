"""What the solver answers: plain values, no open questions, every status in an Enum."""

from __future__ import annotations

from enum import Enum, StrEnum

from msgspec import Struct, field
from msgspec.structs import replace

from qps.compiler.diagnostics.diagnostic import Diagnostic
from qps.compiler.lower.load_graph import Criterion, LoadGraph
from qps.compiler.quantities.certainty import EXACT, Certainty
from qps.compiler.quantities.dimension import Dimension
from qps.engine.expressions.formulas import Formula
from qps.solver.search.method import SearchMethod

QUALITY = "quality"
"""What the metric over all axes is called among the criteria."""


class CapacityVerdict(Enum):
    """What the largest acceptable population is limited by."""

    LIMITED = "limited"
    RANGE = "range"
    NOWHERE = "nowhere"


class Saturation(Struct, frozen=True):
    """Where a resource saturates: the population, as a real number; None for never.

    Where that cannot be determined, `not_below` is a population up to which it does not, and `at`
    one by which it does; None where no such one is known.
    """

    at: float | None
    method: SearchMethod
    not_below: int | None = None


class ResourceSolution(Struct, frozen=True, kw_only=True):
    """A resource: its load as a formula, its saturation, and what it comes to at the limit.

    It counts as saturated at `target`: 1, or less by plan. `throughput` is what it carries at the
    limit, in bit/s, None where that is not bits; there are `count` such resources. `port_of` is the
    link that it is a port of, where that is a switch.
    """

    name: str
    load: Formula
    saturation: Saturation
    utilization_at_limit: float
    target: float
    throughput: float | None
    count: float
    shares: dict[str, float]
    port_of: str | None
    known: Certainty
    """Accuracy of the utilization."""
    saturation_known: Certainty


class BottleneckChange(Struct, frozen=True):
    """The population (`at`) above which another resource has the highest utilization.

    `to` is that resource, or None if undecided.
    """

    at: float
    to: str | None


class StaysFull(StrEnum):
    """How the load of a bottleneck lies up to the largest acceptable population.

    `EXACTLY` at its target there, or `AT_MOST` at it, at whole populations.
    """

    EXACTLY = "exactly"
    AT_MOST = "at most"


class Bottleneck(Struct, frozen=True, kw_only=True):
    """The resource that saturates first, or has the highest utilization at the end of the range.

    If `from_start` is true, it is saturated at the start of the range, and `saturates_at` is that
    start. `initially` is the resource with the highest utilization at the start, and `changes`
    lists later bottlenecks. `undecided` lists resources that may saturate earlier. If it saturates
    below the capacity, its utilization from there to the capacity is `exactly` or `at most` at its
    limit, as in `stays_full`.
    """

    resource: str
    saturates_at: float | None
    from_start: bool
    stays_full: str | None = None
    initially: str
    changes: tuple[BottleneckChange, ...]
    undecided: tuple[str, ...] = ()


class CriterionSolution(Struct, frozen=True):
    """A requirement: up to which population it is met from the start on, None for not at all.

    `value_at_limit` is the measure at the largest acceptable population.
    """

    criterion: Criterion
    met_up_to: int | None
    value_at_limit: float


class FirstFailure(Struct, frozen=True):
    """A criterion, stated or not, and the first population at which it fails; None for nowhere.

    `known_there` is how it is known at that population, None for as it is elsewhere.
    """

    criterion: Criterion
    first: int | None
    known_there: Certainty | None = None

    @property
    def there(self) -> Criterion:
        """The criterion as it is known where it first fails."""
        known = self.known_there
        return self.criterion if known is None else replace(self.criterion, known=known)


class Sensitivity(Struct, frozen=True):
    """Elasticity: percent change of capacity per percent change of a number."""

    parameter: str
    elasticity: float


class Knee(Struct, frozen=True):
    """Population at which an elastic parameter leaves one end of its range, and its cause.

    `method` is the method that found the population.
    """

    at: float
    resource: str
    method: SearchMethod = field(name="closed_form")


class ElasticSolution(Struct, frozen=True, kw_only=True):
    """An elastic parameter: what it comes to at the limit, and its two knees.

    It takes the most up to `yields`, what is left from there on, and the least from
    `exhausted` on; None where that never happens. In between, `changes` say where another
    resource becomes the one that leaves the least.
    """

    name: str
    priority: int | None
    least: float
    most: float
    value_at_limit: float
    yields: Knee | None
    exhausted: Knee | None
    changes: tuple[BottleneckChange, ...]
    dimension: Dimension
    known: Certainty = EXACT

    @property
    def is_lowered(self) -> bool:
        """True if it is below its largest value."""
        return self.value_at_limit < self.most


class ClosedSolution(Struct, frozen=True, kw_only=True):
    """A closed workload at capacity, with `jobs` items in progress.

    `rate` is the throughput in items/s, and `latency` is the response time. `most` is the maximum
    throughput, at which the resources in `levels_off_at` are saturated. `knee` is the number of
    jobs at which the asymptotes intersect. `asymptotic` and `balanced` are lower and upper bounds
    on the rate. If `meets` lists other closed streams, these values ignore them.
    """

    stream: str
    item: str
    jobs: float
    rate: float
    latency: float
    think: float
    rate_known: Certainty
    latency_known: Certainty
    most: float
    levels_off_at: tuple[str, ...]
    knee: float
    asymptotic: tuple[float, float]
    balanced: tuple[float, float] | None
    meets: tuple[str, ...] = ()


class FullTogether(Struct, frozen=True):
    """Resources that saturate together, and the range of mix fractions in which they do."""

    at: float
    to: float
    full: tuple[str, ...]


class MixSolution(Struct, frozen=True, kw_only=True):
    """Bottlenecks by class mix: the fraction of class `of` varies, relative to the `others`.

    `share` is the current fraction. `ranges` cover all fractions from 0 to 1; `known` is the
    accuracy of their ends.
    """

    of: str
    others: tuple[str, ...]
    share: float
    ranges: tuple[FullTogether, ...]
    known: Certainty


class CostSolution(Struct, frozen=True, kw_only=True):
    """Cost of the configuration at capacity: in total, per user, and by node or link.

    The unit is $ for purchases and $/s for recurring cost.
    """

    unit: str
    total: float
    per_user: float
    places: dict[str, float]
    unpriced: tuple[str, ...]
    known: Certainty = EXACT

    @property
    def is_running(self) -> bool:
        """True for recurring cost."""
        return self.unit == "$/s"


class ModeSolution(Struct, frozen=True, kw_only=True):
    """Result of one of several modes, and its accuracy."""

    mode: str
    capacity: int | None
    limited_by: str | None
    quality_at_limit: float | None
    known: Certainty
    quality_known: Certainty


class ConfigurationResult(Struct, frozen=True, kw_only=True):
    """What one configuration comes to, in numbers.

    `at` is the population at which values are reported: the largest acceptable one, or the least
    of the range where none is acceptable.
    """

    verdict: CapacityVerdict
    capacity: int | None
    limited_by: str | None
    at: int
    resources: tuple[ResourceSolution, ...]
    bottleneck: Bottleneck | None
    sensitivity: tuple[Sensitivity, ...]
    sensitivity_of: str | None
    elastic: tuple[ElasticSolution, ...]
    costs: tuple[CostSolution, ...]
    warnings: tuple[Diagnostic, ...]
    modes: tuple[ModeSolution, ...] = ()
    closed: tuple[ClosedSolution, ...] = ()


class Solution(ConfigurationResult, frozen=True, kw_only=True):
    """The answers for one configuration, of its load graph.

    `others` are the solutions of all other modes, without `requirements`.
    """

    graph: LoadGraph
    requirements: tuple[CriterionSolution, ...]
    quality_at_limit: float | None
    quality_met_up_to: int | None
    failures: tuple[FirstFailure, ...]
    others: tuple[Solution, ...] = ()


class SolverFault(Exception):  # noqa: N818 - a fault, as opposed to a user's error
    """A solution that does not satisfy its own equation: a fault of qps, never an answer."""
