"""Planning targets: how full resources may be by plan."""

from __future__ import annotations

from collections.abc import Iterable

from qps.compiler import ir
from qps.compiler.check.names.places import has_resource
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
        scope = self._scope(aim.name)
        fixed = Scope(self.main, Allowed.NOTHING)
        value = self.expressions.quantity(aim.value, fixed, DIMENSIONLESS, "a target")
        if scope is None or value is None:
            return None
        return ir.Target(aim.name.text, scope, value, aim.span)

    def _scope(self, name: ast.Name) -> ir.TargetScope | None:
        """Return what a target holds for; a name of nothing that is loaded is reported."""
        if name.text == _ALL_LINKS:
            return ir.TargetScope.LINKS
        if isinstance(self.main.names.get(name.parts[0]), ast.Node | ast.Link):
            return ir.TargetScope.PLACE if has_resource(self.sink, self.main, name) else None
        if name.text in self.program.resources:
            return ir.TargetScope.RESOURCE
        places = [n for n, d in self.main.names.items() if isinstance(d, ast.Node | ast.Link)]
        known = [*sorted(self.program.resources), _ALL_LINKS, *places]
        self.sink.report(
            codes.UNKNOWN_NAME,
            name.span,
            f"nothing that is loaded is called `{name.text}`",
            hint=offered(name.text, known),
        )
        return None
