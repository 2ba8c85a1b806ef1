"""Units in the headings of a table, as a spec knows them."""

from __future__ import annotations

from fractions import Fraction

from qps.compiler import ir
from qps.compiler.check.names.declarations import LoadedModule
from qps.compiler.check.names.program import Program
from qps.compiler.check.names.scope import AllowedNames, Scope
from qps.compiler.check.values.check_expressions import ExpressionChecker
from qps.compiler.check.values.context import Context
from qps.compiler.diagnostics.diagnostic import Sink
from qps.compiler.diagnostics.source import Source
from qps.compiler.measurement.fit_columns import UnitOf
from qps.compiler.quantities.dimension import Dimension
from qps.compiler.syntax import ast
from qps.compiler.syntax.parse import parse_change


def unit_reader(module: LoadedModule) -> UnitOf:
    """Return what reads units as a module knows them; what is no unit is no mistake there."""

    def read(text: str) -> tuple[Fraction, Dimension] | None:
        parsed = parse_change(Source("heading", f"x = 1 {text}"))
        if parsed.value is None or isinstance(parsed.value.value, ast.Range | ast.Listed):
            return None
        scope = Scope(module, AllowedNames.NOTHING)
        context = Context(program=Program(module, (module,)), sink=Sink())
        quantity = ExpressionChecker(context).quantity(parsed.value.value, scope)
        if quantity is None or not isinstance(quantity.expr, ir.Constant):
            return None
        return quantity.expr.value, quantity.dimension

    return read
