"""Where what is linear in the population is zero, in symbols."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qps.engine.expressions.formulas import Formula, apply, maximum, number, population, symbol
from qps.engine.expressions.linear_roots import root_of_linear
from qps.engine.expressions.substitution import substituted
from qps.reports.text.formulas.formula_text import formula

N = population("N")
A, B, C, D = map(symbol, "abcd")


def _of_symbols(inner: st.SearchStrategy[Formula]) -> st.SearchStrategy[Formula]:
    pairs = st.tuples(inner, inner)
    return st.one_of(
        pairs.map(lambda two: two[0] + two[1]),
        pairs.map(lambda two: two[0] * two[1]),
        pairs.map(lambda two: two[0] - 2 * two[1]),
        inner.map(lambda one: one**2),
        inner.map(lambda one: 1 / (one**2 + 1)),
    )


_LEAVES = st.sampled_from([A, B, C, D, apply("ceil", A / B), number(Fraction(3, 2))])
_FREE = st.recursive(_LEAVES, _of_symbols, max_leaves=6)
_VALUES = {A: number(3), B: number(5), C: number(Fraction(7, 11)), D: number(13)}


@given(_FREE, _FREE, _FREE)
def test_there_the_formula_is_zero(slope: Formula, offset: Formula, below: Formula) -> None:
    gap = (slope * N - offset) / (below**2 + 1)
    root = root_of_linear(gap, N)
    is_flat = substituted(slope, _VALUES).exact == 0
    if root is None:
        assert is_flat  # whatever its symbols are
    elif not is_flat:  # by these values alone, by chance
        assert substituted(substituted(gap, {N: root}), _VALUES).exact == 0


@pytest.mark.parametrize(
    ("gap", "expected"),
    [
        (N * A * (B + C) / 2 / D - 1, "2*d/(a*(b + c))"),
        (N * A * (1 - B) - C, "c/(a*(1 - b))"),
        (N * A / (1 - N * B) - 1, "1/(a + b)"),
        (N * apply("ceil", A / B) - C, "c/ceil(a/b)"),
        (N * A - A, "1"),
    ],
)
def test_it_is_written_in_factors(gap: Formula, expected: str) -> None:
    root = root_of_linear(gap, N)
    assert root is not None
    assert formula(root) == expected


@pytest.mark.parametrize(
    "gap",
    [
        N * N * A - 1,
        maximum(A, N) - 1,
        A - B,
        N * A**200 - 1,
        N * ((A + B) * (C + D) * (A + 2 * C)) ** 60 - 1,
        N * A / ((A + B) ** 2 - A**2 - 2 * A * B - B**2) - 1,
        N * A - float("inf"),
    ],
    ids=["square", "kink", "no population", "high power", "many terms", "no divisor", "infinity"],
)
def test_of_what_is_not_linear_nothing_is_reported(gap: Formula) -> None:
    assert root_of_linear(gap, N) is None
