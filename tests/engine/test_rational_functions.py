"""Rational functions, against sympy's."""

from __future__ import annotations

from fractions import Fraction

import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.nightly import examples
from qps.engine.exact_algebra.rational_functions import (
    HIGHEST_DEGREE,
    ONE,
    VARIABLE,
    ZERO,
    RationalFunction,
    product,
    raised,
    total,
)
from qps.engine.exact_algebra.real_roots import IntractableError

law = settings(max_examples=examples(150), deadline=None)
X = sympy.Symbol("x")
Both = tuple[RationalFunction, sympy.Expr]


@st.composite
def functions(draw: st.DrawFn, depth: int = 3) -> Both:
    """Draw a function, and the same for sympy."""
    kind = draw(st.sampled_from(["+", "-", "*", "/", "^", "x", "number"][-7 if depth else -2 :]))
    if kind == "x":
        return VARIABLE, X
    if kind == "number":
        value = draw(st.fractions(-9, 9, max_denominator=9))
        return RationalFunction.constant(value), sympy.Rational(value.numerator, value.denominator)
    one, sympys_one = draw(functions(depth - 1))
    if kind == "^":
        exponent = draw(st.integers(0 if one.is_zero else -3, 3))
        return one**exponent, sympys_one**exponent
    other, sympys_other = draw(functions(depth - 1))
    if kind == "+":
        return one + other, sympys_one + sympys_other
    if kind == "-":
        return one - other, sympys_one - sympys_other
    if kind == "*" or other.is_zero:
        return one * other, sympys_one * sympys_other
    return one / other, sympys_one / sympys_other


def quotient(above: list[Fraction], below: list[Fraction]) -> sympy.Expr:
    """Return a quotient of sympy's of two polynomials, the constants first."""
    one, other = (
        sum(sympy.Rational(c.numerator, c.denominator) * X**k for k, c in enumerate(part))
        for part in (above, below)
    )
    return one / other


def coefficients(function: RationalFunction) -> tuple[list[Fraction], list[Fraction]]:
    """Return both lists of coefficients."""
    one, other = (
        [Fraction(int(c.p), int(c.q)) for c in part.coeffs()]
        for part in (function.numerator, function.denominator)
    )
    return one, other


@law
@given(functions())
def test_what_comes_out_is_the_same_as_sympys_in_lowest_terms(both: Both) -> None:
    function, expected = both
    above, below = coefficients(function)
    assert below[-1] == 1
    assert function.numerator.gcd(function.denominator).degree() <= 0
    assert sympy.cancel(quotient(above, below) - expected) == 0


@law
@given(functions(), st.fractions(-9, 9, max_denominator=9))
def test_values_are_those_of_both_polynomials(both: Both, at: Fraction) -> None:
    function, _ = both
    above, below = (sum(c * at**k for k, c in enumerate(part)) for part in coefficients(function))
    assert function.at(at) == (None if below == 0 else Fraction(above) / below)


@law
@given(functions(2), functions(2), functions(2))
def test_equal_functions_are_equal_however_they_are_made(a: Both, b: Both, c: Both) -> None:
    one, two, three = a[0], b[0], c[0]
    left, right = one * (two + three), one * two + one * three
    assert left == right
    assert hash(left) == hash(right)
    assert (one - one).is_zero
    assert one - one == ZERO
    assert total([one, two, three, -two]) == one + three
    assert product([one, two, three]) == three * one * two


def test_nothing_is_divided_by_zero() -> None:
    with pytest.raises(ZeroDivisionError):
        ONE / (VARIABLE - VARIABLE)
    with pytest.raises(ZeroDivisionError):
        ZERO**-1
    with pytest.raises(IntractableError):
        raised(ZERO, -1)


def test_too_high_a_degree_is_not_begun() -> None:
    poles = [ONE / (VARIABLE + RationalFunction.constant(k)) for k in range(HIGHEST_DEGREE + 1)]
    assert total(poles[:-1]).degree == HIGHEST_DEGREE
    for too_high in (lambda: total(poles), lambda: product(poles), lambda: raised(VARIABLE, 101)):
        with pytest.raises(IntractableError):
            too_high()
    # What cancels is of no degree.
    assert total([*poles, *(-pole for pole in poles)]).is_zero
