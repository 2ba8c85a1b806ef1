"""Percentiles, tails and periodic flows on arrays: as those of one number, with their slopes."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, isnan, nan
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.cases.queue_arrays import (
    ARRAYS,
    DIGITS,
    SHARES,
    assert_same,
    draw_columns,
    exact_slopes,
    law,
    one_by_one,
    powers_of_ten,
)
from qps.engine.queueing import queue_arrays, queue_numbers

# -- quantiles and tails ---------------------------------------------------------------------

LEVELS = st.one_of(st.floats(0.001, 0.999), powers_of_ten(-12, -1).map(lambda x: 1 - x))
TIMES = st.one_of(powers_of_ten(-3, 2), st.integers(0, 25).map(float))
FLOWS = st.one_of(st.integers(1, 70).map(float), powers_of_ten(0, 6))
COLUMNS: dict[str, tuple[st.SearchStrategy[float], ...]] = {
    "md1_tail": (SHARES, TIMES),
    "md1_quantile": (SHARES, LEVELS),
    "batch_quantile": (SHARES, LEVELS),
    "periodic_tail": (FLOWS, SHARES, TIMES),
    "periodic_quantile": (FLOWS, SHARES, LEVELS),
    "sojourn_quantile": (st.floats(0, 1), st.one_of(powers_of_ten(-5, 4), st.just(1.0)), LEVELS),
    "gamma_quantile": (SHARES, st.one_of(st.just(0.0), powers_of_ten(-7, 1.5)), LEVELS),
    "normal_tail": (st.floats(-30, 30),),
    "normal_quantile": (LEVELS,),
}


@pytest.mark.parametrize("name", COLUMNS)
@law
@given(data=st.data())
def test_as_one_by_one(name: str, data: st.DataObject) -> None:
    columns = draw_columns(data.draw, *COLUMNS[name])
    assert_same(ARRAYS[name](*columns), one_by_one(name, columns), within=1e-11)


def _mp_md1_tail(load: Any, time: Any) -> Any:
    """Return P(W > t) by Erlang's alternating sum, with digits enough for what it loses."""
    with mpmath.workdps(DIGITS + int(time)):
        total = mpmath.mpf(0)
        for k in range(int(mpmath.floor(time)) + 1):
            apart = load * (k - time)
            total += apart**k / mpmath.factorial(k) * mpmath.exp(-apart)
        return 1 - (1 - load) * total


def _mp_sojourn_tail(waiting: Any, rate: Any, time: Any) -> Any:
    apart = rate - 1
    late = (1 - mpmath.exp(-apart * time)) / apart if apart else time
    return mpmath.exp(-time) * (1 + waiting * late)


def _mp_gamma_tail(load: Any, variation: Any, time: Any) -> Any:
    shape = 1 / variation

    def excess(y: Any) -> Any:
        return load * mpmath.expm1(y) - (1 - mpmath.exp(-variation * y)) / variation

    near = 2 * (1 - load) / (1 + variation)
    y = mpmath.findroot(excess, float(-mpmath.log(load)) * 2 / (1 + float(variation)) or near)
    tilt = mpmath.exp(-variation * y)
    late = mpmath.exp(y - (1 - tilt) / variation * time)
    served = mpmath.gammainc(shape, shape * time, regularized=True)
    return served + late * mpmath.gammainc(shape, 0, shape * time * tilt, regularized=True)


def _mp_quantile(tail: Callable[..., Any], start: float) -> Callable[..., Any]:
    def quantile(*arguments: Any) -> Any:
        *given_ones, level = arguments
        return mpmath.findroot(
            lambda t: mpmath.log(tail(*given_ones, t) / (1 - level)), (start * 0.999, start * 1.001)
        )

    return quantile


def _mp_batch_tail(load: Any, time: Any) -> Any:
    return _mp_md1_tail(load, time) / load


TAILS: dict[str, Callable[..., Any]] = {
    "md1_quantile": _mp_md1_tail,
    "batch_quantile": _mp_batch_tail,
    "sojourn_quantile": _mp_sojourn_tail,
    "gamma_quantile": _mp_gamma_tail,
}
QUANTILES = [
    ("md1_quantile", (0.8, 0.3)),
    ("md1_quantile", (0.5, 0.99)),
    ("md1_quantile", (0.05, 0.999)),
    ("md1_quantile", (0.8, 0.999999)),
    ("md1_quantile", (0.97, 0.9)),
    ("md1_quantile", (0.5, 1 - 1e-12)),
    ("batch_quantile", (0.5, 0.4)),
    ("batch_quantile", (1e-5, 0.4)),
    ("batch_quantile", (0.7, 0.99)),
    ("batch_quantile", (0.95, 0.999)),
    ("sojourn_quantile", (0.5, 0.5, 0.95)),
    ("sojourn_quantile", (0.2, 0.001, 0.99)),
    ("sojourn_quantile", (0.7, 1.0, 0.99)),
    ("sojourn_quantile", (0.7, 1.3, 0.5)),
    ("sojourn_quantile", (0.7, 30.0, 0.999)),
    ("sojourn_quantile", (0.7, 0.9999, 0.01)),
    ("gamma_quantile", (0.7, 0.25, 0.99)),
    ("gamma_quantile", (0.7, 3.0, 0.95)),
    ("gamma_quantile", (0.1, 0.01, 0.9)),
    ("gamma_quantile", (0.99, 0.5, 0.999)),
    ("gamma_quantile", (0.9, 1.0, 0.5)),
]


