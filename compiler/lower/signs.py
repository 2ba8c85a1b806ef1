"""Whether a value can be below zero, or above: what a product does to a bound depends on it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import assert_never

from qps.compiler import ir
from qps.compiler.ir.parts import parts_of
from qps.compiler.lower.lower_expressions import ExpressionLowering


@dataclass(frozen=True, slots=True)
class Sign:
    """Which sides of zero a value may lie on; on neither where it is zero."""

    below: bool
    above: bool

    @property
    def turned(self) -> Sign:
        """The sign of the negative."""
        return Sign(below=self.above, above=self.below)


ANY = Sign(below=True, above=True)
ZERO = Sign(below=False, above=False)
NOT_NEGATIVE = Sign(below=False, above=True)
NOT_POSITIVE = Sign(below=True, above=False)


def product_of(signs: Iterable[Sign]) -> Sign:
    """Return the sign of a product."""
    found = NOT_NEGATIVE
    for sign in signs:
        found = Sign(
            below=(found.above and sign.below) or (found.below and sign.above),
            above=(found.above and sign.above) or (found.below and sign.below),
        )
    return found


def sum_of(signs: Iterable[Sign]) -> Sign:
    """Return the sign of a sum."""
    known = list(signs)
    return Sign(below=any(s.below for s in known), above=any(s.above for s in known))


@dataclass(frozen=True)
class Signs:
    """The signs of expressions in one configuration.

    Times, shares, rates, loads and prices are not negative, whatever they come to; what rests on
    numbers alone has the sign of its value.
    """

    expressions: ExpressionLowering

    def of(self, expr: ir.Expr) -> Sign:  # noqa: PLR0911 - one return a node
        """Return the sign of an expression, whatever the measures in it truly are."""
        match expr:
            case ir.Measured(kind=kind):
                return ANY if kind is ir.MeasureKind.QUALITY else NOT_NEGATIVE
            case ir.Changed(value=ir.Measured() as measured):
                return self.of(measured)
            case ir.Changed():
                return ANY  # its numbers may have other signs in the model as changed
            case ir.Constant(value):
                return Sign(below=value < 0, above=value > 0)
            case ir.Population() | ir.NodeCount() | ir.Members() | ir.GroupCount():
                return NOT_NEGATIVE
            case _ if not _names_measures(expr):
                return self._of_numbers(expr)
            case ir.Sum(terms):
                return sum_of(self.of(term) for term in terms)
            case ir.Product(factors):
                return product_of(self.of(factor) for factor in factors)
            case ir.Power(base, exponent):
                return self._of_power(base, exponent)
            case ir.Apply(word, arguments):
                return _APPLIED.get(word, _not_negative)([self.of(a) for a in arguments])
            case ir.Choice(condition, then, otherwise):
                return self.of(then if self.expressions.holds(condition) else otherwise)
            case ir.InCase(value=value):
                return self.of(value)
            case ir.ParameterValue() | ir.Recorded() | ir.Lookup() | ir.ByCase() | ir.Mixture():
                return self._of_numbers(expr)
            case _:
                assert_never(expr)

    def _of_numbers(self, expr: ir.Expr) -> Sign:
        """Return the sign of what names no measure: by its value, for every population."""
        lowered = self.expressions.in_symbols(expr)
        if lowered is None:
            return ANY
        value = self.expressions.range_of_what_stays(lowered)
        return Sign(below=value.below, above=value.above)

    def _of_power(self, base: ir.Expr, exponent: ir.Expr) -> Sign:
        sign = self.of(base)
        if not sign.below:
            return NOT_NEGATIVE
        whole = isinstance(exponent, ir.Constant) and exponent.value.denominator == 1
        if whole and isinstance(exponent, ir.Constant):
            return NOT_NEGATIVE if exponent.value.numerator % 2 == 0 else sign
        return ANY


def _names_measures(expr: ir.Expr) -> bool:
    return any(isinstance(part, ir.Measured | ir.Changed) for part in parts_of(expr))


def _not_negative(_: list[Sign]) -> Sign:
    return NOT_NEGATIVE


def _any(_: list[Sign]) -> Sign:
    return ANY


def _same(signs: list[Sign]) -> Sign:
    return signs[0]


def _largest(signs: list[Sign]) -> Sign:
    return Sign(below=all(s.below for s in signs), above=any(s.above for s in signs))


def _least(signs: list[Sign]) -> Sign:
    return Sign(below=any(s.below for s in signs), above=all(s.above for s in signs))


_APPLIED: dict[str, Callable[[list[Sign]], Sign]] = {
    "max": _largest,
    "min": _least,
    "ceil": _same,
    "floor": _same,
    "w": _same,
    "waiting": _same,
    "ln": _any,
    "cos": _any,
    "normal_quantile": _any,
    "lower_w": lambda _: NOT_POSITIVE,
}
