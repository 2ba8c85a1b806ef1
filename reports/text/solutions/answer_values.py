"""The keys of `qps solve --format json`: strings and numbers, in the order in which they are read.

Nothing in them is symbolic. Quantities are in base units beside their unit. What the solver answers
in the very same words stands for itself.
"""

from __future__ import annotations

from typing import ClassVar

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler.diagnostics.render import DiagnosticView
from qps.compiler.quantities.certainty import Certainty
from qps.reports.text.layout.notebook import NotebookView, ShowsItself
from qps.reports.text.layout.table import Table
from qps.reports.text.solutions.advice_view import AdviceView
from qps.reports.text.solutions.course_values import CourseView
from qps.reports.text.words.certainty_marks import marked_value
from qps.reports.text.words.labels import PLAIN, Labels
from qps.reports.text.words.phrases import phrase
from qps.reports.text.words.quantities import is_share, percent, quantity_in
from qps.solver.answers.answer_parts import (
    AtReliableCapacity,
    CountedAsKnown,
    Interval,
    LinkTraffic,
    LoadThere,
    Margin,
    NextLimit,
    QualityAnswer,
    ReliableCapacity,
)
from qps.solver.answers.solution import (
    Bottleneck,
    BottleneckChange,
    ClosedSolution,
    CostSolution,
    Knee,
    MixSolution,
    ModeSolution,
    Sensitivity,
)
from qps.solver.uncertainty.interval_result import Uncertainty


class PopulationView(Struct, frozen=True):
    """The population and its range."""

    name: str
    from_: int
    to: int


class ResourceView(Struct, frozen=True, kw_only=True):
    """A resource: utilization (formula and value), saturation point, and shares by component.

    It saturates at `target`, which is 1 or a declared target. If it is undecided whether it
    saturates earlier, `saturates_not_below` is a population up to which it does not.
    """

    name: str
    utilization: str
    utilization_at_limit: float
    target: float
    saturates_at: float | None
    saturates_not_below: int | None
    closed_form: bool
    method: str
    shares: dict[str, float]
    known: Certainty


class TrafficView(LinkTraffic, frozen=True):
    """Throughput of a link or network interface at capacity; `count` of them are identical."""


class RequirementView(Struct, frozen=True, kw_only=True):
    """A requirement with its limit, and the population up to which it is met.

    With a `certainty`, the value is the population, and the limit is the largest population that
    meets the requirement.
    """

    measure: str
    operator: str
    limit: float
    unit: str
    met_up_to: int | None
    value_at_limit: float
    value_beyond: float | None
    certainty: float | None
    known: Certainty
    met_up_to_known: Certainty


class MeasureView(Struct, frozen=True, kw_only=True):
    """A measure of the spec at capacity, in its base unit; null if it has no value."""

    name: str
    value: float
    unit: str
    doc: str | None
    known: Certainty


class QualityView(QualityAnswer, frozen=True):
    """The quality metric, its value at capacity, and the population up to which it passes."""


class ElasticView(Struct, frozen=True, kw_only=True):
    """An elastic parameter: its range, value at capacity, and knees.

    `lowered` is true if the value is below the maximum. A lower `priority` is served first.
    """

    parameter: str
    priority: int | None
    least: float
    most: float
    unit: str
    value_at_limit: float
    lowered: bool
    yields: Knee | None
    exhausted: Knee | None
    changes: tuple[BottleneckChange, ...]
    known: Certainty


class FailingView(Struct, frozen=True, kw_only=True):
    """A requirement that is not met with more users."""

    requirement: str
    value: float
    limit: float
    unit: str
    known: Certainty


class StreamThereView(Struct, frozen=True, kw_only=True):
    """Loss, latency and rate of a stream at capacity and with more users."""

    stream: str
    loss: float
    loss_before: float
    lost_at: str
    latency: float
    latency_before: float
    slower_at: str
    rate: float
    rate_before: float
    latency_known: Certainty
    loss_known: Certainty
    rate_known: Certainty


class MoreUsersView(Struct, frozen=True, kw_only=True):
    """Results with 10 % more users, or at the end of the range."""

    at: int
    range_ends: bool
    quality: float | None
    fails: tuple[FailingView, ...]
    streams: tuple[StreamThereView, ...]
    beyond_target: tuple[LoadThere, ...]


class TargetView(Margin, frozen=True):
    """A utilization limit, from a target or a requirement.

    `loaded` is False if nothing uses the resource in this configuration.
    """


class MonthView(Struct, frozen=True, kw_only=True):
    """One month of a calendar: the expected users, and whether they are supported."""

    date: str
    """The month, such as `2027-03`."""
    expected: int
    least: int
    """Lower end of the 90 % interval of a forecast in a table."""
    most: int
    """Upper end of this interval."""
    capacity: int | None
    """The capacity in this month; null if it was not solved, or if no user is supported."""
    supported: bool
    """Whether the expected users are supported at the confidence of the forecast."""
    probability: float | None
    """Probability that they are; null without uncertain inputs, or if it was not computed."""
    limited_by: str | None