@pytest.mark.parametrize(("name", "arguments"), QUANTILES)
def test_quantiles_and_their_slopes(name: str, arguments: tuple[float, ...]) -> None:
    found = ARRAYS[name](*arguments)
    exact = _mp_quantile(TAILS[name], found)
    with mpmath.workdps(DIGITS):
        assert_same(found, float(exact(*map(mpmath.mpf, arguments))), within=1e-12)
    slopes = ARRAYS[f"{name}_slopes"](*arguments)
    assert_same(np.array(slopes), exact_slopes(exact, *arguments), within=2e-9)


@pytest.mark.parametrize(("load", "time"), [(0.5, 0.3), (0.9, 1.0), (0.3, 7.5), (0.999, 19.9)])
def test_tails_and_their_slopes(load: float, time: float) -> None:
    with mpmath.workdps(DIGITS):
        exact = float(_mp_md1_tail(mpmath.mpf(load), mpmath.mpf(time)))
    assert_same(queue_arrays.md1_tail(load, time), exact, within=1e-13)
    if time != int(time):  # at whole times the slope by the time has a step or a kink
        slopes = np.array(queue_arrays.md1_tail_slopes(load, time))
        assert_same(slopes, exact_slopes(_mp_md1_tail, load, time), within=1e-10)


def test_slopes_of_tails_at_their_edges() -> None:
    by_load, by_time = queue_arrays.md1_tail_slopes([0, 0, 0.5, 1, 0.5], [0.25, 2, -1, 3, inf])
    assert_same(by_load, [0.75, 0, 0, 0, 0])
    assert_same(by_time, [0, 0, 0, 0, 0])


def test_heavy_load_loses_no_digits() -> None:
    """The decay of the tail is 2 (1 - load)/(1 + v) there, and the wait nearly exponential."""
    load = 1 - np.array([1e-6, 1e-9, 1e-12])
    spare = 1 - load
    late = -np.log1p(-0.99)
    for variation in (0.01, 0.5, 4.0):
        scale = (1 + variation) / 2 / spare
        for found in (
            queue_arrays.gamma_quantile(load, variation, 0.99),
            [queue_numbers.gamma_quantile(one, variation, 0.99) for one in load.tolist()],
        ):
            assert np.all(np.abs(found / (scale * late) - 1) < 9 * spare)


def test_slopes_of_the_normal_law() -> None:
    (slope,) = queue_arrays.normal_tail_slopes(1.5)
    assert_same(slope, float(-mpmath.npdf(1.5)))
    (slope,) = queue_arrays.normal_quantile_slopes([0.9, 0.0, 1.0])
    assert_same(slope, [1 / float(mpmath.npdf(queue_arrays.normal_quantile(0.9))), nan, nan])


# -- periodic flows --------------------------------------------------------------------------


def _mp_periodic_tail(flows: int, load: Any, time: Any) -> Any:
    """Return P(W > t) as the sum that it is, all of its terms."""
    count, period = flows - 1, flows / mpmath.mpf(load)
    first = int(mpmath.floor(time)) + 1
    total, choices = mpmath.mpf(0), mpmath.binomial(count, first)
    for m in range(first, count + 1):
        share = (m - time) / period
        term = choices * share**m * (1 - share) ** (count - m)
        total += term * (period - count + time) / (period - m + time)
        choices = choices * (count - m) / (m + 1)
    return total


PERIODIC = [
    (2, 0.9, 0.4),
    (30, 0.5, 2.3),
    (57, 0.99, 0.0),
    (58, 0.99, 0.5),
    (70, 0.9, 7.7),
    (300, 0.5, 0.0),
    (300, 0.1, 3.5),
    (300, 0.999999, 12.5),
    (1000, 0.9, 1.0),
    (1000, 0.99, 40.2),
    (2000, 0.7, 30.3),
]


@pytest.mark.parametrize(("flows", "load", "time"), PERIODIC)
def test_periodic_tails_and_their_slopes(flows: int, load: float, time: float) -> None:
    def exact(load: Any, time: Any) -> Any:
        return _mp_periodic_tail(flows, load, time)

    with mpmath.workdps(30):
        expected = float(exact(mpmath.mpf(load), mpmath.mpf(time)))
    assert_same(queue_arrays.periodic_tail(flows, load, time), expected, within=1e-11)
    assert_same(queue_numbers.periodic_tail(flows, load, time), expected, within=1e-11)
    if time != int(time):
        none, by_load, by_time = queue_arrays.periodic_tail_slopes(flows, load, time)
        assert isnan(none)
        assert_same(np.array([by_load, by_time]), exact_slopes(exact, load, time), within=1e-9)
        if 1e-6 < expected < load / 2:
            level = 1 - expected
            assert_same(queue_arrays.periodic_quantile(flows, load, level), time, within=1e-9)
            none, of_load, of_level = queue_arrays.periodic_quantile_slopes(flows, load, level)
            assert isnan(none)
            assert_same(of_level, -1 / by_time, within=1e-8)
            assert_same(of_load, -by_load / by_time, within=1e-8)


def test_a_thousand_million_periodic_flows_wait_as_poisson_ones() -> None:
    loads, flows = np.array([0.3, 0.7, 0.9]), np.array([1e5, 1e9])[:, None]
    gap = 1 - queue_arrays.periodic_quantile(flows, loads, 0.99) / queue_arrays.md1_quantile(
        loads, 0.99
    )
    assert np.all(gap > 0)
    # what is missing falls like 1/N
    assert np.all(np.abs(gap[0] / gap[1] / 1e4 - 1) < 0.05)
