"""Requirements: a measure, its limit, and the ideal beyond it."""

from __future__ import annotations

from fractions import Fraction

from qps.compiler import ir
from qps.compiler.check.names.expression_text import text_in_model
from qps.compiler.check.names.scope import AllowedNames, Scope
from qps.compiler.check.values.part import DeclarationChecker
from qps.compiler.check.values.values import mentions_of
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Label
from qps.compiler.quantities.dimension import DIMENSIONLESS
from qps.compiler.syntax import ast

_LEAST_CERTAINTY, _MOST_CERTAINTY = Fraction(1, 2), Fraction(999, 1000)
_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


class RequirementChecker(DeclarationChecker, frozen=True):
    """Checks what `require` blocks hold."""

    def requirement(self, item: ast.Requirement) -> ir.Requirement | None:
        """Return `measure <= limit` with its ideal."""
        condition = item.condition
        if not isinstance(condition, ast.Comparison) or not _has_limit(condition):
            self._not_a_limit(condition)
            return None
        measured, limiting = condition.operands
        scope = Scope(self.main, AllowedNames.MODEL)
        measure = self.expressions.quantity(measured, scope)
        if measure is None or self._is_no_measure(measure, condition, scope):
            return None
        fixed = Scope(self.main, AllowedNames.NOTHING)
        limit = self.cited(
            self.expressions.quantity(limiting, fixed, measure.dimension, "the limit"), item.source
        )
        ideal = None
        if item.ideal is not None:
            ideal = self.cited(
                self.expressions.quantity(item.ideal, fixed, measure.dimension, "the ideal"),
                item.source,
            )
        if limit is None or (ideal is None and item.ideal is not None):
            return None
        certainty = None
        if item.certainty is not None:
            certainty = self._certainty(item, item.certainty)
            if certainty is None:
                return None
        at_most = condition.operators[0] in ("<", "<=")
        if ideal is not None and not self._is_beyond(limit, ideal, at_most=at_most):
            return None
        is_load = isinstance(measure.expr, ir.Measured) and (
            measure.expr.kind is ir.MeasureKind.LOAD
        )
        name = measure_name = text_in_model(measured, self.main)
        if item.certainty is not None:
            stated = " ".join(item.certainty.span.text.split())
            limited = " ".join(limiting.span.text.split())
            name = f"{name} {condition.operators[0]} {limited} with {stated} certainty"
        return ir.Requirement(
            name=name,
            measure_name=measure_name,
            measure=measure,
            limit=limit,
            at_most=at_most,
            strict=condition.operators[0] in ("<", ">"),
            ideal=ideal,
            is_axis=not is_load and (at_most or ideal is not None) and certainty is None,
            span=item.span if certainty is None else condition.span,
            certainty=certainty,
        )

    def _certainty(self, item: ast.Requirement, stated: ast.Expr) -> Fraction | None:
        """Return with what certainty a requirement must hold; None where it was reported."""
        found = self.expressions.quantity(
            stated, Scope(self.main, AllowedNames.NOTHING), DIMENSIONLESS, "a certainty"
        )
        if found is None:
            return None
        problem = None
        if not isinstance(found.expr, ir.Constant):
            problem = stated.span, "a certainty must be a number", "write `with 95 % certainty`"
        elif not _LEAST_CERTAINTY <= found.expr.value <= _MOST_CERTAINTY:
            problem = (
                stated.span,
                "a certainty must be from 50 % to 99.9 %",
                "write `with 95 % certainty`",
            )
        elif item.ideal is not None:
            problem = (
                item.ideal.span,
                "a requirement with a certainty cannot have an ideal",
                "declare the ideal in a separate requirement without a certainty",
            )
        else:
            return found.expr.value
        span, message, hint = problem
        self.sink.report(codes.CERTAINTY, span, message, hint=hint)
        return None

    def _not_a_limit(self, condition: ast.Expr) -> None:
        hint = "write `voice.latency <= 230 ms`"
        if isinstance(condition, ast.Junction):
            hint = "write each requirement on a line of its own"
        elif isinstance(condition, ast.Comparison) and len(condition.operators) > 1:
            hint = "write two requirements, one for each limit"
        elif isinstance(condition, ast.Comparison):
            hint = "limit it with `<=` or `>=`"
        self.sink.report(
            codes.NOT_A_CONDITION,
            condition.span,
            "a requirement compares a measure with its limit",
            hint=hint,
        )

    def _is_no_measure(self, left: ir.Quantity, condition: ast.Comparison, scope: Scope) -> bool:
        """Return whether the left side is fixed, so that nothing is limited; it is reported."""
        if mentions_of(left.expr) or not isinstance(left.expr, ir.Constant | ir.ParameterValue):
            return False
        first, second = condition.operands
        if isinstance(left.expr, ir.Constant) and isinstance(first, ast.Reference):
            return False  # a `measure` that happens to be fixed
        right = self.expressions.quantity(second, scope)
        if right is None:
            return True
        hint = "name a measure, such as `replies.latency` or `web.cpu.utilization`"
        if mentions_of(right.expr):
            turned = _TURNED[condition.operators[0]]
            hint = f"swap the sides: `{second.span.text} {turned} {first.span.text}`"
        elif isinstance(left.expr, ir.ParameterValue):
            return False
        self.sink.report(
            codes.MISPLACED,
            first.span,
            "a requirement must start with a measure; this is a constant",
            hint=hint,
        )
        return True

    def _is_beyond(self, limit: ir.Quantity, ideal: ir.Quantity, *, at_most: bool) -> bool:
        """Return whether the ideal is better than the limit; where it is not, it is reported."""
        if not isinstance(limit.expr, ir.Constant) or not isinstance(ideal.expr, ir.Constant):
            return True
        better = ideal.expr.value < limit.expr.value
        if better == at_most and ideal.expr.value != limit.expr.value:
            return True
        self.sink.report(
            codes.OUT_OF_RANGE,
            ideal.span,
            "the ideal must be better than the limit",
            secondary=[Label(limit.span, "the limit")],
            hint="swap the two, or change one of them",
        )
        return False


def _has_limit(condition: ast.Comparison) -> bool:
    return len(condition.operators) == 1 and condition.operators[0] in _TURNED
