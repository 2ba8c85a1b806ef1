"""Measures of a whole system that claims name: until when, how often, and for how much."""

from __future__ import annotations

from fractions import Fraction

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration
from qps.compiler.diagnostics.source import Span
from qps.compiler.quantities.certainty import Certainty
from qps.solver.claims.availability_claims import stated_availability
from qps.solver.claims.cheapest_claims import lowest_cost
from qps.solver.claims.forecast_claims import horizon


def system_measure(
    model: ir.Model,
    configuration: Configuration,
    population: int,
    kind: ir.MeasureKind,
    span: Span | None,
) -> tuple[float | Fraction, Certainty]:
    """Return a measure of a system at a population, and how it is known."""
    if kind is ir.MeasureKind.HOLDS_UNTIL:
        return horizon(model, configuration, span)
    if kind is ir.MeasureKind.AVAILABILITY:
        found = stated_availability(model, configuration, population, span)
        return found.value, found.known
    return lowest_cost(model, configuration, population, kind, span)
