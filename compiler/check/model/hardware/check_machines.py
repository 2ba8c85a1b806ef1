"""Machines: what they have, of themselves or of what they are made of, and their ratings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from qps.compiler import ir
from qps.compiler.check.model.hardware.check_families import (
    FamilyChecker,
    Member,
    doc_of,
    origins_of,
    source_of,
)
from qps.compiler.check.model.hardware.check_resources import (
    ResourceChecker,
    ResourceDeclarations,
    merged,
)
from qps.compiler.check.names.declarations import DeclaredAs
from qps.compiler.check.names.scope import AllowedNames, Scope
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.fixits import instead, renaming_hint
from qps.compiler.diagnostics.suggest import closest
from qps.compiler.quantities.unit_binding import advice
from qps.compiler.syntax import ast
from qps.grammar.words import NO_RESOURCES

_SIMILAR_ENOUGH = 0.74
_OF_A_RESOURCE = (*ast.OF_A_RESOURCE, "queueing")


class MachineChecker(ResourceChecker, frozen=True):
    """Checks the machines that a model may use, each once."""

    def machine(
        self, declared: DeclaredAs[ast.Machine], stands: ast.Reference | ast.Call, scope: Scope
    ) -> ir.Machine | None:
        """Return the machine that stands somewhere; None where it was reported."""
        return FamilyChecker(self.expressions).standing(declared, stands, scope, self._known)

    def plain(self, declared: DeclaredAs[ast.Machine]) -> ir.Machine | None:
        """Return a machine that takes no arguments, or None where it was reported."""
        return self._known(declared.qualified, declared, {})

    def _known(
        self, name: str, declared: DeclaredAs[ast.Machine], ratings: dict[str, ir.Quantity]
    ) -> ir.Machine | None:
        if name not in self.known.machines:
            self.known.machines[name] = self._machine(name, declared, ratings)
        return self.known.machines[name]

    def unused(self, declared: DeclaredAs[ast.Machine]) -> None:
        """Check a machine with parameters that stands nowhere: the names in it."""
        own = declared.declaration
        formals = self.expressions.unknown(declared, own.formals, own.name.span)
        if formals is None:
            return
        stated: list[ast.Expr | ast.Fit] = [item.capacity for item in own.resources]
        stated += [a.value for i in own.resources for a in i.attributes if a.name.text == "idle"]
        stated += [*own.ratings, *([] if own.price is None else [own.price])]
        stated += [] if own.failing is None else [own.failing.every, own.failing.repair]
        stated += [] if own.parent is None else own.parent.arguments
        scope = Scope(declared.module, AllowedNames.NOTHING, formals)
        for expr in stated:
            if not isinstance(expr, ast.Fit):
                self.expressions.quantity(expr, scope)

    def _machine(
        self, name: str, declared: DeclaredAs[ast.Machine], quantities: dict[str, ir.Quantity]
    ) -> ir.Machine | None:
        line = FamilyChecker(self.expressions).line(declared, AllowedNames.NOTHING, quantities)
        if line is None:
            return None
        built = {name: self.resource(stated) for name, stated in self._stated_by(line).items()}
        resources = {name: resource for name, resource in built.items() if resource is not None}
        ratings = self._ratings(line, resources)
        price, price_date = self.price_of(line)
        failing = [(m.own.failing, m.scope) for m in line if m.own.failing is not None]
        failures = self.failures(*failing[0]) if failing else None
        if len(resources) < len(built) or ratings is None:
            return None
        return ir.Machine(
            name=name,
            resources=tuple(resources.values()),
            ratings=ratings,
            price=price,
            price_date=price_date,
            failures=failures,
            span=declared.declaration.name.span,
            source=source_of(line),
            doc=doc_of(line),
            family=tuple(m.declared.qualified for m in line if m.declared.qualified != name),
            origins=origins_of(line),
        )

    def _stated_by(self, line: Sequence[Member[ast.Machine]]) -> dict[str, ResourceDeclarations]:
        """Return what a machine and its parents state of each resource, in the parents' order."""
        found: dict[str, ResourceDeclarations] = {}
        for member in reversed(line):
            declaration = member.own
            items = declaration.resources
            self.are_distinct(
                items, "resource {} is declared twice", "first declared here", "remove one of them"
            )
            self._misplaced(declaration, found)
            for item in items:
                self._is_no_word(item.name)
                self.check_attributes(item)
                found[item.name.text] = merged(found.get(item.name.text), item, member.scope)
        return found

    def _is_no_word(self, name: ast.Name) -> None:
        """Report a resource whose costs a component would read as something else."""
        if name.text in NO_RESOURCES:
            self.sink.report(
                codes.RESERVED_WORD,
                name.span,
                f"`{name.text}` is a reserved word and cannot name a resource",
                hint=renaming_hint(
                    name.span,
                    f"rename it, for example to `{name.text}_`; `{name.text} 3 ms/packet` "
                    "has another meaning",
                ),
            )

    def _misplaced(
        self, declaration: ast.Machine, parents: Mapping[str, ResourceDeclarations]
    ) -> None:
        """Report what a member of a family says of no resource, or of one by a misspelt word."""
        for said in declaration.of_nothing:
            self.sink.report(
                codes.MISPLACED,
                said.span,
                f"`{said.span.text.split()[0]}` needs a resource before it",
                hint=f"name the resource first: `with cpu 2 core, {said.span.text}`",
            )
        for item in declaration.resources if declaration.parent is not None else ():
            near = closest(item.name.text, _OF_A_RESOURCE, _SIMILAR_ENOUGH)
            if near is not None and item.name.text not in parents:
                self.sink.report(
                    codes.UNKNOWN_NAME,
                    item.name.span,
                    f"unknown attribute `{item.name.text}` of a resource",
                    hint=instead(item.name.text, near, words=f"did you mean `{near}`?"),
                )

    def _ratings(
        self, line: Sequence[Member[ast.Machine]], resources: Mapping[str, ir.Resource]
    ) -> tuple[tuple[str, ir.Quantity], ...] | None:
        """Return all ratings by what they are counted in; those of the nearest go before."""
        ratings: dict[str, ir.Quantity] = {}
        for resource in resources.values():
            base = resource.speed.dimension.single_base if resource.speed else None
            if base is not None and resource.speed is not None:
                ratings[base] = resource.speed
        stated = [(expr, m.scope) for m in reversed(line) for expr in m.own.ratings]
        for expr, scope in stated:
            rating = self.expressions.quantity(expr, scope)
            if rating is None:
                return None
            base = rating.dimension.single_base
            if base not in self.program.rating_bases:
                advised = advice(
                    rating,
                    lambda other: other.single_base in self.program.rating_bases,
                    "declare one: `unit SPECint92 of rating`",
                )
                self.sink.report(
                    codes.WRONG_DIMENSION,
                    expr.span,
                    f"a rating needs a unit of rating, not {rating.dimension.in_words}",
                    hint=advised,
                )
                return None
            assert base is not None
            ratings[base] = rating
        return tuple(ratings.items())
