"""Changes of a model, alone, in modes and in scenarios."""

from __future__ import annotations

from dataclasses import dataclass

from qps.compiler.diagnostics.source import Span
from qps.compiler.ir.expressions import Case, Expr
from qps.compiler.ir.requirements import Requirement


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
