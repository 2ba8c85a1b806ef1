"""Changes of numbers that a spec states in place, such as `wan.rate` or `mix.cpu.packet`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct

from qps.compiler import ir
from qps.compiler.check.model.changes.check_new_values import NewValueChecker
from qps.compiler.check.names.declarations import (
    Declared,
    LoadedModule,
    names_of,
    owned_in,
    owner_in,
)
from qps.compiler.check.values.part import DeclarationChecker
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Label
from qps.compiler.diagnostics.fixits import instead
from qps.compiler.diagnostics.source import Span
from qps.compiler.diagnostics.suggest import dotted_meant, listed
from qps.compiler.ir.measure_names import current_text
from qps.compiler.ir.own_numbers import OwnNumber
from qps.compiler.ir.placed_numbers import is_in_cores, numbers_in
from qps.compiler.quantities.dimension import CORE, Dimension
from qps.compiler.syntax import ast

_OFFERED = 4
"""Numbers to choose from."""


class SettableNumber(Struct, frozen=True):
    """A number that can be set: what the model calls it, its dimension, where it is stated."""

    name: str
    dimension: Dimension
    span: Span

    @property
    def wanted(self) -> Dimension:
        """What it is written in: loads count the cores of a processor, specs state `4 core`."""
        return CORE if is_in_cores(self.name) else self.dimension


class Settable(DeclarationChecker, frozen=True):
    """Finds the numbers that changes set and that no parameter declares.

    Such a number is called as `explain` and `--for` call it. What is set becomes a parameter of the
    model of that name.
    """

    def is_named(self, name: ast.Name, module: LoadedModule) -> bool:
        """Return whether a name is that of a number, be it one that can be set or not."""
        return any(
            called in self.known.uncertain or self._stated(called, module) is not None
            for called in _called(name, module)
        )

    def number(self, name: ast.Name, module: LoadedModule) -> SettableNumber | None:
        """Return the number of a name; None where it was reported."""
        for called in _called(name, module):
            uncertain = self.known.uncertain.get(called)
            if uncertain is not None:
                return SettableNumber(called, uncertain.dimension, uncertain.value_span)
            number = self._stated(called, module)
            if number is not None:
                return self._one(name, number)
        self._unknown(name, module)
        return None

    def _stated(self, called: str, module: LoadedModule) -> OwnNumber | None:
        """Return what is stated under a name: of a place, by any machine that may stand there."""
        number = self.known.numbers.get(called)
        if number is not None:
            return number
        owner, rest = owned_in(module, tuple(called.split(".")))
        if owner is None or not isinstance(owner.declaration, ast.Node | ast.Link):
            return None
        is_node = isinstance(owner.declaration, ast.Node)
        kinds = self.known.machines if is_node else self.known.networks
        word = ".".join(rest)
        for hardware in kinds.values():
            stated = None if hardware is None else numbers_in(hardware).get(word)
            if stated is not None:
                return OwnNumber(name=called, stated=stated, place=owner.qualified)
        return None

    def change(self, change: ast.Change, module: LoadedModule) -> ir.Change | None:
        """Return the new value of a number, None where that was reported."""
        found = self.number(change.name, module)
        if found is None:
            return None
        value = NewValueChecker(self.expressions).new_value(
            change, (found.wanted, found.dimension), found.span, _example(found.span)
        )
        if value is None:
            return None
        return ir.SetParameter(found.name, value.expr, value.span)

    def _one(self, name: ast.Name, number: OwnNumber) -> SettableNumber | None:
        """Return a number that is none made of others; what it is made of is reported at those."""
        stated = number.stated
        if number.is_plain:
            self.known.numbers.setdefault(number.name, number)
            self.known.numbers_set[number.name] = None
            return SettableNumber(number.name, stated.dimension, stated.span)
        names = number.rests_on
        options = f" from {listed(names, 'and')}" if names else f", `{_example(stated.span)}`"
        self.sink.report(
            codes.BAD_SETTING,
            name.span,
            f"`{name.text}` is computed{options} and cannot be set",
            secondary=[Label(stated.span, "here")],
            hint=f"set {listed(names, 'or')}" if names else "replace it by a number or a parameter",
        )
        return None

    def of(self, declared: Declared) -> str:
        """Return a hint that offers the numbers of what is declared, nothing where it has none."""
        known = list(self._settable_names())
        own = f"{declared.qualified}."
        if not any(name.startswith(own) for name in known):
            return ""
        parts_text = dotted_meant(declared.qualified, known) or ""
        known = [name for name in known if name.startswith(own)]
        parts_text = f"set one of its parts: {parts_text.removeprefix('its parts: ')}"
        return instead(declared.qualified, *known[:_OFFERED], words=parts_text)

    def _unknown(self, name: ast.Name, module: LoadedModule) -> None:
        known = [*self._settable_names(), *_declared(module)]
        near = dotted_meant(name.text, known)
        self.sink.report(
            codes.BAD_SETTING,
            name.span,
            f"unknown name `{name.text}`",
            hint=near or f"name a value of the spec, such as `{min(known, key=str.casefold)}`"
            if known
            else "declare it as a `param` first",
        )

    def _settable_names(self) -> Iterator[str]:
        yield from (name for name, one in self.known.numbers.items() if one.is_plain)
        yield from self.known.uncertain


def _called(name: ast.Name, module: LoadedModule) -> Iterator[str]:
    """Yield what a number may be called in the model that has a name in a module."""
    owner, rest = owner_in(module, name)
    if owner is not None and rest:
        yield ".".join((owner.qualified, *rest))
    for text in dict.fromkeys((name.text, current_text(name.text))):
        yield module.qualified(text)
        yield text


def _declared(module: LoadedModule) -> Iterable[str]:
    kinds = (ast.Users, ast.Option, ast.Param, ast.Node, ast.Link)
    yield from (name for name, found in module.names.items() if isinstance(found, kinds))
    for alias, used in module.imports.items():
        yield from (f"{alias}.{name}" for name in names_of(used, kinds) if used.is_system)


def _example(where: Span) -> str:
    return " ".join(where.text.split())
