"""Fitted numbers as quantities: the utilization when idle and the service demands."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.check.values.check_expressions import ExpressionChecker
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


def fitted_number(
    expressions: ExpressionChecker,
    stated: ir.Quantity,
    word: str,
    *,
    weights: Sequence[float],
    freedom: int,
    noise: float,
    table: str,
) -> ir.Quantity:
    """Return a number that was fitted as what it may be, by a parameter named with a word.

    All that is fitted to one `table`, a file and what of it, is drawn together, wherever it is
    named. The others are those of `ir.Fitted`.
    """
    assert isinstance(stated.expr, ir.Constant)
    distribution = ir.Fitted(
        mean=stated.expr.value,
        weights=tuple(weights),
        freedom=freedom,
        noise=noise,
        table=f"{stated.span.source.folder}\0{table}",
    )
    value = ir.Uncertain(stated.expr.value, distribution, stated.span)
    parameter = expressions.parameter_of(replace(stated, expr=value), word)
    return replace(stated, expr=parameter, bound="", source=None)
