"""What users need, in which mode, with which margin; scenarios."""

from __future__ import annotations

from dataclasses import dataclass

from qps.compiler.diagnostics.source import Span
from qps.compiler.syntax.ast.expressions import Change, Expr, Name


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


@dataclass(frozen=True, slots=True, kw_only=True)
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
