"""Expressions: names bound, dimensions inferred, numbers folded exactly.

A part that fails is reported once and has no value; whatever holds it has none either and
says nothing more, so that one mistake gives one message.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TypeVar

from qps.compiler import ast, codes, ir, units
from qps.compiler.diagnostics import Label, Sink
from qps.compiler.dimension import (
    DATA_RATE,
    DIMENSIONLESS,
    INFORMATION_BASE,
    TIME,
    TIME_BASE,
    Dimension,
)
from qps.compiler.resolve import Found, kind_of, lookup, unknown_name
from qps.compiler.scope import Allowed, Scope
from qps.compiler.source import Span
from qps.compiler.suggest import did_you_mean, listed

T = TypeVar("T")

LARGEST_EXPRESSION = 20_000
"""Nodes in an expression, its functions and `let`s put in, beyond which it is refused."""

_MOST_BITS = 4096
_LARGEST_POWER = 1024
_ROOT_FUNCTIONS = {function.value: function for function in ir.Function}
_STREAM_MEASURES = {
    "latency": (ir.MeasureKind.LATENCY, TIME),
    "loss": (ir.MeasureKind.LOSS, DIMENSIONLESS),
    "throughput": (ir.MeasureKind.THROUGHPUT, DATA_RATE),
}


@dataclass(frozen=True, slots=True)
class Value:
    """A checked expression: its dimension, what it speaks of, how many nodes it has."""

    expr: ir.Expr
    dimension: Dimension
    span: Span
    mentions: Allowed = Allowed.NOTHING
    size: int = 1

    @property
    def quantity(self) -> ir.Quantity:
        """The expression as the model keeps it."""
        return ir.Quantity(self.expr, self.dimension, self.span)


class _TooLarge(Exception):
    """Raised when an expression outgrows its limit; caught where the expression starts."""


@dataclass
class ExpressionChecker:
    """Checks expressions of a program; `changes` turns `with …` into changes of the model."""

    sink: Sink
    main_scope: Scope
    changes: Callable[[tuple[ast.Change, ...], Scope], tuple[ir.Change, ...]] | None = None
    _lets: dict[int, Value | None] = field(default_factory=dict)
    _open: list[Found] = field(default_factory=list)
    _steps: int = 0
    _busy: bool = False

    # -- what the rest of the compiler calls ---------------------------------------------

    def quantity(
        self, expr: ast.Expr, scope: Scope, wanted: Dimension | None = None, of: str = "this"
    ) -> ir.Quantity | None:
        """Return an expression as a quantity, of a dimension where one is wanted."""
        value = self._guarded(lambda: self.value(expr, scope), expr)
        if value is None or not self._is_allowed(value, scope):
            return None
        if wanted is not None and value.dimension != wanted:
            self.wrong_dimension(value, wanted, of)
            return None
        return value.quantity

    def condition(self, expr: ast.Expr, scope: Scope) -> ir.Condition | None:
        """Return an expression as a condition."""
        return self._guarded(lambda: self._condition(expr, scope), expr)

    def wrong_dimension(self, value: Value | ir.Quantity, wanted: Dimension, of: str) -> None:
        """Report a quantity that has another dimension than is needed."""
        self.sink.report(
            codes.WRONG_DIMENSION,
            value.span,
            f"{of} must be {wanted.in_words}, not {value.dimension.in_words}",
            label=f"this is {value.dimension.in_words}",
            hint=_factor_hint(value.dimension, wanted),
        )

    def number(self, expr: ast.Expr, scope: Scope, of: str) -> Fraction | None:
        """Return an expression that must be a plain constant number."""
        fixed = replace(scope, allowed=Allowed.NOTHING)
        quantity = self.quantity(expr, fixed, DIMENSIONLESS, of)
        if quantity is None:
            return None
        if isinstance(quantity.expr, ir.Constant):
            return quantity.expr.value
        self.sink.report(codes.VARIES, expr.span, f"{of} must be a number, not an expression")
        return None

    def _guarded(self, work: Callable[[], T], expr: ast.Expr) -> T | None:
        """Run a check with a limit on its steps."""
        if self._busy:
            return work()
        self._busy, self._steps = True, 0
        try:
            return work()
        except _TooLarge:
            self._open.clear()
            self.sink.report(
                codes.TOO_DEEP,
                expr.span,
                f"this expression grows beyond {LARGEST_EXPRESSION:,} parts "
                "when its functions are put in",
                hint="simplify the functions that it calls",
            )
            return None
        finally:
            self._busy = False

    def _is_allowed(self, value: Value, scope: Scope) -> bool:
        for flag, message in (
            (Allowed.POPULATION, "must not depend on the number of users"),
            (Allowed.MEASURES, "cannot speak of a measure: it is an input of the model"),
            (Allowed.ANSWERS, "cannot speak of an answer; only expectations can"),
        ):
            if flag in value.mentions and flag not in scope.allowed:
                self.sink.report(codes.VARIES, value.span, f"this value {message}")
                return False
        return True

    # -- values --------------------------------------------------------------------------

    def value(self, expr: ast.Expr, scope: Scope) -> Value | None:  # noqa: PLR0911
        """Return an expression checked, or None where it was reported."""
        self._steps += 1
        if self._steps > LARGEST_EXPRESSION:
            raise _TooLarge
        match expr:
            case ast.Number():
                return Value(ir.Constant(expr.value), DIMENSIONLESS, expr.span)
            case ast.Quantity():
                parts = [self.value(expr.number, scope), self.value(expr.unit, scope)]
                return self._product(expr.span, list(zip((False, False), parts, strict=True)))
            case ast.Reference():
                return self._reference(expr, scope)
            case ast.Negative():
                minus = Value(ir.Constant(Fraction(-1)), DIMENSIONLESS, expr.span)
                factors = [(False, minus), (False, self.value(expr.operand, scope))]
                return self._product(expr.span, factors)
            case ast.Sum():
                terms = [(minus, self.value(term, scope)) for minus, term in expr.terms]
                return self._sum(expr.span, terms)
            case ast.Product():
                return self._product(
                    expr.span, [(below, self.value(f, scope)) for below, f in expr.factors]
                )
            case ast.Power():
                return self._power(expr, scope)
            case ast.Call():
                return self._call(expr, scope)
            case ast.Conditional():
                return self._conditional(expr, scope)
            case ast.Changed():
                return self._changed(expr, scope)
            case ast.Comparison() | ast.Junction() | ast.Not():
                self.sink.report(
                    codes.NOT_A_QUANTITY,
                    expr.span,
                    "a condition stands where a quantity is needed",
                    hint="choose with `if condition then a else b`",
                )
                return None

    def _combine(self, span: Span, expr: ir.Expr, dim: Dimension, parts: Sequence[Value]) -> Value:
        mentions = Allowed.NOTHING
        for part in parts:
            mentions |= part.mentions
        size = 1 + sum(part.size for part in parts)
        if size > LARGEST_EXPRESSION:
            raise _TooLarge
        if isinstance(expr, ir.Constant):
            value = expr.value
            if max(value.numerator.bit_length(), value.denominator.bit_length()) > _MOST_BITS:
                raise _TooLarge
            size = 1
        return Value(expr, dim, span, mentions, size)

    def _sum(self, span: Span, terms: list[tuple[bool, Value | None]]) -> Value | None:
        known = [(minus, value) for minus, value in terms if value is not None]
        if not known:
            return None
        first = known[0][1]
        for _, value in known[1:]:
            if value.dimension != first.dimension:
                self._mismatch(value, first, "added")
                return None
        if len(known) < len(terms):
            return None
        values = [value for _, value in known]
        signed = [_negated(value.expr) if minus else value.expr for minus, value in known]
        return self._combine(span, add(signed), first.dimension, values)

    def _mismatch(self, value: Value, first: Value, verb: str) -> None:
        self.sink.report(
            codes.DIMENSION_MISMATCH,
            value.span,
            f"{first.dimension.in_words} and {value.dimension.in_words} cannot be {verb}",
            label=f"this is {value.dimension.in_words}",
            secondary=[Label(first.span, f"this is {first.dimension.in_words}")],
            hint=_factor_hint(value.dimension, first.dimension),
        )

    def _product(self, span: Span, factors: list[tuple[bool, Value | None]]) -> Value | None:
        known = [(below, value) for below, value in factors if value is not None]
        if len(known) < len(factors):
            return None
        dimension = DIMENSIONLESS
        parts: list[ir.Expr] = []
        for below, value in known:
            power = Fraction(-1 if below else 1)
            dimension = dimension * value.dimension**power
            if below and isinstance(value.expr, ir.Constant):
                if value.expr.value == 0:
                    self.sink.report(codes.NUMBER_SIZE, value.span, "division by zero")
                    return None
                parts.append(ir.Constant(1 / value.expr.value))
            else:
                parts.append(ir.Power(value.expr, ir.Constant(power)) if below else value.expr)
        return self._combine(span, multiply(parts), dimension, [value for _, value in known])

    def _power(self, expr: ast.Power, scope: Scope) -> Value | None:
        base, exponent = self.value(expr.base, scope), self.value(expr.exponent, scope)
        if base is None or exponent is None:
            return None
        if exponent.dimension != DIMENSIONLESS:
            self.sink.report(
                codes.BAD_EXPONENT,
                exponent.span,
                f"an exponent must be a plain number, not {exponent.dimension.in_words}",
            )
            return None
        if isinstance(exponent.expr, ir.Constant):
            return self._constant_power(expr, base, exponent.expr.value)
        if base.dimension != DIMENSIONLESS:
            self.sink.report(
                codes.BAD_EXPONENT,
                exponent.span,
                f"{base.dimension.in_words} can only be raised to a constant power",
                secondary=[Label(base.span, f"this is {base.dimension.in_words}")],
            )
            return None
        raised = ir.Power(base.expr, exponent.expr)
        return self._combine(expr.span, raised, DIMENSIONLESS, [base, exponent])

    def _constant_power(self, expr: ast.Power, base: Value, power: Fraction) -> Value | None:
        if abs(power) > _LARGEST_POWER or power.denominator > _LARGEST_POWER:
            self.sink.report(
                codes.NUMBER_SIZE, expr.span, f"exponents go up to {_LARGEST_POWER} in QPS"
            )
            return None
        dimension = base.dimension**power
        if isinstance(base.expr, ir.Constant) and power.denominator == 1:
            if base.expr.value == 0 and power < 0:
                self.sink.report(codes.NUMBER_SIZE, expr.span, "division by zero")
                return None
            if base.expr.value.numerator.bit_length() * abs(power) > 4 * _MOST_BITS:
                raise _TooLarge
            folded = ir.Constant(base.expr.value**power.numerator)
            return self._combine(expr.span, folded, dimension, [base])
        return self._combine(expr.span, ir.Power(base.expr, ir.Constant(power)), dimension, [base])

    def _conditional(self, expr: ast.Conditional, scope: Scope) -> Value | None:
        condition = self._condition(expr.condition, replace(scope, allowed=Allowed.NOTHING))
        then, otherwise = self.value(expr.then, scope), self.value(expr.otherwise, scope)
        if condition is None or then is None or otherwise is None:
            return None
        if then.dimension != otherwise.dimension:
            self._mismatch(otherwise, then, "alternatives")
            return None
        choice = ir.Choice(condition, then.expr, otherwise.expr)
        return self._combine(expr.span, choice, then.dimension, [then, otherwise])

    def _changed(self, expr: ast.Changed, scope: Scope) -> Value | None:
        if Allowed.ANSWERS not in scope.allowed or self.changes is None:
            self.sink.report(
                codes.MISPLACED,
                expr.span,
                "`with` changes the model; only expectations can do so",
            )
            return None
        value, changes = self.value(expr.value, scope), self.changes(expr.changes, scope)
        if value is None or len(changes) < len(expr.changes):
            return None
        # What is inside is settled by its own changes: outside, it is a number.
        return replace(value, expr=ir.Changed(value.expr, changes), span=expr.span)

    # -- names ---------------------------------------------------------------------------

    def _reference(self, expr: ast.Reference, scope: Scope) -> Value | None:
        name = expr.name
        if len(name.parts) == 1 and name.text in scope.formals:
            bound = scope.formals[name.text]
            return Value(bound.expr, bound.dimension, expr.span, _mentions(bound.expr))
        unit = units.built_in(name.text) if len(name.parts) == 1 else None
        if unit is not None:
            return Value(ir.Constant(unit.factor), unit.dimension, expr.span)
        found = lookup(scope.module, name)
        if found is not None:
            return self._declared(found, expr, scope)
        return self._measure(expr, scope)

    def _declared(self, found: Found, expr: ast.Reference, scope: Scope) -> Value | None:
        declaration, span = found.declaration, expr.span
        match declaration:
            case ast.Unit():
                return self._unit(found, declaration, span)
            case ast.Param():
                dimension = self._definition(found, declaration.value)
                if dimension is None:
                    return None
                return Value(ir.ParameterValue(found.qualified), dimension.dimension, span)
            case ast.Let():
                value = self._definition(found, declaration.value)
                return None if value is None else replace(value, span=span)
            case ast.Measure():
                value = self._definition(found, declaration.value)
                return None if value is None else replace(value, span=span)
            case ast.Users():
                return Value(ir.Population(), DIMENSIONLESS, span, Allowed.POPULATION)
            case _:
                self._not_a_value(found, expr, scope)
                return None

    def _not_a_value(self, found: Found, expr: ast.Reference, scope: Scope) -> None:
        hints: dict[type, str] = {
            ast.Option: "compare it (`option == choice`) in an `if`",
            ast.Func: f"call it: `{expr.name.text}(…)`",
            ast.Stream: f"name what you mean: `{expr.name.text}.latency`, `.loss`, `.rate`",
            ast.Link: f"name what you mean: `{expr.name.text}.load`",
            ast.Node: f"name a resource, `{expr.name.text}.cpu.load`, "
            f"or the number of machines, `count({expr.name.text})`",
        }
        kind = kind_of(found.declaration)
        self.sink.report(
            codes.WRONG_KIND,
            expr.span,
            f"`{expr.name.text}` is {kind}, not a quantity",
            secondary=[Label(found.declaration.name.span, "declared here")],
            hint=hints.get(type(found.declaration)),
        )

    def _unit(self, found: Found, unit: ast.Unit, span: Span) -> Value | None:
        if unit.value is None:
            base = unit.name.text
            return Value(ir.Constant(Fraction(1)), Dimension.of(base), span)
        value = self._definition(found, unit.value)
        if value is not None and not isinstance(value.expr, ir.Constant):
            self.sink.report(
                codes.VARIES, unit.value.span, "a unit must be a fixed amount of another unit"
            )
            return None
        return None if value is None else replace(value, span=span)

    def _definition(self, found: Found, body: ast.Expr) -> Value | None:
        """Return the value of a definition, checked once, in the scope where it stands."""
        key = id(found.declaration)
        if key in self._lets:
            return self._lets[key]
        if any(open_.declaration is found.declaration for open_ in self._open):
            self._report_circle(found)
            self._lets[key] = None
            return None
        self._open.append(found)
        scope = Scope(found.module, Allowed.POPULATION | Allowed.MEASURES | Allowed.ANSWERS)
        value = self.value(body, scope)
        if self._open:
            self._open.pop()
        self._lets.setdefault(key, value)
        return self._lets[key]

    def _report_circle(self, found: Found) -> None:
        start = next(
            i for i, open_ in enumerate(self._open) if open_.declaration is found.declaration
        )
        circle = [*self._open[start:], found]
        names = " -> ".join(item.declaration.name.text for item in circle)
        self.sink.report(
            codes.DEFINITION_CYCLE,
            found.declaration.name.span,
            f"these definitions need each other: {names}",
            secondary=[
                Label(item.declaration.name.span, "and this") for item in self._open[start + 1 :]
            ],
        )

    def _measure(self, expr: ast.Reference, scope: Scope) -> Value | None:
        """Return a measure such as `voice.latency` or `station.cpu.load`."""
        parts, module = expr.name.parts, scope.module
        if parts == ("largest_acceptable",):
            return self._measured(
                ir.Measured(ir.MeasureKind.LARGEST, ""), DIMENSIONLESS, expr.span, answer=True
            )
        if parts == ("quality",):
            measured = ir.Measured(ir.MeasureKind.QUALITY, "")
            return self._measured(measured, DIMENSIONLESS, expr.span)
        owner = module.names.get(parts[0])
        if isinstance(owner, ast.Stream) and len(parts) == 2:  # noqa: PLR2004 - stream.measure
            return self._stream_measure(owner, expr)
        if isinstance(owner, ast.Node | ast.Link) and parts[-1] == "load":
            measured = ir.Measured(ir.MeasureKind.LOAD, ".".join(parts[:-1]))
            return self._measured(measured, DIMENSIONLESS, expr.span)
        if isinstance(owner, ast.Node | ast.Link):
            whole = expr.name.text
            self.sink.report(
                codes.UNKNOWN_NAME,
                expr.name.span,
                f"`{whole}` is no measure",
                hint=f"did you mean `{whole}.load`?",
            )
            return None
        unknown_name(self.sink, module, expr.name, "name")
        return None

    def _stream_measure(self, stream: ast.Stream, expr: ast.Reference) -> Value | None:
        word = expr.name.parts[1]
        if word == "rate":
            dimension = self._rate_dimension(stream)
            kind = ir.MeasureKind.RATE
        elif word in _STREAM_MEASURES:
            kind, dimension = _STREAM_MEASURES[word]
        else:
            names = [*_STREAM_MEASURES, "rate"]
            self.sink.report(
                codes.UNKNOWN_NAME,
                expr.span,
                f"`{word}` is no measure of a stream",
                hint=did_you_mean(word, names) or "there is " + listed(names, "and"),
            )
            return None
        if dimension is None:
            return None
        return self._measured(ir.Measured(kind, stream.name.text), dimension, expr.span)

    def _rate_dimension(self, stream: ast.Stream) -> Dimension | None:
        """Return the dimension of a stream's rate: of its first item, else of its bytes."""
        emission = next((i for i in stream.items if isinstance(i, ast.Emission)), None)
        if emission is None:
            return None
        scope = Scope(self._open[-1].module) if self._open else self.main_scope
        for value in emission.values:
            checked = self.value(value, scope)
            if checked is None:
                return None
            for base, _ in checked.dimension.exponents:
                if base not in (TIME_BASE, INFORMATION_BASE):
                    return Dimension.of(base) / TIME
        return DATA_RATE

    def _measured(
        self, measured: ir.Measured, dimension: Dimension, span: Span, *, answer: bool = False
    ) -> Value:
        mentions = Allowed.ANSWERS if answer else Allowed.MEASURES
        return Value(measured, dimension, span, mentions)

    # -- calls ---------------------------------------------------------------------------

    def _call(self, expr: ast.Call, scope: Scope) -> Value | None:
        word = expr.name.text
        if word in _ROOT_FUNCTIONS:
            return self._function(_ROOT_FUNCTIONS[word], expr, scope)
        if word in ("count", "share", "saturation"):
            return self._special(word, expr, scope)
        found = lookup(scope.module, expr.name)
        if found is None:
            names = [*_ROOT_FUNCTIONS, "count", "share", "saturation"]
            names += [n for n, d in scope.module.names.items() if isinstance(d, ast.Func)]
            self.sink.report(
                codes.UNKNOWN_NAME,
                expr.name.span,
                f"unknown function `{word}`",
                hint=did_you_mean(word, names),
            )
            return None
        if not isinstance(found.declaration, ast.Func):
            self.sink.report(
                codes.WRONG_KIND,
                expr.name.span,
                f"`{word}` is {kind_of(found.declaration)}, not a function",
                secondary=[Label(found.declaration.name.span, "declared here")],
            )
            return None
        return self._inlined(found, found.declaration, expr, scope)

    def _inlined(self, found: Found, func: ast.Func, expr: ast.Call, scope: Scope) -> Value | None:
        if any(open_.declaration is func for open_ in self._open):
            self._report_circle(found)
            return None
        formals = self.arguments(func.name, func.formals, expr.arguments, expr.span, found, scope)
        if formals is None:
            return None
        self._open.append(found)
        inner = Scope(
            found.module,
            Allowed.POPULATION | Allowed.MEASURES | Allowed.ANSWERS,
            formals,
        )
        value = self.value(func.value, inner)
        if self._open:
            self._open.pop()
        return None if value is None else replace(value, span=expr.span)

    def arguments(
        self,
        name: ast.Name,
        formals: tuple[ast.Formal, ...],
        arguments: tuple[ast.Expr, ...],
        span: Span,
        found: Found,
        scope: Scope,
    ) -> dict[str, ir.Quantity] | None:
        """Return the arguments of a function or component by the names of its formals."""
        if len(arguments) != len(formals):
            wanted = ", ".join(formal.name.text for formal in formals)
            self.sink.report(
                codes.ARGUMENT_COUNT,
                span,
                f"`{name.text}` takes {len(formals)} arguments, {len(arguments)} are given",
                secondary=[Label(name.span, "declared here")],
                hint=f"write `{name.text}({wanted})`" if formals else f"write `{name.text}`",
            )
            return None
        bound: dict[str, ir.Quantity] = {}
        for formal, argument in zip(formals, arguments, strict=True):
            if units.built_in(formal.name.text) is not None:
                self.sink.report(
                    codes.SHADOWED_UNIT, formal.name.span, f"`{formal.name.text}` is a unit already"
                )
                return None
            value = self.value(argument, scope)
            if value is None:
                return None
            if formal.example is not None:
                example = self.value(formal.example, Scope(found.module))
                if example is None:
                    return None
                if example.dimension != value.dimension:
                    self.wrong_dimension(value, example.dimension, f"`{formal.name.text}`")
                    return None
            bound[formal.name.text] = value.quantity
        return bound

    def _function(self, function: ir.Function, expr: ast.Call, scope: Scope) -> Value | None:
        values = [self.value(argument, scope) for argument in expr.arguments]
        known = [value for value in values if value is not None]
        if len(known) < len(values):
            return None
        several = function in (ir.Function.MAX, ir.Function.MIN)
        if not several and len(known) != 1:
            self.sink.report(
                codes.ARGUMENT_COUNT,
                expr.span,
                f"`{function.value}` takes 1 argument, {len(known)} are given",
            )
            return None
        for value in known[1:]:
            if value.dimension != known[0].dimension:
                self._mismatch(value, known[0], "compared")
                return None
        dimension = known[0].dimension
        if function is ir.Function.SQRT:
            dimension = dimension ** Fraction(1, 2)
        elif not several and function is not ir.Function.ABS and dimension != DIMENSIONLESS:
            self.wrong_dimension(known[0], DIMENSIONLESS, f"the argument of `{function.value}`")
            return None
        applied = ir.Apply(function, tuple(value.expr for value in known))
        return self._combine(expr.span, applied, dimension, known)

    def _special(self, word: str, expr: ast.Call, scope: Scope) -> Value | None:
        names = [a.name if isinstance(a, ast.Reference) else None for a in expr.arguments]
        wanted = {
            "count": "count(node)",
            "share": "share(component, node.resource)",
            "saturation": "saturation(node.resource)",
        }[word]
        if None in names or len(names) != (2 if word == "share" else 1):
            self.sink.report(codes.ARGUMENT_COUNT, expr.span, f"`{word}` is written `{wanted}`")
            return None
        last = names[-1]
        assert last is not None
        owner = scope.module.names.get(last.parts[0])
        if not isinstance(owner, ast.Node | ast.Link):
            unknown_name(self.sink, scope.module, last, "node or link")
            return None
        if word == "count":
            counted = ir.NodeCount(last.parts[0])
            return Value(counted, DIMENSIONLESS, expr.span, Allowed.POPULATION)
        if word == "saturation":
            measured = ir.Measured(ir.MeasureKind.SATURATION, last.text)
            return self._measured(measured, DIMENSIONLESS, expr.span, answer=True)
        return self._share(names[0], last, expr.span, scope)

    def _share(
        self, component: ast.Name | None, resource: ast.Name, span: Span, scope: Scope
    ) -> Value | None:
        assert component is not None
        found = lookup(scope.module, component)
        if found is None or not isinstance(found.declaration, ast.Component):
            unknown_name(self.sink, scope.module, component, "component")
            return None
        measured = ir.Measured(ir.MeasureKind.SHARE, resource.text, found.qualified)
        return self._measured(measured, DIMENSIONLESS, span)

    # -- conditions ----------------------------------------------------------------------

    def _condition(self, expr: ast.Expr, scope: Scope) -> ir.Condition | None:
        match expr:
            case ast.Not():
                inner = self._condition(expr.operand, scope)
                return None if inner is None else ir.Negated(inner)
            case ast.Junction():
                parts = [self._condition(operand, scope) for operand in expr.operands]
                known = tuple(part for part in parts if part is not None)
                if len(known) < len(parts):
                    return None
                return ir.AllOf(known) if expr.operator == "and" else ir.AnyOf(known)
            case ast.Comparison():
                return self._comparison(expr, scope)
            case ast.Reference():
                option = self._option(expr, scope)
                if option is not None:
                    return self._is_on(option, expr)
        value = self.value(expr, scope)
        if value is not None:
            self.sink.report(
                codes.NOT_A_CONDITION,
                expr.span,
                "a condition is needed here: a comparison, or an option that is on or off",
                label=f"this is {value.dimension.in_words}",
            )
        return None

    def _option(self, expr: ast.Expr, scope: Scope) -> Found | None:
        if not isinstance(expr, ast.Reference):
            return None
        found = lookup(scope.module, expr.name)
        return found if found and isinstance(found.declaration, ast.Option) else None

    def _is_on(self, option: Found, expr: ast.Reference) -> ir.Condition | None:
        choices = self.choices(option)
        if "on" not in choices:
            self.sink.report(
                codes.NOT_A_CONDITION,
                expr.span,
                f"`{expr.name.text}` is one of {listed(choices, 'or')}: say which",
                hint=f"write `{expr.name.text} == {choices[0]}`",
            )
            return None
        return ir.OptionIs(option.qualified, "on")

    @staticmethod
    def choices(option: Found) -> tuple[str, ...]:
        """Return the choices of an option: those listed, or the pair that one word implies."""
        assert isinstance(option.declaration, ast.Option)
        words = tuple(choice.text for choice in option.declaration.choices)
        for pair in (("on", "off"), ("unicast", "multicast")):
            if len(words) == 1 and words[0] in pair:
                return (words[0], pair[1] if words[0] == pair[0] else pair[0])
        return words

    def _comparison(self, expr: ast.Comparison, scope: Scope) -> ir.Condition | None:
        option = self._option(expr.operands[0], scope)
        if option is not None:
            return self._option_is(option, expr)
        values = [self.value(operand, scope) for operand in expr.operands]
        known = [value for value in values if value is not None]
        if len(known) < len(values):
            return None
        compared: list[ir.Condition] = []
        for operator, left, right in zip(expr.operators, known, known[1:], strict=False):
            if left.dimension != right.dimension:
                self._mismatch(right, left, "compared")
                return None
            if not (self._is_allowed(left, scope) and self._is_allowed(right, scope)):
                return None
            compared.append(ir.Compare(operator, left.expr, right.expr))
        return compared[0] if len(compared) == 1 else ir.AllOf(tuple(compared))

    def _option_is(self, option: Found, expr: ast.Comparison) -> ir.Condition | None:
        choice, choices = expr.operands[-1], self.choices(option)
        if len(expr.operands) > 2 or expr.operators[0] not in ("==", "!="):  # noqa: PLR2004
            self.sink.report(
                codes.NOT_A_CONDITION, expr.span, "an option is compared with `==` or `!=`"
            )
            return None
        word = choice.name.text if isinstance(choice, ast.Reference) else choice.span.text
        if word not in choices:
            self.sink.report(
                codes.UNKNOWN_NAME,
                choice.span,
                f"`{word}` is no choice of `{option.declaration.name.text}`",
                secondary=[Label(option.declaration.name.span, "declared here")],
                hint=did_you_mean(word, choices),
            )
            return None
        is_choice = ir.OptionIs(option.qualified, word)
        return is_choice if expr.operators[0] == "==" else ir.Negated(is_choice)


