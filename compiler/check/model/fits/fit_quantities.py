"""Fitted numbers as quantities: the utilization when idle and the service demands."""

from __future__ import annotations

from qps.compiler import ir
from qps.compiler.diagnostics.source import Span
from qps.compiler.measurement.fits import Fit
from qps.compiler.quantities.dimension import DIMENSIONLESS, INFORMATION_BASE, TIME, Dimension


def fitted_idle(fit: Fit, span: Span) -> ir.Quantity:
    """Return the fixed part of a fit as it fits best."""
    percentage = f"{float(fit.fixed * 100):.4g} %"
    return ir.Quantity(
        expr=ir.Constant(fit.fixed), dimension=DIMENSIONLESS, span=span, bound=percentage
    )


def fit_terms(fit: Fit, span: Span) -> tuple[ir.Quantity, ...]:
    """Return the coefficients of a fit as they fit best."""
    return tuple(
        ir.Quantity(
            expr=ir.Constant(term.value),
            dimension=TIME / Dimension.of(term.item),
            span=span,
            bound=f"{float(term.value * demand_scale(term.item)):.4g} {demand_unit(term.item)}",
        )
        for term in fit.terms
    )


def item_word(item: str) -> str:
    """Return the item that a service demand is shown for."""
    return "byte" if item == INFORMATION_BASE else item


def demand_scale(item: str) -> int:
    """Return how many of the units in which a service demand is shown are a second per item."""
    return 8 * 10**9 if item == INFORMATION_BASE else 10**6


def demand_unit(item: str) -> str:
    """Return the unit in which a service demand is shown."""
    return f"{'ns' if item == INFORMATION_BASE else 'us'}/{item_word(item)}"
