"""Fitted numbers as quantities: the utilization when idle and the service demands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.check.values.check_expressions import ExpressionChecker
from qps.compiler.diagnostics.source import Span
from qps.compiler.measurement.cost_products import CostProduct, CurveKind, item_word
from qps.compiler.measurement.fit_terms import Factor, FittedCurve, FitTerm
from qps.compiler.measurement.fits import CostFit
from qps.compiler.quantities.dimension import DIMENSIONLESS, INFORMATION_BASE, TIME, Dimension
from qps.compiler.quantities.scales import quantity

_TIMES = ("s", "ms", "us", "ns", "ps", "fs")


def fitted_idle(fit: CostFit, span: Span) -> ir.Quantity:
    """Return the fixed part of a fit as it fits best."""
    percentage = f"{float(fit.fixed * 100):.4g} %"
    return ir.Quantity(
        expr=ir.Constant(fit.fixed), dimension=DIMENSIONLESS, span=span, bound=percentage
    )


def fit_terms(fit: CostFit, span: Span) -> tuple[ir.Quantity, ...]:
    """Return the coefficients of a fit as they fit best."""
    return tuple(
        ir.Quantity(
            expr=ir.Constant(term.value),
            dimension=_dimension(term),
            span=span,
            bound=_shown(term),
        )
        for term in fit.terms
    )


def _shown(term: FitTerm) -> str:
    value = float(term.value)
    scale, unit = shown_demand(term.item, term.factors, value, term.curve)
    return f"{value * scale:.4g} {unit}"


def shown_demand(
    item: str, factors: Sequence[Factor], value: float, curve: FittedCurve | None = None
) -> tuple[float, str]:
    """Return what to multiply a service demand with to show it, and the unit that it has then.

    >>> shown_demand("request", (), 3e-6)
    (1000000, 'us/request')
    """
    at = "" if curve is None else f" at {_reference(curve)}"
    if not factors:
        return demand_scale(item), f"{demand_unit(item)}{at}"
    scale = 8.0 if item == INFORMATION_BASE else 1.0
    for factor in factors:
        scale *= 8.0 ** int(factor.dimension.exponent(INFORMATION_BASE) * factor.exponent)
    powers = tuple((factor.name, factor.exponent) for factor in factors)
    per = CostProduct(item, powers).written
    thousands = 0
    while thousands < len(_TIMES) - 1 and 0 < abs(value * scale) * 1000**thousands < 1:
        thousands += 1
    return scale * 1000**thousands, f"{_TIMES[thousands]} per {per}{at}"


def _reference(curve: FittedCurve) -> str:
    """Return where a curve is one, as it is shown: `size = 1 kB`."""
    if curve.kind is CurveKind.WAKEUPS:
        return f"low {curve.name}"
    return f"{curve.name} = {quantity(float(curve.reference), curve.dimension)}"


def shown_curve(curve: FittedCurve) -> tuple[float, str]:
    """Return what to multiply the number of a curve with to show it, and its unit then."""
    if curve.kind is CurveKind.POWER:
        return 1.0, ""
    item = (curve.dimension * TIME).single_base
    return (1.0, "") if item is None else (demand_scale(item), demand_unit(item))


def curve_number(curve: FittedCurve, span: Span) -> ir.Quantity:
    """Return the number of a curve as it fits best: an exponent, or the time of a wake-up."""
    scale, unit = shown_curve(curve)
    return ir.Quantity(
        expr=ir.Constant(curve.value),
        dimension=DIMENSIONLESS
        if curve.kind is CurveKind.POWER
        else DIMENSIONLESS / curve.dimension,
        span=span,
        bound=f"{float(curve.value) * scale:.4g} {unit}".rstrip(),
    )


def along_curve(
    cost: ir.Quantity, number: ir.Quantity, curve: FittedCurve, values: Mapping[str, ir.Quantity]
) -> ir.Quantity:
    """Return a cost times its curve, where the column has the value that the spec has."""
    share = ir.Product((values[curve.name].expr, ir.Constant(1 / curve.reference)))
    if curve.kind is CurveKind.POWER:
        factor = ir.Power(share, number.expr)
    else:
        slowed = ir.Sum((ir.Constant(Fraction(1)), ir.Product((number.expr, share))))
        factor = ir.Power(slowed, ir.Constant(Fraction(-1)))
    return replace(cost, expr=ir.Product((cost.expr, factor)), bound="")


def _dimension(term: FitTerm) -> Dimension:
    found = TIME / Dimension.of(term.item)
    for factor in term.factors:
        found /= factor.dimension ** Fraction(factor.exponent)
    return found


def demand_scale(item: str) -> int:
    """Return how many of the units in which a service demand is shown are a second per item."""
    return 8 * 10**9 if item == INFORMATION_BASE else 10**6


def demand_unit(item: str) -> str:
    """Return the unit in which a service demand is shown."""
    return f"{'ns' if item == INFORMATION_BASE else 'us'}/{item_word(item)}"


def multiplied(found: ir.Quantity, term: FitTerm, values: Mapping[str, ir.Quantity]) -> ir.Quantity:
    """Return a coefficient times the values of its factors: what an item costs."""
    if not term.factors:
        return found
    factors = [found.expr]
    dimension = found.dimension
    for factor in term.factors:
        value = values[factor.name]
        power = ir.Constant(Fraction(factor.exponent))
        factors.append(value.expr if factor.exponent == 1 else ir.Power(value.expr, power))
        dimension *= factor.dimension ** Fraction(factor.exponent)
    return replace(found, expr=ir.Product(tuple(factors)), dimension=dimension, bound="")


def fitted_number(
    expressions: ExpressionChecker,
    stated: ir.Quantity,
    word: str,
    *,
    weights: Sequence[float],
    freedom: int,
    noise: float,
    table: str,
    is_shape: bool = False,
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
        is_shape=is_shape,
    )
    value = ir.Uncertain(stated.expr.value, distribution, stated.span)
    parameter = expressions.parameter_of(replace(stated, expr=value), word)
    return replace(stated, expr=parameter, bound="", source=None)
