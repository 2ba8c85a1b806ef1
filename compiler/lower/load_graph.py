"""The symbolic load graph: what the compiler hands to the solver.

What steps and links demand of resources is a load for each of these, by what demands it; what
streams meet on their way are stages of latency and loss. Every load, latency and loss is a formula
in the population and the assumptions, all in base units (s, bit, single items). The population is
a positive integer, an assumption is real.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum
from fractions import Fraction
from functools import cached_property

from msgspec import Struct, field
from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.configure.case_tables import CaseTable
from qps.compiler.data.fits import Fit
from qps.compiler.diagnostics.source import Span
from qps.compiler.lower.elastic import SettledParameter
from qps.compiler.lower.latency import (
    Allotment,
    LatencyPart,
    allotted,
    calls_certainty,
    calls_vary,
    every,
    kinds_certainty,
    quantile_of,
)
from qps.compiler.lower.queue_certainty import (
    jitter_certainty,
    quantile_certainty,
    uncounted,
    unlawful,
)
from qps.compiler.lower.queueing import Queue
from qps.compiler.lower.unwaited import Unwaited
from qps.compiler.lower.waterfall import calls_known, latency_of_calls
from qps.compiler.quantities.certainty import EXACT, Certainty, together, upper_bound
from qps.compiler.quantities.dimension import Dimension
from qps.engine.formulas import (
    ONE,
    ZERO,
    Formula,
    apply,
    maximum,
    minimum,
    number,
    product,
    square_root,
    total,
)
from qps.engine.points import Point, in_floats
from qps.engine.substitution import Substitution


class Assumption(Struct, frozen=True, kw_only=True):
    """A number that the model rests on: its symbol, its exact value and where it comes from.

    `text` is how the spec writes it, `source` says who measured or stated it. `is_capacity`
    where it says how much a machine or network can do, and how fast.
    """

    name: str
    symbol: Formula
    value: Formula
    dimension: Dimension
    text: str
    span: Span
    source: str | None
    is_capacity: bool = False

    @property
    def fraction(self) -> Fraction:
        """The value; where it is no fraction, the float that is next to it."""
        value = self.value.exact
        return Fraction(in_floats(self.value)) if value is None else value


class Cited(Struct, frozen=True, kw_only=True):
    """What is cited for something that is no number of its own, such as a formula or a place.

    `symbols` are those of what it comes to; none where that is a place.
    """

    name: str
    text: str
    span: Span
    source: str
    symbols: frozenset[Formula] = frozenset()

    def bears_on(self, symbols: frozenset[Formula], names: Iterable[str]) -> bool:
        """Return whether it is a part of what rests on some symbols and has to do with names."""
        if self.symbols:
            return self.symbols <= symbols
        return any(name == self.name or name.startswith(f"{self.name}.") for name in names)


class ResourceLoad(Struct, frozen=True, kw_only=True):
    """A resource in place: its load (1 is saturation) and what each component adds to it.

    `unsettled` is the load with elastic parameters still open; the same where there are none.
    `target` is the load at which it counts as saturated: 1, or less by plan. `throughput` is what
    is to be carried, in bit/s, where it carries bits; of which there are `count`. `port_of` is
    the link that it is a port of, where that is a switch.
    """

    name: str
    load: Formula
    parts: dict[str, Formula]
    span: Span
    unsettled: Formula
    target: Formula = ONE
    throughput: Formula | None = None
    count: Formula = ONE
    port_of: str | None = None

    @property
    def fullness(self) -> Formula:
        """The load as a part of the target: 1 is saturation."""
        return self.load / self.target


class Calibration(Struct, frozen=True, kw_only=True):
    """Between which loads of a resource a component's cost on it was measured.

    Where it is fitted to a table, `rates` is what one machine is asked for, in base units, by
    item, and `is_on_measured` True where that is the machine that was measured.
    """

    resource: str
    component: str
    low: float
    high: float
    span: Span
    fit: Fit | None = None
    rates: dict[str, Formula] = field(default_factory=dict)
    is_on_measured: bool = False


class JitterPart(Struct, frozen=True):
    """What a resource adds to a stream's jitter, a variance in s^2; `span` is its law."""

    resource: str
    value: Formula
    span: Span


class QueuePart(Struct, frozen=True):
    """What a queue of bounded length holds when it is full, in seconds of the stream's items."""

    stage: str
    value: Formula
    span: Span


