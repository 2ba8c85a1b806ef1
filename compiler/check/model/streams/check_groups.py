"""Groups of users, and the streams that stay within them."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from qps.compiler import ir
from qps.compiler.check.names.declarations import DeclaredAs, LoadedModule
from qps.compiler.check.names.scope import AllowedNames, Scope
from qps.compiler.check.values.part import DeclarationChecker
from qps.compiler.check.values.values import mentions_of
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Label
from qps.compiler.diagnostics.source import Span
from qps.compiler.ir.parts import parts_of
from qps.compiler.quantities.dimension import DIMENSIONLESS
from qps.compiler.syntax import ast

_ONE = Fraction(1)


class GroupChecker(DeclarationChecker, frozen=True):
    """Checks groups, and what streams say of them."""

    def groups(self, declared: Iterable[DeclaredAs[ast.Group]]) -> tuple[ir.Group, ...]:
        """Return the groups that are sound."""
        sound: dict[str, ir.Group] = {}
        for found in declared:
            group = self._group(found)
            if group is not None and self._is_of_users(group, set(sound)):
                sound[group.name] = group
        return tuple(sound.values())

    def _is_of_users(self, group: ir.Group, known: set[str]) -> bool:
        """Return whether a size rests on the users and on groups above it; else it is reported."""
        for part in parts_of(group.size.expr):
            is_other = isinstance(part, ir.Members | ir.GroupCount) and part.group not in known
            if is_other or isinstance(part, ir.NodeCount):
                self.sink.report(
                    codes.DEFINITION_CYCLE,
                    group.size.span,
                    f"the size of `{group.name}` depends on "
                    + (
                        "a count of machines"
                        if isinstance(part, ir.NodeCount)
                        else "itself or on a group declared below it"
                    ),
                    hint="use a number, a parameter, or the members of a group declared above it",
                )
                return False
        return True

    def _group(self, declared: DeclaredAs[ast.Group]) -> ir.Group | None:
        """Return a group of users."""
        declaration = declared.declaration
        scope = Scope(declared.module, AllowedNames.POPULATION)
        what = "the size of a group"
        size = self.expressions.quantity(declaration.size, scope, DIMENSIONLESS, what)
        size = self.cited(size, declaration.source)
        if size is None:
            return None
        users = self.users_of(declared.module, declaration.share)
        return ir.Group(
            name=declared.qualified,
            size=size,
            span=declaration.name.span,
            doc=declaration.doc,
            users=users,
        )

    def users_of(self, module: LoadedModule, share: ast.Expr | None = None) -> ir.Expr | None:
        """Return the users of the instance that a module is in; None for those of the spec.

        Where a share is reported, these are a part of them.
        """
        system = self.program.system_of(module)
        users = next((d for d in system.names.values() if isinstance(d, ast.Users)), None)
        if users is None or not (system.prefix or share):
            return None
        if share is not None:
            quantity = self.expressions.quantity(
                ast.Product(
                    share.span, ((False, ast.Reference(share.span, users.name)), (False, share))
                ),
                Scope(module, AllowedNames.POPULATION),
            )
            return None if quantity is None else quantity.expr
        name = ast.Reference(users.name.span, users.name)
        quantity = self.expressions.quantity(name, Scope(system, AllowedNames.POPULATION))
        return (
            None if quantity is None or isinstance(quantity.expr, ir.Population) else quantity.expr
        )

    def group(self, name: ast.Name) -> str | None:
        """Return the group of a name; what is none is reported."""
        declared = self.named(self.main, name, ast.Group)
        return None if declared is None else declared.qualified

    def in_each(self, each: ast.Each) -> ir.InEachGroup | None:
        """Return how many flows a stream has in each group: `for 2 in each room`."""
        flows = ir.Quantity(expr=ir.Constant(_ONE), dimension=DIMENSIONLESS, span=each.name.span)
        if each.flows is not None:
            scope = Scope(self.main, AllowedNames.POPULATION)
            what = "a number of flows"
            stated = self.expressions.quantity(each.flows, scope, DIMENSIONLESS, what)
            if stated is None:
                return None
            flows = stated
        group = self.group(each.name)
        return None if group is None else ir.InEachGroup(group, flows)

    def most(self, written: ast.Expr) -> ir.Quantity | None:
        """Return how many streams of its group each receiver gets at most."""
        scope = Scope(self.main, AllowedNames.POPULATION)
        return self.expressions.quantity(written, scope, DIMENSIONLESS, "how many at most")

    def merges(self, step: ast.Step, component: ir.Component) -> bool:
        """Return whether a step that works within groups merges flows; else it is reported."""
        if any(effect.kind is ir.EffectKind.MERGE for effect in component.effects):
            return True
        assert step.group is not None
        self.sink.report(
            codes.MISPLACED,
            step.group.span,
            f"`{component.name}` has no `merge` to keep within a group",
            hint=f"to send within the group, write `{component.name} to others in "
            f"{step.group.text}`, or `to all in {step.group.text}`",
        )
        return False

    def divides(self, stream: ir.Stream, nodes: dict[str, ir.Node]) -> None:
        """Report a stream that is kept within groups, but is not one of the users."""
        named = [
            (step.span if step.spread is None else step.spread.span, name)
            for leg in stream.legs
            if isinstance(leg, ir.Visit)
            for step in leg.steps
            for name in (step.group, step.spread.group if step.spread else None)
            if name is not None
        ]
        whose = stream.flows_from
        if not named or isinstance(whose, ir.InEachGroup) or whose is ir.Whose.EACH_USER:
            return
        if isinstance(whose, ir.EachPair):
            if whose.group is None:
                self._not_of_pairs(stream, named[0])
            return
        node = None if isinstance(whose, ir.Whose) else nodes[whose]
        if node is not None and AllowedNames.POPULATION in mentions_of(node.count):
            return
        users = self.users_of(self.main)
        if node is not None and users is not None and not mentions_of(users):
            return  # the users of the instance are a fixed number: so is the count of their node
        has = "one flow in all" if node is None else f"a flow for each machine of `{node.name}`"
        span, group = named[0]
        self.sink.report(
            codes.STREAM_ORDER,
            span,
            f"group `{group}` divides users, but `{stream.name}` has {has} for any number of users",
            secondary=[]
            if node is None
            else [Label(node.span, "this count does not depend on the population")],
            hint=f"declare it for users: `stream {stream.name} for each user`, or `for each "
            f"{group}` for one per group",
        )

    def _not_of_pairs(self, stream: ir.Stream, named: tuple[Span, str]) -> None:
        """Report a stream of pairs of machines that is kept within groups of users."""
        span, group = named
        self.sink.report(
            codes.STREAM_ORDER,
            span,
            f"group `{group}` divides users, but `{stream.name}` has one flow for each "
            "pair of machines",
            hint=f"use pairs of members: `stream {stream.name} for each pair in each {group}`",
        )
