"""What was looked at in one configuration, and need not be again in the next.

A spec makes hundreds of claims, each in a configuration of its own. Most of what is looked at rests
on nothing that the claim changes: where nothing was wrong with it once, nothing is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Generic, TypeVar

from msgspec import Struct

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration, base_configuration
from qps.compiler.diagnostics.diagnostic import Sink
from qps.compiler.ir.parts import operands, parted

C = TypeVar("C")

_MOST_ENTRIES = 100
"""Ranges of the population of which it is known what is sound in them."""


class ValidationStep(Struct, Generic[C], frozen=True):
    """Something to look at, by what `C` is of a configuration, and the names that stand in it."""

    names: frozenset[str]
    look: Callable[[C], object]


class ValidationCache(Generic[C]):
    """Looks at parts of a model; at those that are as the spec states them, once."""

    def __init__(self, parts: Sequence[ValidationStep[C]]) -> None:
        self._parts = parts
        self._sound: dict[tuple[int, int, ir.Case], set[int]] = {}

    def look(
        self, subject: C, configuration: Configuration, moved: frozenset[str], sink: Sink
    ) -> bool:
        """Return whether nothing is wrong; what is goes into the sink.

        `moved` are the names that do not mean what they mean in the spec.
        """
        key = configuration.low, configuration.high, configuration.case
        if len(self._sound) > _MOST_ENTRIES:
            self._sound.clear()
        known = self._sound.setdefault(key, set())
        is_sound = True
        for number, part in enumerate(self._parts):
            is_as_stated = part.names.isdisjoint(moved)
            if is_as_stated and number in known:
                continue
            with sink.aside() as found:
                part.look(subject)
            sink.add_all(found)
            is_sound = is_sound and not found
            if is_as_stated and not found:
                known.add(number)
        return is_sound


class Meanings:
    """Tells which names of a model mean something else in a configuration."""

    def __init__(self, model: ir.Model) -> None:
        self._base = base = base_configuration(model)
        values = dict(base.parameters)
        values |= {name: node.count for name, node in base.nodes.items()}
        values |= {name: link.count for name, link in base.links.items()}
        values |= {name: parted(group) for name, group in base.groups.items()}
        self._users: dict[str, list[str]] = {}
        for user, value in values.items():
            for name in names_in(value):
                self._users.setdefault(name, []).append(user)

    def moved(self, configuration: Configuration) -> frozenset[str]:
        """Return the names that were set to something else, and those that rest on them."""
        base = self._base
        waiting = [
            name
            for now, then in (
                (configuration.parameters, base.parameters),
                (configuration.nodes, base.nodes),
                (configuration.links, base.links),
                (configuration.groups, base.groups),
            )
            for name, value in now.items()
            if value is not then.get(name)
        ]
        options = configuration.options.items()
        waiting += [name for name, choice in options if choice != base.options.get(name)]
        found: set[str] = set()
        while waiting:
            name = waiting.pop()
            if name not in found:
                found.add(name)
                waiting += self._users.get(name, ())
        return frozenset(found)


def names_in(*exprs: ir.Expr | ir.Condition | None) -> frozenset[str]:
    """Return the parameters, options, places and groups that stand in expressions."""
    return frozenset(name for expr in exprs if expr is not None for name in _names(expr))


def _names(expr: ir.Expr | ir.Condition) -> Iterator[str]:
    waiting: list[ir.Expr | ir.Condition] = [expr]
    while waiting:
        match part := waiting.pop():
            case ir.ParameterValue(name) | ir.NodeCount(name) | ir.Members(name):
                yield name
            case ir.GroupCount(name) | ir.OptionIs(name, _):
                yield name
            case ir.Choice(condition, then, otherwise):
                waiting += (condition, then, otherwise)
            case ir.Compare(_, left, right):
                waiting += (left, right)
            case ir.AllOf(conditions) | ir.AnyOf(conditions):
                waiting += conditions
            case ir.Negated(inner):
                waiting.append(inner)
            case ir.RowIs():
                pass
            case _:
                waiting += operands(part)
