"""Conditions: comparisons, options that are on or off, `and`, `or`, `not`."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from qps.compiler import ir
from qps.compiler.check.names.declarations import Declared, lookup
from qps.compiler.check.names.name_recorder import Meaning
from qps.compiler.check.names.scope import Scope
from qps.compiler.check.values.definitions import ValueOf
from qps.compiler.check.values.values import Arithmetic, Value
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Label, Sink
from qps.compiler.diagnostics.fixits import instead
from qps.compiler.diagnostics.suggest import did_you_mean, listed
from qps.compiler.syntax import ast


class ConditionChecker(Struct, frozen=True):
    """Checks conditions; `value` checks the sides of their comparisons."""

    sink: Sink
    arithmetic: Arithmetic
    value: ValueOf
    is_allowed: Callable[[Value, Scope], bool]

    def condition(self, expr: ast.Expr, scope: Scope) -> ir.Condition | None:
        """Return an expression as a condition."""
        match expr:
            case ast.Not():
                inner = self.condition(expr.operand, scope)
                return None if inner is None else ir.Negated(inner)
            case ast.Junction():
                parts = [self.condition(operand, scope) for operand in expr.operands]
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
                "expected a condition: a comparison or an on/off option",
                label=f"this is {self.arithmetic.free.resolved(value.dimension).in_words}",
                hint="compare it: `size > 1000 byte/packet`",
            )
        return None

    def _option(self, expr: ast.Expr, scope: Scope) -> Declared | None:
        if not isinstance(expr, ast.Reference):
            return None
        declared = lookup(scope.module, expr.name)
        return declared if declared and isinstance(declared.declaration, ast.Option) else None

    def _is_on(self, option: Declared, expr: ast.Reference) -> ir.Condition | None:
        choices = choices_of(option)
        if "on" not in choices:
            self.sink.report(
                codes.NOT_A_CONDITION,
                expr.span,
                f"option `{expr.name.text}` has {listed(choices, 'and')}: compare it with "
                "one of them",
                hint=instead(
                    expr.name.text,
                    *(f"{expr.name.text} == {choice}" for choice in choices),
                    words=f"write `{expr.name.text} == {choices[0]}`",
                ),
            )
            return None
        return ir.OptionIs(option.qualified, "on")

    def _comparison(self, expr: ast.Comparison, scope: Scope) -> ir.Condition | None:
        option = self._option(expr.operands[0], scope)
        if option is not None:
            return self._option_is(option, expr, scope)
        values = [self.value(operand, scope) for operand in expr.operands]
        known = [value for value in values if value is not None]
        if len(known) < len(values):
            return None
        compared: list[ir.Condition] = []
        for operator, left, right in zip(expr.operators, known, known[1:], strict=False):
            if not self.arithmetic.free.agree(left.dimension, right.dimension):
                self.arithmetic.mismatch(right, left, "compare")
                return None
            if not (self.is_allowed(left, scope) and self.is_allowed(right, scope)):
                return None
            compared.append(ir.Compare(operator, left.expr, right.expr, left.dimension))
        return compared[0] if len(compared) == 1 else ir.AllOf(tuple(compared))

    def _option_is(
        self, option: Declared, expr: ast.Comparison, scope: Scope
    ) -> ir.Condition | None:
        choice, choices = expr.operands[-1], choices_of(option)
        if len(expr.operands) > 2 or expr.operators[0] not in ("==", "!="):  # noqa: PLR2004
            self.sink.report(
                codes.NOT_A_CONDITION,
                expr.span,
                "an option can only be compared with `==` or `!=`",
                hint=instead(
                    expr.span.text,
                    *(f"{option.declaration.name.text} == {choice}" for choice in choices),
                    at=expr.span,
                    words=f"write `{option.declaration.name.text} == {choices[0]}`",
                ),
            )
            return None
        word = choice.name.text if isinstance(choice, ast.Reference) else choice.span.text
        if word not in choices:
            self.sink.report(
                codes.UNKNOWN_NAME,
                choice.span,
                f"option `{option.declaration.name.text}` has no choice `{word}`",
                secondary=[Label(option.declaration.name.span, "declared here")],
                hint=did_you_mean(word, choices),
            )
            return None
        if isinstance(choice, ast.Reference):
            scope.module.note(Meaning.CHOICE, choice.name, option.declaration)
        is_choice = ir.OptionIs(option.qualified, word)
        return is_choice if expr.operators[0] == "==" else ir.Negated(is_choice)


def choices_of(option: Declared) -> tuple[str, ...]:
    """Return the choices of an option: those listed, or the pair that one word implies."""
    assert isinstance(option.declaration, ast.Option)
    words = tuple(choice.text for choice in option.declaration.choices)
    for pair in (("on", "off"), ("unicast", "multicast")):
        if len(words) == 1 and words[0] in pair:
            return (words[0], pair[1] if words[0] == pair[0] else pair[0])
    return words
