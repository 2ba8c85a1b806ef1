"""What stands behind the table of a fit: `per token + per token * context with idle = 0 %`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction

from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.check.model.fits.fit_units import unit_reader
from qps.compiler.check.names.declarations import LoadedModule
from qps.compiler.check.names.scope import AllowedNames, Scope
from qps.compiler.check.values.part import DeclarationChecker
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.source import Span
from qps.compiler.diagnostics.suggest import did_you_mean
from qps.compiler.measurement.cost_products import CostCurve, CostProduct, CurveKind
from qps.compiler.measurement.fit_columns import FitColumns
from qps.compiler.measurement.fits import CostFit
from qps.compiler.quantities.dimension import DIMENSIONLESS, MONEY_BASE, TIME, TIME_BASE
from qps.compiler.syntax import ast

_LARGEST_POWER = 4
_MOST_COSTS = 10


class FitClauses(DeclarationChecker, frozen=True):
    """Reads what a fit says beside its table: what costs are per, and that nothing is at rest."""

    def refuse(self, item: ast.Fit) -> bool:
        """Report clauses of a fit that has no service demands per item; return whether it did."""
        stated: ast.Written | None = item.costs[0] if item.costs else item.fixed or item.onto
        if stated is None:
            return False
        self.sink.report(
            codes.MISPLACED,
            stated.span,
            "a fit by clients or cores has neither `per`, `with` nor `to`",
            hint=f'write only `fit "{item.file.value}" by {item.by.text}`'
            if item.by is not None
            else "remove it",
        )
        return True

    def reading(self, item: ast.Fit, reading: FitColumns, scope: Scope) -> FitColumns | None:
        """Return how a table is read for a fit; None where its clauses were reported."""
        costs = self.products(item, scope.module)
        has_fixed = self._has_fixed(item, scope)
        if costs is None or has_fixed is None:
            return None
        return replace(reading, costs=costs, has_fixed=reading.has_fixed and has_fixed)

    def _has_fixed(self, item: ast.Fit, scope: Scope) -> bool | None:
        """Return whether there is a number for the idle machine; None where it was reported."""
        fixed = item.fixed
        if fixed is None:
            return True
        if fixed.name.text != "idle":
            self.sink.report(
                codes.BAD_DATA,
                fixed.name.span,
                f"a fit has no number `{fixed.name.text}` that can be set",
                hint="only the idle utilization can be set: `with idle = 0 %`",
            )
            return None
        idle = self.expressions.quantity(fixed.value, scope, DIMENSIONLESS, "the idle utilization")
        if idle is None:
            return None
        if idle.expr == ir.Constant(Fraction(0)):
            return False
        self.sink.report(
            codes.BAD_DATA,
            fixed.value.span,
            "a fit either finds the idle utilization or has none",
            hint="write `with idle = 0 %`, or remove it; set what is planned in the machine: "
            "`cpu 2 core, idle 8 %`",
        )
        return None

    # -- what costs are per ----------------------------------------------------------------

    def products(self, item: ast.Fit, module: LoadedModule) -> tuple[CostProduct, ...] | None:
        """Return the costs that a fit names, none where it names none; None if reported."""
        found: list[CostProduct] = []
        for cost in item.costs:
            product = self._product(cost, module)
            if product is None:
                return None
            if product in found or len(found) == _MOST_COSTS:
                self.sink.report(
                    codes.BAD_DATA,
                    cost.span,
                    f"`per {cost.span.text}` is specified twice"
                    if product in found
                    else f"more than {_MOST_COSTS} costs are fitted to one table",
                    hint="remove it",
                )
                return None
            found.append(product)
        return tuple(found)

    def _product(self, cost: ast.Expr, module: LoadedModule) -> CostProduct | None:
        factors = cost.factors if isinstance(cost, ast.Product) else ((False, cost),)
        (divides, first), *others = factors
        if divides or not isinstance(first, ast.Reference) or len(first.name.parts) > 1:
            self._refused(first.span)
            return None
        known = unit_reader(module)(f"{first.name.text}/s")
        item = None if known is None else (known[1] * TIME).single_base
        if item in (None, TIME_BASE, MONEY_BASE):
            self.sink.report(
                codes.BAD_DATA,
                first.span,
                f"`{first.name.text}` is not an item that a service demand can be per",
                hint=f"use `byte`, `packet`, `request`, or declare your own: `unit "
                f"{first.name.text}`; other columns follow it: `per request * {first.name.text}`",
            )
            return None
        assert item is not None
        powers: dict[str, int] = {}
        curve = None
        for is_divisor, factor in others:
            if isinstance(factor, ast.Call):
                if is_divisor or curve is not None:
                    self._refused(factor.span)
                    return None
                curve = self._curve(factor)
                if curve is None:
                    return None
                continue
            read = _factor(factor)
            if read is None or not 0 < read[1] <= _LARGEST_POWER:
                self._refused(factor.span)
                return None
            powers[read[0]] = powers.get(read[0], 0) + (-read[1] if is_divisor else read[1])
        product = tuple((name, power) for name, power in powers.items() if power)
        return CostProduct(item, product, curve)

    def _curve(self, call: ast.Call) -> CostCurve | None:
        """Return the curve that a cost has along a column; None where it was reported."""
        kinds = {kind.value: kind for kind in CurveKind}
        argument = call.arguments[0] if len(call.arguments) == 1 else None
        is_named = isinstance(argument, ast.Reference) and len(argument.name.parts) == 1
        if call.name.text in kinds and is_named:
            assert isinstance(argument, ast.Reference)
            return CostCurve(kinds[call.name.text], argument.name.text)
        hint = "`power(size)` and `wakeups(rate)` are the curves, with the name of a column"
        self.sink.report(
            codes.BAD_DATA,
            call.span,
            f"`{call.span.text}` is not a curve that a service demand can have",
            hint=did_you_mean(call.name.text, kinds) or hint
            if call.name.text not in kinds
            else hint,
        )
        return None

    def _refused(self, span: Span) -> None:
        self.sink.report(
            codes.BAD_DATA,
            span,
            f"`{span.text}` is not a column that a service demand can be fitted to",
            hint="write an item, and columns that multiply or divide it, up to the power of "
            f"{_LARGEST_POWER}: `per token + per token * context^2 / batch`, or a curve: "
            "`per message * power(size)`",
        )

    # -- its columns in the spec -----------------------------------------------------------

    def factors(
        self, item: ast.Fit, fit: CostFit, scope: Scope
    ) -> Mapping[str, ir.Quantity] | None:
        """Return what the columns that multiply costs are in the spec; None if reported."""
        dimensions = {
            factor.name: factor.dimension for term in fit.terms for factor in term.factors
        } | {curve.name: curve.dimension for curve in fit.curves}
        wider = replace(scope, allowed=AllowedNames.FLOWS)  # the rate is that of all users
        found: dict[str, ir.Quantity] = {}
        for reference in _references(item):
            name = reference.name.text
            if name in found:
                continue
            value = self.expressions.quantity(
                reference, wider, dimensions[name], f"`{name}`, as the column of the table is,"
            )
            if value is None:
                return None
            found[name] = value
        return found


def _factor(expr: ast.Expr) -> tuple[str, int] | None:
    """Return the name of a column and its power; None for anything else."""
    match expr:
        case ast.Power(base=ast.Reference(name=name), exponent=ast.Number(value=value)):
            power = int(value) if value.denominator == 1 else 0
        case ast.Reference(name=name):
            power = 1
        case _:
            return None
    return (name.text, power) if len(name.parts) == 1 else None


def _references(item: ast.Fit) -> Iterator[ast.Reference]:
    """Yield the columns that multiply or divide the items of a fit."""
    for cost in item.costs:
        factors = cost.factors[1:] if isinstance(cost, ast.Product) else ()
        for _, factor in factors:
            base = factor.base if isinstance(factor, ast.Power) else factor
            if isinstance(base, ast.Call):
                (base,) = base.arguments
            if isinstance(base, ast.Reference):
                yield base
