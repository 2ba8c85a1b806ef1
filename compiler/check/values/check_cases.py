"""Parameters with several values: by case, by kind, and `largest(…)` of what rests on them."""

from __future__ import annotations

from itertools import pairwise

from msgspec import Struct

from qps.compiler import ir
from qps.compiler.check.names.check_classes import ClassChecker
from qps.compiler.check.names.declarations import (
    Declared,
    lookup,
)
from qps.compiler.check.names.reported_names import report_name
from qps.compiler.check.names.scope import AllowedNames, Scope
from qps.compiler.check.values.definitions import ValueOf
from qps.compiler.check.values.values import Arithmetic, Value, add
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Label, Sink
from qps.compiler.diagnostics.fixits import instead, single_statement_hint
from qps.compiler.diagnostics.source import Span
from qps.compiler.quantities.unit_binding import of_either
from qps.compiler.syntax import ast

CASE_FUNCTIONS = {case.value: case for case in ir.Case}
_FIXED_CASES = (
    AllowedNames.MEASURES
    | AllowedNames.ANSWERS
    | AllowedNames.QUALITY
    | AllowedNames.HORIZON
    | AllowedNames.ELASTIC
)


class CaseChecker(Struct, frozen=True):
    """Checks what states or uses cases; `value` checks the expressions inside."""

    sink: Sink
    arithmetic: Arithmetic
    classes: ClassChecker
    value: ValueOf

    def several(self, expr: ast.Cases | ast.KindTable, scope: Scope) -> Value | None:
        """Return what a parameter with several values is."""
        return self._cases(expr, scope) if isinstance(expr, ast.Cases) else self._table(expr, scope)

    def _cases(self, expr: ast.Cases, scope: Scope) -> Value | None:
        """Return a value by the case in force."""
        stated: dict[str, tuple[ast.CaseValue, Value]] = {}
        is_sound = True
        for item in expr.values:
            value = self.value(item.value, scope)
            if item.case in stated:
                self._twice(item.span, f"the {item.case}", stated[item.case][0].span)
            is_sound &= value is not None and item.case not in stated
            if value is not None:
                stated.setdefault(item.case, (item, value))
        values = [value for _, value in stated.values()]
        if not is_sound or not self._are_alike(values) or not self._in_order(stated):
            return None
        built = ir.ByCase(
            tuple(
                ir.CaseValue(ir.Case(case), value.expr, item.value.span)
                for case, (item, value) in stated.items()
            )
        )
        dimension, divisors = values[0].dimension, of_either(values)
        return self.arithmetic.combined(expr.span, built, dimension, values, divisors)

    def _table(self, expr: ast.KindTable, scope: Scope) -> Value | None:
        """Return a value over kinds, each of which is a parameter of its own."""
        named = lookup(scope.module, expr.kinds)
        if named is None or not isinstance(named.declaration, ast.Kinds):
            kind = "set of kinds"
            report_name(self.sink, scope.module, expr.kinds, kind, (ast.Kinds,))
            return None
        declared = named.declaration
        shares = self.classes.shares(named)
        values = [self.value(entry.value, scope) for entry in expr.entries]
        known = [value for value in values if value is not None]
        if shares is None or not self._is_complete(expr, named) or len(known) < len(values):
            return None
        if not self._are_alike(known):
            return None
        owner = scope.module.qualified(expr.owner.text)
        mixture = ir.Mixture(
            named.qualified,
            declared.of_users,
            tuple(
                ir.Class(kind, share.value, share.weight, f"{owner}.{kind}")
                for kind, share in shares.of.items()
            ),
            shares.total,
        )
        dimension, divisors = known[0].dimension, of_either(known)
        return self.arithmetic.combined(expr.span, mixture, dimension, known, divisors)

    def in_case(self, word: str, expr: ast.Call, scope: Scope) -> Value | None:
        """Return `largest(x)`: x with every parameter in one case."""
        if len(expr.arguments) != 1:
            several = {"largest": "max", "least": "min"}.get(word)
            self.sink.report(
                codes.ARGUMENT_COUNT,
                expr.span,
                f"`{word}` takes 1 argument, but {len(expr.arguments)} were given",
                hint=instead(
                    word, several, words=f"for the {word} of several values, write `{several}(…)`"
                )
                if several
                else "add and divide them, or declare `kinds` with shares",
            )
            return None
        value = self.value(expr.arguments[0], scope)
        if value is None:
            return None
        if value.mentions & _FIXED_CASES:
            self.sink.report(
                codes.MISPLACED,
                value.span,
                f"`{word}` can be used only with parameters, not with results",
                hint=instead(
                    expr.span.text,
                    f"({value.span.text} with case = {word})",
                    at=expr.span,
                    words=f"in a claim write `({value.span.text} with case = {word})`",
                ),
            )
            return None
        if isinstance(value.expr, ir.Constant):
            return value
        built = ir.InCase(CASE_FUNCTIONS[word], value.expr, expr.span)
        dimension, divisors = value.dimension, value.divisors
        return self.arithmetic.combined(expr.span, built, dimension, [value], divisors)

    def sum(self, expr: ast.Call, scope: Scope) -> Value | None:
        """Return what a parameter by kinds comes to when all its kinds are added up."""
        operand = expr.arguments[0] if len(expr.arguments) == 1 else None
        named = lookup(scope.module, operand.name) if isinstance(operand, ast.Reference) else None
        declared = None if named is None else named.declaration
        if named is None or not isinstance(declared, ast.Param):
            self.sink.report(
                codes.ARGUMENT_COUNT if operand is None else codes.WRONG_KIND,
                expr.span,
                "`sum` takes one parameter with kinds",
                hint="write `sum(layer_rate)`; add other values with `+`",
            )
            return None
        if not isinstance(declared.value, ast.KindTable):
            self.sink.report(
                codes.WRONG_KIND,
                expr.span,
                f"`{declared.name.text}` has no kinds to sum",
                secondary=[Label(declared.name.span, "declared here")],
                hint=f"declare it by kinds: `param {declared.name.text} by … {{ … }}`",
            )
            return None
        assert operand is not None
        whole = self.value(operand, scope)
        kinds = [entry.name.text for entry in declared.value.entries]
        if whole is None:
            return None
        parts = [ir.ParameterValue(f"{named.qualified}.{kind}") for kind in kinds]
        dimension, divisors = whole.dimension, whole.divisors
        return self.arithmetic.combined(expr.span, add(parts), dimension, [whole], divisors)

    # -- what may be wrong ---------------------------------------------------------------

    def _twice(self, span: Span, what: str, earlier: Span) -> None:
        self.sink.report(
            codes.DUPLICATE_NAME,
            span,
            f"{what} is specified twice",
            secondary=[Label(earlier, "first specified here")],
            hint=single_statement_hint(span),
        )

    def _are_alike(self, values: list[Value]) -> bool:
        """Return whether all values have one dimension; else it is reported."""
        for value in values[1:]:
            if value.dimension != values[0].dimension:
                self.arithmetic.mismatch(value, values[0], "mix")
                return False
        return True

    def _in_order(self, stated: dict[str, tuple[ast.CaseValue, Value]]) -> bool:
        """Return whether least <= average <= largest, where they are numbers."""
        order = [stated[case] for case in ("least", "average", "largest") if case in stated]
        fixed = [(i, v.expr.value) for i, v in order if isinstance(v.expr, ir.Constant)]
        for (small, low), (great, high) in pairwise(fixed):
            if low > high:
                self.sink.report(
                    codes.OUT_OF_RANGE,
                    great.span,
                    f"the {great.case} is below the {small.case}",
                    secondary=[Label(small.span, f"the {small.case}")],
                    hint="swap them, or change one of them",
                )
                return False
        return True

    def _is_complete(self, expr: ast.KindTable, declared: Declared) -> bool:
        """Return whether every kind has one value, and nothing else has one."""
        shares = self.classes.shares(declared)
        assert shares is not None
        stated: dict[str, ast.KindValue] = {}
        is_sound = True
        for entry in expr.entries:
            is_sound &= self.classes.knows(declared, entry.name)
            earlier = stated.setdefault(entry.name.text, entry)
            if earlier is not entry:
                self._twice(entry.span, f"kind `{entry.name.text}`", earlier.span)
                is_sound = False
        missing = [kind for kind in shares.of if kind not in stated]
        if missing and is_sound:
            own = declared.declaration.name
            kinds = ", ".join(f"`{kind}`" for kind in missing)
            self.sink.report(
                codes.MISSING_PART,
                expr.owner.span,
                f"`{expr.owner.text}` has no value for {kinds} of `{own.text}`",
                secondary=[Label(own.span, "kinds declared here")],
                hint=f"add it: `{missing[0]} …`",
            )
        return is_sound and not missing
