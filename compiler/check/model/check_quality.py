"""The metric of quality is checked."""

from __future__ import annotations

from qps.compiler import ir
from qps.compiler.check.names.scope import AllowedNames, Scope
from qps.compiler.check.values.part import DeclarationChecker
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.suggest import offered
from qps.compiler.quantities.dimension import DIMENSIONLESS
from qps.compiler.syntax import ast


def check_quality(part: DeclarationChecker) -> ir.Quality:
    """Return the metric of quality of a spec; one that states none has that of its instances."""
    declared = part.main.syntax.every(ast.Quality)
    stated = part.first(declared, "a spec has only one quality metric", "remove one of them")
    if stated is None:
        stated = _of_instances(part)
    if stated is None:
        return ir.Quality(ir.Metric.WORST, None, None)
    metric = stated.metric
    if not isinstance(metric, ast.Name):
        scope = Scope(part.main, AllowedNames.MODEL)
        formula = part.expressions.quantity(metric, scope, DIMENSIONLESS, "quality")
        return ir.Quality(ir.Metric.FORMULA, formula, stated.span)
    names = [m.value for m in ir.Metric if m is not ir.Metric.FORMULA]
    if metric.text not in names:
        part.sink.report(
            codes.UNKNOWN_NAME,
            metric.span,
            f"unknown quality metric `{metric.text}`",
            hint=offered(metric.text, names),
        )
        return ir.Quality(ir.Metric.WORST, None, None)
    return ir.Quality(ir.Metric(metric.text), None, stated.span)


def _of_instances(part: DeclarationChecker) -> ast.Quality | None:
    """Return the metric that instances state, where all that state one state the same."""
    found = [
        stated
        for instance in part.program.systems
        if instance.prefix
        for stated in instance.syntax.every(ast.Quality)
    ]
    words = {stated.metric.text if isinstance(stated.metric, ast.Name) else "" for stated in found}
    return found[0] if len(words) == 1 and "" not in words else None
