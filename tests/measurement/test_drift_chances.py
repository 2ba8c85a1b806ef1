"""Chances of the tests by which costs are compared."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from qps.solver.claims.chances import MeanDifference, f_chance, t_chance


@given(st.floats(0, 60), st.floats(0.5, 500))
def test_chances_of_students_distribution(t: float, freedom: float) -> None:
    assert t_chance(t, freedom) == pytest.approx(2 * stats.t.sf(t, freedom), rel=1e-6, abs=1e-12)


@given(st.floats(0, 100), st.integers(1, 6), st.floats(0.5, 500))
def test_chances_of_the_f_distribution(value: float, above: int, below: float) -> None:
    expected = stats.f.sf(value, above, below)
    assert f_chance(value, above, below) == pytest.approx(expected, rel=1e-6, abs=1e-12)


@given(st.integers(0, 2**32), st.integers(3, 20), st.integers(3, 20))
def test_differences_are_judged_as_by_welch(seed: int, one: int, other: int) -> None:
    drawn = random.Random(seed)
    a = [drawn.gauss(0, 1) for _ in range(one)]
    b = [drawn.gauss(0.5, 3) for _ in range(other)]
    means, variances = zip(
        *((sum(x) / len(x), stats.tvar(x) / len(x)) for x in (a, b)), strict=True
    )
    found = MeanDifference(
        means[0] - means[1], 1.0, (variances[0], one - 1), (variances[1], other - 1)
    )
    assert found.by_chance == pytest.approx(stats.ttest_ind(a, b, equal_var=False).pvalue)
