"""What users need, in which mode, with which margin; scenarios."""

from __future__ import annotations

from msgspec import Struct

from qps.compiler.diagnostics.source import Span
from qps.compiler.syntax.ast.expressions import Change, Expr, Name


class Measure(Struct, frozen=True):
    """A measure of the spec's own."""

    span: Span
    name: Name
    value: Expr
    doc: str | None = None


class Requirement(Struct, frozen=True):
    """`voice.latency <= 230 ms ideal 0 ms`."""

    span: Span
    condition: Expr
    ideal: Expr | None


class Require(Struct, frozen=True):
    """The requirements."""

    span: Span
    requirements: tuple[Requirement, ...]
    doc: str | None = None


class Aim(Struct, frozen=True):
    """`cpu 75 %`: how full a resource may be by plan; the name is `link` for all links."""

    span: Span
    name: Name
    value: Expr


class Target(Struct, frozen=True):
    """How full resources may be by plan."""

    span: Span
    aims: tuple[Aim, ...]
    doc: str | None = None


class Quality(Struct, frozen=True):
    """The metric: by name, or as a formula."""

    span: Span
    metric: Name | Expr
    doc: str | None = None


class Mode(Struct, frozen=True, kw_only=True):
    """A way of working with needs of its own, and what is different in it."""

    span: Span
    name: Name
    requirements: tuple[Requirement, ...]
    changes: tuple[Change, ...]
    doc: str | None = None


class Scenario(Struct, frozen=True):
    """Named changes."""

    span: Span
    name: Name
    changes: tuple[Change, ...]
    doc: str | None = None
