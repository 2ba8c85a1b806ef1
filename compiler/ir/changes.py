"""Modes and scenarios: changes of a model under a name."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from qps.compiler.diagnostics.source import Span
from qps.compiler.ir.expressions import Change, SetCase, SetMode, SetPopulation, SetScenario
from qps.compiler.ir.requirements import Requirement


class Mode(Struct, frozen=True, kw_only=True):
    """A way of working: what it needs besides the requirements of all, and what differs in it."""

    name: str
    requirements: tuple[Requirement, ...]
    changes: tuple[Change, ...]
    span: Span
    doc: str | None


class Scenario(Struct, frozen=True):
    """Named changes."""

    name: str
    changes: tuple[Change, ...]
    span: Span
    doc: str | None


def flattened(changes: tuple[Change, ...]) -> Iterator[Change]:
    """Yield what a scenario changes: first what the scenarios inside it do, then its own."""
    for change in changes:
        if isinstance(change, SetScenario):
            yield from flattened(change.changes)
    yield from (change for change in changes if not isinstance(change, SetScenario))


def what_is_set(change: Change) -> str:
    """Return how a message calls what a change sets."""
    match change:
        case SetPopulation():
            return "the population"
        case SetCase():
            return "the case"
        case SetMode():
            return "the mode"
        case SetScenario():
            return "the scenario"
        case _:
            return f"`{change.name}`"
