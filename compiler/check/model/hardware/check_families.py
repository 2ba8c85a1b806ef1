"""Families: a machine, network or component that is another one but for what it names."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from msgspec import Struct, structs

from qps.compiler import ir
from qps.compiler.check.names.declarations import DeclaredAs, keyword
from qps.compiler.check.names.expression_text import text_in_model
from qps.compiler.check.names.scope import AllowedNames, Scope
from qps.compiler.check.values.part import DeclarationChecker
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Label
from qps.compiler.diagnostics.source import Span
from qps.compiler.syntax import ast

DEEPEST_FAMILY = 40
"""Generations of a family beyond which it is refused."""

K = TypeVar("K", ast.Machine, ast.Network, ast.Component)
M = TypeVar("M")


class Member(Struct, Generic[K], frozen=True):
    """A member of a family, and what its expressions may name."""

    declared: DeclaredAs[K]
    scope: Scope

    @property
    def own(self) -> K:
        """What it says itself."""
        return self.declared.declaration


class FamilyChecker(DeclarationChecker, frozen=True):
    """Follows what is another one to the one that all of it stands in."""

    def line(
        self, declared: DeclaredAs[K], allowed: AllowedNames, formals: dict[str, ir.Quantity]
    ) -> tuple[Member[K], ...] | None:
        """Return what is declared and its parents, the nearest first; None where one fails."""
        kind = type(declared.declaration)
        found = [Member(declared, Scope(declared.module, allowed, formals))]
        while (parent := found[-1].declared.declaration.parent) is not None:
            child = found[-1]
            above = self.named(child.scope.module, parent.name, kind)
            if above is None:
                return None
            circle = [m.declared for m in found if m.declared.is_same(above)]
            if circle:
                self.report_circle([m.declared for m in found], above)
                return None
            if len(found) == DEEPEST_FAMILY:
                self._report_depth(declared)
                return None
            own = above.declaration
            given = self.expressions.arguments(
                own.name, own.formals, parent.arguments, parent.span, above, child.scope
            )
            if given is None:
                return None
            handed = child.scope.formals  # what is handed on as it is keeps where it was written
            given = {name: handed.get(number.span.text, number) for name, number in given.items()}
            found.append(Member(above, Scope(above.module, allowed, given)))
        return tuple(found)

    def standing(
        self,
        declared: DeclaredAs[K],
        stands: ast.Reference | ast.Call,
        scope: Scope,
        known: Callable[[str, DeclaredAs[K], dict[str, ir.Quantity]], M | None],
    ) -> M | None:
        """Return what stands somewhere, with its arguments; None where it was reported.

        One with arguments is called as the spec itself writes it, `pod(4, 8 GB)`; `known` makes it.
        """
        called = self._called(declared, stands, scope)
        if called is None:
            return None
        name, given = called
        return self._instantiate(stands, lambda: known(name, declared, given))

    def _called(
        self, declared: DeclaredAs[K], stands: ast.Reference | ast.Call, scope: Scope
    ) -> tuple[str, dict[str, ir.Quantity]] | None:
        """Return how what stands somewhere is called, and its arguments: `pod(4, 8 GB)`."""
        declaration = declared.declaration
        formals = declaration.formals
        arguments = stands.arguments if isinstance(stands, ast.Call) else ()
        if not formals and not arguments:
            return declared.qualified, {}
        given = self.expressions.arguments(
            declaration.name, formals, arguments, stands.span, declared, scope
        )
        numbers = [self.expressions.quantity(argument, scope) for argument in arguments]
        if given is None or None in numbers:
            return None
        texts = [text_in_model(argument, scope.module) for argument in arguments]
        written = ", ".join(" ".join(re.sub("#.*", "", text).split()) for text in texts)
        return f"{declared.qualified}({written})", given

    def _instantiate(self, stands: ast.Reference | ast.Call, make: Callable[[], M]) -> M:
        """Return what is made with arguments; what is wrong with it is reported with its use."""
        if not isinstance(stands, ast.Call):
            return make()
        with self.sink.aside() as found:
            made = make()
        for one in found:
            used = Label(stands.span, "used here, with these arguments")
            self.sink.add(structs.replace(one, secondary=(*one.secondary, used)))
        return made

    def report_circle(
        self, line: list[DeclaredAs[K]], again: DeclaredAs[K], hint: str = ""
    ) -> None:
        """Report what is itself but for something: once, at the one that stands first."""
        at: int = next(i for i, one in enumerate(line) if one.is_same(again))
        begins: int = min(range(at, len(line)), key=lambda i: _place(line[i]))
        circle = line[begins:] + line[at:begins]
        names = " -> ".join([one.qualified for one in circle] + [circle[0].qualified])
        kind = keyword(type(again.declaration))
        self.sink.report(
            codes.DEFINITION_CYCLE,
            circle[0].declaration.name.span,
            f"this {kind} is defined in terms of itself: {names}",
            secondary=[Label(one.declaration.name.span, "and here") for one in circle[1:]],
            hint=hint
            or f"define one of them in full: `{kind} {circle[0].declaration.name.text} {{ … }}`",
        )

    def _report_depth(self, declared: DeclaredAs[K]) -> None:
        name = declared.declaration.name
        self.sink.report(
            codes.TOO_DEEP,
            name.span,
            f"`{name.text}` is derived more than {DEEPEST_FAMILY} levels deep",
            hint="derive it from one closer to the base",
        )


def source_of(line: Sequence[Member[K]]) -> str | None:
    """Return where a member of a family comes from: its own source, else its parent's."""
    return next((m.own.source.value for m in line if m.own.source is not None), None)


def doc_of(line: Sequence[Member[K]]) -> str | None:
    """Return what is said of a member of a family: its own doc string, else its parent's."""
    return next((m.own.doc for m in line if m.own.doc is not None), None)


def origins_of(line: Sequence[Member[K]]) -> tuple[tuple[Span, str | None], ...]:
    """Return where the numbers of each of a family come from, by where it stands."""
    return tuple((m.own.span, m.own.source.value if m.own.source else m.own.doc) for m in line)


def _place(declared: DeclaredAs[K]) -> tuple[str, int]:
    span = declared.declaration.name.span
    return span.source.label, span.start
