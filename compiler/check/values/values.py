"""Checked values, and arithmetic on them: dimensions inferred, numbers folded exactly.

A value is None where its expression was reported; what holds it is None then too.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction

from msgspec import Struct, field

from qps.compiler import ir
from qps.compiler.check.names.scope import AllowedNames
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Label, Sink
from qps.compiler.diagnostics.fixits import insertion_after_hint, instead
from qps.compiler.diagnostics.source import Span
from qps.compiler.ir.parts import operands
from qps.compiler.quantities.dimension import (
    DATA_RATE,
    DIMENSIONLESS,
    INFORMATION,
    MONEY,
    TIME,
    Dimension,
    is_free,
)
from qps.compiler.quantities.free_dimensions import FreeDimensions
from qps.compiler.quantities.unit_binding import Divisor, advice, of_either, of_product, raised
from qps.compiler.syntax import ast
from qps.compiler.syntax.nesting import DEEPEST_EXPRESSION

LARGEST_EXPRESSION = 100_000
"""Nodes in an expression, its functions and `let`s put in, beyond which it is refused."""

_MOST_BITS = 4096
_LARGEST_POWER = 1024
_NO_ZERO = "change the divisor, or keep it above zero with `max(x, …)`"


class ExpressionTooLargeError(Exception):
    """Raised when an expression outgrows its limit; caught where the expression starts."""


class ExpressionTooDeepError(Exception):
    """Raised when an expression is nested beyond its limit; caught where it starts."""


class Value(Struct, frozen=True, kw_only=True):
    """A checked expression: its dimension, what it mentions, how many nodes it has, how deep.

    `divisors` are the numbers in it that divide with their units, for a hint; `sources` say where
    the numbers come from that are named in it.
    """

    expr: ir.Expr
    dimension: Dimension
    span: Span
    mentions: AllowedNames = AllowedNames.NOTHING
    size: int = 1
    depth: int = 1
    divisors: tuple[Divisor, ...] = ()
    sources: tuple[str, ...] = ()

    @property
    def quantity(self) -> ir.Quantity:
        """The expression as the model keeps it."""
        return ir.Quantity(
            expr=self.expr,
            dimension=self.dimension,
            span=self.span,
            divisors=self.divisors,
            source="; ".join(self.sources) or None,
        )


def leaf(
    expr: ir.Expr, dimension: Dimension, span: Span, divisors: tuple[Divisor, ...] = ()
) -> Value:
    """Return what one word or number stands for as a value."""
    mentions = mentions_of(expr)
    return Value(expr=expr, dimension=dimension, span=span, mentions=mentions, divisors=divisors)


class Arithmetic(Struct, frozen=True):
    """Joins checked values to larger ones; `free` is what is known of formals' dimensions."""

    sink: Sink
    free: FreeDimensions = field(default_factory=FreeDimensions)

    def combined(
        self,
        span: Span,
        expr: ir.Expr,
        dim: Dimension,
        parts: Sequence[Value],
        divisors: tuple[Divisor, ...] = (),
    ) -> Value:
        """Return an expression that was made of parts; its dimension rests on the divisors."""
        mentions = AllowedNames.NOTHING
        sources: tuple[str, ...] = ()
        for part in parts:
            mentions |= part.mentions
            if part.sources:
                sources = tuple(dict.fromkeys((*sources, *part.sources)))
        size = 1 + sum(part.size for part in parts)
        depth = 1 + max((part.depth for part in parts), default=0)
        if size > LARGEST_EXPRESSION:
            raise ExpressionTooLargeError
        if isinstance(expr, ir.Constant):
            value = expr.value
            if max(value.numerator.bit_length(), value.denominator.bit_length()) > _MOST_BITS:
                raise ExpressionTooLargeError
            size = depth = 1
        if depth > DEEPEST_EXPRESSION:
            raise ExpressionTooDeepError
        return Value(
            expr=expr,
            dimension=dim,
            span=span,
            mentions=mentions,
            size=size,
            depth=depth,
            divisors=divisors,
            sources=sources,
        )

    def sum(self, span: Span, terms: list[tuple[bool, Value | None]]) -> Value | None:
        """Return a sum of terms of one dimension, each with True where it is subtracted."""
        known = [(minus, value) for minus, value in terms if value is not None]
        if not known:
            return None
        first = known[0][1]
        for _, value in known[1:]:
            if not self.free.agree(value.dimension, first.dimension):
                self.mismatch(value, first, "add")
                return None
        if len(known) < len(terms):
            return None
        values = [value for _, value in known]
        signed = [negated(value.expr) if minus else value.expr for minus, value in known]
        return self.combined(span, add(signed), first.dimension, values, of_either(values))

    def mismatch(self, value: Value, first: Value, verb: str) -> None:
        """Report two quantities that do not go together."""
        have, wanted = self.free.resolved(value.dimension), self.free.resolved(first.dimension)
        advised = advice(value, lambda other: other == wanted)
        if advised.hint is None:
            advised = advice(first, lambda other: other == have, factor_hint(have, wanted))
        hint = advised.hint
        if looks_uncertain(value.span):
            hint = f"for an uncertainty, write `+- {value.span.text[1:]}`, with a space"
        self.sink.report(
            codes.DIMENSION_MISMATCH,
            value.span,
            f"cannot {verb} {wanted.in_words} and {have.in_words}",
            label=f"this is {have.in_words}",
            secondary=[Label(first.span, f"this is {wanted.in_words}"), *advised.labels],
            hint=hint,
        )

    def product(self, span: Span, factors: list[tuple[bool, Value | None]]) -> Value | None:
        """Return a product, each factor with True where it divides."""
        known = [(below, value) for below, value in factors if value is not None]
        if len(known) < len(factors):
            return None
        dimension = DIMENSIONLESS
        parts: list[ir.Expr] = []
        divisors: list[tuple[Divisor, ...]] = []
        for below, value in known:
            power = Fraction(-1 if below else 1)
            dimension = dimension * value.dimension**power
            divisors.append(raised(value.divisors, power))
            if below and isinstance(value.expr, ir.Constant):
                if value.expr.value == 0:
                    self.sink.report(
                        codes.NUMBER_SIZE, value.span, "this divides by zero", hint=_NO_ZERO
                    )
                    return None
                parts.append(ir.Constant(1 / value.expr.value))
            else:
                parts.append(ir.Power(value.expr, ir.Constant(power)) if below else value.expr)
        values = [value for _, value in known]
        return self.combined(span, multiply(parts), dimension, values, of_product(divisors))

    def power(self, expr: ast.Power, base: Value | None, exponent: Value | None) -> Value | None:
        """Return a power; only a constant one for what has a dimension."""
        if base is None or exponent is None:
            return None
        if not self.free.agree(exponent.dimension, DIMENSIONLESS):
            have = self.free.resolved(exponent.dimension)
            usual = "divide it by a quantity with the same dimension"
            advised = advice(exponent, lambda other: other == DIMENSIONLESS, usual)
            self.sink.report(
                codes.BAD_EXPONENT,
                exponent.span,
                f"an exponent must be a plain number, not {have.in_words}",
                secondary=advised.labels,
                hint=advised.hint,
            )
            return None
        if isinstance(exponent.expr, ir.Constant):
            return self.constant_power(expr.span, base, exponent.expr.value)
        have = self.free.resolved(base.dimension)
        if AllowedNames.FORMALS in exponent.mentions and have != DIMENSIONLESS:
            return None  # a call may give a constant, of which the dimension depends
        if not self.free.agree(have, DIMENSIONLESS):
            self.sink.report(
                codes.BAD_EXPONENT,
                exponent.span,
                f"{have.in_words} can only be raised to a constant power",
                secondary=[Label(base.span, f"this is {have.in_words}")],
                hint="write the exponent as a number, or divide the base by its unit",
            )
            return None
        raised = ir.Power(base.expr, exponent.expr)
        return self.combined(expr.span, raised, DIMENSIONLESS, [base, exponent])

    def constant_power(self, span: Span, base: Value, power: Fraction) -> Value | None:
        """Return a power whose exponent is a number."""
        if abs(power) > _LARGEST_POWER or power.denominator > _LARGEST_POWER:
            self.sink.report(
                codes.NUMBER_SIZE,
                span,
                f"this exponent is above the limit of {_LARGEST_POWER}",
                hint="use a smaller exponent",
            )
            return None
        dimension, divisors = base.dimension**power, raised(base.divisors, power)
        if isinstance(base.expr, ir.Constant) and power.denominator == 1:
            if base.expr.value == 0 and power < 0:
                self.sink.report(codes.NUMBER_SIZE, span, "this divides by zero", hint=_NO_ZERO)
                return None
            if base.expr.value.numerator.bit_length() * abs(power) > 4 * _MOST_BITS:
                raise ExpressionTooLargeError
            folded = ir.Constant(base.expr.value**power.numerator)
            return self.combined(span, folded, dimension, [base], divisors)
        built = ir.Power(base.expr, ir.Constant(power))
        return self.combined(span, built, dimension, [base], divisors)


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


