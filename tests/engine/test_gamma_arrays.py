"""Gamma and normal laws on arrays, held against balls that are proven to have the value in them."""

from __future__ import annotations

from math import inf, isnan

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.nightly import examples
from qps.engine.distributions import gamma_arrays
from qps.engine.distributions.gamma_numbers import lower_ball
from qps.engine.distributions.normal_numbers import normal_quantile, normal_tail
from qps.engine.queueing import queue_numbers
from qps.engine.queueing.sojourn_arrays import gamma_quantile

law = settings(max_examples=examples(300), deadline=None)
_LEAST = 1e-280
_WITHIN = 2e-12

SHAPES = st.one_of(
    st.floats(-1, 7).map(lambda power: 10**power),
    st.integers(1, 400).map(lambda twice: twice / 2),
    st.sampled_from([24.0, np.nextafter(24, 25), 1.0, 1e12]),
)
APART = st.one_of(st.just(0.0), st.floats(-12, 25), st.sampled_from([4.5, -4.5, 1e-9, -1e-9]))
"""In deviations of the law."""


def off(found: float, proven: arb) -> float:
    return abs(float((arb(found) / proven - 1).mid()))


@law
@given(SHAPES, APART, st.floats(-8, 0))
def test_shares_have_the_digits_of_balls(shape: float, apart: float, power: float) -> None:
    value = shape + apart * shape**0.5
    if value <= 0:
        value = shape * 10**power
    at = np.array([shape]), np.array([value])
    before, ctx.prec = ctx.prec, 512
    try:
        lower, upper = lower_ball(arb(shape), arb(value)), arb(value).gamma_upper(arb(shape), 1)
        whole = (arb(value) - arb(shape) * arb(value).log()).exp()
        integral = arb(value).gamma_upper(arb(shape)) * whole
    finally:
        ctx.prec = before
    with np.errstate(all="ignore"):
        for proven, found in (
            (lower, gamma_arrays.lower_share(*at)[0]),
            (upper, gamma_arrays.upper_share(*at)[0]),
            (integral, gamma_arrays.upper_integral(*at)[0]),
        ):
            if proven.is_finite() and proven > _LEAST and proven < 1 / _LEAST:
                assert off(float(found), proven) <= _WITHIN


@pytest.mark.parametrize("variation", [5e-324, 1e-307, 1e-200, 1e-17, 1e-7, 1e3, 1e8, 1e300])
@pytest.mark.parametrize("level", [0.0, 1e-9, 0.5, 0.99, 1 - 1e-12])
def test_quantiles_of_any_gamma_law_end(variation: float, level: float) -> None:
    """Whatever is beyond floats on the way: nothing is raised, and nothing is below zero."""
    for load in (0.0, 0.5):
        found = float(gamma_quantile(load, variation, level))
        assert found >= 0
        if level >= 0.5 and 1e-17 <= variation <= 1e3:  # of less a float of 1 - level tells little
            expected = queue_numbers.gamma_quantile(load, variation, level)
            assert found == pytest.approx(expected, rel=1e-9, abs=1e-300)


def test_all_lies_below_infinity_and_nothing_below_zero() -> None:
    shape, value = (part.ravel() for part in np.meshgrid([0.01, 1, 24, 30, 1e6], [0.0, inf]))
    with np.errstate(all="ignore"):
        assert gamma_arrays.lower_share(shape, value).tolist() == (value > 0).tolist()
        assert gamma_arrays.upper_share(shape, value).tolist() == (value == 0).tolist()


@law
@given(st.one_of(st.floats(0, 1), st.floats(-16, -1).map(lambda power: 10**power)))
def test_the_normal_law_is_that_of_one_number(level: float) -> None:
    with np.errstate(all="ignore"):
        found = float(gamma_arrays.normal_quantile(np.array([level]))[0])
    expected = normal_quantile(level)
    assert found == pytest.approx(expected, rel=1e-13) or (isnan(found) and isnan(expected))
    if not isnan(expected):
        assert float(gamma_arrays.normal_tail(np.array([expected]))[0]) == normal_tail(expected)
