"""The complete answer for one configuration: the source of a report, a page and the JSON.

Values are in base units, each with its certainty. Reports call what is in it and lay it out; they
look nothing up in the load graph and evaluate nothing.
"""

from __future__ import annotations

from collections.abc import Mapping

from qps.compiler.diagnostics.diagnostic import Diagnostic
from qps.compiler.ir.measure_names import utilization_of
from qps.compiler.lower.load_graph import Assumption
from qps.compiler.quantities.certainty import Certainty
from qps.solver.answers.answer_parts import (
    Advice,
    AtReliableCapacity,
    CountedAsKnown,
    LinkTraffic,
    Margin,
    MeasureAnswer,
    MoreUsers,
    NextLimit,
    QualityAnswer,
    Reading,
    ReliableCapacity,
    RequirementAnswer,
    RequirementThere,
)
from qps.solver.answers.solution import QUALITY, ConfigurationResult, MixSolution, ResourceSolution
from qps.solver.calendar.calendar_answer import CalendarAnswer
from qps.solver.failures.availability_result import Availability
from qps.solver.profiles.course_answer import CourseAnswer
from qps.solver.uncertainty.interval_result import Uncertainty


class Answer(ConfigurationResult, frozen=True, kw_only=True):
    """What a load graph comes to, and its question: a configuration of a spec."""

    file: str
    model: str
    scenario: str | None
    settings: tuple[str, ...]
    case: str | None
    """That of several, where parameters have them."""
    mode: str | None
    population: str
    low: int
    high: int
    known: Certainty
    """Certainty of the capacity, all modes taken together."""
    limiting: RequirementAnswer | None
    """The requirement that limits the capacity; None for a resource, quality or nothing."""
    limit_there: Reading | None
    """What limits the capacity, where it fails: one further, or at the start of the range."""
    rests_on_users: bool
    """Whether a utilization or a requirement depends on the population."""
    traffic: tuple[LinkTraffic, ...]
    """What links and interfaces carry, the most first."""
    saturated_by_elastic: frozenset[str]
    requirements: tuple[RequirementAnswer, ...]
    has_quality_requirements: bool
    """Whether any requirement is an axis of quality."""
    quality: QualityAnswer
    behind_quality: tuple[RequirementThere, ...]
    """Those that make quality what it is, where it limits; with `..._there` as it fails."""
    behind_quality_there: tuple[RequirementThere, ...]
    latency_there: tuple[tuple[str, float], ...]
    """Where no population is supported: stages of the mean latency that is too long, and s."""
    measures: tuple[MeasureAnswer, ...]
    next_limit: NextLimit | None
    more_users: MoreUsers | None
    margins: tuple[Margin, ...]
    reference_ratings: frozenset[str]
    """Numbers that are ratings of machines that service demands were measured on."""
    mixes: tuple[MixSolution, ...]
    unpriced: tuple[str, ...]
    """Nodes and links whose machine or network has no price."""
    assumptions: Mapping[str, Assumption]
    """The numbers that it rests on, each with its value, its place and its source."""
    counted_as_known: tuple[CountedAsKnown, ...]
    """Fitted service demands without residuals, treated as exact."""
    spec_warnings: tuple[Diagnostic, ...] = ()
    uncertainty: Uncertainty | None = None
    """Uncertainty of the capacity, if inputs are uncertain."""
    reliable: ReliableCapacity | None = None
    """The capacity that covers uncertain inputs and measured model errors, if requested."""
    at_reliable: AtReliableCapacity | None = None
    """Values at that capacity and its confidence level; None where no population is supported."""
    headline: Answer | None = None
    """The same answer at that capacity, as a first screen; None where none was requested."""
    at_confidence: bool = False
    """Whether the requested capacity is that at the confidence of the uncertainty."""
    advice: tuple[Advice, ...] = ()
    """Changes that raise the capacity."""
    calendar: CalendarAnswer | None = None
    """Until when the forecast of the spec is supported; None without one, or if not requested."""
    availability: Availability | None = None
    """How often all requirements are met at the capacity; None if nothing can fail."""
    course: CourseAnswer | None = None
    """The day or the week at the capacity that can be relied on; None without profiles."""

    @property
    def ports(self) -> dict[str, str]:
        """The ports of switches, with the link that each is a port of."""
        return {one.name: one.port_of for one in self.resources if one.port_of is not None}

    @property
    def reliable_limits(self) -> dict[str, int]:
        """Up to where limits are met as reliably as the headline, by criterion.

        Empty at any other population, and where neither inputs nor model errors lower a limit.
        """
        beside, reliable = self.at_reliable, self.reliable
        if beside is None or reliable is None or beside.population != self.at:
            return {}
        if reliable.confidence is None and not reliable.allowed_for:
            return {}
        loads = {utilization_of(one.name): one.met_up_to for one in beside.utilizations}
        needs = {one.name: one.met_up_to for one in beside.requirements}
        quality = {QUALITY: beside.quality_met_up_to}
        found = loads | needs | quality
        return {name: most for name, most in found.items() if most is not None}

    @property
    def by_saturation(self) -> list[ResourceSolution]:
        """The resources, those that saturate first before all others; else the fullest."""
        return sorted(
            self.resources,
            key=lambda r: (
                r.saturation.at is None,
                r.saturation.at or 0.0,
                -r.utilization_at_limit,
            ),
        )

    def resource(self, name: str | None) -> ResourceSolution | None:
        """Return the resource of a name; None where there is none."""
        return next((one for one in self.resources if one.name == name), None)
