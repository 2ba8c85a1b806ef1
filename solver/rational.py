"""Rational functions of the population, exact: conversion, real roots, signs.

Most loads, latencies and losses are polynomials or quotients of polynomials in N with exact
rational coefficients. Their roots are found in closed form (degree 1 and 2) or isolated
exactly (above); nothing is scanned.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, reduce

import sympy
from sympy.polys.domains import QQ
from sympy.polys.fields import FracElement, field
from sympy.polys.rings import PolyElement

from qps.engine.erlang import erlang_c_expanded
from qps.engine.formulas import POWER, PRODUCT, SUM, Formula

_DIGITS = 40
_NEAR_ENOUGH = sympy.Rational(1, 10**_DIGITS)
_FIELD, _N = field("n", QQ)

HIGHEST_DEGREE = 100
"""Roots of polynomials of a higher degree take long: what has it is searched by bounds."""


class TooHighError(Exception):
    """Raised where a rational function is of a higher degree than `HIGHEST_DEGREE`."""


Coefficients = tuple[Fraction, ...]
"""Of a polynomial, from the highest power down."""


@dataclass(frozen=True, slots=True)
class Root:
    """A real root, or a fraction within 1e-40 of it where it is none itself."""

    near: Fraction

    @property
    def value(self) -> float:
        """The root as a float."""
        return float(self.near)


@lru_cache(maxsize=8192)
def as_rational_function(expr: Formula, population: Formula) -> FracElement | None:
    """Return an expression in the population alone as a rational function.

    None if it is none, or one of so high a degree that it is not treated as one.

    >>> n = population("N")
    >>> as_rational_function(n * (n - 1) / 6 + 1 / n, n) is None
    False
    >>> as_rational_function(square_root(n), n) is None
    True
    """
    try:
        return _as_rational_function(expr, population)
    except TooHighError:
        return None


def _as_rational_function(expr: Formula, population: Formula) -> FracElement | None:
    if expr is population:
        return _N
    value = expr.exact
    if value is not None:
        return _FIELD(QQ(value.numerator, value.denominator))
    if expr.word in (SUM, PRODUCT):
        parts = [as_rational_function(operand, population) for operand in expr.operands]
        if any(part is None for part in parts):
            return None
        return total(parts) if expr.word == SUM else product(parts)
    if expr.word in ("ratio", "mean"):
        return as_rational_function(expr.operands[0] / expr.operands[1], population)
    if expr.word == "erlang_c":
        expanded = erlang_c_expanded(*expr.operands)
        return None if expanded is None else as_rational_function(expanded, population)
    exponent = whole_exponent(expr)
    if exponent is not None:
        base = as_rational_function(expr.operands[0], population)
        if base is None or (base == 0 and exponent < 0):
            return None
        return raised(base, exponent)
    return None


def whole_exponent(expr: Formula) -> int | None:
    """Return the exponent of a whole power, None for any other formula."""
    value = expr.operands[1].exact if expr.word == POWER else None
    return int(value) if value is not None and value.denominator == 1 else None


def total(functions: Iterable[FracElement]) -> FracElement:
    """Return a sum; TooHighError where its degree is too high.

    What has one divisor is summed up first; a sum of more poles than the highest degree, which
    differ, is not begun: each further one takes longer than the last.
    """
    by_divisor: dict[PolyElement, FracElement] = {}
    for function in functions:
        divisor = function.denom.monic()
        known = by_divisor.get(divisor)
        by_divisor[divisor] = function if known is None else known + function
    poles = (d for d, f in by_divisor.items() if d.degree() == 1 and f.denom.degree() == 1)
    if sum(1 for _ in poles) > HIGHEST_DEGREE:
        raise TooHighError
    return reduce(lambda one, other: _held(one + other), by_divisor.values(), _FIELD.zero)


def product(functions: Iterable[FracElement]) -> FracElement:
    """Return a product; TooHighError where its degree is too high."""
    return reduce(lambda one, other: _held(one * other), functions, _FIELD.one)


def raised(base: FracElement, exponent: int) -> FracElement:
    """Return a whole power; TooHighError where its degree is too high."""
    if abs(exponent) * _degree(base) > HIGHEST_DEGREE:
        raise TooHighError
    return base**exponent


def _held(function: FracElement) -> FracElement:
    if _degree(function) > HIGHEST_DEGREE:
        raise TooHighError
    return function


def _degree(function: FracElement) -> int:
    return int(max(0, function.numer.degree(), function.denom.degree()))  # zero: -infinity


@lru_cache(maxsize=8192)
def numerator(function: FracElement) -> Coefficients:
    """Return the numerator's coefficients."""
    return _coefficients(function.numer)


@lru_cache(maxsize=8192)
def denominator(function: FracElement) -> Coefficients:
    """Return the denominator's coefficients."""
    return _coefficients(function.denom)


def _coefficients(polynomial: object) -> Coefficients:
    dense = polynomial.to_dense()  # type: ignore[attr-defined] # sympy's rings are untyped
    return tuple(Fraction(int(c.numerator), int(c.denominator)) for c in dense)


def real_roots(
    coefficients: Coefficients, low: Fraction | None = None, high: Fraction | None = None
) -> tuple[Root, ...]:
    """Return the real roots of a polynomial, each once, in ascending order.

    With `low` or `high`, roots beyond these may be left out.
    """
    while coefficients and coefficients[0] == 0:
        coefficients = coefficients[1:]
    match coefficients:
        case () | (_,):
            return ()
        case (a, b):
            return (_root(_sympy(-b / a)),)
        case (a, b, c):
            return _quadratic_roots(a, b, c)
    polynomial = sympy.Poly.from_list([_sympy(c) for c in coefficients], sympy.Symbol("n"))
    # Isolated and narrowed down exactly; sympy's roots as objects would first seek a simpler
    # polynomial, which takes long where the coefficients have many digits. To narrow down takes
    # most of the time, and most roots lie where the polynomial does not hold. Negative ones that
    # are not asked for are not even isolated: that alone may take minutes.
    simple = polynomial.sqf_part()
    found = []
    for start, end in simple.intervals(sqf=True, inf=None if low is None or low < 0 else 0):
        if (low is None or end >= _sympy(low)) and (high is None or start <= _sympy(high)):
            narrow = simple.refine_root(start, end, eps=_NEAR_ENOUGH, check_sqf=False)
            found.append(_root(sum(narrow) / 2))
    return tuple(found)


def _quadratic_roots(a: Fraction, b: Fraction, c: Fraction) -> tuple[Root, ...]:
    discriminant = b * b - 4 * a * c
    if discriminant < 0:
        return ()
    half, spread = _sympy(-b / (2 * a)), sympy.sqrt(_sympy(discriminant / (4 * a * a)))
    if spread == 0:
        return (_root(half),)
    return (_root(half - spread), _root(half + spread))


def _root(exact: sympy.Expr) -> Root:
    near = exact if exact.is_Rational else sympy.Rational(str(exact.evalf(_DIGITS)))
    return Root(Fraction(near.p, near.q))


def _sympy(value: Fraction) -> sympy.Rational:
    return sympy.Rational(value.numerator, value.denominator)


def evaluate(coefficients: Sequence[Fraction], at: Fraction) -> Fraction:
    """Return a polynomial's value by Horner's rule."""
    value = Fraction(0)
    for coefficient in coefficients:
        value = value * at + coefficient
    return value


def value_at(function: FracElement, at: Fraction) -> Fraction | None:
    """Return a rational function's value; None at a pole."""
    below = evaluate(denominator(function), at)
    return None if below == 0 else evaluate(numerator(function), at) / below
