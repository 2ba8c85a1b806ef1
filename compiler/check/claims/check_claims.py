"""Claims: `expect` blocks, what they are held against, and how near it must come."""

from __future__ import annotations

from collections.abc import Iterator

from qps.compiler import ir
from qps.compiler.check.claims.check_matrices import MatrixChecker
from qps.compiler.check.claims.claim_subjects import origin_of, queries_model
from qps.compiler.check.model.changes.check_changes import OfChanges
from qps.compiler.check.names.scope import AllowedNames, Scope
from qps.compiler.check.values.definitions import EVERYTHING
from qps.compiler.check.values.part import sound
from qps.compiler.diagnostics import codes
from qps.compiler.ir.parts import parts_of
from qps.compiler.quantities.dimension import Dimension
from qps.compiler.syntax import ast
from qps.compiler.syntax.remarks import remark


class ClaimChecker(OfChanges, frozen=True):
    """Checks what is claimed of a model as it is changed."""

    def expectation(self, item: ast.Expect) -> ir.Expectation | None:
        """Return the claims of an `expect` block."""
        if not item.claims and not item.matrix_claims and not _is_left_open(item):
            self.sink.report(
                codes.MISSING_PART,
                item.name.span,
                f"`{item.name.text}` has no claim",
                hint="add a claim such as `web.cpu.utilization <= 80 % with N = 20`, or a source "
                'and the reason for no claim: `source "…"; note "…"`',
            )
            return None
        if item.source is None:
            self.sink.report(
                codes.NO_SOURCE,
                item.name.span,
                f"claim `{item.name.text}` has no source",
                hint='add `source "…"` for a paper or measurement, or `source model` for your '
                "own assumption",
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
            origin=origin_of(item.source),
            missed=item.missed.value if item.missed else None,
        )

    def _claim(self, item: ast.Claim) -> ir.Claim | None:
        scope = Scope(self.main, EVERYTHING | AllowedNames.HORIZON)
        changes = self.changes.all_of(item.changes, scope)
        if len(changes) < len(item.changes):
            return None
        is_query = queries_model(item.value, self.main)
        if item.claimed is None and (item.simulated is None or _is_condition(item.value)):
            condition = self.expressions.condition(item.value, scope)
            if condition is None:
                return None
            simulated = self._simulated(item, scope, item.value)
            if item.simulated is not None and simulated is None:
                return None
            return ir.Claim(
                value=condition,
                changes=changes,
                span=item.span,
                is_query=is_query,
                simulated=simulated,
            )
        value = self.expressions.quantity(item.value, scope)
        if value is None:
            return None
        simulated = self._simulated(item, scope, item.value)
        if item.simulated is not None and simulated is None:
            return None
        if item.claimed is None:
            return ir.Claim(
                value=value, changes=changes, span=item.span, is_query=is_query, simulated=simulated
            )
        claimed = self.expressions.quantity(item.claimed, scope, value.dimension, "the claim")
        if claimed is None:
            return None
        tolerance = self.tolerance(item.tolerance, value.dimension)
        if tolerance is None:
            if item.tolerance is None:
                self.sink.report(
                    codes.MISSING_PART,
                    item.span,
                    "the claim has no tolerance",
                    hint="add `within 5 %`, or an amount such as `within 2 ms`",
                )
            return None
        return ir.Claim(
            value=value,
            claimed=claimed,
            tolerance=tolerance,
            changes=changes,
            span=item.span,
            is_query=is_query,
            simulated=simulated,
        )

    def _simulated(self, item: ast.Claim, scope: Scope, value: ast.Expr) -> ir.Simulated | None:
        """Return the measures that are to be near what is simulated; None where that is wrong."""
        if item.simulated is None:
            return None
        found: list[ir.Quantity] = []
        for side in _sides_of(value):
            quantity = self.expressions.quantity(side, scope)
            if quantity is None:
                return None
            measures = [
                p for p in parts_of(quantity.expr) if isinstance(p, ir.Measured | ir.Changed)
            ]
            if not measures:
                continue
            reason = not_simulated(quantity.expr)
            if reason is not None:
                self.sink.report(
                    codes.NOT_SIMULATED,
                    side.span,
                    f"`{side.span.text}` cannot be simulated: {reason}",
                    hint="utilization, latency, waiting times, loss and rates can be simulated",
                )
                return None
            found.append(quantity)
        if not found:
            self.sink.report(
                codes.NOT_SIMULATED,
                item.span,
                "this claim has no measure to simulate",
                hint="name one, such as `job.latency simulated within 5 % with N = 20`",
            )
            return None
        tolerance = self.tolerance(item.simulated, found[0].dimension)
        if tolerance is None:
            return None
        if not tolerance.amount:
            self.sink.report(
                codes.OUT_OF_RANGE,
                item.simulated.span,
                "a simulated value has a confidence interval and cannot be exact",
                hint="add a tolerance: `simulated within 5 %`",
            )
            return None
        return ir.Simulated(tuple(found), tolerance)

    def tolerance(self, expr: ast.Expr | None, dimension: Dimension) -> ir.Tolerance | None:
        """Return a tolerance: a percentage is a share of the claim, all else an amount."""
        if expr is None:
            return None
        fixed = Scope(self.main, AllowedNames.NOTHING)
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
                "a tolerance must be a literal number",
                hint="write the number, such as `within 5 %`",
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
            hint="it applies in both directions: remove the minus sign",
        )
        return None


_SIMULATED = frozenset(
    {
        ir.MeasureKind.LATENCY,
        ir.MeasureKind.QUANTILE,
        ir.MeasureKind.LOSS,
        ir.MeasureKind.VOLUNTARY_LOSS,
        ir.MeasureKind.TRANSMISSION_LOSS,
        ir.MeasureKind.RATE,
        ir.MeasureKind.LOAD,
        *ir.WAITS,
    }
)


def not_simulated(expr: ir.Expr) -> str | None:
    """Return why a value is not simulated, None where it is: a measure by itself."""
    if isinstance(expr, ir.Chance):
        return "it needs samples of uncertain inputs"
    if isinstance(expr, ir.Changed):
        return "it applies to a changed model; put the changes after the claim, `with …`"
    if not isinstance(expr, ir.Measured):
        return "it combines several measures; claim each one separately"
    if expr.kind not in _SIMULATED:
        return "a simulation does not produce this value"
    if expr.kind is ir.MeasureKind.LATENCY and expr.component is not None:
        return "a simulation does not measure single calls"
    return None


def _is_left_open(item: ast.Expect) -> bool:
    """Return whether a document states what nobody claims here, and why that is."""
    is_stated = item.source is not None and origin_of(item.source) is not ir.Origin.MODEL
    return is_stated and remark(item.remarks, "note") is not None and item.missed is None


def _is_condition(expr: ast.Expr) -> bool:
    return isinstance(expr, ast.Comparison | ast.Junction | ast.Not)


def _sides_of(expr: ast.Expr) -> Iterator[ast.Expr]:
    """Yield what is compared in a condition, or the value itself."""
    match expr:
        case ast.Not():
            yield from _sides_of(expr.operand)
        case ast.Junction() | ast.Comparison():
            for operand in expr.operands:
                yield from _sides_of(operand)
        case _:
            yield expr


def _is_percentage(expr: ast.Expr) -> bool:
    """Return whether a number of per cents is written: `5 %`, `(1/20) %`."""
    match expr:
        case ast.Quantity(unit=unit):
            return unit.span.text == "%"
        case ast.Product(factors=(_, (False, ast.Reference(name=name)))):
            return name.text == "%"
    return False
