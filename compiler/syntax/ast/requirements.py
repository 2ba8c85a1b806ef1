"""What users need, in which mode, with which margin; scenarios."""

from __future__ import annotations

from typing import ClassVar

from msgspec import Struct

from qps.compiler.diagnostics.source import Span
from qps.compiler.syntax.ast.base_node import (
    Declaration,
    Name,
    Named,
    Presentation,
    Shared,
    Written,
)
from qps.compiler.syntax.ast.expressions import Change, Expr, Number, Reference, Text
from qps.compiler.syntax.ast.hardware import Fit


class Measure(Shared, frozen=True):
    """A measure of the spec's own."""

    presentation: ClassVar[Presentation] = Presentation(
        noun="a measure", symbol_kind="Property", color="property", tag="constant"
    )

    value: Expr
    source: Text | None = None


class Percentiles(Declaration, frozen=True):
    """`measure page.latency p50, p95, p99`: percentiles of a latency or of a wait."""

    measure: Reference
    levels: tuple[Name, ...]
    source: Text | None = None


class Requirement(Written, frozen=True, kw_only=True):
    """`voice.latency <= 230 ms ideal 0 ms`, or `voice.latency <= 230 ms with 95 % certainty`."""

    condition: Expr
    certainty: Expr | None
    ideal: Expr | None
    source: Text | None = None


class Require(Declaration, frozen=True):
    """The requirements."""

    is_of_system: ClassVar[bool] = True
    needs_solution: ClassVar[bool] = True
    each_of: ClassVar[str] = "requirements"

    requirements: tuple[Requirement, ...]


class Aim(Written, frozen=True):
    """`cpu 75 %`: how full a resource may be by plan; the name is `link` for all links."""

    name: Name
    value: Expr
    source: Text | None = None


class Target(Declaration, frozen=True):
    """How full resources may be by plan."""

    is_of_system: ClassVar[bool] = True
    each_of: ClassVar[str] = "aims"

    aims: tuple[Aim, ...]


class Wait(Written, frozen=True, kw_only=True):
    """`cpu mg1 cv 1.2`: how what arrives waits for resources; the name is `link` for all links."""

    name: Name
    discipline: Name
    is_preemptive: bool = False
    variation: Expr | None = None
    room: Expr | None = None
    speeds: tuple[Expr, ...] = ()
    fitted_speeds: Fit | None = None
    period: Expr | None = None
    host_cores: Expr | None = None


class DefaultQueueing(Declaration, frozen=True):
    """How what arrives waits, where no machine or network says it."""

    is_of_system: ClassVar[bool] = True
    each_of: ClassVar[str] = "waits"

    waits: tuple[Wait, ...]


class Quality(Declaration, frozen=True):
    """The metric: by name, or as a formula."""

    is_of_system: ClassVar[bool] = True

    metric: Name | Expr


class FailedMachines(Struct, frozen=True, kw_only=True):
    """Machines of a node that have failed: so many, or those of so many of its zones."""

    span: Span
    name: Name
    number: int = 1
    zones: int | None = None


class Survive(Declaration, frozen=True, kw_only=True):
    """`survive any one of web, db`, `survive any one of 3 zones with web, db`: failures to bear.

    In the states that these leave, other requirements can apply, and other values be set.
    """

    is_of_system: ClassVar[bool] = True
    needs_solution: ClassVar[bool] = True
    each_of: ClassVar[str] = "requirements"

    failures: Number | Text
    zones: Number | Text | None
    nodes: tuple[Name, ...] = ()
    requirements: tuple[Requirement, ...] = ()
    changes: tuple[Change, ...] = ()


class Mode(Named, frozen=True, kw_only=True):
    """A way of working with needs of its own, and what is different in it."""

    presentation: ClassVar[Presentation] = Presentation(
        noun="a mode", symbol_kind="Key", color="namespace", tag="module"
    )
    is_of_system: ClassVar[bool] = True
    needs_solution: ClassVar[bool] = True
    each_of: ClassVar[str] = "requirements"

    requirements: tuple[Requirement, ...] = ()
    changes: tuple[Change, ...] = ()
    losses: tuple[FailedMachines, ...] = ()


class Scenario(Named, frozen=True):
    """Named changes."""

    presentation: ClassVar[Presentation] = Presentation(
        noun="a scenario", symbol_kind="Key", color="namespace", tag="module"
    )

    changes: tuple[Change, ...]
