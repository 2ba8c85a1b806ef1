"""The metric of quality is checked."""

from __future__ import annotations

from qps.compiler import ir
from qps.compiler.check.names.scope import Allowed, Scope
from qps.compiler.check.values.check_expressions import ExpressionChecker
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Label
from qps.compiler.diagnostics.suggest import did_you_mean
from qps.compiler.quantities.dimension import DIMENSIONLESS
from qps.compiler.syntax import ast


def check_quality(expressions: ExpressionChecker) -> ir.Quality:
    """Return the metric of quality of a spec."""
    main, sink = expressions.context.main, expressions.context.sink
    stated = [d for d in main.syntax.declarations if isinstance(d, ast.Quality)]
    for extra in stated[1:]:
        sink.report(
            codes.MISPLACED,
            extra.span,
            "a spec has one metric of quality",
            secondary=[Label(stated[0].span, "the first one")],
            hint="keep one",
        )
    if not stated:
        return ir.Quality(ir.Metric.EUCLIDEAN, None, None)
    metric = stated[0].metric
    if not isinstance(metric, ast.Name):
        scope = Scope(main, Allowed.MODEL)
        formula = expressions.quantity(metric, scope, DIMENSIONLESS, "quality")
        return ir.Quality(ir.Metric.FORMULA, formula, stated[0].span)
    names = [m.value for m in ir.Metric if m is not ir.Metric.FORMULA]
    if metric.text not in names:
        sink.report(
            codes.UNKNOWN_NAME,
            metric.span,
            f"unknown metric `{metric.text}`",
            hint=did_you_mean(metric.text, names)
            or "there is `euclidean`, `worst`, or a formula: `quality = …`",
        )
        return ir.Quality(ir.Metric.EUCLIDEAN, None, None)
    return ir.Quality(ir.Metric(metric.text), None, stated[0].span)