def add(terms: Sequence[ir.Expr]) -> ir.Expr:
    """Return a sum, its constants added up."""
    constant = sum((t.value for t in terms if isinstance(t, ir.Constant)), Fraction(0))
    rest: list[ir.Expr] = [term for term in terms if not isinstance(term, ir.Constant)]
    if not rest:
        return ir.Constant(constant)
    if constant:
        rest.append(ir.Constant(constant))
    return rest[0] if len(rest) == 1 else ir.Sum(tuple(rest))


def multiply(factors: Sequence[ir.Expr]) -> ir.Expr:
    """Return a product, its constants multiplied out."""
    constant = Fraction(1)
    rest: list[ir.Expr] = []
    for factor in factors:
        if isinstance(factor, ir.Constant):
            constant *= factor.value
        else:
            rest.append(factor)
    if not rest or constant == 0:
        return ir.Constant(constant)
    if constant != 1:
        rest.insert(0, ir.Constant(constant))
    return rest[0] if len(rest) == 1 else ir.Product(tuple(rest))


def _negated(expr: ir.Expr) -> ir.Expr:
    return multiply([ir.Constant(Fraction(-1)), expr])


def _mentions(expr: ir.Expr) -> Allowed:
    """Return what an expression speaks of."""
    match expr:
        case ir.Population() | ir.NodeCount():
            return Allowed.POPULATION
        case ir.Measured(kind=ir.MeasureKind.LARGEST | ir.MeasureKind.SATURATION):
            return Allowed.ANSWERS
        case ir.Measured():
            return Allowed.MEASURES
        case ir.Constant() | ir.ParameterValue():
            return Allowed.NOTHING
        case ir.Sum(parts) | ir.Product(parts) | ir.Apply(_, parts):
            pass
        case ir.Power(base, exponent):
            parts = (base, exponent)
        case ir.Choice(_, then, otherwise):
            parts = (then, otherwise)
        case ir.Changed(value, _):
            parts = (value,)
    mentioned = Allowed.NOTHING
    for part in parts:
        mentioned |= _mentions(part)
    return mentioned


def _factor_hint(have: Dimension, wanted: Dimension) -> str | None:
    """Return what to multiply or divide by, where one base is missing or too many."""
    if have == wanted ** Fraction(-1):
        return "turn it round: write `1 / (…)`"
    missing = wanted / have
    if len(missing.exponents) == 1:
        base, power = missing.exponents[0]
        word = Dimension.of(base).in_words
        if abs(power) == 1:
            return f"{'multiply' if power > 0 else 'divide'} it by {word}"
    return None
