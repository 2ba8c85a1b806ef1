"""The checked model: no open names, no units, exact numbers in base units.

Every expression has been given a dimension, every name is bound, every import followed.
Options, machines and networks are still open: `compiler.configuration` settles them, and
`compiler.load_graph` lowers what results. Numbers are in s, bit, $ and single items.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

from qps.compiler.dimension import DATA_RATE, Dimension
from qps.compiler.source import Span

# -- expressions -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Constant:
    """An exact number in base units."""

    value: Fraction


@dataclass(frozen=True, slots=True)
class ParameterValue:
    """The value of a parameter; an elastic one settles with the loads."""

    name: str
    is_elastic: bool = False


@dataclass(frozen=True, slots=True)
class Population:
    """The number of users."""


@dataclass(frozen=True, slots=True)
class NodeCount:
    """How many there are of a node, or of a replicated link."""

    name: str


@dataclass(frozen=True, slots=True)
class Members:
    """How many users there are in each group of a name."""

    group: str


@dataclass(frozen=True, slots=True)
class Sum:
    """The sum of its terms."""

    terms: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Product:
    """The product of its factors."""

    factors: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Power:
    """`base ^ exponent`."""

    base: Expr
    exponent: Expr


class Function(Enum):
    """The functions that every spec has."""

    MAX = "max"
    MIN = "min"
    CEIL = "ceil"
    FLOOR = "floor"
    SQRT = "sqrt"
    EXP = "exp"
    LOG = "ln"
    LOG2 = "log2"
    LOG10 = "log10"
    ABS = "abs"
    COS = "cos"
    ACOS = "acos"
    LAMBERT_W = "lambert_w"
    LOWER_LAMBERT_W = "lower_lambert_w"
    CLAMP = "clamp"
    WAITING = "waiting"
    HARMONIC = "harmonic"
    ERLANG_B = "erlang_b"
    ERLANG_C = "erlang_c"
    MD1_TAIL = "md1_tail"
    MD1_QUANTILE = "md1_quantile"
    PERIODIC_WAIT = "periodic_wait"
    PERIODIC_TAIL = "periodic_tail"
    PERIODIC_QUANTILE = "periodic_quantile"
    NORMAL_TAIL = "normal_tail"
    NORMAL_QUANTILE = "normal_quantile"

    @property
    def arguments(self) -> tuple[str, ...]:
        """What it takes; empty for any number of arguments of one dimension."""
        return _ARGUMENTS.get(self, ("x",))

    @property
    def keeps_dimension(self) -> bool:
        """True where the value has the dimension of all arguments, which is one."""
        return self in (Function.MAX, Function.MIN, Function.ABS, Function.CLAMP)


_ARGUMENTS: dict[Function, tuple[str, ...]] = {
    Function.MAX: (),
    Function.MIN: (),
    Function.CLAMP: ("x", "least", "most"),
    Function.WAITING: ("work", "load"),
    Function.HARMONIC: ("count",),
    Function.ERLANG_B: ("servers", "traffic"),
    Function.ERLANG_C: ("servers", "traffic"),
    Function.MD1_TAIL: ("load", "time"),
    Function.MD1_QUANTILE: ("load", "share"),
    Function.PERIODIC_WAIT: ("flows", "load"),
    Function.PERIODIC_TAIL: ("flows", "load", "time"),
    Function.PERIODIC_QUANTILE: ("flows", "load", "share"),
}


@dataclass(frozen=True, slots=True)
class Apply:
    """A function of the language applied to arguments."""

    function: Function
    arguments: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """One of two values, by a condition on options and parameters."""

    condition: Condition
    then: Expr
    otherwise: Expr


@dataclass(frozen=True, slots=True)
class Recorded:
    """A number that was measured: `name` is what a trace calls it, `text` how it reads.

    `span` is where the trace is declared, `source` the file that it was computed from.
    """

    name: str
    value: Fraction
    dimension: Dimension
    text: str
    span: Span
    source: str


@dataclass(frozen=True, slots=True)
class Lookup:
    """A number that a recording gives for an argument, which options and parameters settle."""

    table: RecordedTable
    argument: Expr
    span: Span


@dataclass(frozen=True, eq=False)
class RecordedTable:
    """What a recording gives for an argument; `at` gives None where it has no value.

    `fault` says what such an argument is: `1 %` of gaps where more packets were lost.
    """

    name: str
    at: Callable[[Fraction], Recorded | None]
    fault: str


class MeasureKind(Enum):
    """What can be asked of a solved model."""

    LATENCY = "latency"
    QUANTILE = "quantile"
    JITTER = "jitter"
    BUFFER = "buffer"
    QUEUE = "queue"
    LOSS = "loss"
    VOLUNTARY_LOSS = "voluntary_loss"
    SATURATION_LOSS = "saturation_loss"
    TRANSMISSION_LOSS = "transmission_loss"
    RATE = "rate"
    THROUGHPUT = "throughput"
    LOAD = "load"
    SHARE = "share"
    SATURATION = "saturation"
    LARGEST = "largest_acceptable"
    QUALITY = "quality"
    COST = "cost"
    RUNNING_COST = "running_cost"


OWN = ""
"""The subject of a measure in a jitter law: the very resource that has the law."""


@dataclass(frozen=True, slots=True)
class Measured:
    """A measure of a stream or a resource.

    `component` is set for a share, `level` for a quantile: the share that is to stay below it.
    """

    kind: MeasureKind
    subject: str
    component: str | None = None
    level: Fraction | None = None


@dataclass(frozen=True, slots=True)
class Changed:
    """A value in a changed model."""

    value: Expr
    changes: tuple[Change, ...]


class Case(Enum):
    """Which of its values a parameter takes that has several."""

    AVERAGE = "average"
    LEAST = "least"
    LARGEST = "largest"


@dataclass(frozen=True, slots=True)
class CaseValue:
    """What a parameter is in a case, and where that is stated."""

    case: Case
    value: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class ByCase:
    """A value by the case in force; a case that is not stated has none."""

    values: tuple[CaseValue, ...]

    def stated(self, case: Case) -> CaseValue | None:
        """Return the value of a case."""
        return next((value for value in self.values if value.case is case), None)


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind: its share of all, the weight as it is written, and the parameter of its value."""

    name: str
    share: Fraction
    weight: str
    parameter: str


