"""Costs that a spec takes from a table of measurements: `cpu fit "turn.csv"`."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from qps.compiler import ast, codes, ir
from qps.compiler.check_expressions import ExpressionChecker
from qps.compiler.diagnostics import Sink
from qps.compiler.dimension import DIMENSIONLESS, INFORMATION_BASE, TIME, Dimension
from qps.compiler.fits import Fit, FitTerm, UnitOf, fitted
from qps.compiler.importer import Importer
from qps.compiler.parse import parse_change
from qps.compiler.resolve import Module
from qps.compiler.scope import Allowed, Scope
from qps.compiler.source import Source, Span
from qps.compiler.tables import Problem, Table, read_table


def unit_reader(module: Module) -> UnitOf:
    """Return what reads units as a module knows them; what is no unit is no mistake there."""

    def read(text: str) -> tuple[Fraction, Dimension] | None:
        parsed = parse_change(Source("heading", f"x = 1 {text}"))
        if parsed.value is None or isinstance(parsed.value.value, ast.Range):
            return None
        scope = Scope(module, Allowed.NOTHING)
        quantity = ExpressionChecker(Sink(), scope).quantity(parsed.value.value, scope)
        if quantity is None or not isinstance(quantity.expr, ir.Constant):
            return None
        return quantity.expr.value, quantity.dimension

    return read


@dataclass
class FitChecker:
    """Reads the tables that costs are fitted to, each once for a resource."""

    importer: Importer
    sink: Sink
    used: dict[Span, Fit] = field(default_factory=dict)
    """What numbers come from, by where it is named."""
    _fits: dict[tuple[str, str, Fraction], Fit | None] = field(default_factory=dict)

    def fit(self, item: ast.Fit, resource: str, cores: Fraction, module: Module) -> Fit | None:
        """Return the costs that fit a table, or None where it was reported."""
        source = module.syntax.source
        key = (f"{source.folder}\0{item.file.value}", resource, cores)
        if key not in self._fits:
            self._fits[key] = self._read(item, resource, cores, module)
        found = self._fits[key]
        if found is not None:
            self.used[item.span] = found
        return found

    def _read(self, item: ast.Fit, resource: str, cores: Fraction, module: Module) -> Fit | None:
        text = self.importer.data(item.file, module.syntax.source)
        self.sink.found += text.diagnostics
        if text.value is None:
            return None
        found: Table | Fit | Problem = read_table(text.value, item.file.value)
        if isinstance(found, Table):
            found = fitted(found, resource, cores, unit_reader(module))
        if isinstance(found, Problem):
            self.sink.report(codes.BAD_DATA, item.file.span, found.message, hint=found.hint)
            return None
        assert isinstance(found, Fit)
        return found if self._is_sound(found, item) else None

    def _is_sound(self, found: Fit, item: ast.Fit) -> bool:
        """Report a cost below zero: more work cannot mean less load."""
        named = [("the fixed part", found.fixed)]
        named += [(f"the cost for each {_word(term)}", term.value) for term in found.terms]
        for name, value in named:
            if value < 0:
                self.sink.report(
                    codes.BAD_DATA,
                    item.file.span,
                    f"{name} that fits `{found.file}` best is below zero",
                    hint=f"`qps fit {found.file}` shows the residuals; leave a column out that "
                    "does not matter, or measure again",
                )
                return False
        return True


def fit_terms(found: Fit, span: Span) -> tuple[ir.CostTerm, ...]:
    """Return the coefficients of a fit as addends of a cost."""
    return tuple(
        ir.CostTerm(
            ir.Quantity(
                ir.Constant(term.value),
                TIME / Dimension.of(term.item),
                span,
                f"{_told(term)} {_unit(term)}",
            ),
            literal=True,
        )
        for term in found.terms
    )


def _word(term: FitTerm) -> str:
    return "byte" if term.item == INFORMATION_BASE else term.item


def _told(term: FitTerm) -> str:
    return f"{float(term.value * _scale(term)):.4g}"


def _scale(term: FitTerm) -> int:
    return 8 * 10**9 if term.item == INFORMATION_BASE else 10**6


def _unit(term: FitTerm) -> str:
    return f"{'ns' if term.item == INFORMATION_BASE else 'us'}/{_word(term)}"


def fitted_idle(found: Fit, span: Span) -> ir.Quantity:
    """Return the fixed part of a fit as the idle load of the machine."""
    told = f"{float(found.fixed * 100):.4g} %"
    return ir.Quantity(ir.Constant(found.fixed), DIMENSIONLESS, span, told)
