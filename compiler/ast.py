"""The syntax tree: what stands in the text, frozen, every node with its span."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from qps.compiler.source import Source, Span

# -- expressions -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Name:
    """A name, with its parts where it has dots."""

    span: Span
    parts: tuple[str, ...]

    @property
    def text(self) -> str:
        """The name as it is written."""
        return ".".join(self.parts)


@dataclass(frozen=True, slots=True)
class Number:
    """A number without a unit, exact."""

    span: Span
    value: Fraction


@dataclass(frozen=True, slots=True)
class Reference:
    """A name that stands for a value or a unit; `%` and `$` are names too."""

    span: Span
    name: Name


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number next to a unit: `0.21 ms`."""

    span: Span
    number: Number
    unit: Expr


@dataclass(frozen=True, slots=True)
class Negative:
    """`-x`."""

    span: Span
    operand: Expr


@dataclass(frozen=True, slots=True)
class Sum:
    """Terms, each with True where it is subtracted."""

    span: Span
    terms: tuple[tuple[bool, Expr], ...]


@dataclass(frozen=True, slots=True)
class Product:
    """Factors, each with True where it divides."""

    span: Span
    factors: tuple[tuple[bool, Expr], ...]


@dataclass(frozen=True, slots=True)
class Power:
    """`base ^ exponent`."""

    span: Span
    base: Expr
    exponent: Expr


@dataclass(frozen=True, slots=True)
class Call:
    """`name(arguments)`."""

    span: Span
    name: Name
    arguments: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """A chain of comparisons: one operator fewer than operands."""

    span: Span
    operands: tuple[Expr, ...]
    operators: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Junction:
    """Operands joined by `and` or by `or`."""

    span: Span
    operator: str
    operands: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """`not x`."""

    span: Span
    operand: Expr


@dataclass(frozen=True, slots=True)
class Conditional:
    """`if condition then value else otherwise`."""

    span: Span
    condition: Expr
    then: Expr
    otherwise: Expr


@dataclass(frozen=True, slots=True)
class Changed:
    """`(value with changes)`: the value in a changed model."""

    span: Span
    value: Expr
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class CaseValue:
    """`largest 13.3 ms/frame`: what a parameter is in one case."""

    span: Span
    case: str
    value: Expr


@dataclass(frozen=True, slots=True)
class Cases:
    """`average 12.7 ms/frame, least 7.2 ms/frame`: a parameter's value in several cases."""

    span: Span
    values: tuple[CaseValue, ...]


@dataclass(frozen=True, slots=True)
class KindValue:
    """`I average 23.3 kB/frame, largest 33 kB/frame`: the value of one kind."""

    span: Span
    name: Name
    value: Expr


@dataclass(frozen=True, slots=True)
class KindTable:
    """`by film { I …; P … }`: a parameter's value for each kind; `owner` is the parameter."""

    span: Span
    owner: Name
    kinds: Name
    entries: tuple[KindValue, ...]


Expr = (
    Number
    | Reference
    | Quantity
    | Negative
    | Sum
    | Product
    | Power
    | Call
    | Comparison
    | Junction
    | Not
    | Conditional
    | Changed
    | Cases
    | KindTable
)


@dataclass(frozen=True, slots=True)
class Range:
    """`low .. high`."""

    span: Span
    low: Expr
    high: Expr


@dataclass(frozen=True, slots=True)
class Change:
    """`name = value` in a scenario, after `with`, or after `--set`."""

    span: Span
    name: Name
    value: Expr | Range


@dataclass(frozen=True, slots=True)
class Text:
    """A text in quotes."""

    span: Span
    value: str


