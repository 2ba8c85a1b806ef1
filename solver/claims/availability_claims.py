"""Claims about how often all requirements are met, if machines fail."""

from __future__ import annotations

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.diagnostics.source import Span
from qps.solver.failures.availability import availability
from qps.solver.failures.availability_result import Availability


def is_availability(part: ir.Expr) -> bool:
    """Return whether a part of an expression is the part of time with all requirements met."""
    return isinstance(part, ir.Measured) and part.kind is ir.MeasureKind.AVAILABILITY


def stated_availability(
    model: ir.Model, configuration: Configuration, population: int, span: Span | None
) -> Availability:
    """Return how often all requirements are met. QpsError where nothing is stated to fail."""
    if configuration.mode is not None:
        raise QpsError.single(
            codes.BAD_SETTING,
            span,
            "the availability is that of all modes together",
            hint=f"remove `mode = {configuration.mode}`",
        )
    found = availability(model, configuration, population)
    if found is None:
        raise QpsError.single(
            codes.MISSING_PART,
            span,
            "no machine or network fails, so that the availability is unknown",
            hint="say how often one fails: `machine vm { …; fails every 90 day for 2 hour }`",
        )
    return found