class LossKind(Enum):
    """Why items are lost (Claypool 1997, section 5.6.4, "Predicting Data Loss")."""

    VOLUNTARY = "voluntary"  # what a step drops, what comes too late for the playout buffer
    SATURATION = "saturation"  # what is beyond the capacity of a resource
    TRANSMISSION = "transmission"  # what a network loses


class LossPart(Struct, frozen=True, kw_only=True):
    """A stage at which a share of the items is lost; stages are independent.

    `resource` is the one that is saturated, None for the other kinds. Where lost items are
    `restored`, which says what share of them, the value is below zero: so many more items leave
    the stage than reach it.
    """

    stage: str
    kind: LossKind
    value: Formula
    span: Span
    restored: Formula | None = None
    resource: str | None = None


class StreamMeasures(Struct, frozen=True, kw_only=True):
    """What a stream's users see.

    `latency` in s for one item, `jitter` in s^2, `buffer` (the playout delay, also the last
    part of the latency; it stands at `playout`) in s, `queues` in s, `loss` as a share, `rate` in
    items/s and `throughput` in bit/s for one flow where it arrives.
    """

    name: str
    latency: tuple[LatencyPart, ...]
    jitter: tuple[JitterPart, ...]
    buffer: Formula
    losses: tuple[LossPart, ...]
    rate: Formula
    throughput: Formula
    playout: Span | None = None
    queues: tuple[QueuePart, ...] = ()
    item: str = "bit"
    """What the rate counts: the first item of the stream, or bits."""

    @property
    def queue(self) -> Formula:
        """The time that all full queues hold: the most that they can add to the latency."""
        return total(part.value for part in self.queues)

    @property
    def saturating(self) -> tuple[str, ...]:
        """The resources on its way that lose items where they are loaded beyond 1."""
        return tuple(part.resource for part in self.losses if part.resource is not None)

    rests_on: tuple[str, ...] = ()
    """The resources on its way, and what its playout buffer asks for."""
    uncounted: tuple[str, ...] = ()
    """The resources on its way that state no queueing: no waiting is counted there."""
    unsaid: tuple[Unwaited, ...] = ()
    """Those of these of which nothing says that no waiting is meant."""
    endless: tuple[LatencyPart, ...] = ()
    """For each of these whose queue nothing bounds: infinite where it is loaded beyond 1; or 0."""
    buffer_certainty: Certainty = EXACT
    """How the playout delay is known, by the jitter that it rests on."""
    late_certainty: Certainty = EXACT
    """How the share is known that comes too late for the playout buffer."""

    @property
    def mean_latency(self) -> Formula:
        """The mean time of an item from source to user, in s."""
        return total(part.value for part in (*self.latency, *self.endless))

    def latency_of_calls(self, node: str) -> Formula | None:
        """Return the mean time of a call of a node, in s; None where none is made."""
        return latency_of_calls(self.latency, node)

    def calls_certainty(self, node: str) -> Certainty:
        """Return how the mean time of a call of a node is known."""
        missing = [name for name in self.uncounted if self.is_in_calls(name, node)]
        return together(calls_known(self.latency, node), uncounted(missing))

    def is_in_calls(self, resource: str, node: str) -> bool:
        """Return whether a resource is passed in a call of a node."""
        inside = [p for p in every(self.latency) if any(call.node == node for call in p.calls)]
        return any(f"{resource}.".startswith(f"{part.place}.") for part in inside)

    def latency_quantile(self, level: Fraction) -> Formula:
        """Return the latency that a share `level` of the items does not exceed, in s.

        Of several queues on the way each gets its part of the share that may be later: then the
        sum of the quantiles is an upper bound, however the waits depend on each other
        (Bonferroni). Jitter gets such a part, too, and is taken as normal; that of a resource
        with a queue counts there. What does not vary counts with its mean. Of several ways to
        allot, the least bound counts.
        """
        bounds = [self.quantile_by(allotment) for allotment in self.allotments(level)]
        return bounds[0] if len(bounds) == 1 else minimum(*bounds)

    def allotments(self, level: Fraction) -> list[Allotment]:
        """Return ways to allot the share that may be later; each makes a bound of a quantile."""
        return allotted(self.latency, level, varies=self.varies)

    def quantile_by(self, allotment: Allotment) -> Formula:
        """Return the bound of a quantile that is made by one way to allot."""
        stages = [self.stage_quantile(part, allotment) for part in self.latency]
        endless = [part.value for part in self.endless]
        return total((*stages, self.jitter_quantile(allotment), *endless))

    def stage_quantile(self, part: LatencyPart, allotment: Allotment) -> Formula:
        """Return what a stage adds to a quantile."""
        return quantile_of((part,), allotment, self._passage)

    def _passage(self, part: LatencyPart, allotment: Allotment) -> Formula:
        """Return what one passage of a stage adds to a quantile.

        A jitter law and a queue of one resource tell of the same time: the later of the two
        counts. The law is that of all visits of the stream together.
        """
        if part.queue is None or part.visit is None:
            return part.slowest or part.once
        waiting = part.queue.quantile(part.visit, allotment.level(part))
        name = part.queue.resource
        laws = [jitter.value for jitter in self.jitter if jitter.resource == name]
        if not laws or self.playout is not None:
            return waiting
        visits = sum(queue.resource == name for queue in self._waits)
        deviation = square_root(total(laws)) / visits
        late = apply("normal_quantile", 1 - allotment.late)
        return maximum(waiting, part.once + late * deviation)

    def own_tail(self, part: LatencyPart, allotment: Allotment) -> Formula:
        """Return by how much the service of a stage alone exceeds its mean in that quantile."""
        if part.queue is None or part.visit is None:
            return ZERO
        tail = part.queue.own_tail(part.visit, allotment.level(part))
        return tail if tail is ZERO else tail * allotment.times(part)

    def jitter_quantile(self, allotment: Allotment) -> Formula:
        """Return what jitter adds besides the queues: so many deviations of a normal law."""
        if not self.varies:
            return ZERO
        variance = total(part.value for part in self.added_jitter)
        return apply("normal_quantile", 1 - allotment.late) * square_root(variance)

    @property
    def varies(self) -> bool:
        """True where jitter makes items late that no queue does: a playout buffer evens it out."""
        return bool(self.added_jitter) and self.playout is None

    @property
    def added_jitter(self) -> tuple[JitterPart, ...]:
        """The jitter of resources that state no queue: of others it is in the quantile there."""
        queued = {queue.resource for queue in self._waits}
        return tuple(part for part in self.jitter if part.resource not in queued)

    @property
    def jitter_certainty(self) -> Certainty:
        """How the jitter is known: it is what laws say, and waits have variances of their own."""
        lawful = {part.resource for part in self.jitter}
        queued = dict.fromkeys(queue.resource for queue in self._waits)
        unknown = unlawful([name for name in queued if name not in lawful])
        return together(unknown, calls_vary(self.latency))

    @property
    def latency_certainty(self) -> Certainty:
        """How the mean latency is known."""
        waits = [part.certainty for part in self.latency]
        return together(*waits, self.buffer_certainty, uncounted(self.uncounted))

    def quantile_certainty(self, level: Fraction) -> Certainty:
        """Return how the quantile of a level is known."""
        parts = [quantile_certainty(queue) for queue in self._waits]
        if self.jitter and self.playout is None:
            laws = [part.resource for part in self.jitter]
            parts.append(jitter_certainty(laws, 1 - self.allotments(level)[0].late))
        count = len(self._waits)
        if count + self.varies > 1:
            what = f"{count} {'queue' if count == 1 else 'queues'}{' and of jitter' * self.varies}"
            parts.append(upper_bound(f"the quantiles of {what} are added up"))
        parts.append(calls_certainty(self.latency, varies=self.varies))
        parts.append(kinds_certainty(self.latency))
        return together(*parts, self.buffer_certainty, uncounted(self.uncounted))

    @property
    def _waits(self) -> list[Queue]:
        return [part.queue for part in every(self.latency) if part.queue is not None]

    @property
    def loss(self) -> Formula:
        """The share of items that is lost at any stage."""
        return self.lost_by(*LossKind)

    def lost_by(self, *kinds: LossKind) -> Formula:
        """Return the share of items that is lost for one of some reasons."""
        return 1 - product(1 - part.value for part in self.losses if part.kind in kinds)