# -- declarations ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Use:
    """`use std.net as net` or `use "file.qps" as f`."""

    span: Span
    module: Name | Text
    alias: Name | None
    doc: str | None = None


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit: an item (no value), a rating, or a multiple of another unit."""

    span: Span
    name: Name
    is_rating: bool
    value: Expr | None
    doc: str | None = None


@dataclass(frozen=True, slots=True)
class Users:
    """The population and its range."""

    span: Span
    name: Name
    range: Range
    doc: str | None = None


@dataclass(frozen=True, slots=True)
class Group:
    """`group room of 12 users`: into which the users are divided."""

    span: Span
    name: Name
    size: Expr
    doc: str | None = None


@dataclass(frozen=True, slots=True)
class Option:
    """A choice among names; the first one is in force."""

    span: Span
    name: Name
    choices: tuple[Name, ...]
    source: Text | None
    doc: str | None = None


@dataclass(frozen=True, slots=True)
class Param:
    """A number that a scenario may change; an elastic one takes what capacity is left.

    The value of an elastic one is the most that it takes; the one of the smallest priority is
    served first.
    """

    span: Span
    name: Name
    value: Expr
    range: Range | None
    source: Text | None
    is_elastic: bool = False
    priority: Expr | None = None
    doc: str | None = None


@dataclass(frozen=True, slots=True)
class Weight:
    """`I 30`: how many are of a kind, or `I 60 %`: which share."""

    span: Span
    name: Name
    value: Expr


@dataclass(frozen=True, slots=True)
class Kinds:
    """The kinds that items are divided into: by weights, or by a pattern of letters."""

    span: Span
    name: Name
    weights: tuple[Weight, ...]
    pattern: Text | None
    source: Text | None
    doc: str | None = None


@dataclass(frozen=True, slots=True)
class Let:
    """A name for an expression."""

    span: Span
    name: Name
    value: Expr
    doc: str | None = None


@dataclass(frozen=True, slots=True)
class Formal:
    """A parameter of a function or component, with its dimension by example."""

    span: Span
    name: Name
    example: Expr | None


@dataclass(frozen=True, slots=True)
class Func:
    """A function."""

    span: Span
    name: Name
    formals: tuple[Formal, ...]
    value: Expr
    doc: str | None = None


@dataclass(frozen=True, slots=True)
class Defaults:
    """`costs measured on m`: holds for the costs below that name no machine."""

    span: Span
    machine: Name
    doc: str | None = None


@dataclass(frozen=True, slots=True)
class Fit:
    """`fit "turn.csv"`: numbers that are fitted to a table of measurements."""

    span: Span
    file: Text


@dataclass(frozen=True, slots=True)
class Attribute:
    """`idle 8 %` behind a resource."""

    span: Span
    name: Name
    value: Expr | Fit


@dataclass(frozen=True, slots=True)
class Queueing:
    """`queueing mg1 cv 1.2` behind a resource or in a network."""

    span: Span
    discipline: Name
    variation: Expr | None


@dataclass(frozen=True, slots=True)
class ResourceItem:
    """`cpu 4 core * 92 SPECint92, idle 8 %` in a machine."""

    span: Span
    name: Name
    capacity: Expr
    attributes: tuple[Attribute, ...]
    queueing: Queueing | None = None


@dataclass(frozen=True, slots=True)
class Machine:
    """A machine with its resources and further ratings."""

    span: Span
    name: Name
    resources: tuple[ResourceItem, ...]
    ratings: tuple[Expr, ...]
    price: Expr | None
    source: Text | None
    doc: str | None = None


@dataclass(frozen=True, slots=True)
class LinkProperty:
    """`rate 10 Mbit/s` in a network."""

    span: Span
    kind: str
    value: Expr


@dataclass(frozen=True, slots=True)
class Network:
    """A network: its medium (`shared`, `switched`, `duplex`) and its properties."""

    span: Span
    name: Name
    medium: Text | None
    properties: tuple[LinkProperty, ...]
    price: Expr | None
    source: Text | None
    queueing: Queueing | None = None
    doc: str | None = None


@dataclass(frozen=True, slots=True)
class Cost:
    """What a component costs on one resource, and how that number came about."""

    span: Span
    resource: Name
    amount: Expr | Fit
    measured_on: Name | None
    scaled_by: Name | None
    single_thread: bool
    at_load: Expr | Range | None = None


@dataclass(frozen=True, slots=True)
class Effect:
    """`keep`, `emit`, `queue` or another word with a value, or `merge` with none."""

    span: Span
    kind: str
    value: Expr | None


@dataclass(frozen=True, slots=True)
class Component:
    """One step of work."""

    span: Span
    name: Name
    formals: tuple[Formal, ...]
    items: tuple[Cost | Effect, ...]
    source: Text | None
    default_machine: Name | None
    doc: str | None = None


@dataclass(frozen=True, slots=True)
class Node:
    """`node station = ws.ipx * N`: `place` is the machine times a count."""

    span: Span
    name: Name
    place: Expr


@dataclass(frozen=True, slots=True)
class Link:
    """`link lan = net.ethernet between station`."""

    span: Span
    name: Name
    place: Expr
    ends: tuple[Name, ...]


@dataclass(frozen=True, slots=True)
class Topology:
    """Nodes and links."""

    span: Span
    items: tuple[Node | Link, ...]
    doc: str | None = None


@dataclass(frozen=True, slots=True)
class Spread:
    """`to others by cast`: `kind` is `others`, `all` or `one`.

    Within a `group`, each receiver gets at most so many of its streams.
    """

    span: Span
    kind: str
    target: Name | None
    cast: Name | None
    group: Name | None = None
    most: Expr | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """A component in its place in a stream; with a `group`, it merges within each of them."""

    span: Span
    component: Name
    arguments: tuple[Expr, ...]
    repeat: Expr | None
    group: Name | None
    spread: Spread | None
    condition: Expr | None


@dataclass(frozen=True, slots=True)
class Emission:
    """`source 8000 byte/s in size`: what leaves the source, the first value a rate."""

    span: Span
    values: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class At:
    """The steps at a node."""

    span: Span
    node: Name
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Over:
    """The links that are crossed."""

    span: Span
    links: tuple[Name, ...]


@dataclass(frozen=True, slots=True)
class Playout:
    """`playout 60 ms dropping 1 %`: a buffer where the stream ends, and what it drops."""

    span: Span
    delay: Expr
    dropping: Expr | None


@dataclass(frozen=True, slots=True)
class Stream:
    """Items on their way; `flows` of them in each group, where `each` is one."""

    span: Span
    name: Name
    flows: Expr | None
    each: Name | None
    items: tuple[Emission | At | Over | Playout, ...]
    doc: str | None = None


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure of the spec's own."""

    span: Span
    name: Name
    value: Expr
    doc: str | None = None


