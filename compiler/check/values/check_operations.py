"""Functions that every spec has: operations of the table, and words that are made of these."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from msgspec import Struct

from qps.compiler import ir
from qps.compiler.check.values.values import Arithmetic, Value
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.source import Span
from qps.compiler.quantities.dimension import DIMENSIONLESS, Dimension
from qps.compiler.quantities.unit_binding import of_either
from qps.compiler.syntax import ast
from qps.engine.operation_rows import Operation
from qps.engine.operations import BY_NAME


class OperationChecker(Struct, frozen=True, kw_only=True):
    """Checks what functions are given, and applies them."""

    arithmetic: Arithmetic
    wrong_dimension: Callable[[Value, Dimension, str], None]

    def call(self, expr: ast.Call, arguments: list[Value | None]) -> Value | None:
        """Return the value of a function of the language."""
        name = expr.name.text
        values = [value for value in arguments if value is not None]
        if len(values) < len(arguments):
            return None
        wanted = _arguments(name)
        if wanted and len(values) != len(wanted):
            self.arithmetic.sink.report(
                codes.ARGUMENT_COUNT,
                expr.span,
                f"`{name}` takes {counted(len(wanted))}, {count_in_words(len(values))}",
                hint=f"write `{name}({', '.join(wanted)})`",
            )
            return None
        if name in _FUNCTIONS:
            return _FUNCTIONS[name][1](self, name, expr.span, values)
        return self.applied(BY_NAME[name], name, expr.span, values)

    def applied(
        self, row: Operation, name: str, span: Span, values: Sequence[Value]
    ) -> Value | None:
        """Return an operation on values, `name` being what the spec calls it."""
        in_proportion = row.in_proportion(len(values))
        scaling = [values[place] for place in in_proportion]
        for value in scaling[1:]:
            if not self.arithmetic.free.agree(value.dimension, scaling[0].dimension):
                self.arithmetic.mismatch(value, scaling[0], "compare")
                return None
        for place, value in enumerate(values):
            if place in in_proportion:
                continue
            if not self.arithmetic.free.agree(value.dimension, DIMENSIONLESS):
                which = "the argument" if len(values) == 1 else f"`{row.arguments[place]}`"
                self.wrong_dimension(value, DIMENSIONLESS, f"{which} of `{name}`")
                return None
        dimension = scaling[0].dimension if scaling else DIMENSIONLESS
        applied = ir.Apply(row.word, tuple(value.expr for value in values))
        return self.arithmetic.combined(span, applied, dimension, values, of_either(scaling))

    def _root(self, _name: str, span: Span, values: Sequence[Value]) -> Value | None:
        return self.arithmetic.constant_power(span, values[0], Fraction(1, 2))

    def _logarithm(self, name: str, span: Span, values: Sequence[Value]) -> Value | None:
        """Return the logarithm to the base with which its name ends."""
        natural = self.applied(BY_NAME["ln"], name, span, values)
        if natural is None:
            return None
        base = ir.Apply("ln", (ir.Constant(Fraction(name.removeprefix("log"))),))
        parts = (natural.expr, ir.Power(base, ir.Constant(Fraction(-1))))
        return self.arithmetic.combined(span, ir.Product(parts), DIMENSIONLESS, [natural])

    def _clamped(self, name: str, span: Span, values: Sequence[Value]) -> Value | None:
        x, least, most = values
        not_less = self.applied(BY_NAME["max"], name, x.span, [x, least])
        return not_less and self.applied(BY_NAME["min"], name, span, [not_less, most])


_FUNCTIONS: dict[str, tuple[tuple[str, ...], Callable[..., Value | None]]] = {
    "sqrt": (("x",), OperationChecker._root),  # noqa: SLF001 - its own
    "log2": (("x",), OperationChecker._logarithm),  # noqa: SLF001
    "log10": (("x",), OperationChecker._logarithm),  # noqa: SLF001
    "clamp": (("x", "least", "most"), OperationChecker._clamped),  # noqa: SLF001
}
"""What each takes that is made of other operations: no model knows of these words."""

FUNCTIONS = frozenset([*BY_NAME, *_FUNCTIONS])
"""Names of the functions that every spec has."""


def _arguments(name: str) -> tuple[str, ...]:
    """Return what a function takes, none of what takes any number of arguments."""
    if name in _FUNCTIONS:
        return _FUNCTIONS[name][0]
    return () if BY_NAME[name].takes_more else BY_NAME[name].arguments


def counted(count: int) -> str:
    """Return so many arguments in words."""
    return {0: "no arguments", 1: "1 argument"}.get(count, f"{count} arguments")


def count_in_words(count: int) -> str:
    """Return in words that so many are given."""
    return {0: "but none was given", 1: "but 1 was given"}.get(count, f"but {count} were given")
