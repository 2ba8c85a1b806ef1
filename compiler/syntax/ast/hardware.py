"""Components, machines, networks, the topology."""

from __future__ import annotations

from msgspec import Struct

from qps.compiler.diagnostics.source import Span
from qps.compiler.syntax.ast.expressions import Expr, Name, Range, Text
from qps.compiler.syntax.ast.parameters import Formal


class Defaults(Struct, frozen=True):
    """`costs measured on m`: holds for the costs below that name no machine."""

    span: Span
    machine: Name
    doc: str | None = None


class Fit(Struct, frozen=True):
    """`fit "turn.csv"`: numbers that are fitted to a table of measurements."""

    span: Span
    file: Text


class Attribute(Struct, frozen=True):
    """`idle 8 %` behind a resource."""

    span: Span
    name: Name
    value: Expr | Fit


class Queueing(Struct, frozen=True):
    """`queueing mg1 cv 1.2` behind a resource or in a network."""

    span: Span
    discipline: Name
    variation: Expr | None


class ResourceItem(Struct, frozen=True, kw_only=True):
    """`cpu 4 core * 92 SPECint92, idle 8 %` in a machine."""

    span: Span
    name: Name
    capacity: Expr
    attributes: tuple[Attribute, ...]
    queueing: Queueing | None = None


class Machine(Struct, frozen=True, kw_only=True):
    """A machine with its resources and further ratings."""

    span: Span
    name: Name
    resources: tuple[ResourceItem, ...]
    ratings: tuple[Expr, ...]
    price: Expr | None
    source: Text | None
    doc: str | None = None


class LinkProperty(Struct, frozen=True):
    """`rate 10 Mbit/s` in a network."""

    span: Span
    kind: str
    value: Expr


class Network(Struct, frozen=True, kw_only=True):
    """A network: its medium (`shared`, `switched`, `duplex`) and its properties."""

    span: Span
    name: Name
    medium: Text | None
    properties: tuple[LinkProperty, ...]
    price: Expr | None
    source: Text | None
    queueing: Queueing | None = None
    doc: str | None = None


class Cost(Struct, frozen=True, kw_only=True):
    """What a component costs on one resource, and how that number came about."""

    span: Span
    resource: Name
    amount: Expr | Fit
    measured_on: Name | None
    scaled_by: Name | None
    single_thread: bool
    at_load: Expr | Range | None = None
    thread: Name | None = None


class Effect(Struct, frozen=True):
    """`keep`, `emit`, `queue` or another word with a value, or `merge` with none."""

    span: Span
    kind: str
    value: Expr | None


class Component(Struct, frozen=True, kw_only=True):
    """One step of work."""

    span: Span
    name: Name
    formals: tuple[Formal, ...]
    items: tuple[Cost | Effect, ...]
    source: Text | None
    default_machine: Name | None
    fitted: Text | None = None
    doc: str | None = None


class Node(Struct, frozen=True):
    """`node station = ws.ipx * N`: `place` is the machine times a count."""

    span: Span
    name: Name
    place: Expr


class Link(Struct, frozen=True):
    """`link lan = net.ethernet between station`."""

    span: Span
    name: Name
    place: Expr
    ends: tuple[Name, ...]


class Topology(Struct, frozen=True):
    """Nodes and links."""

    span: Span
    items: tuple[Node | Link, ...]
    doc: str | None = None
