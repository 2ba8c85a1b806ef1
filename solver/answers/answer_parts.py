"""What a complete answer is made of beside the solution: typed numbers, each with its certainty."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from qps.compiler.diagnostics.source import Span
from qps.compiler.quantities.calendar_dates import CalendarDate
from qps.compiler.quantities.certainty import EXACT, Certainty
from qps.compiler.quantities.dimension import Dimension
from qps.solver.answers.solution import CostSolution

MONTH = 365.25 * 86_400 / 12
"""Seconds of a month, on average."""
_NOTICEABLE_LOSS = 5e-4
_NOTICEABLE_CHANGE = 0.01


class Reading(Struct, frozen=True, kw_only=True):
    """A value at a population, in base units, and how it is known; not-a-number for none.

    `excess` is the value less its limit: it distinguishes them where floats do not.
    """

    value: float
    excess: float
    known: Certainty


class RequirementAnswer(Struct, frozen=True, kw_only=True):
    """A requirement: its limit in base units of its dimension, and its values `now` and `beyond`.

    `now` is at the population that an answer is shown at, `beyond` at the next one, None at the end
    of the range. It is met up to `met_up_to` from the start of the range on, None for not at all.
    `confidence` is its certainty, where it is one of the population.
    """

    name: str
    dimension: Dimension
    at_most: bool
    strict: bool
    span: Span | None
    confidence: float | None
    limit: float
    met_up_to: int | None
    met_up_to_known: Certainty
    now: Reading
    beyond: Reading | None


class RequirementThere(Struct, frozen=True):
    """A requirement, and what it comes to at some population."""

    requirement: RequirementAnswer
    reading: Reading


class ModelError(Struct, frozen=True, kw_only=True):
    """The largest model error of a requirement or a utilization, relative to its true value."""

    name: str
    error: float


class ReliableCapacity(Struct, frozen=True, kw_only=True):
    """The reliable capacity, or None if even the smallest population is not supported.

    It is the capacity with every model error in `allowed_for` at its unfavorable end and, if
    inputs are uncertain, at a `confidence` (otherwise null). `unmeasured` lists the requirements
    and utilizations whose model error was never measured, so the true capacity may be lower.
    """

    capacity: int | None
    confidence: float | None
    allowed_for: tuple[ModelError, ...]
    unmeasured: tuple[str, ...]


class HeadlineCapacity(Struct, frozen=True, kw_only=True):
    """The capacity that `qps solve` prints first: reliable, and rounded down.

    It covers the uncertainty of inputs, at a `confidence`, and the measured model errors. It is
    None if no user is supported. `limited_by` is what limits it.
    """

    capacity: int | None
    confidence: float | None
    limited_by: str | None


class Headlines(Struct, frozen=True, kw_only=True):
    """The headline capacities of both sides."""

    before: HeadlineCapacity
    after: HeadlineCapacity


class ValueAtCapacity(Struct, frozen=True, kw_only=True):
    """A value at the reliable capacity, in base units.

    `nominal` is the value with nominal inputs. `value` is the unfavorable end of its interval, at
    the confidence level of the capacity. Both are the same if inputs are certain. `used` is the
    fraction of the limit that `value` uses, or null if there is no limit. The limit is met up to a
    population of `met_up_to`, at the same confidence level and with the same model errors as the
    capacity; this is null if there is no limit.
    """

    name: str
    nominal: float
    value: float
    used: float | None
    met_up_to: int | None
    known: Certainty


class AtReliableCapacity(Struct, frozen=True, kw_only=True):
    """Values shown next to the capacity, at its population and confidence level.

    `population` is the reliable capacity, rounded down as printed. `limited_by` is the utilization
    or the requirement that reaches its limit there. `utilizations` has an entry for each resource,
    and `requirements` is in the order of the spec. `percentiles` lists the p99 of each stream with
    a latency requirement, or of the first stream if there is none. `next_limit` is the limit that
    would be reached next if `limited_by` were lifted, and `quality_met_up_to` is where the quality
    metric exceeds its limit (null without one), both at the same confidence level.
    """

    population: int
    confidence: float | None
    limited_by: str | None
    utilizations: tuple[ValueAtCapacity, ...]
    requirements: tuple[ValueAtCapacity, ...]
    percentiles: tuple[ValueAtCapacity, ...]
    costs: tuple[CostSolution, ...]
    next_limit: NextLimit | None
    quality_met_up_to: int | None


class NextLimit(Struct, frozen=True):
    """The next limit: what would limit capacity if the first limit were lifted.

    `requirement` is met up to `met_up_to`, or never if that is None. If nothing else limits
    capacity in the range, `requirement` is None and `met_up_to` is the end of the range.
    """

    requirement: str | None
    met_up_to: int | None
    mode: str | None
    known: Certainty = EXACT
    """Accuracy of `met_up_to`."""


class StreamThere(Struct, frozen=True, kw_only=True):
    """What a stream's users see at the answer and with more users: shares, s, items (or bit) a s.

    `lost_at` and `slower_at` are the stages of the way to which most of the change is due.
    """

    name: str
    loss: tuple[float, float]
    lost_at: str
    latency: tuple[float, float]
    slower_at: str
    rate: tuple[float, float]
    item: str
    loss_known: Certainty
    """How the loss with more users is known; a rate is so from the other side."""
    latency_known: Certainty
    rate_known: Certainty

    @property
    def loses_more(self) -> bool:
        """True where noticeably more is lost."""
        return self.loss[1] - self.loss[0] > _NOTICEABLE_LOSS

    @property
    def is_later(self) -> bool:
        """True where it is noticeably later."""
        before, after = self.latency
        return after - before > _NOTICEABLE_CHANGE * before

    @property
    def is_lowered(self) -> bool:
        """True where less is sent, besides what is lost: an elastic rate gives way."""
        remaining = (1 - self.loss[1]) / (1 - self.loss[0]) if self.loss[0] < 1 else 1.0
        return self.rate[1] < self.rate[0] * remaining * (1 - _NOTICEABLE_CHANGE)


class LoadThere(Struct, frozen=True):
    """Utilization of a resource above its target."""

    resource: str
    utilization: float
    target: float


class MoreUsers(Struct, frozen=True, kw_only=True):
    """What happens with 10 % more users, or at the end of the range where that comes first.

    `quality` is None without a metric; that of served items is beyond its limit where it
    `fails_quality`, for the requirements `behind_quality`. `loads` are those above their targets.
    """

    at: int
    is_end_of_range: bool
    quality: Reading | None
    fails_quality: bool
    behind_quality: tuple[RequirementThere, ...]
    failing: tuple[RequirementThere, ...]
    streams: tuple[StreamThere, ...]
    loads: tuple[LoadThere, ...]


class LinkTraffic(Struct, frozen=True, kw_only=True):
    """Throughput of a link or network interface at capacity; `count` of them are identical."""

    resource: str
    bit_per_s: float
    byte_per_hour: float
    byte_per_month: float
    count: float
    known: Certainty


class QualityAnswer(Struct, frozen=True, kw_only=True):
    """The quality metric, its value at capacity, and the population up to which it passes."""

    metric: str
    at_limit: float | None
    met_up_to: int | None
    known: Certainty
    met_up_to_known: Certainty


class MeasureAnswer(Struct, frozen=True, kw_only=True):
    """A measure declared in the spec, at capacity, in its base unit; not-a-number for no value."""

    name: str
    value: float
    dimension: Dimension
    doc: str | None
    known: Certainty
    percentile_of: str = ""
    """For a percentile in a list (`page.latency p50, p95`), the latency or waiting time."""


class Margin(Struct, frozen=True):
    """A utilization limit, from a target or a requirement.

    `loaded` is False if nothing uses the resource in this configuration.
    """

    of: str
    at_most: float
    loaded: bool = True


class CountedAsKnown(Struct, frozen=True, kw_only=True):
    """Service demands treated as exact because the fitted table has no residuals."""

    table: str
    numbers: tuple[str, ...]


class ChangeKind(StrEnum):
    """How a change increases capacity."""

    CAPACITY = "more capacity"
    DEMAND = "less demand"
    SHIFT = "demand moved elsewhere"
    SCHEDULING = "scheduling"
    """Other priorities, another discipline, or other hours."""
    RESERVATION = "reservation"
    """A part of a resource that is kept for some."""
    OTHER = "other changes"
    GOAL = "relaxed goal"
    """A requirement or target that is less strict: the system stays as it is."""


class Interval(Struct, frozen=True, kw_only=True):
    """An interval with its probability; a bound is None if no user is supported there."""

    probability: float
    least: int | None
    most: int | None


class RewriteMethod(StrEnum):
    """What a change of the text of a spec does."""

    MOVED_STEP = "moved step"
    CALLED_STEP = "called step"
    """A step that another machine is called for."""
    MOVED_CALL = "moved call"
    MOVED_TOGETHER = "several moves"
    """Of each, the method and its parts follow one another."""
    PRIORITY = "priority"
    PREEMPTION = "preemptive priority"
    SHARING = "processor sharing"
    PACING = "paced arrivals"
    OTHER_HOURS = "other hours"
    OWN_UNITS = "own units of a pool"
    LIMITED_WORK = "limited work in progress"


class LineChange(Struct, frozen=True):
    """Lines of a spec, from `line` on, and what stands there `after` a change.

    Without any `before`, that is inserted in front of the line.
    """

    line: int
    before: str
    after: str


class SpecRewrite(Struct, frozen=True, kw_only=True):
    """A change of the text of a spec: a choice of who builds the system, not a setting.

    `parts` are the names and amounts that its words are made of.
    """

    method: RewriteMethod
    parts: tuple[str, ...]
    lines: tuple[LineChange, ...]


class Advice(Struct, frozen=True, kw_only=True):
    """A change that increases capacity, and the resulting capacity.

    `change` is what to write behind `with` or `--set` where it can be `set` so, else it says in
    words what to do. Where the `range_limits` there may be more. Where demand is moved, `to` is
    the resource that takes most of it over and `headroom` what that has left then, at the
    population of the answer so far. `known` is how the population is known.

    `name` is what it changes: a place, an option or a number, which becomes `factor` times as much.
    `price` and `running_price` are what it costs more, $ and $/s, for as many users as there are
    now; None where nothing has a price, and where it is of a place without one.

    `reliable_capacity` is the capacity with it that can be relied on, as that of the answer; None
    where it was not requested. `capacity_interval` is between which populations most samples of
    uncertain inputs lie with it; None where there are none. `holds_until` is the last month up to
    which the forecast is supported with it, as that of the answer; None where it was not computed.

    A change of the text of the spec is a `rewrite`. Of changes that are made `together`, each has
    the capacity with all of them.
    """

    kind: ChangeKind
    name: str
    change: str
    set: bool
    capacity: int
    range_limits: bool
    to: str | None = None
    headroom: float | None = None
    known: Certainty = EXACT
    factor: float | None = None
    price: float | None = None
    running_price: float | None = None
    reliable_capacity: int | None = None
    capacity_interval: Interval | None = None
    holds_until: CalendarDate | None = None
    rewrite: SpecRewrite | None = None
    together: tuple[Advice, ...] = ()