class Price(Struct, frozen=True):
    """What the machines or networks of a place cost together: in $, or in $/s where it runs."""

    place: str
    value: Formula
    is_running: bool


class Criterion(Struct, frozen=True, kw_only=True):
    """A requirement: the measure must not pass the limit, from below or from above."""

    name: str
    measure: Formula
    limit: Formula
    at_most: bool
    strict: bool
    dimension: Dimension
    span: Span | None
    axis: Formula | None
    """The measure scaled so that its limit is 1 and its ideal 0; None where it is no axis."""
    rests_on: tuple[str, ...] = ()
    """The streams, resources, nodes and links that the measure names."""
    known: Certainty = EXACT
    """How the measure is known; the limit is always exact."""
    known_in_series: Certainty = EXACT
    """How it is known where a stream passes several resources that are loaded beyond 1."""
    unsaid: tuple[Unwaited, ...] = ()
    """The resources on which it rests and of which nothing says how they are waited for."""


class NamedMeasure(Struct, frozen=True, kw_only=True):
    """A measure of the spec's own."""

    name: str
    value: Formula
    dimension: Dimension
    doc: str | None
    rests_on: tuple[str, ...]
    """The streams, resources, nodes and links that it names."""
    known: Certainty = EXACT
    known_in_series: Certainty = EXACT
    """How it is known where a stream passes several resources that are loaded beyond 1."""