class CalendarView(Struct, frozen=True, kw_only=True):
    """Until when the forecast of users is supported."""

    parameter: str
    """The parameter that is the date, in months since the first one."""
    verdict: str
    """`exceeded`, `holds` (to the end of the calendar), `range` or `never`."""
    holds_until: str | None
    """The last month up to which all months are supported; null if the first is not."""
    fails_in: str | None
    """The first month that is not supported; null if all are."""
    limited_by: str | None
    confidence: float | None
    """Confidence of `holds_until`; null with certain inputs."""
    interval: tuple[str | None, str | None] | None
    """The 90 % interval of the last supported month; null for a time before the calendar."""
    known: Certainty
    """Certainty of the capacities around the last supported month."""
    months: tuple[MonthView, ...]


class PlaceAvailabilityView(Struct, frozen=True, kw_only=True):
    """A node or link whose machines fail, and how much of the time that costs."""

    place: str
    count: int
    """Machines or links before a failure."""
    unavailability: float
    """Part of the time in which one of them is out of service."""
    lost: float
    """Part of the time in which requirements are not met because of this place alone."""
    survives: int
    """Failures at the same time after which all requirements are still met."""


class AvailabilityView(Struct, frozen=True, kw_only=True):
    """The part of the time in which all requirements are met at the capacity, if machines fail."""

    population: int
    least: float
    most: float
    """Upper end: the states between `least` and `most` were not evaluated."""
    states: int
    places: tuple[PlaceAvailabilityView, ...]
    known: Certainty


class SolveView(ShowsItself, Struct, frozen=True, kw_only=True, dict=True):
    """The results of one configuration."""

    LEFT_OUT: ClassVar[frozenset[str]] = frozenset(["calendar", "course", "availability"])

    schema: str
    file: str
    model: str
    scenario: str | None
    mode: str | None
    case: str | None
    settings: tuple[str, ...]
    answer: str
    population: PopulationView
    resources: tuple[ResourceView, ...]
    traffic: tuple[TrafficView, ...]
    bottleneck: Bottleneck | None
    requirements: tuple[RequirementView, ...]
    measures: tuple[MeasureView, ...]
    quality: QualityView
    capacity: int | None
    known: Certainty
    """Certainty of the capacity."""
    reliable_capacity: ReliableCapacity | None
    """The capacity that covers uncertain inputs and measured model errors."""
    at_reliable_capacity: AtReliableCapacity | None
    """Values at that capacity and its confidence; null if no population is supported."""
    capacity_interval: Interval | None
    uncertainty: Uncertainty | None
    """Uncertainty of the capacity, if inputs are uncertain."""
    treated_as_exact: tuple[CountedAsKnown, ...]
    """Fitted service demands without residuals, treated as exact."""
    limited_by: str | None
    at: int
    next_limit: NextLimit | None
    more_users: MoreUsersView | None
    targets: tuple[TargetView, ...]
    best_changes: tuple[AdviceView, ...]
    sensitivity: tuple[Sensitivity, ...]
    sensitivity_of: str | None
    elastic: tuple[ElasticView, ...]
    closed: tuple[ClosedSolution, ...]
    mixes: tuple[MixSolution, ...]
    cost: tuple[CostSolution, ...]
    modes: tuple[ModeSolution, ...]
    advice: tuple[AdviceView, ...]
    warnings: tuple[DiagnosticView, ...]
    calendar: CalendarView | None = None
    """Until when the forecast is supported; missing in a spec without a forecast."""
    availability: AvailabilityView | None = None
    """How often all requirements are met; missing in a spec in which nothing fails."""
    course: CourseView | None = None
    """The day or the week at the capacity; missing in a spec without profiles."""

    def _shown(self) -> NotebookView:
        """Return what a notebook shows of answers: what one must know first."""
        headline, facts, labels = self.__dict__.get("told", (self.answer, (), PLAIN))
        return NotebookView(
            title=f"{self.model} ({self.file})",
            answer=headline,
            facts=facts,
            tables=(_requirements(self, labels), _resources(self, labels)),
        )


_MOST_ROWS = 8
_DIGITS = 3


def first_screen(
    view: SolveView, headline: str, facts: tuple[tuple[str, str], ...], labels: Labels
) -> SolveView:
    """Return the same answers, which show of themselves what a first screen says."""
    screen = replace(view)
    # Not a field: it is not a key of the JSON.
    screen.__dict__["told"] = headline, facts, labels
    return screen


def _requirements(view: SolveView, labels: Labels) -> Table:
    rows = [
        (
            labels.of(one.measure),
            marked_value(_quantity(one.value_at_limit, one), one.value_at_limit, one.known),
            f"{one.operator} {_quantity(one.limit, one)}",
        )
        for one in view.requirements
    ]
    headings = ("requirement", f"at {view.at:,}", "limit")
    return Table(headings, tuple(rows), frozenset([1]))


def _quantity(value: float, one: RequirementView) -> str:
    if is_share(one.measure) and one.certainty is None:
        return percent(value, _DIGITS)
    return quantity_in(value, one.unit, _DIGITS)


def _resources(view: SolveView, labels: Labels) -> Table:
    fullest = sorted(view.resources, key=lambda one: -one.utilization_at_limit / one.target)
    rows = [
        (labels.of(one.name), percent(one.utilization_at_limit), percent(one.target))
        for one in fullest[:_MOST_ROWS]
    ]
    if len(fullest) > _MOST_ROWS:
        rows.append((phrase("answer.more_resources", count=len(fullest) - _MOST_ROWS), "", ""))
    headings = ("resource", phrase("answer.utilization_at", at=view.at), "target")
    return Table(headings, tuple(rows), frozenset([1, 2]))
