"""Components, machines, networks, the topology."""

from __future__ import annotations

from dataclasses import dataclass

from qps.compiler.diagnostics.source import Span
from qps.compiler.syntax.ast.expressions import Expr, Name, Range, Text
from qps.compiler.syntax.ast.parameters import Formal


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


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceItem:
    """`cpu 4 core * 92 SPECint92, idle 8 %` in a machine."""

    span: Span
    name: Name
    capacity: Expr
    attributes: tuple[Attribute, ...]
    queueing: Queueing | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
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


@dataclass(frozen=True, slots=True, kw_only=True)
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What a component costs on one resource, and how that number came about."""

    span: Span
    resource: Name
    amount: Expr | Fit
    measured_on: Name | None
    scaled_by: Name | None
    single_thread: bool
    at_load: Expr | Range | None = None
    thread: Name | None = None


@dataclass(frozen=True, slots=True)
class Effect:
    """`keep`, `emit`, `queue` or another word with a value, or `merge` with none."""

    span: Span
    kind: str
    value: Expr | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Component:
    """One step of work."""

    span: Span
    name: Name
    formals: tuple[Formal, ...]
    items: tuple[Cost | Effect, ...]
    source: Text | None
    default_machine: Name | None
    fitted: Text | None = None
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
