"""How the value of a checked expression is known: as what it names, through what is made of it.

A value that rises with a bound is a bound of the same side, one that falls of the other. Where
neither is certain, or bounds of both sides meet, it is an approximation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from qps.compiler import ir
from qps.compiler.ir.parts import parts_of
from qps.compiler.lower.lower_expressions import ExpressionLowering
from qps.compiler.lower.monotone import Slope, slopes
from qps.compiler.lower.signs import Sign, Signs, product_of
from qps.compiler.quantities.certainty import EXACT, Certainty, approximation, opposite, together

CertaintyOf = Callable[[ir.Measured | ir.Changed], Certainty]


def certainty_of(expr: ir.Expr, expressions: ExpressionLowering, known: CertaintyOf) -> Certainty:
    """Return how an expression is known; `known` tells it of the measures that it names."""
    if not any(isinstance(part, ir.Measured | ir.Changed) for part in parts_of(expr)):
        return EXACT
    return _Composition(expressions, known, Signs(expressions)).of(expr)


def moved(part: Certainty, slope: Slope) -> Certainty:
    """Return how a value is known that moves with a part in some way, and rests on it alone."""
    if part.is_exact or slope is Slope.RISES:
        return part
    return opposite(part) if slope is Slope.FALLS else approximation(*part.reasons)


def scaled(part: Certainty, by: Sign) -> Certainty:
    """Return how a product of a part and of what has a sign is known."""
    if not by.below:
        return part if by.above else EXACT
    return moved(part, Slope.EITHER if by.above else Slope.FALLS)


@dataclass(frozen=True)
class _Composition:
    """Follows certainties through an expression."""

    expressions: ExpressionLowering
    known: CertaintyOf
    signs: Signs

    def of(self, expr: ir.Expr) -> Certainty:
        match expr:
            case ir.Measured() | ir.Changed():
                return self.known(expr)
            case ir.Sum(terms):
                return together(*(self.of(term) for term in terms))
            case ir.Product(factors):
                return self._product(factors)
            case ir.Power(base, exponent):
                return self._power(base, exponent)
            case ir.Apply(word, arguments):
                return self._applied(word, arguments)
            case ir.Choice(condition, then, otherwise):
                return self.of(then if self.expressions.holds(condition) else otherwise)
            case ir.InCase(value=value):
                return self.of(value)
            case _:
                return EXACT  # a number, or what numbers make

    def _product(self, factors: tuple[ir.Expr, ...]) -> Certainty:
        """Each factor moves the product by the sign of all the others."""
        parts = [self.of(factor) for factor in factors]
        if all(part.is_exact for part in parts):
            return EXACT
        own = [self.signs.of(factor) for factor in factors]
        others = (product_of(own[:i] + own[i + 1 :]) for i in range(len(own)))
        return together(*(scaled(*each) for each in zip(parts, others, strict=True)))

    def _power(self, base: ir.Expr, exponent: ir.Expr) -> Certainty:
        of_base, of_exponent = self.of(base), self.of(exponent)
        slope = Slope.EITHER if of_base.is_exact else self._slope_of_power(base, exponent)
        # Which way a power moves with its exponent depends on whether its base is above 1.
        return together(moved(of_base, slope), moved(of_exponent, Slope.EITHER))

    def _slope_of_power(self, base: ir.Expr, exponent: ir.Expr) -> Slope:
        """Return how a power moves with its base."""
        sign, power = self.signs.of(base), self.signs.of(exponent)
        slope = Slope.EITHER
        if not power.below:
            slope = Slope.RISES
        elif not power.above:
            slope = Slope.FALLS
        if not sign.below:
            return slope
        if not isinstance(exponent, ir.Constant) or exponent.value.denominator != 1:
            return Slope.EITHER
        if exponent.value.numerator % 2:
            # 1/x jumps from below all numbers to above them where x passes zero.
            return Slope.EITHER if sign.above and slope is Slope.FALLS else slope
        return Slope.EITHER if sign.above else slope.turned

    def _applied(self, word: str, arguments: tuple[ir.Expr, ...]) -> Certainty:
        parts = [self.of(argument) for argument in arguments]
        if all(part.is_exact for part in parts):
            return EXACT
        if word == "abs":
            sign = self.signs.of(arguments[0])
            return scaled(parts[0], sign)
        moves = slopes(word, len(arguments))
        if word == "waiting" and self.signs.of(arguments[0]).below:
            moves = (Slope.RISES, Slope.EITHER)
        return together(*(moved(*each) for each in zip(parts, moves, strict=True)))
