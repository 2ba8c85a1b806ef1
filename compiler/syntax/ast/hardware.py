"""Components, machines, networks, the topology."""

from __future__ import annotations

from typing import ClassVar

from qps.compiler.syntax.ast.base_node import (
    Declaration,
    Index,
    Name,
    Presentation,
    Shared,
    Written,
)
from qps.compiler.syntax.ast.expressions import Date, Expr, Range, Text
from qps.compiler.syntax.ast.parameters import Formal

OF_A_RESOURCE = ("idle", "jitter", "efficiency")
"""What may be said of a resource behind its capacity, besides how it is waited for."""


class Defaults(Declaration, frozen=True):
    """`costs measured on m`: holds for the costs below that name no machine."""

    machine: Name


class FixedNumber(Written, frozen=True):
    """`with idle = 0 %` behind a fit: a number that is not fitted."""

    name: Name
    value: Expr


class Fit(Written, frozen=True, kw_only=True):
    """`fit "turn.csv"`: numbers that are fitted to a table of measurements.

    `fit "runs.csv" by threads` fits throughput by a column of how many clients there were;
    `per token + per token * context` says of which columns the `costs` are, `to "new.csv"` which
    runs of another machine they are scaled `onto`.
    """

    file: Text
    by: Name | None = None
    costs: tuple[Expr, ...] = ()
    fixed: FixedNumber | None = None
    onto: Text | None = None


class Parent(Written, frozen=True):
    """`pod` in `machine bigpod = pod with cpu 8 core`: what a member of a family is otherwise."""

    name: Name
    arguments: tuple[Expr, ...] = ()


class Attribute(Written, frozen=True):
    """`idle 8 %` behind a resource."""

    name: Name
    value: Expr | Fit


class Queueing(Written, frozen=True, kw_only=True):
    """`queueing mg1 cv 1.2` behind a resource or in a network."""

    discipline: Name
    is_preemptive: bool = False
    variation: Expr | None = None
    room: Expr | None = None
    speeds: tuple[Expr, ...] = ()
    fitted_speeds: Fit | None = None
    period: Expr | None = None
    host_cores: Expr | None = None


class ResourceItem(Written, frozen=True, kw_only=True):
    """`cpu 4 core * 92 SPECint92, idle 8 %` in a machine."""

    name: Name
    capacity: Expr | Fit
    attributes: tuple[Attribute, ...] = ()
    queueing: Queueing | None = None


class Failing(Written, frozen=True):
    """`fails every 90 day for 2 hour`: the mean time until a failure, and that of its repair."""

    every: Expr
    repair: Expr


class Machine(Shared, frozen=True, kw_only=True):
    """A machine with its resources and further ratings, or one that is its parent but for these.

    One with `formals` is a machine with their values put in: `pod(4, 8 GB)`. `of_nothing` is said
    of a resource, and none stands before it.
    """

    presentation: ClassVar[Presentation] = Presentation(
        noun="a machine", symbol_kind="Class", color="class", tag="class"
    )

    formals: tuple[Formal, ...] = ()

    resources: tuple[ResourceItem, ...] = ()
    ratings: tuple[Expr, ...] = ()
    price: Expr | None = None
    price_date: Date | None = None
    failing: Failing | None = None
    source: Text | None = None
    parent: Parent | None = None
    of_nothing: tuple[Attribute | Queueing, ...] = ()


class LinkProperty(Written, frozen=True):
    """`rate 10 Mbit/s` in a network."""

    kind: str
    value: Expr


class Network(Shared, frozen=True, kw_only=True):
    """A network: its medium (`shared`, `switched`, `duplex`) and its properties.

    One with `formals` is a network with their values put in: `internet(40 ms)`.
    """

    presentation: ClassVar[Presentation] = Presentation(
        noun="a network", symbol_kind="Interface", color="interface", tag="class"
    )

    formals: tuple[Formal, ...] = ()
    medium: Name | None = None
    properties: tuple[LinkProperty, ...] = ()
    price: Expr | None = None
    price_date: Date | None = None
    failing: Failing | None = None
    source: Text | None = None
    queueing: Queueing | None = None
    parent: Parent | None = None


class SingleThread(Written, frozen=True):
    """`single_thread decoder`: costs that name the same thread share it."""

    name: Name | None


class Cost(Written, frozen=True, kw_only=True):
    """What a component costs on one resource, and how that number came about."""

    resource: Name
    amount: Expr | Fit
    measured_on: Name | None = None
    scaled_by: Name | None = None
    single_thread: SingleThread | None = None
    at_load: Expr | Range | None = None


class Effect(Written, frozen=True):
    """`keep`, `emit`, `queue` or another word with a value, or `merge` with none.

    What is `active` is so for a time on average: `lasting`.
    """

    kind: str
    value: Expr | Fit | None = None
    lasting: Expr | None = None


class Run(Written, frozen=True, kw_only=True):
    """`run query(2) * 3 if cached`: a component in its place within another one."""

    component: Name
    arguments: tuple[Expr, ...]
    repeat: Expr | None
    condition: Expr | None


class Component(Shared, frozen=True, kw_only=True):
    """One step of work, or several where others run in it."""

    presentation: ClassVar[Presentation] = Presentation(
        noun="a component", symbol_kind="Method", color="method", tag="function"
    )

    formals: tuple[Formal, ...]
    items: tuple[Cost | Effect | Run, ...] = ()
    source: Text | None = None
    default_machine: Name | None = None
    fitted: Text | None = None
    parent: Parent | None = None


class Node(Shared, frozen=True, kw_only=True):
    """`node station = ws.ipx * N`: `place` is the machine times a count."""

    presentation: ClassVar[Presentation] = Presentation(
        noun="a node", symbol_kind="Object", color="struct", tag="module"
    )

    place: Expr
    source: Text | None = None
    index: Index | None = None


class AllNodes(Written, frozen=True):
    """`all but client`: what a link joins, every node of the topology but some."""

    but: tuple[Name, ...]


class Link(Shared, frozen=True, kw_only=True):
    """`link lan = net.ethernet between station`; the ends of `everyone` are among its ends."""

    presentation: ClassVar[Presentation] = Presentation(
        noun="a link", symbol_kind="Object", color="struct", tag="module"
    )

    place: Expr
    ends: tuple[Name, ...]
    everyone: AllNodes | None = None
    source: Text | None = None
    index: Index | None = None


class Topology(Declaration, frozen=True):
    """Nodes and links."""

    is_of_system: ClassVar[bool] = True
    needs_solution: ClassVar[bool] = True

    items: tuple[Node | Link, ...]
