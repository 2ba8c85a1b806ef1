"""A part of the checks: all of them are functions of one context."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.check.names.declarations import (
    DeclaredAs,
    LoadedModule,
    keyword,
    lookup_as,
    repeated,
)
from qps.compiler.check.names.program import Program
from qps.compiler.check.names.reported_names import report_name
from qps.compiler.check.values.check_expressions import ExpressionChecker
from qps.compiler.check.values.context import KnownDeclarations
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Label, Sink
from qps.compiler.diagnostics.fixits import numbering_hint, single_statement_hint
from qps.compiler.diagnostics.source import Span
from qps.compiler.syntax import ast

T = TypeVar("T")
N = TypeVar("N", bound=ast.Shared)
W = TypeVar("W", bound=ast.Written)


class HasName(Protocol):
    """What stands in a text with a name."""

    @property
    def name(self) -> ast.Name:
        """The name."""

    @property
    def span(self) -> Span:
        """Where all of it stands."""


class DeclarationChecker(Struct, frozen=True):
    """Checks some declarations, by what their expressions come to."""

    expressions: ExpressionChecker

    @property
    def sink(self) -> Sink:
        """Where mistakes go."""
        return self.expressions.context.sink

    @property
    def program(self) -> Program:
        """The program that is checked."""
        return self.expressions.context.program

    @property
    def main(self) -> LoadedModule:
        """The module of the spec itself, or of the instance that is checked."""
        return self.expressions.context.main

    @property
    def known(self) -> KnownDeclarations:
        """What was made of declarations so far."""
        return self.expressions.context.known

    def names(self, kind: type[ast.Named]) -> list[str]:
        """Return the names that the spec itself declares for a kind of things."""
        return [declaration.name.text for declaration in self.main.syntax.every(kind)]

    def named(self, module: LoadedModule, name: ast.Name, kind: type[N]) -> DeclaredAs[N] | None:
        """Return the declaration of a kind that a name means; where it means none, report that."""
        declared = lookup_as(module, name, kind)
        if declared is None:
            report_name(self.sink, module, name, keyword(kind), (kind,))
        return declared

    def cited(self, quantity: ir.Quantity | None, *sources: ast.Text | None) -> ir.Quantity | None:
        """Return a quantity with what is cited for it, the closest before what it is made of."""
        stated = next((source.value for source in sources if source is not None), None)
        if quantity is None or stated is None:
            return quantity
        return replace(quantity, source=stated)

    def are_distinct(self, items: Iterable[HasName], text: str, first: str, hint: str) -> bool:
        """Return whether all names differ; each that comes twice is reported, `text` of it."""
        again = list(repeated(items, lambda item: item.name.text))
        for item, earlier in again:
            self.sink.report(
                codes.DUPLICATE_NAME,
                item.name.span,
                text.format(f"`{item.name.text}`"),
                secondary=[Label(earlier.name.span, first)],
                hint=_distinct(item, hint),
            )
        return not again

    def first(self, found: Sequence[W], text: str, hint: str) -> W | None:
        """Return the first of what there can be one of; all others are reported."""
        for extra in found[1:]:
            first = Label(found[0].span, "first specified here")
            self.sink.report(
                codes.MISPLACED,
                extra.span,
                text,
                secondary=[first],
                hint=single_statement_hint(extra.span, hint),
            )
        return found[0] if found else None


def whole(found: Iterable[T | None]) -> tuple[T, ...] | None:
    """Return all that was found, None where something of it was reported."""
    parts = tuple(found)
    known = sound(parts)
    return known if len(known) == len(parts) else None


def sound(found: Iterable[T | None]) -> tuple[T, ...]:
    """Return what was found without what was reported, which is None."""
    return tuple(part for part in found if part is not None)


def _distinct(item: HasName, text: str) -> str:
    """Return a hint by which something with the name of another one is taken out or renamed."""
    if text == "remove one of them":
        return single_statement_hint(item.span, text)
    return numbering_hint(item.name.span, text) if text.startswith("rename") else text