class GroupSize(Struct, frozen=True):
    """How many users there are in each group of a name, and how many groups."""

    members: Formula
    count: Formula
    doc: str | None


class LoadGraph(Struct, frozen=True, kw_only=True, dict=True):
    """The whole model in one configuration."""

    population: Formula
    low: int
    high: int
    assumptions: dict[str, Assumption]
    resources: dict[str, ResourceLoad]
    streams: dict[str, StreamMeasures]
    measures: dict[str, NamedMeasure]
    criteria: tuple[Criterion, ...]
    metric: ir.Metric
    quality: Formula | None
    """The metric's value; None where no requirement is an axis."""
    elastic: tuple[SettledParameter, ...]
    prices: tuple[Price, ...]
    unpriced: tuple[str, ...]
    """Nodes and links whose machine or network has no price."""
    mode: str | None
    calibrations: tuple[Calibration, ...]
    decided: frozenset[str]
    """Parameters that a condition asks for: another value may give other formulas."""
    asked: frozenset[str]
    """Options that a condition asks for: any other option makes no difference here."""
    case: ir.Case
    varied: dict[str, CaseTable]
    """Parameters that have several values, of which those of `case` are in force."""
    groups: dict[str, GroupSize]
    targets: dict[str, Formula]
    """How full resources may be by plan, by the names that the spec gives them."""
    quality_known: Certainty = EXACT
    quality_in_series: Certainty = EXACT
    """How it is known where a stream passes several resources that are loaded beyond 1."""
    quality_unsaid: tuple[Unwaited, ...] = ()
    """Of which resources nothing says how they are waited for, where a formula of its own asks."""
    weighed: Mapping[str, bool] = field(default_factory=dict)
    """Numbers by whose values it is told how others are known; whether by their signs alone."""
    looked_at: frozenset[str] = frozenset()
    """Numbers whose values were asked for: with other values there may be other formulas."""
    absent: frozenset[str] = frozenset()
    """Streams that are not there: their conditions do not hold."""
    cited: tuple[Cited, ...] = ()
    """What is cited for formulas and places."""
    switches: Mapping[ir.Condition, Formula] = field(default_factory=dict)
    """Of what many configurations share: numbers that are 1 where a condition on options holds."""

    def cost(self, *, is_running: bool) -> Formula | None:
        """Return what all priced places cost, bought ($) or running ($/s); None for no price."""
        found = [price.value for price in self.prices if price.is_running is is_running]
        return total(found) if found else None

    @property
    def values(self) -> dict[Formula, Formula]:
        """The value of every assumption's symbol."""
        return {a.symbol: a.value for a in self.assumptions.values()}

    @property
    def ports(self) -> dict[str, str]:
        """The ports of switches, with the link that each is a port of."""
        return {n: r.port_of for n, r in self.resources.items() if r.port_of is not None}

    @cached_property
    def valued(self) -> Substitution:
        """Puts in the values of all assumptions: what is left is the population."""
        return Substitution(self.values)

    def with_values(self, values: Mapping[str, Formula]) -> LoadGraph:
        """Return the same with other values of some numbers, of those that it rests on."""
        known = self.assumptions
        new = {n: replace(known[n], value=value) for n, value in values.items() if n in known}
        return replace(self, assumptions=known | new) if new else self

    def at(self, population: float) -> Point:
        """Return the values of all formulas at a population, whole or not, as plain numbers."""
        if population not in self._at:
            users = {self.population: number(Fraction(population))}
            self._at[population] = Point(self.values | users)
        return self._at[population]

    def number(self, formula: Formula) -> float:
        """Return the value of what is the same at every population, such as a limit."""
        return self.at(self.low).number(formula)

    @cached_property
    def _at(self) -> dict[float, Point]:
        return {}

    def loads_of(self, name: str) -> tuple[ResourceLoad, ...]:
        """Return the resource of a name, or all of a link that has several (`lan.…`)."""
        if name in self.resources:
            return (self.resources[name],)
        return tuple(r for n, r in self.resources.items() if n.startswith(name + "."))
