"""The symbolic load graph: what the compiler hands to the solver.

What steps and links demand of resources is a load for each of these, by what demands it; what
streams meet on their way are stages of latency and loss. Every load, latency and loss is a formula
in the population and the assumptions, all in base units (s, bit, single items). The population is
a positive integer, an assumption is real.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from functools import cached_property
from typing import Generic, TypeVar

from msgspec import Struct, field
from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.configure.case_tables import CaseTable
from qps.compiler.diagnostics.source import Span
from qps.compiler.lower.closed_networks.closed_stream_solution import ClosedStream
from qps.compiler.lower.closed_networks.elastic_parameters import ElasticFormula
from qps.compiler.lower.label_doubts import Checks
from qps.compiler.lower.queues.pool_holding import PoolCapacity
from qps.compiler.lower.resource_loads import ResourceLoad
from qps.compiler.lower.response_time.class_response import StreamMeasures
from qps.compiler.lower.unmodeled_waits import UnmodeledQueue
from qps.compiler.measurement.fits import CostFit
from qps.compiler.measurement.scalability.station_fit import StationFit
from qps.compiler.network.network import Network
from qps.compiler.quantities.certainty import EXACT, Certainty
from qps.compiler.quantities.dimension import DIMENSIONLESS, Dimension
from qps.engine.expressions.formulas import Formula, number, total
from qps.engine.expressions.point_values import EvaluationPoint, in_floats
from qps.engine.expressions.substitution import Substitution

T = TypeVar("T")


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

    @property
    def counts_things(self) -> bool:
        """Whether it is written as so many things, which are whole: `3`, and not `3.0` or `3 %`.

        What is 1 is a factor as often, which changes nothing as it stands: it counts nothing.
        """
        return self.dimension == DIMENSIONLESS and _WHOLE.fullmatch(self.text.strip()) is not None


_WHOLE = re.compile(r"(?!1$)\d[\d_]*")
_MOST_POINTS = 32
"""Populations at which a graph remembers what its formulas come to."""


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


class Calibration(Struct, frozen=True, kw_only=True):
    """Between which loads of a resource a component's cost on it was measured.

    Where it is fitted to a table, `rates` is the rate at one machine, in base units, by item,
    `factors` what multiplies them, by column, and `is_on_measured` True where that is the machine
    that was measured. Where it is fitted
    to a closed load test, `station` is what fits that.
    """

    resource: str
    component: str
    low: float
    high: float
    span: Span
    fit: CostFit | None = None
    rates: dict[str, Formula] = field(default_factory=dict)
    factors: dict[str, Formula] = field(default_factory=dict)
    is_on_measured: bool = False
    station: StationFit | None = None


class Price(Struct, frozen=True):
    """What the machines or networks of a place cost together: in $, or in $/s where it runs."""

    place: str
    value: Formula
    is_running: bool


class Criterion(Struct, frozen=True, kw_only=True):
    """A requirement: the measure must not pass the limit, from below or from above.

    It is judged by `measure`, of served items: that a resource is overloaded is judged by its
    utilization, which states the reason. What is shown is the `value`: beyond saturation, a wait
    is infinite.
    """

    name: str
    measure: Formula
    value: Formula
    limit: Formula
    at_most: bool
    strict: bool
    dimension: Dimension
    span: Span | None
    axis: Formula | None
    """The measure scaled so that its limit is 1 and its ideal 0; None where it is no axis."""
    axis_value: Formula | None = None
    """The same of the value that is shown."""
    rests_on: tuple[str, ...] = ()
    """The streams, resources, nodes and links that the measure names."""
    known: Certainty = EXACT
    """How the measure is known; the limit is always exact."""
    known_in_series: Certainty = EXACT
    """How it is known where a stream passes several resources that are loaded beyond 1."""
    waits_of: tuple[str, ...] = ()
    """The streams on whose waits it rests; none where it rests on what is lost, too."""
    unmodeled_queues: tuple[UnmodeledQueue, ...] = ()
    """The resources on which it rests and of which nothing says how they are waited for."""
    confidence: float | None = None
    """The certainty with which a requirement holds up to so many users, where this says that."""
    certainty: float | None = None
    """That with which it must hold, where it is judged by one value of each number."""


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
    waits_of: tuple[str, ...] = ()
    """The streams on whose waits it rests; none where it rests on what is lost, too."""
    percentile_of: str = ""
    """The latency or wait in front of a list, where it is one of the percentiles in this."""


class GroupSize(Struct, frozen=True):
    """How many users there are in each group of a name, and how many groups."""

    members: Formula
    count: Formula
    doc: str | None


class Criteria(Struct, frozen=True, kw_only=True):
    """What a graph is judged by: its criteria, and the metric of quality."""

    criteria: tuple[Criterion, ...]
    quality: Formula | None
    """The metric of the measures that are judged; None where no requirement is an axis."""
    quality_value: Formula | None
    """The same of the values that are shown: infinite where one of them is."""
    quality_known: Certainty
    quality_in_series: Certainty
    """How it is known where a stream passes several resources that are loaded beyond 1."""
    quality_unmodeled_queues: tuple[UnmodeledQueue, ...]
    """The resources of which nothing says how they are waited for, where a formula needs it."""


class Analysis(Struct, frozen=True, kw_only=True):
    """What follows from a network: loads, what the users of each stream see, and all measures."""

    resources: Mapping[str, ResourceLoad]
    streams: Mapping[str, StreamMeasures]
    elastic: tuple[ElasticFormula, ...]
    closed: Mapping[str, ClosedStream]
    """The streams of users who wait for their answers."""
    rooms: Mapping[str, PoolCapacity]
    """What each pool has to give."""
    calibrations: tuple[Calibration, ...]
    measures: Mapping[str, NamedMeasure]
    criteria: Criteria
    checks: Checks
    """The premises of theorems that were checked, for numbers that are read off later."""


class Targets(Struct, frozen=True, kw_only=True):
    """The loads at which resources count as saturated, `of` each of them.

    `limits` are the highest loads that elastic parameters may fill them to, `stated` the targets
    that hold for any resource, by the names of the spec.
    """

    of: Mapping[str, Formula]
    limits: Mapping[str, Formula]
    stated: Mapping[str, Formula]


class SpecStatements(Struct, frozen=True, kw_only=True):
    """What a spec states of a configuration besides its network."""

    targets: Targets
    prices: tuple[Price, ...]
    unpriced: tuple[str, ...]
    """Nodes and links whose machine or network has no price."""
    metric: ir.Metric
    groups: Mapping[str, GroupSize]
    mode: str | None
    case: ir.Case
    varied: Mapping[str, CaseTable]
    """Parameters that have several values, of which those of `case` are in force."""
    absent: frozenset[str]
    """Streams that are not there: their conditions do not hold."""


class GraphNumbers(Struct, frozen=True, kw_only=True):
    """The numbers that formulas rest on, and who says so."""

    assumptions: Mapping[str, Assumption]
    cited: tuple[Cited, ...]
    """What is cited for formulas and places."""
    derived: Mapping[str, NamedMeasure] = field(default_factory=dict)
    """Parameters that are made of others, where all parameters are known (`all_parameters`)."""


class Basis(Struct, frozen=True, kw_only=True):
    """What was looked at while formulas were made: with other values there may be other ones."""

    decided: frozenset[str]
    """Parameters that a condition requests."""
    options: frozenset[str]
    """Options that a condition requests: any other option makes no difference here."""
    weighed: Mapping[str, bool]
    """Numbers by whose values others are known; whether by their signs alone."""
    structural: frozenset[str]
    """Of these, those whose values decided on a formula."""
    evaluated: frozenset[str]
    """Numbers whose values were requested."""
    supposed: Mapping[Formula, bool]
    """Of what many configurations share: how often calls are made; whether at most once, in all."""
    switches: Mapping[ir.Condition, Formula]
    """Of what many configurations share: numbers that are 1 where a condition on options holds."""


class _Of(Generic[T]):
    """A part of one of the values of a graph, by its own name."""

    def __init__(self, part: Callable[[LoadGraph], T]) -> None:
        self._part = part

    def __get__(self, graph: LoadGraph, _: type[LoadGraph]) -> T:
        return self._part(graph)


class LoadGraph(Struct, frozen=True, kw_only=True, dict=True):
    """The complete model of one configuration."""

    network: Network
    """What the spec means: stations, pools, and what happens to the items of each stream."""
    analysis: Analysis
    numbers: GraphNumbers
    stated: SpecStatements
    basis: Basis

    population = _Of(lambda graph: graph.network.population)
    low = _Of(lambda graph: graph.network.low)
    high = _Of(lambda graph: graph.network.high)
    resources = _Of(lambda graph: graph.analysis.resources)
    streams = _Of(lambda graph: graph.analysis.streams)
    measures = _Of(lambda graph: graph.analysis.measures)
    elastic = _Of(lambda graph: graph.analysis.elastic)
    closed = _Of(lambda graph: graph.analysis.closed)
    criteria = _Of(lambda graph: graph.analysis.criteria.criteria)
    quality = _Of(lambda graph: graph.analysis.criteria.quality)
    quality_value = _Of(lambda graph: graph.analysis.criteria.quality_value)
    assumptions = _Of(lambda graph: graph.numbers.assumptions)
    metric = _Of(lambda graph: graph.stated.metric)
    mode = _Of(lambda graph: graph.stated.mode)

    def cost(self, *, is_running: bool) -> Formula | None:
        """Return what all priced places cost, bought ($) or running ($/s); None for no price."""
        found = [price.value for price in self.stated.prices if price.is_running is is_running]
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
        return self.with_assumptions(new) if new else self

    def with_assumptions(self, others: Mapping[str, Assumption]) -> LoadGraph:
        """Return the same with some assumptions in the place of those of their names."""
        assumptions = {**self.assumptions, **others}
        return replace(self, numbers=replace(self.numbers, assumptions=assumptions))

    def with_criteria(self, criteria: tuple[Criterion, ...], quality: Formula | None) -> LoadGraph:
        """Return the same, judged by other criteria."""
        judged = replace(self.analysis.criteria, criteria=criteria, quality=quality)
        return replace(self, analysis=replace(self.analysis, criteria=judged))

    def up_to(self, high: int) -> LoadGraph:
        """Return the same for populations up to another one."""
        return replace(self, network=replace(self.network, high=high))

    def at(self, population: float) -> EvaluationPoint:
        """Return the values of all formulas at a population, whole or not, as plain numbers."""
        point = self._at.pop(population, None)
        if point is None:
            point = EvaluationPoint(self.values | {self.population: number(Fraction(population))})
        self._at[population] = point
        if len(self._at) > _MOST_POINTS:
            del self._at[next(iter(self._at))]
        return point

    def at_ends(self, formula: Formula) -> list[float]:
        """Return the values of a formula where populations end."""
        return [self.at(end).number(formula) for end in sorted({self.low, self.high})]

    def number(self, formula: Formula) -> float:
        """Return the value of what is the same at every population, such as a limit."""
        return self.at(self.low).number(formula)

    @cached_property
    def _at(self) -> dict[float, EvaluationPoint]:
        """Points that were requested, the latest last."""
        return {}

    def loads_of(self, name: str) -> tuple[ResourceLoad, ...]:
        """Return the resource of a name, or all of a link that has several (`lan.…`)."""
        if name in self.resources:
            return (self.resources[name],)
        return tuple(r for n, r in self.resources.items() if n.startswith(name + "."))
