"""Units that who fits makes known, beside those of the language: items of a user's own."""

from __future__ import annotations

from collections.abc import Sequence

from qps.compiler.check.model.fits.fit_clauses import FitClauses
from qps.compiler.check.model.fits.fit_units import unit_reader
from qps.compiler.check.names.declarations import LoadedModule
from qps.compiler.check.names.program import Program
from qps.compiler.check.names.resolve import resolve
from qps.compiler.check.values.check_expressions import ExpressionChecker
from qps.compiler.check.values.context import Context
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import QpsError, Sink
from qps.compiler.diagnostics.source import Source
from qps.compiler.measurement.cost_products import CostProduct
from qps.compiler.measurement.fit_columns import UnitOf
from qps.compiler.syntax import ast
from qps.compiler.syntax.importer import Importer
from qps.compiler.syntax.parse import parse


def units_with(units: Sequence[str]) -> UnitOf:
    """Return what reads the units of the language and a user's own; QpsError where one is none."""
    return unit_reader(_module("", units))


def costs_with(per: Sequence[str], units: Sequence[str]) -> tuple[CostProduct, ...]:
    """Return the costs that are written so: `token * context`; QpsError where one is none."""
    clause = " + ".join(f"per {one}" for one in per)
    module = _module(f'component step {{ cpu fit "table" {clause} }}\n', units)
    (component,) = module.syntax.every(ast.Component)
    sink = Sink()
    context = Context(program=Program(module, (module,)), sink=sink)
    items = [item for item in component.items if isinstance(item, ast.Cost)]
    if len(items) == 1 and isinstance(items[0].amount, ast.Fit):
        found = FitClauses(ExpressionChecker(context)).products(items[0].amount, module)
        if found is not None and len(found) >= len(per):
            return found
    if sink.found:
        raise QpsError(tuple(sink.found))
    raise QpsError.single(
        codes.COMMAND_LINE,
        None,
        f"`{per[0]}` is not a column that a service demand can be fitted to",
        hint="write `--per token --per 'token * context'`",
    )


def _module(text: str, units: Sequence[str]) -> LoadedModule:
    """Return the module of a text and units of a user's own; QpsError where there is none."""
    wrong = [unit for unit in units if not unit.isidentifier()]
    if wrong:
        raise QpsError.single(
            codes.COMMAND_LINE,
            None,
            f"`{wrong[0]}` cannot be a unit",
            hint="a unit is one word, such as `update`",
        )
    text = "".join(f"unit {unit}\n" for unit in units) + text
    parsed = parse(Source("--per" if "component" in text else "--unit", text))
    if any(diagnostic.is_error for diagnostic in parsed.diagnostics) or parsed.value is None:
        raise QpsError(parsed.diagnostics)
    program = resolve(parsed.value, Importer(root=None))
    if any(diagnostic.is_error for diagnostic in program.diagnostics) or program.value is None:
        raise QpsError(program.diagnostics)
    return program.value.main
