"""Steps at a node: what is done, how often, under which condition, and to whom it is sent on."""

from __future__ import annotations

from msgspec import field

from qps.compiler import ir
from qps.compiler.check.model.check_components import ComponentChecker
from qps.compiler.check.model.check_groups import GroupChecker
from qps.compiler.check.names.declarations import lookup, lookup_as, report_name
from qps.compiler.check.names.scope import Allowed, Scope
from qps.compiler.check.values.check_conditions import choices_of
from qps.compiler.check.values.part import Part
from qps.compiler.diagnostics import codes
from qps.compiler.quantities.dimension import DIMENSIONLESS
from qps.compiler.syntax import ast

_CASTS = ("unicast", "multicast")


class StepChecker(Part, frozen=True, kw_only=True):
    """Checks steps over the nodes that there are."""

    components: ComponentChecker
    nodes: dict[str, ir.Node]
    used_components: set[str] = field(default_factory=set)

    @property
    def groups(self) -> GroupChecker:
        """What checks what is said of groups."""
        return GroupChecker(self.expressions)

    def node(self, name: ast.Name) -> str | None:
        """Return the node of a name; one that failed is reported where it stands."""
        declared = lookup(self.main, name)
        if declared is None or not isinstance(declared.declaration, ast.Node):
            report_name(self.sink, self.main, name, "node", (ast.Node,))
            return None
        return declared.qualified if declared.qualified in self.nodes else None

    def step(self, item: ast.Step, node: str | None) -> ir.Step | None:
        """Return a step; every part of it is looked at, also where another one failed."""
        scope = Scope(self.main, Allowed.FLOWS)
        component = self._placed_component(item, scope)
        repeat = None
        if item.repeat is not None:
            times = self.expressions.quantity(item.repeat, scope, DIMENSIONLESS, "a repetition")
            repeat = times.expr if times else None
        condition = None
        if item.condition is not None:
            fixed = Scope(self.main, Allowed.NOTHING)
            condition = self.expressions.condition(item.condition, fixed)
        spread = None if item.spread is None else self._spread(item.spread, node)
        group = None if item.group is None else self.groups.group(item.group)
        if component is None or (group is not None and not self.groups.merges(item, component)):
            return None
        return ir.Step(
            component=component,
            repeat=repeat,
            spread=spread,
            condition=condition,
            span=item.component.span,
            group=group,
        )

    def _placed_component(self, item: ast.Step, scope: Scope) -> ir.Component | None:
        declared = self.named(self.main, item.component, ast.Component)
        if declared is None:
            return None
        declaration = declared.declaration
        self.used_components.add(declared.qualified)
        formals = self.expressions.arguments(
            declaration.name, declaration.formals, item.arguments, item.span, declared, scope
        )
        return None if formals is None else self.components.component(declared, formals)

    def _spread(self, item: ast.Spread, node: str | None) -> ir.Spread | None:
        target = node if item.target is None else self.node(item.target)
        if target is None:
            return None
        group = most = None
        if item.group is not None:
            group = self.groups.group(item.group)
            most = None if item.most is None else self.groups.most(item.most)
            if group is None or (most is None and item.most is not None):
                return None
        cast: bool | str = False
        if item.cast is not None:
            if item.cast.text in _CASTS:
                cast = item.cast.text == "multicast"
            else:
                declared = lookup_as(self.main, item.cast, ast.Option)
                if declared is None or set(choices_of(declared)) != set(_CASTS):
                    self.sink.report(
                        codes.WRONG_KIND,
                        item.cast.span,
                        f"`{item.cast.text}` does not choose between unicast and multicast",
                        hint="declare `option cast = unicast or multicast`",
                    )
                    return None
                cast = declared.qualified
        kind = ir.SpreadKind(item.kind)
        return ir.Spread(
            kind=kind,
            target=None if group else target,
            cast=cast,
            span=item.span,
            group=group,
            most=most,
        )