@dataclass(frozen=True, slots=True)
class Requirement:
    """`voice.latency <= 230 ms ideal 0 ms`."""

    span: Span
    condition: Expr
    ideal: Expr | None


@dataclass(frozen=True, slots=True)
class Require:
    """The requirements."""

    span: Span
    requirements: tuple[Requirement, ...]
    doc: str | None = None


@dataclass(frozen=True, slots=True)
class Aim:
    """`cpu 75 %`: how full a resource may be by plan; the name is `link` for all links."""

    span: Span
    name: Name
    value: Expr


@dataclass(frozen=True, slots=True)
class Target:
    """How full resources may be by plan."""

    span: Span
    aims: tuple[Aim, ...]
    doc: str | None = None


@dataclass(frozen=True, slots=True)
class Quality:
    """The metric: by name, or as a formula."""

    span: Span
    metric: Name | Expr
    doc: str | None = None


@dataclass(frozen=True, slots=True)
class Mode:
    """A way of working with needs of its own, and what is different in it."""

    span: Span
    name: Name
    requirements: tuple[Requirement, ...]
    changes: tuple[Change, ...]
    doc: str | None = None


@dataclass(frozen=True, slots=True)
class Scenario:
    """Named changes."""

    span: Span
    name: Name
    changes: tuple[Change, ...]
    doc: str | None = None


@dataclass(frozen=True, slots=True)
class Claim:
    """What is claimed: a condition, or a value near another (`~ … within …`)."""

    span: Span
    value: Expr
    claimed: Expr | None
    tolerance: Expr | None
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class Remark:
    """`note "…"` or `fitted "…"`."""

    span: Span
    kind: str
    text: Text


@dataclass(frozen=True, slots=True)
class Expect:
    """Claims with their source."""

    span: Span
    name: Name
    title: Text | None
    claims: tuple[Claim, ...]
    source: Text | None
    remarks: tuple[Remark, ...]
    doc: str | None = None


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table: what it sets, or what it measured."""

    span: Span
    name: Name
    unit: Expr | None
    target: Expr
    tolerance: Expr | None


@dataclass(frozen=True, slots=True)
class Observe:
    """A table of measured runs in a CSV file."""

    span: Span
    name: Name
    file: Text
    changes: tuple[Change, ...]
    columns: tuple[Column, ...]
    source: Text | None
    remarks: tuple[Remark, ...]
    doc: str | None = None


@dataclass(frozen=True, slots=True)
class Trace:
    """`observe trace name "file.csv" in us period 160 ms`: packets as they were recorded."""

    span: Span
    name: Name
    file: Text
    unit: Expr | None
    period: Expr | None
    source: Text | None
    doc: str | None = None


@dataclass(frozen=True, slots=True)
class Loads:
    """`loads "label" with …` in a figure: a line for each resource."""

    span: Span
    label: Text | None
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class Curve:
    """`line "label" value with …` in a figure."""

    span: Span
    label: Text | None
    value: Expr
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class Abscissa:
    """`over N in 2..8`: what a figure varies along its horizontal axis."""

    span: Span
    name: Name
    range: Range


@dataclass(frozen=True, slots=True)
class Figure:
    """Curves over the population or a parameter; `logarithmic` names axes, `x` or `y`."""

    span: Span
    name: Name
    title: Text | None
    abscissa: Abscissa | None
    curves: tuple[Curve, ...]
    loads: tuple[Loads, ...]
    logarithmic: tuple[Name, ...]
    source: Text | None
    remarks: tuple[Remark, ...]
    doc: str | None = None


Declaration = (
    Use
    | Unit
    | Users
    | Group
    | Option
    | Param
    | Kinds
    | Let
    | Func
    | Defaults
    | Machine
    | Network
    | Component
    | Topology
    | Stream
    | Measure
    | Require
    | Target
    | Quality
    | Mode
    | Scenario
    | Expect
    | Observe
    | Trace
    | Figure
)


@dataclass(frozen=True, slots=True)
class Module:
    """A file: its doc string and its declarations, in the order of the text.

    `failed_names` are the names of declarations that could not be parsed, `failed_kinds` the
    words that these start with, empty where that cannot be told.
    """

    source: Source
    doc: str | None
    declarations: tuple[Declaration, ...]
    failed_names: frozenset[str] = frozenset()
    failed_kinds: frozenset[str] = frozenset()