@dataclass(frozen=True, slots=True)
class Mixture:
    """A value over several kinds: on average their mean, else the least or largest of all.

    `total` is what the weights add up to where they are counts, 1 where they are shares.
    """

    kinds: tuple[Kind, ...]
    total: Fraction


@dataclass(frozen=True, slots=True)
class InCase:
    """`largest(x)`: a value with every parameter in one case, whichever is in force."""

    case: Case
    value: Expr
    span: Span


Expr = (
    Constant
    | ParameterValue
    | Population
    | NodeCount
    | Members
    | Sum
    | Product
    | Power
    | Apply
    | Choice
    | Recorded
    | Lookup
    | Measured
    | Changed
    | ByCase
    | Mixture
    | InCase
)

# -- conditions --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class OptionIs:
    """True where an option has a choice."""

    option: str
    choice: str


@dataclass(frozen=True, slots=True)
class Compare:
    """`left operator right`, the operator one of `< <= > >= == !=`; both of one dimension."""

    operator: str
    left: Expr
    right: Expr
    dimension: Dimension


@dataclass(frozen=True, slots=True)
class AllOf:
    """True where all conditions are."""

    conditions: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """True where one of the conditions is."""

    conditions: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Negated:
    """True where the condition is not."""

    condition: Condition


@dataclass(frozen=True, slots=True)
class RowIs:
    """True for a row of a matrix that has a word in one of its columns."""

    column: str
    value: str


Condition = OptionIs | Compare | AllOf | AnyOf | Negated | RowIs

# -- what may vary -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Quantity:
    """An expression with its dimension and where it stands.

    `bound` tells the arguments that were put in for the names of formals: `ratio = 70 %`.
    """

    expr: Expr
    dimension: Dimension
    span: Span
    bound: str = ""

    @property
    def text(self) -> str:
        """How the spec writes it."""
        return f"{self.span.text} ({self.bound})" if self.bound else self.span.text