def negated(expr: ir.Expr) -> ir.Expr:
    """Return an expression times -1."""
    return multiply([ir.Constant(Fraction(-1)), expr])


def mentions_of(expr: ir.Expr) -> AllowedNames:
    """Return what an expression mentions."""
    match expr:
        case ir.Population() | ir.NodeCount() | ir.Members() | ir.GroupCount():
            return AllowedNames.POPULATION
        case ir.Measured(kind=ir.MeasureKind.LARGEST | ir.MeasureKind.SATURATION):
            return AllowedNames.ANSWERS
        case ir.Measured(kind=kind) if kind in ir.OF_THE_WHOLE:
            return AllowedNames.HORIZON
        case ir.Measured(kind=ir.MeasureKind.QUALITY):
            return AllowedNames.QUALITY
        case ir.Measured():
            return AllowedNames.MEASURES
        case ir.Constant() | ir.Recorded():
            return AllowedNames.NOTHING
        case ir.ParameterValue(is_formal=True):
            return AllowedNames.FORMALS
        case ir.ParameterValue(is_elastic=is_elastic):
            return AllowedNames.ELASTIC if is_elastic else AllowedNames.NOTHING
        case ir.Changed(value, _):
            return mentions_of(value)
    mentioned = AllowedNames.NOTHING
    for part in operands(expr):
        mentioned |= mentions_of(part)
    return mentioned


