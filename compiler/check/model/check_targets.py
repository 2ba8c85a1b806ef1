"""Planning targets: how full resources may be by plan."""

from __future__ import annotations

from collections.abc import Iterable

from qps.compiler import ir
from qps.compiler.check.names.declarations import names_of, owner_in
from qps.compiler.check.names.places import has_resource, resource_name
from qps.compiler.check.names.scope import Allowed, Scope
from qps.compiler.check.values.part import Part
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Label
from qps.compiler.diagnostics.suggest import offered
from qps.compiler.quantities.dimension import DIMENSIONLESS
from qps.compiler.syntax import ast

_ALL_LINKS = "link"


class TargetChecker(Part, frozen=True):
    """Checks planning targets."""

    def targets(self, declared: Iterable[ast.Target]) -> tuple[ir.Target, ...]:
        """Return the targets that are sound, each stated once."""
        seen: dict[str, ast.Aim] = {}
        found = []
        for aim in (aim for target in declared for aim in target.aims):
            earlier = seen.setdefault(aim.name.text, aim)
            if earlier is not aim:
                self.sink.report(
                    codes.MISPLACED,
                    aim.span,
                    f"the target of `{aim.name.text}` is stated twice",
                    secondary=[Label(earlier.span, "first stated here")],
                    hint="keep one",
                )
                continue
            target = self._target(aim)
            if target is not None:
                found.append(target)
        return tuple(found)

    def _target(self, aim: ast.Aim) -> ir.Target | None:
        fixed = Scope(self.main, Allowed.NOTHING)
        value = self.expressions.quantity(aim.value, fixed, DIMENSIONLESS, "a target")
        scope, name = self._scope(aim.name)
        if scope is None or value is None:
            return None
        return ir.Target(name, scope, value, aim.span, self.main.prefix)

    def _scope(self, name: ast.Name) -> tuple[ir.TargetScope | None, str]:
        """Return what a target holds for, and its name; a name of nothing loaded is reported."""
        if name.text == _ALL_LINKS:
            return ir.TargetScope.LINKS, name.text
        owner, rest = owner_in(self.main, name)
        if owner is not None and isinstance(owner.declaration, ast.Node | ast.Link):
            is_known = has_resource(self.sink, owner, rest, name)
            place = ir.TargetScope.PLACE if is_known else None
            return place, resource_name(owner, rest, name.span)
        if name.text in self.program.resources:
            return ir.TargetScope.RESOURCE, name.text
        places = names_of(self.main, (ast.Node, ast.Link))
        known = [*sorted(self.program.resources), _ALL_LINKS, *places]
        self.sink.report(
            codes.UNKNOWN_NAME,
            name.span,
            f"nothing that is loaded is called `{name.text}`",
            hint=offered(name.text, known),
        )
        return None, ""
