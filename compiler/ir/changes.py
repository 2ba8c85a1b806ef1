"""Modes and scenarios: changes of a model under a name."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

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
    """Yield what a scenario changes: first what the scenarios inside it do, then its own.

    What stands beside a mode that is taken, or further out, is changed again once that mode has
    made its own changes: who writes `mode = night` and a number beside it means that number.
    """
    own = tuple(change for change in changes if not isinstance(change, SetScenario))
    for change in changes:
        if isinstance(change, SetScenario):
            yield from (_with_own_changes(inner, own) for inner in flattened(change.changes))
    yield from (_with_own_changes(change, own) for change in own)


def _with_own_changes(change: Change, others: tuple[Change, ...]) -> Change:
    """Return a mode that is taken with the changes that hold against its own; all else as it is."""
    if not isinstance(change, SetMode):
        return change
    held = [one for one in others if any(is_on_the_same(one, own) for own in change.changes)]
    return replace(change, changes=(*change.changes, *held))


def is_on_the_same(one: Change, other: Change) -> bool:
    """Return whether two changes set the same, or one of them a part of what the other does."""
    if isinstance(one, _OF_ALL) or isinstance(other, _OF_ALL):
        return type(one) is type(other)
    return (
        one.name == other.name
        or one.name.startswith(f"{other.name}.")
        or other.name.startswith(f"{one.name}.")
    )


_OF_ALL = SetPopulation | SetCase | SetMode | SetScenario


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