@dataclass(frozen=True, slots=True)
class UserRange:
    """The population: its name, its least and its greatest value."""

    name: str
    low: int
    high: int
    span: Span | None


@dataclass(frozen=True, slots=True)
class Group:
    """Into what the users are divided: groups of `size`, one of all users where they are fewer."""

    name: str
    size: Quantity
    span: Span
    doc: str | None


@dataclass(frozen=True, slots=True)
class Option:
    """A choice among names, the first in force unless changed."""

    name: str
    choices: tuple[str, ...]
    span: Span
    doc: str | None


@dataclass(frozen=True, slots=True)
class Parameter:
    """A number that may be changed; `low` and `high` bound it where a range was given.

    An elastic one takes what capacity is left between them; its `value` is the most. Of several,
    the one of the smallest `priority` takes first. `text` is how its value is told where that is
    not what stands at `value_span`. A share, that of one kind, is fixed: all of them add up to 1.
    """

    name: str
    value: Expr
    dimension: Dimension
    low: Expr | None
    high: Expr | None
    span: Span
    value_span: Span
    source: str | None
    doc: str | None
    is_elastic: bool = False
    least_text: str = ""
    text: str = ""
    priority: Quantity | None = None
    is_share: bool = False


# -- hardware ----------------------------------------------------------------------------


class ResourceKind(Enum):
    """How a resource is used up."""

    PROCESSOR = "processor"  # work is time; the capacity is cores, the speed a rating
    RATE = "rate"  # work is bits or items; the capacity is so many a second
    STORE = "store"  # what is held at once


class Discipline(Enum):
    """How what arrives at a resource waits (docs/language.md, "Waiting in queues")."""

    NONE = "none"  # waiting is not modelled, as in the thesis
    MM1 = "mm1"  # random arrivals, exponential service times
    MD1 = "md1"  # random arrivals, service times that are fixed for each stream
    MG1 = "mg1"  # random arrivals, service times of some coefficient of variation
    MMC = "mmc"  # the same as mm1, for several cores with one queue
    PERIODIC = "periodic"  # equal streams with one visit a period, at random phases


@dataclass(frozen=True, slots=True)
class Queueing:
    """A discipline; `variation` is the coefficient of variation of the service time of mg1."""

    discipline: Discipline
    variation: Quantity | None
    span: Span


@dataclass(frozen=True, slots=True)
class Resource:
    """A resource of a machine.

    `capacity` is in cores (dimensionless) for a processor, in bit/s or items/s for a rate,
    in bits or items for a store; `work` is the dimension of what uses it up in a second.
    `jitter` is the variance (s^2) that it adds to a stream, a law of its load.
    """

    name: str
    kind: ResourceKind
    capacity: Quantity
    speed: Quantity | None
    idle: Quantity | None
    work: Dimension
    span: Span
    jitter: Quantity | None = None
    queueing: Queueing | None = None

    @property
    def carries_bits(self) -> bool:
        """True for a network card, a disk and the like, whose capacity is in bit/s."""
        return self.kind is ResourceKind.RATE and self.work == DATA_RATE


@dataclass(frozen=True, slots=True)
class Machine:
    """A kind of machine; `ratings` holds every rating by its base dimension."""

    name: str
    resources: tuple[Resource, ...]
    ratings: tuple[tuple[str, Quantity], ...]
    price: Quantity | None
    span: Span
    source: str | None
    doc: str | None

    def resource(self, name: str) -> Resource | None:
        """Return the resource of a name."""
        return next((r for r in self.resources if r.name == name), None)

    def rating(self, base: str) -> Quantity | None:
        """Return the rating that a base dimension measures."""
        return dict(self.ratings).get(base)


class Medium(Enum):
    """How a network carries: one medium for all, a port each, or a pair of directions."""

    SHARED = "shared"
    SWITCHED = "switched"
    DUPLEX = "duplex"


