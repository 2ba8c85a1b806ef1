"""Numbers that are not known: how likely each value is, checked like any other quantity."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from math import log, sqrt
from statistics import NormalDist

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.check.names.name_recorder import Meaning
from qps.compiler.check.names.scope import AllowedNames, Scope
from qps.compiler.check.names.uncertain_names import DISTRIBUTIONS, counted_name
from qps.compiler.check.values.check_operations import count_in_words, counted
from qps.compiler.check.values.values import Arithmetic, Value, leaf
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Sink
from qps.compiler.diagnostics.fixits import instead, swapping_hint
from qps.compiler.diagnostics.source import Source, Span
from qps.compiler.diagnostics.suggest import did_you_mean
from qps.compiler.measurement.measured_tables import DataError, number, read_table
from qps.compiler.quantities.dimension import DIMENSIONLESS, Dimension
from qps.compiler.syntax import ast

NumberOf = Callable[[ast.Expr, Scope, str, Dimension], Fraction | None]
ValueOf = Callable[[ast.Expr, Scope], Value | None]
DataOf = Callable[[ast.Text, Source], str | None]

_BETWEEN = Fraction(NormalDist().inv_cdf(0.95))
"""Standard deviations of a normal distribution on each side that hold 90 % of it.

As people estimate between which two values a number lies.
"""
_FEWEST_SAMPLES = 2


class UncertainChecker(Struct, frozen=True, kw_only=True):
    """Checks uncertain numbers; each that stands in no parameter of its own becomes one.

    `parameters` has those parameters by name, `names` the name of the value at each place.
    """

    sink: Sink
    arithmetic: Arithmetic
    value: ValueOf
    number: NumberOf
    data: DataOf
    parameters: dict[str, ir.Parameter]
    names: Callable[[], Mapping[Span, str]]

    def value_of(self, expr: ast.Expr, scope: Scope) -> Value | None:
        """Return an uncertain number where any expression may stand: it is a parameter."""
        stated = self.stated(expr, scope)
        return stated and self._as_parameter(stated, stated.dimension)

    def stated(self, expr: ast.Expr, scope: Scope) -> Value | None:
        """Return an uncertain number as what it is; None where it was reported."""
        match expr:
            case ast.Around():
                return self._around(expr, scope)
            case ast.Between():
                return self._between(expr, scope)
            case ast.OneOf():
                return self._one_of(expr, scope)
            case ast.Samples():
                return self._samples(expr, scope)
            case ast.Call():
                return self._drawn(expr, scope)
        raise AssertionError(expr)

    # -- how it is written ---------------------------------------------------------------

    def _around(self, expr: ast.Around, scope: Scope) -> Value | None:
        """Return `middle +- half width`; what is no number of its own is changed by one that is."""
        is_share = _is_in_percent(expr.half_width) and not _is_in_percent(expr.middle)
        written, off = expr.middle, expr.half_width
        if not is_share:
            written, off = ast.with_unit_of(written, off), ast.with_unit_of(off, written)
        middle = self.value(written, scope)
        if middle is None:
            return None
        dimension = DIMENSIONLESS if is_share else middle.dimension
        half = self.number(off, scope, "an uncertainty", dimension)
        if half is None:
            return None
        if half < 0:
            return self._refused(
                expr.half_width.span,
                "an uncertainty must not be negative",
                instead("-", "", words="write it without the sign: `8 ms +- 1 ms`"),
            )
        if half == 0:
            return self._refused(
                expr.half_width.span,
                "an uncertainty of zero has no effect",
                instead(expr.span.text, expr.middle.span.text, at=expr.span, words="remove `+-`"),
            )
        deviation = half / ir.NORMAL_SIDE
        if isinstance(middle.expr, ir.Constant):
            mean = middle.expr.value
            spread = abs(mean) * deviation if is_share else deviation
            if spread == 0:
                return self._refused(
                    expr.span,
                    "a share of zero is zero",
                    "write the uncertainty with a unit",
                )
            return self._uncertain(expr, ir.Normal(mean, spread), middle.dimension)
        return self._changing(expr, middle, deviation, is_share=is_share)

    def _changing(
        self, expr: ast.Around, middle: Value, deviation: Fraction, *, is_share: bool
    ) -> Value | None:
        """Return a value that rests on others, times or plus an uncertain number of its own."""
        distribution = ir.Normal(Fraction(is_share), deviation)
        dimension = DIMENSIONLESS if is_share else middle.dimension
        own = self._as_parameter(self._uncertain(expr, distribution, dimension), dimension)
        if is_share:
            return self.arithmetic.product(expr.span, [(False, middle), (False, own)])
        return self.arithmetic.sum(expr.span, [(False, middle), (False, own)])

    def _between(self, expr: ast.Between, scope: Scope) -> Value | None:
        found = self._ends(expr.low, expr.high, scope)
        if found is None:
            return None
        low, high, dimension = found
        if low >= high:
            return self._refused(
                expr.span,
                "the end of this interval is below its start"
                if low > high
                else "this interval is empty",
                swapping_hint(
                    expr.low.span,
                    expr.high.span,
                    f"write the smaller end first: `between {expr.high.span.text} and "
                    f"{expr.low.span.text}`",
                )
                if low > high
                else "write only the number",
            )
        if low > 0:
            median = _root(low * high)
            log_deviation = Fraction(log(high / low)) / (2 * _BETWEEN)
            return self._uncertain(expr, ir.Lognormal(median, log_deviation), dimension)
        normal = ir.Normal((low + high) / 2, (high - low) / (2 * _BETWEEN))
        return self._uncertain(expr, normal, dimension)

    def _one_of(self, expr: ast.OneOf, scope: Scope) -> Value | None:
        values: dict[Fraction, Fraction] = {}
        dimension = None
        for choice in expr.choices:
            value = self.value(choice.value, scope)
            weight: Fraction | None = Fraction(1)
            if choice.weight is not None:
                weight = self.number(choice.weight, scope, "a weight", DIMENSIONLESS)
            if value is None or weight is None:
                return None
            if weight <= 0:
                return self._refused(
                    choice.span, "a weight must be above zero", "remove values that are impossible"
                )
            known = self._constant(value)
            dimension = dimension or value.dimension
            if known is None:
                return None
            if not self.arithmetic.free.agree(value.dimension, dimension):
                self.arithmetic.mismatch(
                    value,
                    leaf(ir.Constant(known), dimension, expr.choices[0].value.span),
                    "choose between",
                )
                return None
            values[known] = values.get(known, Fraction(0)) + weight
        if len(values) == 1:
            return self._refused(
                expr.span,
                "`one of` has only one value",
                instead(
                    expr.span.text,
                    expr.choices[0].value.span.text,
                    words="list all possible values, or write only the number",
                ),
            )
        total = sum(values.values())
        ordered = sorted(values)
        weighted = ir.Weighted(tuple(ordered), tuple(values[v] / total for v in ordered))
        assert dimension is not None, "available: a value"
        return self._uncertain(expr, weighted, dimension)

    def _samples(self, expr: ast.Samples, scope: Scope) -> Value | None:
        text = self.data(expr.file, scope.module.syntax.source)
        if text is None:
            return None
        word = expr.column.value if isinstance(expr.column, ast.Text) else expr.column.text
        try:
            table = read_table(text, expr.file.value)
        except DataError as error:
            self.sink.report(codes.BAD_DATA, expr.file.span, error.message, hint=error.hint)
            return None
        if word not in table.headings:
            hint = did_you_mean(word, table.headings) or (
                f"its columns are {', '.join(f'`{one}`' for one in table.headings)}"
            )
            self.sink.report(
                codes.BAD_DATA,
                expr.column.span,
                f"`{expr.file.value}` has no column `{word}`",
                hint=hint,
            )
            return None
        cells = dict(zip(table.lines, table.columns[word], strict=True))
        if len(table.headings) == 1:  # a blank line may be a run without a number
            cells = {line: cells.get(line, "") for line in range(min(cells), max(cells) + 1)}
        values = []
        for line, cell in cells.items():
            value = number(cell)
            if value is None:
                problem = f"`{cell}` is not a number" if cell else "a number is missing"
                self.sink.report(
                    codes.BAD_DATA,
                    expr.column.span,
                    f"`{expr.file.value}`, line {line}, `{word}`: {problem}",
                    hint="fix the row, or remove it",
                )
                return None
            values.append(value)
        if len(values) < _FEWEST_SAMPLES or len(set(values)) == 1:
            problem = (
                "one sample" if len(values) < _FEWEST_SAMPLES else "samples that are all alike"
            )
            return self._refused(
                expr.span,
                f"`{word}` of `{expr.file.value}` has {problem}",
                "measure more often, or write only the number",
            )
        return self._uncertain(expr, ir.Sampled(tuple(sorted(values))), DIMENSIONLESS)

    def _drawn(self, expr: ast.Call, scope: Scope) -> Value | None:
        """Return what a function says of how likely each value is."""
        word = expr.name.text
        scope.module.note(Meaning.WORD, expr.name)
        wanted = DISTRIBUTIONS[word]
        if len(expr.arguments) != len(wanted):
            self.sink.report(
                codes.ARGUMENT_COUNT,
                expr.span,
                f"`{word}` takes {counted(len(wanted))}, {count_in_words(len(expr.arguments))}",
                hint=f"write `{word}({', '.join(wanted)})`",
            )
            return None
        first = self.value(expr.arguments[0], scope)
        if first is None:
            return None
        numbers = [self._constant(first)]
        for position, argument in enumerate(expr.arguments[1:], start=1):
            argument_text = f"`{wanted[position]}` of `{word}`"
            dimension = DIMENSIONLESS if word == "lognormal" else first.dimension
            numbers.append(self.number(argument, scope, argument_text, dimension))
        known = [one for one in numbers if one is not None]
        if len(known) < len(numbers):
            return None
        wrong = _wrong(word, known)
        if wrong is not None:
            message, argument_text = wrong
            return self._refused(expr.span, message, _otherwise(expr, known, argument_text))
        kinds = (ir.Normal, ir.Lognormal, ir.Uniform, ir.Triangular)
        kind = dict(zip(DISTRIBUTIONS, kinds, strict=True))[word]
        return self._uncertain(expr, kind(*known), first.dimension)

    # -- what all of them have -------------------------------------------------------------

    def _uncertain(
        self, expr: ast.Expr, distribution: ir.Distribution, dimension: Dimension
    ) -> Value:
        known = ir.Uncertain(distribution.typical, distribution, expr.span)
        return leaf(known, dimension, expr.span)

    def _as_parameter(self, stated: Value, dimension: Dimension) -> Value:
        """Return what stands for an uncertain number that is no parameter yet."""
        if not isinstance(stated.expr, ir.Uncertain):
            return stated
        quantity = replace(stated.quantity, dimension=dimension)
        return leaf(self.parameter_of(quantity), dimension, stated.span)

    def parameter_of(self, stated: ir.Quantity, word: str = "") -> ir.ParameterValue:
        """Return a parameter with the value of an uncertain number, called by its place.

        A `word` distinguishes what stands in one place.
        """
        own = self.names().get(stated.span, stated.span.text) + word

        def is_another(name: str) -> bool:
            return name in self.parameters and self.parameters[name].value != stated.expr

        name = counted_name(own, is_another)
        self.parameters[name] = ir.parameter_of(stated, name=name, source=stated.source)
        return ir.ParameterValue(name)

    def _ends(
        self, low: ast.Expr, high: ast.Expr, scope: Scope
    ) -> tuple[Fraction, Fraction, Dimension] | None:
        """Return two ends, the unit of one holding for both."""
        above = self.value(ast.with_unit_of(high, low), scope)
        if above is None:
            return None
        most = self._constant(above)
        least = self.number(ast.with_unit_of(low, high), scope, "this end", above.dimension)
        return None if most is None or least is None else (least, most, above.dimension)

    def _constant(self, value: Value) -> Fraction | None:
        """Return the number that a value is; None where it rests on others, which is reported."""
        if isinstance(value.expr, ir.Constant) and not isinstance(value.expr, ir.Uncertain):
            return value.expr.value
        if AllowedNames.FORMALS not in value.mentions:
            self.sink.report(
                codes.VARIES,
                value.span,
                "parameters of a distribution must be literal numbers",
                hint="write the number; `… +- 10 %` can follow an expression",
            )
        return None

    def _refused(self, span: Span, message: str, hint: str) -> Value | None:
        self.sink.report(codes.SPREAD, span, message, hint=hint)
        return None


def _otherwise(expr: ast.Call, known: list[Fraction], text: str) -> str:
    """Return a hint with what to write: the arguments in rising order, or the one number."""
    written = [argument.span.text for argument in expr.arguments]
    if "rising" in text:
        # A number takes the unit of its neighbors only where it stands: each must be whole.
        if not all(re.fullmatch(r"[\d_.]+", one) for one in written):
            return text
        rising = [written[index] for index in sorted(range(len(known)), key=known.__getitem__)]
        return instead(", ".join(written), ", ".join(rising), words=text)
    return instead(expr.span.text, written[0], words=text) if "by itself" in text else text


def _wrong(word: str, known: list[Fraction]) -> tuple[str, str] | None:
    """Return what is wrong with the arguments of a distribution, and how to fix it."""
    if word in ("uniform", "triangular"):
        if sorted(known) != known:
            return (
                f"the values of `{word}` are not in increasing order",
                "write them in increasing order",
            )
        if known[0] == known[-1]:
            return f"`{word}` has only one value", "write only the number"
        return None
    if known[1] <= 0:
        return "a standard deviation must be above zero", "write only the number"
    if word == "lognormal" and known[0] <= 0:
        return "the median of `lognormal` must be above zero", "for negative values use `normal(…)`"
    return None


def _is_in_percent(expr: ast.Expr) -> bool:
    """Return whether a number is written in %."""
    match expr:
        case ast.Quantity(unit=ast.Reference(name=name)):
            return name.text == "%"
        case ast.Negative(operand=part):
            return _is_in_percent(part)
    return False


def _root(value: Fraction) -> Fraction:
    """Return a square root: exact where there is one, else the nearest float."""
    return Fraction(sqrt(value))
