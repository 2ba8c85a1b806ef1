"""The sign of a number that is no fraction: the true one, or told to be untold.

Each of the first was told wrong: the value rounds to its limit, and the sign was that of noise.
"""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.formulas import R, absolute, acos, cos, exp, lambert, log
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.engine.expressions.formulas import INFINITY, UNDEFINED, Formula, population, square_root
from qps.solver.answers.capacity import first_failure
from qps.solver.answers.saturation import saturation_point
from qps.solver.answers.solution import Saturation
from qps.solver.search.certain_signs import UndecidedLimitError, sign_at
from qps.solver.search.method import SearchMethod

N = population("N")
PI = acos(-1)

BELOW_ONE = (1 - exp(-N)) * (1 - exp(-2 * N))
"""Two factors below 1, so that the product is, too, for whichever N."""

WRITTEN_OUT = 1 + 2 * exp(-N) + exp(-2 * N)

WITHOUT_SIGN = cos(exp(-N)) * exp(-exp(-2 * N)) - 1
"""cos x e^-x^2 is about 1 - 3/2 x^2; x^2 is 10^-868,589 at a million."""


@pytest.mark.parametrize("at", [1, 40, 1000, 10**6, 10**9])
@pytest.mark.parametrize(
    ("value", "sign"),
    [
        (BELOW_ONE - 1, -1),
        (1 - BELOW_ONE, 1),
        ((1 - exp(-N)) ** 3 - 1, -1),
        ((1 + exp(-N)) ** 2 - WRITTEN_OUT, 0),
        ((1 + exp(-N)) ** 2 - WRITTEN_OUT - exp(-3 * N), -1),
        (log(8 * N) / log(2) - 3 - log(N) / log(2), 0),
        (square_root(N + 1) - square_root(N) - 1 / (2 * square_root(N)), -1),
        (1 - exp(-exp(N)), 1),
        (exp(exp(N)) - 1, 1),
        (cos(N) - 1, -1),
        (1 - square_root(N + 1), -1),
    ],
)
def test_the_sign_of_a_value_that_rounds_to_its_limit(value: Formula, sign: int, at: int) -> None:
    assert sign_at(value, N, Fraction(at)) == sign


@pytest.mark.parametrize(
    ("value", "sign"),
    [
        (square_root(3 + 2 * square_root(2)) - 1 - square_root(2), 0),
        (square_root(2) + square_root(3) - PI, 1),  # 3.14626 and 3.14159
        (exp(1) ** PI - 20 - PI, -1),  # 19.99910 - 20
        # 640320^3 + 744 is above e^(pi sqrt(163)) by 7.5e-13.
        (exp(PI * square_root(163)) - 640320**3 - 744, -1),
        (acos(R(1, 2)) * 3 - PI, 0),
        (lambert(1) - R(567, 1000), 1),  # 0.567143
        (absolute(square_root(2) - 2) - R(5858, 10000), -1),  # 0.585786
        (square_root(-1 - square_root(2)), None),
        (log(1 - square_root(2)), None),
    ],
)
def test_the_sign_of_a_number(value: Formula, sign: int | None) -> None:
    assert sign_at(value, N, Fraction(1)) == sign


@pytest.mark.parametrize("value", [INFINITY, UNDEFINED])
def test_what_has_no_finite_value_has_no_sign(value: Formula) -> None:
    assert sign_at(value + 0 * N, N, Fraction(1)) is None


def test_what_no_digits_decide_is_undecided() -> None:
    assert sign_at(WITHOUT_SIGN, N, Fraction(1000)) == -1
    with pytest.raises(UndecidedLimitError):
        sign_at(WITHOUT_SIGN, N, Fraction(10**6))


def test_what_never_reaches_its_limit_never_saturates() -> None:
    assert saturation_point(BELOW_ONE, N, 1) == Saturation(None, SearchMethod.NONE)
    assert first_failure(BELOW_ONE - 1, N, 1, 10**6, strict=True) is None
    assert first_failure(1 - BELOW_ONE, N, 1, 10**6) == 1


def test_what_is_undecided_is_refused_with_the_name_of_the_requirement() -> None:
    with pytest.raises(QpsError) as raised:
        first_failure(WITHOUT_SIGN, N, 10**6, 10**6 + 5, name="fl.quality >= 1")
    assert (
        "`fl.quality >= 1` is too close to its limit to decide"
        in raised.value.diagnostics[0].message
    )


def test_a_load_that_is_unknown_at_the_start_is_undecided() -> None:
    result = saturation_point(WITHOUT_SIGN + 1, N, 10**6)
    assert result == Saturation(None, SearchMethod.UNDECIDED, not_below=10**6)


@given(
    st.integers(1, 10**6), st.integers(1, 10**6), st.integers(-(10**12), 10**12), st.integers(2, 9)
)
def test_the_sign_of_a_sum_of_roots_is_that_of_its_square(a: int, b: int, c: int, k: int) -> None:
    # sqrt(a) + sqrt(b) >= c where c < 0, or where 4ab and (c^2 - a - b) say so.
    rest = c * c - a - b
    above = 1 if c < 0 or rest < 0 else (4 * a * b > rest * rest) - (4 * a * b < rest * rest)
    value = k * (square_root(a) + square_root(b)) - k * c
    assert sign_at(value, N, Fraction(1)) == above
