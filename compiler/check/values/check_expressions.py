"""Expressions: names bound, dimensions inferred, numbers folded exactly.

A part that fails is reported once and has no value; whatever holds it has none either and
says nothing more, so that one mistake gives one message.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import TypeVar

from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.check.names.check_classes import ClassChecker
from qps.compiler.check.names.declarations import Declared, LoadedModule
from qps.compiler.check.names.instance_sink import sink_of
from qps.compiler.check.names.scope import AllowedNames, Scope
from qps.compiler.check.names.uncertain_names import is_uncertain, uncertain_names
from qps.compiler.check.values.check_calls import CallChecker
from qps.compiler.check.values.check_cases import CaseChecker
from qps.compiler.check.values.check_conditions import ConditionChecker
from qps.compiler.check.values.check_dates import date_value
from qps.compiler.check.values.check_measures import MeasureChecker
from qps.compiler.check.values.check_names import NameChecker
from qps.compiler.check.values.check_questions import QuestionChecker
from qps.compiler.check.values.check_traces import TraceChecker
from qps.compiler.check.values.check_uncertain import UncertainChecker
from qps.compiler.check.values.context import Context
from qps.compiler.check.values.definitions import Definitions, bound_arguments
from qps.compiler.check.values.products import divisor_of, units_before
from qps.compiler.check.values.values import (
    LARGEST_EXPRESSION,
    Arithmetic,
    ExpressionTooDeepError,
    ExpressionTooLargeError,
    Value,
    factor_hint,
    leaf,
    mentions_of,
    unit_hint,
)
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.source import Span
from qps.compiler.quantities.dimension import DIMENSIONLESS, TIME, Dimension
from qps.compiler.quantities.unit_binding import advice, of_either
from qps.compiler.syntax import ast
from qps.compiler.syntax.nesting import DEEPEST_EXPRESSION

T = TypeVar("T")

_LIMITS = {
    ExpressionTooLargeError: (
        f"has more than {LARGEST_EXPRESSION:,} parts after expanding its functions",
        "simplify the functions it calls",
    ),
    ExpressionTooDeepError: (
        f"is nested more than {DEEPEST_EXPRESSION} levels deep after expanding its names",
        "declare some of its names as `param`",
    ),
}
"""What is said of an expression beyond a limit, and how to get below it."""

ChangesOf = Callable[["ExpressionChecker", tuple[ast.Change, ...], Scope], tuple[ir.Change, ...]]
"""Gives the changes that stand behind `with`, those that were reported left out."""


class ExpressionChecker:
    """Checks expressions of a program; `changes` turns `with …` into changes of the model.

    Those of an instance go on with the definitions that are known.
    """

    def __init__(
        self,
        context: Context,
        changes: ChangesOf | None = None,
        definitions: Definitions | None = None,
    ) -> None:
        self.context, self.changes = context, changes
        self._steps = self._depth = 0
        self._busy = False
        self._compared: list[Value] = []
        self.sink, known = context.sink, context.known
        self._definitions = definitions or Definitions(sink=self.sink, known=known.values)
        self._arithmetic = Arithmetic(self.sink)
        self.traces = TraceChecker(
            sink=self.sink,
            arithmetic=self._arithmetic,
            importer=self.context.importer,
            known=known.recordings,
            number=self.number,
            value=self.value,
        )
        self.classes = ClassChecker(self.sink, self.number, known.shares)
        self._names = NameChecker(
            sink=self.sink,
            definitions=self._definitions,
            classes=self.classes,
            value=self.value,
            measures=MeasureChecker(self.sink, self.value, self.traces, self._definitions),
        )
        self._cases = CaseChecker(self.sink, self._arithmetic, self.classes, self.value)
        self._calls = CallChecker(
            sink=self.sink,
            definitions=self._definitions,
            arithmetic=self._arithmetic,
            cases=self._cases,
            value=self.value,
            questions=QuestionChecker(
                sink=self.sink,
                arithmetic=self._arithmetic,
                value=self.value,
                condition=self.condition,
                may_query=changes is not None,
            ),
            wrong_dimension=self.wrong_dimension,
            traces=self.traces,
        )
        self.arguments = self._calls.arguments
        self._uncertain = UncertainChecker(
            sink=self.sink,
            arithmetic=self._arithmetic,
            value=self.value,
            number=self.number,
            data=self.context.data,
            parameters=known.uncertain,
            names=self._uncertain_names,
        )
        self.parameter_of = self._uncertain.parameter_of
        self._conditions = ConditionChecker(
            self.sink, self._arithmetic, self._value_compared, self._is_allowed
        )

    # -- what the rest of the compiler calls ---------------------------------------------

    def within(self, system: LoadedModule) -> ExpressionChecker:
        """Return what checks the expressions of an instance, and says in which one."""
        sink = sink_of(system, self.sink)
        context = replace(self.context, system=system, sink=sink)
        return ExpressionChecker(context, self.changes, replace(self._definitions, sink=sink))

    def is_named(self, declared: Declared) -> bool:
        """Return whether an expression that was checked so far names a definition."""
        return declared.qualified in self._definitions.known

    def quantity(
        self,
        expr: ast.Expr,
        scope: Scope,
        wanted: Dimension | None = None,
        of: str = "this",
        instead: str | None = None,
    ) -> ir.Quantity | None:
        """Return an expression as a quantity, of a dimension where one is wanted.

        `instead` is the hint where it may not depend on the population or on what is elastic.
        """
        value = self._guarded(lambda: self.value(expr, scope), expr.span)
        if value is None or not self._is_allowed(value, scope, instead):
            return None
        if wanted is not None and not self._arithmetic.free.agree(value.dimension, wanted):
            self.wrong_dimension(value, wanted, of)
            return None
        return replace(value.quantity, bound=bound_arguments(value.span.text, scope.formals))

    def stated(
        self, expr: ast.Expr, scope: Scope, instead: str | None = None
    ) -> ir.Quantity | None:
        """Return the value of a parameter: what is uncertain by itself is no other parameter."""
        if not is_uncertain(expr):
            return self.quantity(expr, scope, instead=instead)
        value = self._guarded(lambda: self._uncertain.stated(expr, scope), expr.span)
        return None if value is None or not self._is_allowed(value, scope) else value.quantity

    def _uncertain_names(self) -> Mapping[Span, str]:
        """Return what uncertain numbers are called; requested where there are some only."""
        names = self.context.known.uncertain_names
        if not names:
            names |= uncertain_names(self.context.program)
        return names

    def uncalled(self, declared: Declared, func: ast.Func) -> None:
        """Check the body of a function with formals of which only the dimensions are known."""
        before = len(self.sink.found)
        self._guarded(lambda: self._calls.uncalled(declared, func), func.value.span)
        if len(self.sink.found) > before:
            self._definitions.unsound.add(id(func))

    def unknown(
        self, declared: Declared, formals: tuple[ast.Formal, ...], span: Span
    ) -> dict[str, ir.Quantity] | None:
        """Return the formals of what nothing uses: they have dimensions, but no values."""
        return self._guarded(lambda: self._calls.unknown(declared, formals), span)

    def resolved(self, dimension: Dimension) -> Dimension:
        """Return a dimension with all that was found of formals without values put in."""
        return self._arithmetic.free.resolved(dimension)

    def is_called(self, func: ast.Func) -> bool:
        """Return whether an expression that was checked so far put the body of a function in."""
        return id(func) in self._definitions.called

    def is_unsound(self, func: ast.Func) -> bool:
        """Return whether a function was checked by itself and reported."""
        return id(func) in self._definitions.unsound

    def condition(self, expr: ast.Expr, scope: Scope) -> ir.Condition | None:
        """Return an expression as a condition."""
        return self._guarded(lambda: self._conditions.condition(expr, scope), expr.span)

    def wrong_dimension(self, value: Value | ir.Quantity, wanted: Dimension, of: str) -> None:
        """Report a quantity that has another dimension than is needed."""
        have = self._arithmetic.free.resolved(value.dimension)
        usual = unit_hint(value.span.text, have, wanted) or factor_hint(have, wanted, value.span)
        advised = advice(value, lambda other: other == wanted, usual)
        self.sink.report(
            codes.WRONG_DIMENSION,
            value.span,
            f"{of} must be {wanted.in_words}, not {have.in_words}",
            label=f"this is {have.in_words}",
            secondary=advised.labels,
            hint=advised.hint,
        )

    def number(
        self, expr: ast.Expr, scope: Scope, of: str, wanted: Dimension = DIMENSIONLESS
    ) -> Fraction | None:
        """Return an expression that must be a constant number, plain or of a dimension."""
        fixed = replace(scope, allowed=AllowedNames.NOTHING)
        quantity = self.quantity(expr, fixed, wanted, of)
        if quantity is None:
            return None
        if isinstance(quantity.expr, ir.Constant):
            return quantity.expr.value
        if AllowedNames.FORMALS in mentions_of(quantity.expr):
            return None  # a use may give a number
        self.sink.report(
            codes.VARIES,
            expr.span,
            f"{of} must be a literal number",
            hint="write the number",
        )
        return None

    def _guarded(self, work: Callable[[], T], span: Span) -> T | None:
        """Run a check with a limit on its steps."""
        if self._busy:
            return work()
        self._busy, self._steps, self._depth = True, 0, 0
        try:
            return work()
        except (ExpressionTooLargeError, ExpressionTooDeepError) as error:
            self._definitions.give_up()
            message, hint = _LIMITS[type(error)]
            self.sink.report(codes.TOO_DEEP, span, f"this expression {message}", hint=hint)
            return None
        finally:
            self._busy = False

    def _is_allowed(self, value: Value, scope: Scope, instead: str | None = None) -> bool:
        return scope.allows(value.mentions, value.span, self.sink, instead)

    # -- values --------------------------------------------------------------------------

    def value(self, expr: ast.Expr, scope: Scope) -> Value | None:
        """Return an expression checked, or None where it was reported."""
        self._steps += 1
        if self._steps > LARGEST_EXPRESSION:
            raise ExpressionTooLargeError
        if self._depth > DEEPEST_EXPRESSION:
            raise ExpressionTooDeepError
        self._depth += 1
        try:
            if is_uncertain(expr):
                found = self._uncertain.value_of(expr, scope)
            else:
                found = self._value(expr, scope)
        finally:
            self._depth -= 1
        met = self.context.values_by_place
        if met is not None and found is not None and not scope.formals:
            met.setdefault(expr.span, {})[scope.module.prefix] = found
        return found

    def _value(  # noqa: PLR0911 - one return a node
        self, expr: ast.Expr, scope: Scope
    ) -> Value | None:
        match expr:
            case ast.Number():
                return leaf(ir.Constant(expr.value), DIMENSIONLESS, expr.span)
            case ast.Date():
                return date_value(expr, self.context.program.main.syntax, self.sink)
            case ast.Quantity():
                parts = [self.value(expr.number, scope), self._unit(expr.unit, scope)]
                return self._arithmetic.product(
                    expr.span, list(zip((False, False), parts, strict=True))
                )
            case ast.Reference():
                return self._names.reference(expr, scope)
            case ast.Negative():
                minus = leaf(ir.Constant(Fraction(-1)), DIMENSIONLESS, expr.span)
                factors = [(False, minus), (False, self.value(expr.operand, scope))]
                return self._arithmetic.product(expr.span, factors)
            case ast.Sum():
                terms = [(minus, self.value(term, scope)) for minus, term in expr.terms]
                return self._arithmetic.sum(expr.span, terms)
            case ast.Product():
                return self._product(expr, scope)
            case ast.Power():
                base, exponent = self.value(expr.base, scope), self.value(expr.exponent, scope)
                return self._arithmetic.power(expr, base, exponent)
            case ast.Call():
                return self._calls.call(expr, scope)
            case ast.Conditional():
                return self._conditional(expr, scope)
            case ast.Changed():
                return self._changed(expr, scope)
            case ast.Cases() | ast.KindTable():
                return self._cases.several(expr, scope)
            case ast.PairTable():
                raise AssertionError("a table is written out before it is checked")
            case ast.Around() | ast.Between() | ast.OneOf() | ast.Samples():
                raise AssertionError("what is uncertain is checked by itself")
            case ast.Comparison() | ast.Junction() | ast.Not():
                self.sink.report(
                    codes.NOT_A_QUANTITY,
                    expr.span,
                    "expected a quantity, found a condition",
                    hint="write `if condition then a else b`",
                )
                return None

    def _product(self, expr: ast.Product, scope: Scope) -> Value | None:
        factors = [
            (below, self._unit(factor, scope, "name or unit" if below and behind else ""))
            for (below, factor), behind in zip(expr.factors, units_before(expr), strict=True)
        ]
        product = self._arithmetic.product(expr.span, factors)
        if product is None:
            return None
        if isinstance(expr, ast.Every):
            time = factors[1][1]
            assert time is not None, "it has a product"
            if self._arithmetic.free.agree(time.dimension, TIME):
                return product
            self.wrong_dimension(time, TIME, "the interval of `every`")
            return None
        own = divisor_of(expr, [value.dimension for _, value in factors if value is not None])
        return replace(product, divisors=(*own, *product.divisors)) if own else product

    def _unit(self, expr: ast.Expr, scope: Scope, wanted: str = "unit") -> Value | None:
        """Return what stands behind a number; `wanted` is what an unknown name is called there."""
        if wanted and isinstance(expr, ast.Reference):
            return self._names.reference(expr, scope, wanted)
        return self.value(expr, scope)

    def _conditional(self, expr: ast.Conditional, scope: Scope) -> Value | None:
        known = len(self._compared)
        condition = self._conditions.condition(
            expr.condition, replace(scope, allowed=AllowedNames.NOTHING)
        )
        compared = self._compared[known:]
        del self._compared[known:]
        then, otherwise = self.value(expr.then, scope), self.value(expr.otherwise, scope)
        if condition is None or then is None or otherwise is None:
            return None
        if not self._arithmetic.free.agree(then.dimension, otherwise.dimension):
            self._arithmetic.mismatch(otherwise, then, "choose between")
            return None
        choice = ir.Choice(condition, then.expr, otherwise.expr)
        divisors = of_either([then, otherwise])
        return self._arithmetic.combined(
            expr.span, choice, then.dimension, [then, otherwise, *compared], divisors
        )

    def _value_compared(self, expr: ast.Expr, scope: Scope) -> Value | None:
        """Return what stands in a condition: a choice is as large as all that it rests on."""
        value = self.value(expr, scope)
        if value is not None:
            self._compared.append(value)
        return value

    def _changed(self, expr: ast.Changed, scope: Scope) -> Value | None:
        if AllowedNames.ANSWERS not in scope.allowed or self.changes is None:
            self.sink.report(
                codes.MISPLACED,
                expr.span,
                "`with` can be used only in expectations",
                hint="use it in an `expect`, or declare a `scenario`",
            )
            return None
        value, changes = self.value(expr.value, scope), self.changes(self, expr.changes, scope)
        if value is None or len(changes) < len(expr.changes):
            return None
        # What is inside is decided by its own changes: outside, it is a number.
        return replace(value, expr=ir.Changed(value.expr, changes), span=expr.span)