_EXAMPLES = {
    DIMENSIONLESS: "a plain number or a share such as `5 %`",
    TIME: "a time such as `3 ms`",
    INFORMATION: "a size such as `1280 byte`",
    DATA_RATE: "a rate such as `10 Mbit/s`",
    MONEY: "an amount such as `20 $`",
}


_UNITS = {TIME: "ms", INFORMATION: "byte", DATA_RATE: "Mbit/s", MONEY: "$"}


def unit_hint(written: str, have: Dimension, wanted: Dimension) -> str | None:
    """Return how to complete a number as it was written, None where it is not simply one."""
    if wanted == DATA_RATE and have == INFORMATION and re.fullmatch(r"[\d_.]+ ?\w+", written):
        return instead(written, f"{written}/s", words=f"add a time unit: `{written}/s`")
    if wanted == DIMENSIONLESS or not written.replace("_", "").replace(".", "").isdigit():
        return None
    complete = f"{written} {_UNITS.get(wanted, wanted)}"
    return instead(written, complete, words=f"add the unit, such as `{complete}`")


_COUNT = re.compile(r"[\d_.]+ ?\w+(?:/\w+)*")
"""A number with its unit, behind which a `/` divides by one more."""


def factor_hint(have: Dimension, wanted: Dimension, written: Span | None = None) -> str:
    """Return how to come from one dimension to another, for what is `written` so far.

    Turned round, one base missing or too many, or else an example of what is wanted.
    """
    if any(is_free(base) for base in (have / wanted).bases | wanted.bases):
        return "use quantities of the same dimension"
    if have == wanted ** Fraction(-1):
        turned = "invert it: `1 / (…)`"
        if written is None:
            return turned
        return instead(written.text, f"1 / ({written.text})", at=written, words=turned)
    example = _EXAMPLES.get(wanted, f"a quantity in `{wanted}`")
    if have == DIMENSIONLESS:
        return f"add the unit: write {example}"
    if wanted == DIMENSIONLESS:
        return f"write {example}"
    if wanted == have ** Fraction(2):
        if written is None:
            return "square it: `(…)^2`"
        squared = f"({written.text})^2"
        hint = f"square it: `{squared}`"
        return instead(written.text, squared, at=written, words=hint)
    missing = wanted / have
    if len(missing.exponents) == 1:
        base, power = missing.exponents[0]
        if abs(power) == 1:
            word = Dimension.of(base).in_words
            if wanted == MONEY and have == MONEY / TIME:
                return f"use `running_cost` for recurring cost, or multiply it by {word}"
            hint = f"{'multiply' if power > 0 else 'divide'} it by {word}"
            is_item = Dimension.of(base).single_base not in (
                TIME.single_base,
                INFORMATION.single_base,
            )
            if power > 0 or written is None or not is_item or not _COUNT.fullmatch(written.text):
                return hint
            return insertion_after_hint(written, f"/{base}", text=hint)
    return f"write {example}, or remove it"


def looks_uncertain(term: Span) -> bool:
    """Return whether a term is below zero behind a plus with no blank: `+-1` of `8 +-1`."""
    start, text = term.start, term.source.text
    return text.startswith("+-", start - 1) and not text[start + 1].isspace()
