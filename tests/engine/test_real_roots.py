"""Real roots of polynomials, against sympy's and against what is put in."""

from __future__ import annotations

from fractions import Fraction
from math import floor

import pytest
import sympy
from flint import fmpq, fmpq_poly
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.nightly import examples
from qps.engine.exact_algebra.real_roots import GRID, IntractableError, real_roots

law = settings(max_examples=examples(150), deadline=None)
fractions = st.fractions(-50, 50, max_denominator=20)
bounds = st.none() | fractions


def polynomial(*coefficients: Fraction | int) -> fmpq_poly:
    """Return a polynomial, its constant first."""
    return fmpq_poly([fmpq(c.numerator, c.denominator) for c in map(Fraction, coefficients)])


def with_roots(roots: list[Fraction]) -> fmpq_poly:
    """Return the product of the linear factors of some roots."""
    made = polynomial(1)
    for root in roots:
        made *= polynomial(-root, 1)
    return made


@law
@given(st.lists(fractions, min_size=1, max_size=9), bounds, bounds)
def test_roots_are_those_of_sympy(
    coefficients: list[Fraction], low: Fraction | None, high: Fraction | None
) -> None:
    if low is not None and high is not None and high < low:
        low, high = high, low
    found = real_roots(polynomial(*coefficients), low, high)
    exact = [sympy.Rational(c.numerator, c.denominator) for c in reversed(coefficients)]
    whole = sympy.Poly(exact, sympy.Symbol("x"))
    if whole.degree() < 1:
        assert found == ()
        return
    isolated = whole.sqf_part().intervals(sqf=True, eps=sympy.Rational(1, 10**45))
    expected = [(Fraction(int(a.p), int(a.q)), Fraction(int(b.p), int(b.q))) for a, b in isolated]
    inside = [
        start
        for start, end in expected
        if (low is None or end >= low) and (high is None or start <= high)
    ]
    assert found == tuple(sorted(found))
    assert len(found) == len(inside)
    assert all(abs(a - b) < Fraction(1, 10**40) for a, b in zip(found, inside, strict=True))


@law
@given(st.lists(fractions, min_size=1, max_size=7), st.integers(0, 3))
def test_fractions_are_found_as_such(roots: list[Fraction], double: int) -> None:
    whole = with_roots([*roots, *roots[:double]])
    assert real_roots(whole) == tuple(sorted(set(roots)))
    assert real_roots(whole * -3, min(roots), max(roots)) == tuple(sorted(set(roots)))


@law
@given(
    st.lists(st.lists(st.integers(-30, 30), min_size=3, max_size=5), min_size=2, max_size=3),
    st.lists(fractions, max_size=3),
)
def test_a_number_is_the_same_from_whatever_polynomial(
    factors: list[list[int]], roots: list[Fraction]
) -> None:
    whole, single = with_roots(roots), set(roots)
    for factor in factors:
        if any(factor):
            whole *= polynomial(*factor)
            single |= set(real_roots(polynomial(*factor)))
    assert set(real_roots(whole)) == single


@pytest.mark.parametrize("degree", [1, 2, 3, 5])
@pytest.mark.parametrize("digits", [3, 45, 60, 400])
def test_no_root_changes_its_side_of_a_whole_number(degree: int, digits: int) -> None:
    hair = Fraction(1, 10**digits)
    for side in (-1, 1):
        # (x - 7 - side hair) (x^k + 1): a root by no more than a hair beside a whole number
        linear = polynomial(-7 - side * hair, 1)
        other = polynomial(1, *[0] * (degree - 2), 1) if degree > 1 else polynomial(2)
        inside = real_roots(linear * other, Fraction(0))
        assert [floor(at) for at in inside] == [7 if side > 0 else 6]
        assert inside[0] != 7


def test_roots_nearer_to_each_other_than_the_grid_stay_apart() -> None:
    hair = Fraction(1, 2 ** (3 * GRID))
    whole = with_roots([Fraction(1, 3), Fraction(1, 3) + hair]) * polynomial(-2, 0, 0, 1)
    assert len(real_roots(whole)) == 3
    # (x^2 - 2) (x^2 - 2 - hair): two irrational ones
    whole = polynomial(-2, 0, 1) * polynomial(-2 - hair, 0, 1)
    found = real_roots(whole)
    assert len(set(found)) == 4
    assert found == tuple(sorted(found))


def test_many_roots_of_a_high_degree_are_found() -> None:
    assert real_roots(with_roots([Fraction(k) for k in range(1, 101)])) == tuple(range(1, 101))
    # Chebyshev's polynomial: cosines, dense at the ends
    before, cosines = polynomial(1), polynomial(0, 1)
    for _ in range(99):
        before, cosines = cosines, polynomial(0, 2) * cosines - before
    found = real_roots(cosines)
    assert len(found) == 100
    expected = [float(sympy.cos(sympy.pi * (2 * k + 1) / 200)) for k in reversed(range(100))]
    assert [float(at) for at in found] == pytest.approx(expected, abs=1e-15)


def test_what_would_take_too_long_is_refused() -> None:
    # Mignotte's: two roots as near to each other as the coefficients allow
    with pytest.raises(IntractableError):
        real_roots(polynomial(-2, 4 * 10**100, -2 * 10**200, *[0] * 97, 1))
    with pytest.raises(IntractableError):
        real_roots(polynomial(10**50_000, -(10**50_000), 0, 1))
    # Of low degrees numbers may be as long as they like.
    assert real_roots(polynomial(10**50_000, -(10**50_000))) == (1,)
    assert real_roots(polynomial(-(4**50_000), 0, 1)) == (-(2**50_000), 2**50_000)


def test_far_and_near_roots_are_found_together() -> None:
    roots = [Fraction(1, 10**18), Fraction(3, 10**9), Fraction(5), Fraction(10**15), 10**30 + 1]
    whole = with_roots([Fraction(root) for root in roots])
    assert real_roots(whole) == tuple(roots)
    assert real_roots(whole, Fraction(1), None) == tuple(roots[2:])
    assert real_roots(whole, Fraction(10**15), Fraction(10**15)) == (10**15,)
