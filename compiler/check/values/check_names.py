"""Names in expressions: units, parameters, definitions, and what else they may stand for."""

from __future__ import annotations

from fractions import Fraction

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.check.names.check_classes import CASES, ClassChecker
from qps.compiler.check.names.declarations import (
    Declared,
    is_value,
    kind_of,
    lookup,
    lookup_class,
    unit_meant,
)
from qps.compiler.check.names.name_recorder import Meaning
from qps.compiler.check.names.scope import Scope
from qps.compiler.check.values.check_measures import MeasureChecker
from qps.compiler.check.values.definitions import EVERYTHING, Definitions, ValueOf, key_of
from qps.compiler.check.values.values import Value, leaf
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Label, Sink
from qps.compiler.diagnostics.fixits import instead
from qps.compiler.diagnostics.source import Span
from qps.compiler.ir.measure_names import utilization_of
from qps.compiler.quantities import units
from qps.compiler.quantities.dimension import DIMENSIONLESS, Dimension
from qps.compiler.syntax import ast


class NameChecker(Struct, frozen=True, kw_only=True):
    """Tells what names stand for; `value` checks the expressions behind them."""

    sink: Sink
    definitions: Definitions
    classes: ClassChecker
    value: ValueOf
    measures: MeasureChecker

    def reference(self, expr: ast.Reference, scope: Scope, wanted: str = "name") -> Value | None:
        """Return what a name stands for: a formal, a unit, a definition, a measure.

        `wanted` is what an unknown one is called: a unit, where it stands behind a number.
        """
        name = expr.name
        is_formal = name.text in scope.formals
        unit = unit_meant(scope.module, expr, has_value=is_formal)
        declared = lookup(scope.module, name)
        if unit is not None and (is_formal or is_value(declared)):
            self._warn_of_unit(expr, scope, None if is_formal else declared)
        if unit is not None:
            scope.module.note(Meaning.UNIT, name)
        elif is_formal:
            scope.module.note(Meaning.FORMAL, name)
        if isinstance(unit, units.UnitOfMeasure):
            return leaf(ir.Constant(unit.factor), unit.dimension, expr.span)
        if unit is not None:
            return self._unit(unit, unit.declaration, expr.span)
        if is_formal:
            bound = scope.formals[name.text]
            value = leaf(bound.expr, bound.dimension, expr.span, bound.divisors)
            return value if bound.source is None else replace(value, sources=(bound.source,))
        if declared is not None:
            return self._declared(declared, expr)
        divided = lookup_class(scope.module, name)
        if divided is not None:
            return self._kind(divided, expr)
        return self.measures.measure(expr, scope, wanted)

    def _warn_of_unit(self, expr: ast.Reference, scope: Scope, declared: Declared | None) -> None:
        """Warn where a unit stands whose name is that of a value, too: once for each value."""
        word = expr.name.text
        key = f"{scope.module.prefix}({word})" if declared is None else declared.qualified
        if key in self.definitions.also_units:
            return
        self.definitions.also_units.add(key)
        what = "an argument" if declared is None else kind_of(declared.declaration)
        self.sink.report(
            codes.ALSO_A_UNIT,
            expr.span,
            f"`{word}` after a number is the unit, not {what}",
            secondary=[Label(declared.declaration.name.span, "declared here")] if declared else (),
            hint=f"for the value, write `* {word}` or `/ ({word})`, or rename it, for example "
            f"to `{word}_`",
        )

    def _declared(self, declared: Declared, expr: ast.Reference) -> Value | None:
        declaration, span = declared.declaration, expr.span
        match declaration:
            case ast.Param():
                value = self._definition(declared, declaration.value)
                if value is None or value.mentions:
                    return None  # what depends on what it may not is reported where it stands
                is_elastic = declaration.is_elastic and not self._is_argument(declared)
                parameter = ir.ParameterValue(declared.qualified, is_elastic)
                return leaf(parameter, value.dimension, span, value.divisors)
            case ast.Users() if self._is_argument(declared):
                value = self._definition(declared, ast.Reference(span, declaration.name))
                return None if value is None else replace(value, span=span)
            case ast.Let() | ast.Measure():
                value = self._definition(declared, declaration.value)
                cited = () if declaration.source is None else (declaration.source.value,)
                sources = value and tuple(dict.fromkeys((*cited, *value.sources)))
                return None if value is None else replace(value, span=span, sources=sources or ())
            case ast.Users():
                return leaf(ir.Population(), DIMENSIONLESS, span)
            case _:
                self._not_a_value(declared, expr)
                return None

    def _is_argument(self, declared: Declared) -> bool:
        """Return whether an instance is given what a name stands for."""
        return declared.declaration.name.text in declared.module.arguments

    def _kind(self, declared: Declared, expr: ast.Reference) -> Value | None:
        """Return the value of a parameter for one kind, or the share of a kind."""
        word, declaration = expr.name.parts[-1], declared.declaration
        one = ir.ParameterValue(f"{declared.qualified}.{word}")
        if isinstance(declaration, ast.Kinds):
            is_known = self.classes.knows(declared, expr.name)
            return leaf(one, DIMENSIONLESS, expr.span) if is_known else None
        assert isinstance(declaration, ast.Param)
        owner = declared.declaration.name.text
        table = declaration.value
        if word in CASES or not isinstance(table, ast.KindTable):
            self.sink.report(
                codes.UNKNOWN_NAME,
                expr.span,
                f"`{owner}` has no part `{word}`" if word in CASES else f"`{owner}` has no kinds",
                secondary=[Label(declaration.name.span, "declared here")],
                hint=instead(expr.name.text, f"{word}({owner})")
                if word in CASES
                else f"use `{owner}`, or declare it by kinds: `param {owner} by … {{ {word} … }}`",
            )
            return None
        value = self._definition(declared, table)
        divided = lookup(declared.module, table.kinds)
        if value is None or value.mentions or divided is None:
            return None
        if not self.classes.knows(divided, expr.name):
            return None
        return leaf(one, value.dimension, expr.span, value.divisors)

    def _not_a_value(self, declared: Declared, expr: ast.Reference) -> None:
        hints: dict[type, str] = {
            ast.Option: "compare it in an `if`: `option == choice`",
            ast.Kinds: f"for the share of a kind, write `{expr.name.text}.kind`",
            ast.Func: f"call it: `{expr.name.text}(…)`",
            ast.Stream: instead(
                expr.name.text,
                *(f"{expr.name.text}.{measure}" for measure in ("latency", "loss", "rate")),
                words=f"name a measure: `{expr.name.text}.latency`, `.loss` or `.rate`",
            ),
            ast.Link: instead(
                expr.name.text,
                utilization_of(expr.name.text),
                words=f"name a measure: `{utilization_of(expr.name.text)}`",
            ),
            ast.Group: instead(
                expr.name.text,
                f"members({expr.name.text})",
                f"count({expr.name.text})",
                words=f"name a number: `members({expr.name.text})`, `count({expr.name.text})`",
            ),
            ast.Trace: f"name a measure: `{expr.name.text}.variance` or `.gaps(50 ms)`",
            ast.Node: f"name a resource, `{expr.name.text}.cpu.utilization`, "
            f"or the number of machines, `count({expr.name.text})`",
        }
        kind = kind_of(declared.declaration)
        self.sink.report(
            codes.WRONG_KIND,
            expr.span,
            f"`{expr.name.text}` is {kind}, not a quantity",
            secondary=[Label(declared.declaration.name.span, "declared here")],
            hint=hints.get(type(declared.declaration), "use a number, parameter or measure"),
        )

    def _unit(self, declared: Declared, unit: ast.Unit, span: Span) -> Value | None:
        if unit.value is None:
            base = unit.name.text
            return leaf(ir.Constant(Fraction(1)), Dimension.of(base), span)
        value = self._definition(declared, unit.value)
        if value is not None and not isinstance(value.expr, ir.Constant):
            self.sink.report(
                codes.VARIES,
                unit.value.span,
                "a unit must be a fixed amount of another unit",
                hint="write `unit burst = 20 packet`",
            )
            return None
        if value is not None and isinstance(value.expr, ir.Constant) and value.expr.value <= 0:
            self.sink.report(
                codes.OUT_OF_RANGE,
                unit.value.span,
                "a unit must be above zero",
                hint="write `unit burst = 20 packet`",
            )
            return None
        return None if value is None else replace(value, span=span)

    def _definition(self, declared: Declared, body: ast.Expr) -> Value | None:
        """Return the value of a definition, checked once, in the scope where it stands."""
        key = key_of(declared)
        if key in self.definitions.known:
            return self.definitions.known[key]
        if any(open_.is_same(declared) for open_ in self.definitions.open):
            self.definitions.report_circle(declared)
            self.definitions.known[key] = None
            return None
        if self.definitions.is_too_deep(declared):
            return None
        self.definitions.open.append(declared)
        stated, module = body, declared.module
        if not isinstance(declared.declaration, ast.Unit):
            stated, module = module.stated(declared.declaration.name.text, body)
        value = self.value(stated, Scope(module, EVERYTHING))
        if self.definitions.open:
            self.definitions.open.pop()
        self.definitions.known.setdefault(key, value)
        return self.definitions.known[key]