@dataclass(frozen=True, slots=True)
class Network:
    """A kind of network: rate in bit/s, header in bit/item, cap in items/s, loss a share.

    `jitter` is the variance (s^2) that it adds to a stream, a law of its load.
    """

    name: str
    medium: Medium
    rate: Quantity
    header: Quantity | None
    cap: Quantity | None
    loss: Quantity | None
    propagation: Quantity | None
    price: Quantity | None
    span: Span
    source: str | None
    doc: str | None
    jitter: Quantity | None = None
    queueing: Queueing | None = None


@dataclass(frozen=True, slots=True)
class Node:
    """A group of equal machines."""

    name: str
    machine: str
    count: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class Link:
    """A network in its place: `ends` are the nodes and links that it joins."""

    name: str
    network: str
    count: Expr
    ends: tuple[str, ...]
    span: Span


# -- components and streams --------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CostTerm:
    """An addend of a cost; `literal` where it names nothing that varies."""

    amount: Quantity
    literal: bool


@dataclass(frozen=True, slots=True)
class Cost:
    """What a component costs on one resource.

    `measured_on` names the machine whose rating the cost is scaled from; `scaled_by` the
    base of the rating to use where it is not the resource's own; `measured_at` between which
    loads of the resource it was measured.
    """

    resource: str
    terms: tuple[CostTerm, ...]
    measured_on: str | None
    scaled_by: str | None
    single_thread: bool
    span: Span
    measured_at: tuple[Fraction, Fraction] | None = None


class EffectKind(Enum):
    """What a component does to the stream."""

    KEEP = "keep"
    ACTIVE = "active"
    EMIT = "emit"
    DELAY = "delay"
    DROP = "drop"
    QUEUE = "queue"
    RECOVER = "recover"
    MERGE = "merge"


@dataclass(frozen=True, slots=True)
class Effect:
    """An effect; `value` is None for a merge."""

    kind: EffectKind
    value: Quantity | None
    span: Span


@dataclass(frozen=True, slots=True)
class Component:
    """One step of work, its arguments put in."""

    name: str
    costs: tuple[Cost, ...]
    effects: tuple[Effect, ...]
    span: Span
    source: str | None
    doc: str | None


class SpreadKind(Enum):
    """To whom copies go."""

    OTHERS = "others"
    ALL = "all"
    ONE = "one"


@dataclass(frozen=True, slots=True)
class Spread:
    """`to others by cast`: `cast` is a plain truth (multicast) or the option that decides.

    With a `group`, copies go to its members, wherever the stream goes on, and each of them gets
    at most `most` of the streams of its group.
    """

    kind: SpreadKind
    target: str | None
    cast: bool | str
    span: Span
    group: str | None = None
    most: Quantity | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """A component in its place; with a `group`, it merges the flows of each group by itself."""

    component: Component
    repeat: Expr | None
    spread: Spread | None
    condition: Condition | None
    span: Span
    group: str | None = None


