"""Claims about the date up to which a forecast is supported."""

from __future__ import annotations

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.diagnostics.source import Span
from qps.compiler.quantities.certainty import Certainty
from qps.solver.calendar.month_search import calendar_answer
from qps.solver.uncertainty.interval_result import Sampling


def is_horizon(part: ir.Expr) -> bool:
    """Return whether a part of an expression is the date up to which a forecast is supported."""
    return isinstance(part, ir.Measured) and part.kind is ir.MeasureKind.HOLDS_UNTIL


def horizon(
    model: ir.Model, configuration: Configuration, span: Span | None
) -> tuple[int, Certainty]:
    """Return the number of the last month that is supported, -1 if the first is not; how certain.

    QpsError where the spec has no forecast.
    """
    found = calendar_answer(model, configuration, None, Sampling())
    if found is None:
        raise QpsError.single(
            codes.MISSING_PART,
            span,
            "the spec has no forecast",
            hint="add a calendar and a forecast: `forecast N = 1_000 * 1.05^date`",
        )
    months = [one.date for one in found.months]
    last = len(months) if found.ends is None else months.index(found.ends)
    return last - 1, found.known
