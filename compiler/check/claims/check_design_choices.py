"""What may be chosen: `choose { web in [small * 1..40, large * 1..10] }`."""

from __future__ import annotations

from qps.compiler import ir
from qps.compiler.check.claims.check_axes import AxisChecker
from qps.compiler.check.claims.check_rows import RowConditions
from qps.compiler.check.model.changes.check_changes import OfChanges
from qps.compiler.check.names.scope import Scope
from qps.compiler.check.values.definitions import EVERYTHING
from qps.compiler.check.values.part import sound
from qps.compiler.diagnostics import codes
from qps.compiler.ir.parts import words_in
from qps.compiler.syntax import ast
from qps.compiler.syntax.remarks import remark

_MODE = "mode"
_AS_A_REQUIREMENT = (
    "write the opposite in `require { … }`: a plan meets all requirements, such as "
    "`running_cost <= 500 $/month`"
)


class DesignChoiceChecker(OfChanges, frozen=True):
    """Checks `choose` blocks."""

    def choices(self, item: ast.Choose) -> ir.DesignChoices | None:
        """Return what may be chosen, or None where it was reported."""
        changes = self.changes.all_of(item.changes, Scope(self.main))
        checker = AxisChecker(self.expressions)
        axes = sound(map(checker.axis, item.axes))
        if not item.axes:
            self.refuse(
                codes.MISSING_PART,
                item.name.span,
                "nothing can be chosen here",
                "list what may be bought, such as `web in [small * 1..40, large * 1..10]`",
            )
        are_distinct = self.are_distinct(
            item.axes, "{} is already chosen", "first declared here", "list all its values together"
        )
        scope = Scope(self.main, EVERYTHING)
        conditions = RowConditions(self.expressions)
        excluded = [
            conditions.input_condition(expr, scope, _AS_A_REQUIREMENT) for expr in item.excluded
        ]
        objective = None
        if item.objective is not None:
            objective = self.expressions.quantity(item.objective, scope)
            if objective is None:
                return None
        modes = [one.name.span for one in item.axes if one.name.text == _MODE]
        modes += [
            expr.span
            for expr, condition in zip(item.excluded, excluded, strict=True)
            if condition is not None and _MODE in words_in(condition)
        ]
        for span in modes:
            self.refuse(
                codes.BAD_SETTING,
                span,
                "a mode cannot be chosen: a plan meets the requirements in every mode",
                "remove it; to plan for one mode alone, write `choose with mode = NAME { … }`",
            )
        is_sound = are_distinct and not modes and len(axes) == len(item.axes) > 0
        if not is_sound or len(changes) < len(item.changes) or len(excluded) > len(sound(excluded)):
            return None
        return ir.DesignChoices(
            name=item.name.text,
            title=item.title.value if item.title else None,
            changes=changes,
            axes=axes,
            excluded=sound(excluded),
            objective=objective,
            source=item.source.value if item.source else None,
            note=remark(item.remarks, "note"),
            span=item.name.span,
        )