@dataclass(frozen=True, slots=True)
class Visit:
    """The steps at a node."""

    node: str
    steps: tuple[Step, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Crossing:
    """A link on the way, and what comes before and after it: nodes or links."""

    link: str
    before: str
    after: str
    span: Span


@dataclass(frozen=True, slots=True)
class Emission:
    """What leaves a source.

    `values` are the rate and the sizes as they were given. `primary` is the item that keeps
    its count when the size changes; None for a stream of bytes alone.
    """

    values: tuple[Quantity, ...]
    primary: str | None
    items: tuple[str, ...]
    carries_information: bool
    framed_bytes: bool
    span: Span


@dataclass(frozen=True, slots=True)
class Playout:
    """The buffer where a stream ends: its delay, and the share that comes too late for it."""

    delay: Quantity
    dropping: Quantity | None
    span: Span


@dataclass(frozen=True, slots=True)
class InEachGroup:
    """`for 2 in each room`: so many flows in each group, but no more than it has members."""

    group: str
    flows: Quantity


@dataclass(frozen=True, slots=True)
class Stream:
    """Items on their way: one flow for each machine of a node, or some in each group."""

    name: str
    flows_from: str | InEachGroup
    emission: Emission
    legs: tuple[Visit | Crossing, ...]
    span: Span
    doc: str | None
    playout: Playout | None = None


# -- needs and claims --------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure of the spec's own."""

    name: str
    value: Quantity
    doc: str | None


@dataclass(frozen=True, slots=True)
class Requirement:
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


@dataclass(frozen=True, slots=True)
class Target:
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


@dataclass(frozen=True, slots=True)
class Quality:
    """The metric; `formula` is set where the spec gives its own."""

    metric: Metric
    formula: Quantity | None
    span: Span | None


@dataclass(frozen=True, slots=True)
class SetParameter:
    """A parameter's new value."""

    name: str
    value: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class SetOption:
    """An option's new choice."""

    name: str
    choice: str
    span: Span


@dataclass(frozen=True, slots=True)
class SetPlace:
    """Another machine or network for a node or link; the count stays where it is None."""

    name: str
    kind: str
    count: Expr | None
    span: Span


@dataclass(frozen=True, slots=True)
class SetPopulation:
    """Another range of the population, or one value (`low` = `high`)."""

    low: int
    high: int
    span: Span


@dataclass(frozen=True, slots=True)
class SetMode:
    """One mode instead of the worst of all, with what it changes."""

    name: str
    changes: tuple[Change, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class SetScenario:
    """What a scenario changes."""

    name: str
    changes: tuple[Change, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class SetCase:
    """The case in force for every parameter that has several values."""

    case: Case
    span: Span


Change = SetParameter | SetOption | SetPlace | SetPopulation | SetMode | SetScenario | SetCase


@dataclass(frozen=True, slots=True)
class Mode:
    """A way of working: what it needs besides the requirements of all, and what differs in it."""

    name: str
    requirements: tuple[Requirement, ...]
    changes: tuple[Change, ...]
    span: Span
    doc: str | None


@dataclass(frozen=True, slots=True)
class Scenario:
    """Named changes."""

    name: str
    changes: tuple[Change, ...]
    span: Span
    doc: str | None


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How far a prediction may be off: a share of the claimed value, or an amount."""

    amount: Fraction
    relative: bool


@dataclass(frozen=True, slots=True)
class Claim:
    """A claimed value, or a claimed condition (then `claimed` is None)."""

    value: Quantity | Condition
    claimed: Quantity | None
    tolerance: Tolerance | None
    changes: tuple[Change, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Expectation:
    """Claims with their source."""

    name: str
    title: str | None
    claims: tuple[Claim, ...]
    source: str | None
    note: str | None
    fitted: str | None
    span: Span
    matrix_claims: tuple[MatrixClaim, ...] = ()


@dataclass(frozen=True, slots=True)
class MeasuredColumn:
    """A column of measured values; without a tolerance they are shown, not judged."""

    heading: str
    value: Quantity
    tolerance: Tolerance | None
    span: Span


@dataclass(frozen=True, slots=True)
class ObservedRow:
    """A measured run: the line it stands on, what it sets, and what was measured.

    `values` has an entry for each measured column, None where the cell is empty.
    """

    line: int
    changes: tuple[Change, ...]
    values: tuple[Fraction | None, ...]


@dataclass(frozen=True, slots=True)
class Observation:
    """A table of measured runs."""

    name: str
    file: str
    measured: tuple[MeasuredColumn, ...]
    rows: tuple[ObservedRow, ...]
    source: str | None
    note: str | None
    fitted: str | None
    span: Span


@dataclass(frozen=True, slots=True)
class Curve:
    """A value along the horizontal axis of a figure, in the model as changed."""

    label: str
    value: Quantity
    changes: tuple[Change, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class LoadCurves:
    """The load of every resource along the axis of a figure, in the model as changed."""

    label: str
    changes: tuple[Change, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Figure:
    """Curves over the population (`parameter` None) or over a parameter, from low to high."""

    name: str
    title: str | None
    parameter: str | None
    low: Fraction
    high: Fraction
    dimension: Dimension
    curves: tuple[Curve, ...]
    loads: tuple[LoadCurves, ...]
    logarithmic: frozenset[str]
    source: str | None
    note: str | None
    span: Span
    axis_span: Span


class AxisKind(Enum):
    """What an axis of a matrix varies."""

    PARAMETER = "parameter"
    OPTION = "option"
    PLACE = "place"  # the machine of a node, the network of a link
    SCENARIO = "scenario"
    MODE = "mode"


@dataclass(frozen=True, slots=True)
class Steps:
    """Values along a range, exact: from `low` in steps."""

    low: Fraction
    step: Fraction
    count: int


@dataclass(frozen=True, slots=True)
class Axis:
    """What a matrix varies: changes for what is chosen, numbers for a parameter.

    `labels` tells the choices in words, empty for numbers.
    """

    name: str
    kind: AxisKind
    choices: tuple[Change, ...]
    labels: tuple[str, ...]
    numbers: tuple[Fraction, ...] | Steps
    dimension: Dimension
    span: Span

    @property
    def count(self) -> int:
        """How many values it has."""
        if self.kind is not AxisKind.PARAMETER:
            return len(self.choices)
        return self.numbers.count if isinstance(self.numbers, Steps) else len(self.numbers)

    def number(self, index: int) -> Fraction:
        """Return one of the values of a parameter, exactly."""
        if isinstance(self.numbers, Steps):
            return self.numbers.low + index * self.numbers.step
        return self.numbers[index]

    def change(self, index: int) -> Change:
        """Return the change of the model that one of the values makes."""
        if self.kind is not AxisKind.PARAMETER:
            return self.choices[index]
        return SetParameter(self.name, Constant(self.number(index)), self.span)


@dataclass(frozen=True, slots=True)
class MatrixColumn:
    """A column of a spec's own: a value, at the population that is asked for."""

    name: str
    value: Quantity


@dataclass(frozen=True, slots=True)
class Order:
    """A column to sort by."""

    column: str
    is_descending: bool


@dataclass(frozen=True, slots=True)
class Matrix:
    """Many configurations of the model.

    `blocks` are products of axes, all with the same axes in the same order: the first is that of
    the axes as they are declared, each `include` adds one. `excluded` holds of configurations
    of the first that are left out, `wanted` of the results that are kept. `at` is the
    population at which loads, quality and cost are told, None for the largest acceptable one.
    """

    name: str
    title: str | None
    changes: tuple[Change, ...]
    blocks: tuple[tuple[Axis, ...], ...]
    excluded: tuple[Condition, ...]
    wanted: Condition | None
    columns: tuple[MatrixColumn, ...]
    selected: tuple[str, ...]
    order: tuple[Order, ...]
    at: int | None
    source: str | None
    note: str | None
    span: Span

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The axes as they are declared."""
        return self.blocks[0]

    @property
    def size(self) -> int:
        """How many configurations there are before any is left out."""
        return sum(math.prod(axis.count for axis in block) for block in self.blocks)


class Quantifier(Enum):
    """Of how many configurations something is claimed."""

    EVERY = "every"
    SOME = "some"
    NO = "no"
    AT_LEAST = "least"
    AT_MOST = "most"


@dataclass(frozen=True, slots=True)
class MatrixClaim:
    """What is claimed of the configurations of a matrix, or of those for which `where` holds."""

    quantifier: Quantifier
    count: int
    matrix: str
    where: Condition | None
    condition: Condition
    span: Span


@dataclass(frozen=True, slots=True)
class Model:
    """A spec that was checked."""

    name: str
    file: str
    doc: str | None
    population: UserRange
    options: tuple[Option, ...]
    parameters: tuple[Parameter, ...]
    machines: dict[str, Machine]
    networks: dict[str, Network]
    nodes: tuple[Node, ...]
    links: tuple[Link, ...]
    streams: tuple[Stream, ...]
    measures: tuple[Measure, ...]
    requirements: tuple[Requirement, ...]
    quality: Quality
    scenarios: tuple[Scenario, ...]
    expectations: tuple[Expectation, ...]
    observations: tuple[Observation, ...]
    modes: tuple[Mode, ...] = ()
    figures: tuple[Figure, ...] = ()
    groups: tuple[Group, ...] = ()
    matrices: tuple[Matrix, ...] = ()
    targets: tuple[Target, ...] = ()

    def group(self, name: str) -> Group:
        """Return the group of a name."""
        return next(group for group in self.groups if group.name == name)
