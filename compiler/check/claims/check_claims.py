"""Claims: `expect` blocks, what they are held against, and how near it must come."""

from __future__ import annotations

from qps.compiler import ir
from qps.compiler.check.claims.asking import asks_of_model
from qps.compiler.check.claims.check_matrices import MatrixChecker
from qps.compiler.check.model.check_changes import OfChanges
from qps.compiler.check.names.scope import Allowed, Scope
from qps.compiler.check.values.check_names import EVERYTHING
from qps.compiler.check.values.part import sound
from qps.compiler.diagnostics import codes
from qps.compiler.quantities.dimension import Dimension
from qps.compiler.syntax import ast
from qps.compiler.syntax.remarks import remark


class ClaimChecker(OfChanges, frozen=True):
    """Checks what is claimed of a model as it is changed."""

    def expectation(self, item: ast.Expect) -> ir.Expectation | None:
        """Return the claims of an `expect` block."""
        if not item.claims and not item.matrix_claims:
            self.sink.report(
                codes.MISSING_PART,
                item.name.span,
                f"`{item.name.text}` claims nothing",
                hint="add a claim such as `station.cpu.load <= 80 % with N = 20`",
            )
            return None
        if item.source is None:
            self.sink.report(
                codes.NO_SOURCE,
                item.name.span,
                f"`{item.name.text}` does not say where its claim comes from",
                hint='add `source "…"`: a paper, a measurement; '
                "`source model` where it is our own reckoning or a promise",
            )
        of_matrices = MatrixChecker(self.expressions)
        return ir.Expectation(
            name=item.name.text,
            title=item.title.value if item.title else None,
            claims=sound(map(self._claim, item.claims)),
            source=item.source.value if item.source else None,
            note=remark(item.remarks, "note"),
            fitted=remark(item.remarks, "fitted"),
            span=item.name.span,
            matrix_claims=sound(map(of_matrices.claim, item.matrix_claims)),
            is_our_own=isinstance(item.source, ast.OwnSource),
            missed=item.missed.value if item.missed else None,
        )

    def _claim(self, item: ast.Claim) -> ir.Claim | None:
        scope = Scope(self.main, EVERYTHING)
        changes = self.changes.all_of(item.changes, scope)
        if len(changes) < len(item.changes):
            return None
        asks = asks_of_model(item.value, self.main)
        if item.claimed is None:
            condition = self.expressions.condition(item.value, scope)
            if condition is None:
                return None
            return ir.Claim(value=condition, changes=changes, span=item.span, asks=asks)
        value = self.expressions.quantity(item.value, scope)
        if value is None:
            return None
        claimed = self.expressions.quantity(item.claimed, scope, value.dimension, "the claim")
        if claimed is None:
            return None
        tolerance = self.tolerance(item.tolerance, value.dimension)
        if tolerance is None:
            if item.tolerance is None:
                self.sink.report(
                    codes.MISSING_PART,
                    item.span,
                    "the claim does not say how near the prediction must come",
                    hint="add `within 5 %`, or an amount such as `within 2 ms`",
                )
            return None
        return ir.Claim(
            value=value,
            claimed=claimed,
            tolerance=tolerance,
            changes=changes,
            span=item.span,
            asks=asks,
        )

    def tolerance(self, expr: ast.Expr | None, dimension: Dimension) -> ir.Tolerance | None:
        """Return a tolerance: a percentage is a share of the claim, all else an amount."""
        if expr is None:
            return None
        fixed = Scope(self.main, Allowed.NOTHING)
        operand = expr.operand if isinstance(expr, ast.Negative) else expr
        if _is_percentage(operand):
            share = self.expressions.number(expr, fixed, "a tolerance")
            if share is None:
                return None
            return self._not_negative(ir.Tolerance(share, relative=True), expr)
        amount = self.expressions.quantity(expr, fixed, dimension, "the tolerance")
        if amount is None:
            return None
        if not isinstance(amount.expr, ir.Constant):
            self.sink.report(
                codes.VARIES,
                expr.span,
                "a tolerance must be a number",
                hint="write the number itself, such as `within 5 %`",
            )
            return None
        return self._not_negative(ir.Tolerance(amount.expr.value, relative=False), expr)

    def _not_negative(self, tolerance: ir.Tolerance, expr: ast.Expr) -> ir.Tolerance | None:
        if tolerance.amount >= 0:
            return tolerance
        self.sink.report(
            codes.OUT_OF_RANGE,
            expr.span,
            "a tolerance must be zero or more",
            hint="it holds to both sides: take the minus sign away",
        )
        return None


def _is_percentage(expr: ast.Expr) -> bool:
    """Return whether a number of per cents is written: `5 %`, `(1/20) %`."""
    match expr:
        case ast.Quantity(unit=unit):
            return unit.span.text == "%"
        case ast.Product(factors=(_, (False, ast.Reference(name=name)))):
            return name.text == "%"
    return False
