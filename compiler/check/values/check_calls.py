"""Calls in expressions: the functions of the language and those of a spec."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.check.names.declarations import (
    Declared,
    kind_of,
    lookup,
)
from qps.compiler.check.names.name_recorder import Meaning
from qps.compiler.check.names.scope import Scope
from qps.compiler.check.names.uncertain_names import DISTRIBUTIONS
from qps.compiler.check.values.check_cases import CASE_FUNCTIONS, CaseChecker
from qps.compiler.check.values.check_operations import (
    FUNCTIONS,
    OperationChecker,
    count_in_words,
    counted,
)
from qps.compiler.check.values.check_questions import NAME_FUNCTIONS, QuestionChecker
from qps.compiler.check.values.check_traces import TraceChecker, trace_of
from qps.compiler.check.values.definitions import EVERYTHING, Definitions, ValueOf
from qps.compiler.check.values.values import Arithmetic, Value
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Label, Sink
from qps.compiler.diagnostics.fixits import Hint, instead
from qps.compiler.diagnostics.source import Span
from qps.compiler.diagnostics.suggest import did_you_mean
from qps.compiler.ir.measure_names import percentile_word
from qps.compiler.quantities.dimension import Dimension
from qps.compiler.syntax import ast
from qps.engine.operations import BY_NAME

LANGUAGE_FUNCTIONS = frozenset(
    [*FUNCTIONS, *CASE_FUNCTIONS, *NAME_FUNCTIONS, "sum", "quantile", "probability", *DISTRIBUTIONS]
)
_ALWAYS = frozenset([*FUNCTIONS, *CASE_FUNCTIONS, *NAME_FUNCTIONS, "sum", "quantile"])
"""Those that are meant even where something else is called so."""
ARITHMETIC = frozenset([*FUNCTIONS, *CASE_FUNCTIONS, "count", "members", "sum"]) - {
    name for name, row in BY_NAME.items() if row.is_of_queue
}
"""Functions of the language that query no model; those of queues are models."""
_FOREIGN = {
    **{
        word: instead(word, "average", words="write `average(x)` for x in the average case")
        for word in ("mean", "avg")
    },
    "log": instead(
        "log",
        "ln",
        "log2",
        "log10",
        words="use `ln` (natural), `log2` or `log10`",
    ),
    "pow": "write `x ^ y`",
    "power": "write `x ^ y`",
    "round": "write `floor(x + 0.5)`",
}

_PERCENTILE = re.compile(r"[pP](\d\d)_?(\d*)")


def _as_quantile(expr: ast.Call) -> str | None:
    """Return how to write `p99(page.latency)` and `percentile(page.latency, 99)`."""
    word, given = expr.name.text, [argument.span.text for argument in expr.arguments]
    if word in ("percentile", "perc"):
        fix = instead(word, "quantile", words="write `page.p99`, or `quantile(page.latency, 99 %)`")
        return "write `page.p99`" if not given else fix
    found = _PERCENTILE.fullmatch(word)
    if found is None:
        return None
    percentile = percentile_word(Fraction(f"0.{found[1]}{found[2]}"))
    if percentile is None or len(given) != 1 or not given[0].endswith(".latency"):
        return f"write `page.{percentile or 'p99'}`"
    return instead(
        expr.span.text, f"{given[0].removesuffix('.latency')}.{percentile}", at=expr.span
    )


_CHEAPEST = frozenset(("cheapest", "lowest_cost", "lowest_running_cost"))


def _as_lowest_cost(expr: ast.Call, scope: Scope) -> Hint | None:
    """Return how to write `cheapest(20_000)`: a measure with a population."""
    word = expr.name.text
    if word not in _CHEAPEST or len(expr.arguments) != 1:
        return None
    declared = (one for one in scope.module.names.values() if isinstance(one, ast.Users))
    name = next((one.name.text for one in declared), "N")
    measure = "lowest_running_cost" if word == "cheapest" else word
    written = f"({measure} with {name} = {expr.arguments[0].span.text})"
    other = "; of purchase prices, `lowest_cost`" if word == "cheapest" else ""
    return instead(expr.span.text, written, at=expr.span, words=f"write `{written}`{other}")


class CallChecker(Struct, frozen=True, kw_only=True):
    """Checks calls; `value` checks their arguments and the bodies of functions."""

    sink: Sink
    definitions: Definitions
    arithmetic: Arithmetic
    cases: CaseChecker
    value: ValueOf
    questions: QuestionChecker
    wrong_dimension: Callable[[Value, Dimension, str], None]
    traces: TraceChecker

    def call(self, expr: ast.Call, scope: Scope) -> Value | None:
        """Return the value of a call."""
        word = expr.name.text
        if word in _ALWAYS:
            scope.module.note(Meaning.WORD, expr.name)
        if word in FUNCTIONS:
            given = [self.value(argument, scope) for argument in expr.arguments]
            return OperationChecker(
                arithmetic=self.arithmetic, wrong_dimension=self.wrong_dimension
            ).call(expr, given)
        if word in CASE_FUNCTIONS:
            return self.cases.in_case(word, expr, scope)
        if word == "sum":
            return self.cases.sum(expr, scope)
        if word in NAME_FUNCTIONS:
            return self.questions.of_names(word, expr, scope)
        if word == "quantile":
            return self.questions.quantile(expr, scope)
        declared = lookup(scope.module, expr.name)
        if word == "probability" and declared is None:
            scope.module.note(Meaning.WORD, expr.name)
            return self.questions.probability(expr, scope)
        trace = trace_of(scope.module, expr.name) if declared is None else None
        if trace is not None:
            return self.traces.call(trace, expr, scope)
        if declared is None:
            names = sorted(LANGUAGE_FUNCTIONS)
            names += [n for n, d in scope.module.names.items() if isinstance(d, ast.Func)]
            self.sink.report(
                codes.UNKNOWN_NAME,
                expr.name.span,
                f"unknown function `{word}`",
                hint=_FOREIGN.get(word)
                or _as_quantile(expr)
                or _as_lowest_cost(expr, scope)
                or did_you_mean(word, names)
                or "declare it: `func`",
            )
            return None
        if not isinstance(declared.declaration, ast.Func):
            self.sink.report(
                codes.WRONG_KIND,
                expr.name.span,
                f"`{word}` is {kind_of(declared.declaration)}, not a function",
                secondary=[Label(declared.declaration.name.span, "declared here")],
                hint=instead(
                    word,
                    f"{word} * ",
                    at=expr.name.span,
                    words=f"to multiply, write `{word} * (…)`",
                ),
            )
            return None
        return self._inlined(declared, declared.declaration, expr, scope)

    def _inlined(
        self, declared: Declared, func: ast.Func, expr: ast.Call, scope: Scope
    ) -> Value | None:
        if any(open_.is_same(declared) for open_ in self.definitions.open):
            self.definitions.report_circle(declared)
            return None
        formals = self.arguments(
            func.name, func.formals, expr.arguments, expr.span, declared, scope
        )
        if formals is None or self.definitions.is_unsound(func):
            return None
        if self.definitions.is_too_deep(declared):
            return None
        value = self._body(declared, func, formals)
        return None if value is None else replace(value, span=expr.span)

    def _body(
        self, declared: Declared, func: ast.Func, formals: dict[str, ir.Quantity]
    ) -> Value | None:
        """Return what the body of a function is with its formals bound."""
        self.definitions.called.add(id(func))
        self.definitions.open.append(declared)
        value = self.value(func.value, Scope(declared.module, EVERYTHING, formals))
        if self.definitions.open:
            self.definitions.open.pop()
        return value

    def uncalled(self, declared: Declared, func: ast.Func) -> None:
        """Check a function by itself: what is wrong in it whatever it is called with."""
        bound = self.unknown(declared, func.formals)
        if bound is not None:
            self._body(declared, func, bound)

    def unknown(
        self, declared: Declared, formals: tuple[ast.Formal, ...]
    ) -> dict[str, ir.Quantity] | None:
        """Return formals without values: of what nothing uses, only their dimensions are known."""
        bound: dict[str, ir.Quantity] = {}
        for formal in formals:
            dimension = self._dimension_of(formal, bound, declared)
            if dimension is None:
                return None
            value = ir.ParameterValue(formal.name.text, is_formal=True)
            bound[formal.name.text] = ir.Quantity(
                expr=value, dimension=dimension, span=formal.name.span
            )
        return bound

    def _dimension_of(
        self, formal: ast.Formal, bound: dict[str, ir.Quantity], declared: Declared
    ) -> Dimension | None:
        """Return the dimension of a formal, free where it has no example."""
        if not self._is_new(formal, bound):
            return None
        if formal.example is None:
            return self.arithmetic.free.start(formal.name.text)
        example = self.value(formal.example, Scope(declared.module))
        return None if example is None else example.dimension

    def arguments(
        self,
        name: ast.Name,
        formals: tuple[ast.Formal, ...],
        arguments: tuple[ast.Expr, ...],
        span: Span,
        declared: Declared,
        scope: Scope,
    ) -> dict[str, ir.Quantity] | None:
        """Return the arguments of a function or component by the names of its formals."""
        if len(arguments) != len(formals):
            wanted = ", ".join(formal.name.text for formal in formals)
            self.sink.report(
                codes.ARGUMENT_COUNT,
                span,
                f"`{name.text}` takes {counted(len(formals))}, {count_in_words(len(arguments))}",
                secondary=[Label(name.span, "declared here")],
                hint=f"write `{name.text}({wanted})`"
                if formals
                else instead(span.text, span.text.partition("(")[0].rstrip()),
            )
            return None
        bound: dict[str, ir.Quantity] = {}
        for formal, argument in zip(formals, arguments, strict=True):
            if not self._is_new(formal, bound):
                return None
            value = self.value(argument, scope)
            if value is None:
                return None
            if formal.example is not None:
                example = self.value(formal.example, Scope(declared.module))
                if example is None:
                    return None
                if not self.arithmetic.free.agree(example.dimension, value.dimension):
                    self.wrong_dimension(value, example.dimension, f"`{formal.name.text}`")
                    return None
            handed_on = argument.name.text if isinstance(argument, ast.Reference) else ""
            bound[formal.name.text] = scope.formals.get(handed_on, value.quantity)
        return bound

    def _is_new(self, formal: ast.Formal, bound: dict[str, ir.Quantity]) -> bool:
        """Return whether a formal has a name of its own; else it is reported."""
        name = formal.name
        if name.text in bound:
            self.sink.report(
                codes.DUPLICATE_NAME,
                name.span,
                f"`{name.text}` is declared twice",
                hint="rename one of them",
            )
            return False
        return True
