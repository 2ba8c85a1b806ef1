"""Numbers of queues on arrays: as those of one number, with their slopes, at any size."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from math import inf, isnan, log, nan
from typing import Any

import mpmath
import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given
from hypothesis import strategies as st

from helpers.cases.queue_arrays import (
    ARRAYS,
    SHARES,
    assert_same,
    draw_columns,
    exact_slopes,
    law,
    one_by_one,
    powers_of_ten,
)
from qps.engine.queueing import queue_arrays, queue_numbers
from qps.engine.queueing.erlang_numbers import inverse_erlang_ball

NAMES = [name.removesuffix("_slopes") for name in ARRAYS if name.endswith("_slopes")]
SERVERS = st.one_of(
    st.integers(1, 60).map(float), powers_of_ten(-1.5, 3), st.integers(60, 3000).map(float)
)

# -- edges: name, arguments, value -----------------------------------------------------------

EDGES = [
    ("erlang_b", (0, 5), 1.0),
    ("erlang_b", (0, 0), 1.0),
    ("erlang_b", (3, 0), 0.0),
    ("erlang_b", (-1, 2), nan),
    ("erlang_b", (2, -1), nan),
    ("erlang_b", (nan, 1), nan),
    ("erlang_b", (1, nan), nan),
    ("erlang_b", (inf, 5), 0.0),
    ("erlang_b", (5, inf), 1.0),
    ("erlang_b", (1, 1), 0.5),
    ("erlang_b", (1e5, 1), 0.0),
    ("erlang_c", (0, 1), nan),
    ("erlang_c", (2, -1), nan),
    ("erlang_c", (2, 0), 0.0),
    ("erlang_c", (2, 2), 1.0),
    ("erlang_c", (2, 3), 1.0),
    ("erlang_c", (2, inf), 1.0),
    ("erlang_c", (inf, 3), 0.0),
    ("erlang_c", (nan, 1), nan),
    ("erlang_c", (1, nan), nan),
    ("erlang_c", (1, 0.25), 0.25),
    ("erlang_c", (1e6, 10), 0.0),
    ("periodic_wait", (5, -0.1), nan),
    ("periodic_wait", (5, 1), inf),
    ("periodic_wait", (1, 2), inf),
    ("periodic_wait", (1, 0.5), 0.0),
    ("periodic_wait", (0, 0.5), 0.0),
    ("periodic_wait", (-1, 0.5), 0.0),
    ("periodic_wait", (5, 0), 0.0),
    ("periodic_wait", (nan, 0.5), nan),
    ("periodic_wait", (5, nan), nan),
    ("periodic_wait", (2, 0.5), 0.125),
    ("md1_tail", (-0.1, 1), nan),
    ("md1_tail", (inf, 1), 1.0),
    ("md1_tail", (nan, 1), nan),
    ("md1_tail", (0.5, nan), nan),
    ("md1_tail", (1, 5), 1.0),
    ("md1_tail", (0.5, -1), 1.0),
    ("md1_tail", (0, 0), 0.0),
    ("md1_tail", (0.5, 0), 0.5),
    ("md1_tail", (0.5, inf), 0.0),
    ("md1_quantile", (0.5, 1), nan),
    ("md1_quantile", (0.5, -0.1), nan),
    ("md1_quantile", (-0.5, 0.5), nan),
    ("md1_quantile", (nan, 0.5), nan),
    ("md1_quantile", (0.5, nan), nan),
    ("md1_quantile", (1, 0.5), inf),
    ("md1_quantile", (0.5, 0.5), 0.0),
    ("md1_quantile", (0, 0.9), 0.0),
    ("batch_quantile", (0.5, 1), nan),
    ("batch_quantile", (-0.5, 0.5), nan),
    ("batch_quantile", (nan, 0.5), nan),
    ("batch_quantile", (1, 0.5), inf),
    ("batch_quantile", (0, 0.7), 0.7),
    ("batch_quantile", (0.5, 0), 0.0),
    ("sojourn_quantile", (0.5, 0.5, 1), nan),
    ("sojourn_quantile", (1.5, 0.5, 0.5), nan),
    ("sojourn_quantile", (nan, 0.5, 0.5), nan),
    ("sojourn_quantile", (0.5, nan, 0.5), nan),
    ("sojourn_quantile", (0.5, 0.5, nan), nan),
    ("sojourn_quantile", (0.5, 0, 0.5), inf),
    ("sojourn_quantile", (0.5, -1, 0.5), inf),
    ("sojourn_quantile", (0.5, inf, 0.5), log(2)),
    ("sojourn_quantile", (0, 0.5, 0.5), log(2)),
    ("sojourn_quantile", (0, 2, 0.5), log(2)),
    ("sojourn_quantile", (0.5, 0.5, 0), 0.0),
    ("sojourn_quantile", (1, 1, 0), 0.0),
    ("sojourn_quantile", (0.5, 0.5, 0.9), 2 * log(10)),
    ("gamma_quantile", (-0.1, 1, 0.5), nan),
    ("gamma_quantile", (0.5, -1, 0.5), nan),
    ("gamma_quantile", (0.5, inf, 0.5), nan),
    ("gamma_quantile", (0.5, 1, 1), nan),
    ("gamma_quantile", (nan, 1, 0.5), nan),
    ("gamma_quantile", (0.5, nan, 0.5), nan),
    ("gamma_quantile", (1, 1, 0.5), inf),
    ("gamma_quantile", (0, 1, 0.5), log(2)),
    ("gamma_quantile", (0, 0, 0.5), 1.0),
    ("gamma_quantile", (0.5, 1, 0), 0.0),
    ("periodic_tail", (nan, 0.5, 1), nan),
    ("periodic_tail", (5, nan, 1), nan),
    ("periodic_tail", (5, 0.5, nan), nan),
    ("periodic_tail", (-1, 0.5, 1), nan),
    ("periodic_tail", (inf, 0.5, 1), nan),
    ("periodic_tail", (5, -0.5, 1), nan),
    ("periodic_tail", (5, 1, 1), 1.0),
    ("periodic_tail", (5, 0.5, -1), 1.0),
    ("periodic_tail", (1, 0.5, 0), 0.0),
    ("periodic_tail", (5, 0, 0), 0.0),
    ("periodic_tail", (5, 0.5, 4), 0.0),
    ("periodic_tail", (5, 0.5, inf), 0.0),
    ("periodic_tail", (2, 0.5, 0), 0.25),
    ("periodic_tail", (2 + 1e-12, 0.5, 0.5), 0.125),
    ("periodic_quantile", (5, 0.5, 1), nan),
    ("periodic_quantile", (nan, 0.5, 0.5), nan),
    ("periodic_quantile", (inf, 0.5, 0.5), nan),
    ("periodic_quantile", (inf, 1.5, 0.5), nan),
    ("periodic_quantile", (5, nan, 0.5), nan),
    ("periodic_quantile", (5, 0.5, nan), nan),
    ("periodic_quantile", (5, 1, 0.5), inf),
    ("periodic_quantile", (1, 0.5, 0.5), 0.0),
    ("periodic_quantile", (5, 0, 0.5), 0.0),
    ("periodic_quantile", (2, 0.5, 0.75), 0.0),
    ("periodic_quantile", (2, 0.5, 0.875), 0.5),
    ("normal_tail", (0,), 0.5),
    ("normal_tail", (inf,), 0.0),
    ("normal_tail", (-inf,), 1.0),
    ("normal_tail", (nan,), nan),
    ("normal_quantile", (0.5,), 0.0),
    ("normal_quantile", (0,), nan),
    ("normal_quantile", (1,), nan),
    ("normal_quantile", (nan,), nan),
]


@pytest.mark.parametrize(("name", "arguments", "value"), EDGES)
def test_edges(name: str, arguments: tuple[float, ...], value: float) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_same(ARRAYS[name](*arguments), value)
        assert_same(ARRAYS[name](*([one] * 3 for one in arguments)), [value] * 3)
        for slope in ARRAYS[f"{name}_slopes"](*arguments):
            if isnan(value):
                assert isnan(slope)
    assert_same(getattr(queue_numbers, name)(*arguments), value)


@pytest.mark.parametrize("name", NAMES)
def test_any_shape(name: str) -> None:
    count = len(EDGES[[edge[0] for edge in EDGES].index(name)][1])
    low = [2.5, 0.5, 0.5][:count] if count > 1 else [0.5]
    if name == "normal_tail":
        low = [1.0]
    values = [np.full((3, 1), low[0]), *low[1:]]
    single = ARRAYS[name](*low)
    assert np.ndim(single) == 0
    assert_same(ARRAYS[name](*values), np.full((3, 1), single))
    assert ARRAYS[name](np.empty((0, 2)), *low[1:]).shape == (0, 2)
    many = ARRAYS[name](np.full(10_000, low[0]), *low[1:])  # more than a block
    assert_same(many, np.full(10_000, single))
    slopes = ARRAYS[f"{name}_slopes"](*values)
    assert len(slopes) == count
    for slope, one in zip(slopes, ARRAYS[f"{name}_slopes"](*low), strict=True):
        assert_same(slope, np.full((3, 1), one))


# -- Erlang ----------------------------------------------------------------------------------


def _exact_inverse(servers: Any, traffic: Any) -> Any:
    """Return 1/B by its integral, in forty digits."""
    shape, peak = servers + 1, max(mpmath.mpf(0), mpmath.log((servers + 1) / traffic))
    wide = 12 / mpmath.sqrt(max(shape, traffic))

    def held(v: Any) -> Any:
        return mpmath.exp(shape * v - traffic * mpmath.expm1(v))

    points = [peak + k * wide for k in (-1, -0.5, -0.2, 0, 0.2, 0.5, 1) if peak + k * wide > 0]
    return traffic * mpmath.quad(held, [mpmath.mpf(0), *points, points[-1] + 1])


@law
@given(data=st.data())
def test_erlang_as_one_by_one(data: st.DataObject) -> None:
    servers, ratios = draw_columns(data.draw, SERVERS, st.one_of(SHARES, powers_of_ten(0, 2)))
    traffic = [c * ratio for c, ratio in zip(servers, ratios, strict=True)]
    for name in ("erlang_b", "erlang_c", "inverse_erlang_b"):
        found = getattr(queue_arrays, name)(servers, traffic)
        assert_same(found, one_by_one(name, [servers, traffic]), within=2e-12)
    flows = [count + 0.5 for count in servers]
    found = queue_arrays.periodic_wait(flows, ratios)
    # Half of 1/B less 1: what is next to nothing has the digits that are left of 1.
    assert_same(found, one_by_one("periodic_wait", [flows, ratios]), within=1e-10, least=1e-15)


MANY = [
    (10**4, 9_000.0),
    (10**5, 98_000.0),
    (10**6, 995_000.0),
    (10**6, 999_990.0),
    (5 * 10**6, 4_990_000.0),
    (5 * 10**6, 4_999_999.0),
    (5 * 10**6, 5_010_000.0),
    (5 * 10**6, 5_100_000.0),
]


@pytest.mark.parametrize(("servers", "traffic"), MANY)
def test_millions_of_servers(servers: int, traffic: float) -> None:
    with mpmath.workdps(30):
        inverse = _exact_inverse(mpmath.mpf(servers), mpmath.mpf(traffic))
        assert_same(queue_arrays.inverse_erlang_b(servers, traffic), float(inverse), within=2e-12)
        with ctx.workprec(192):
            long = inverse_erlang_ball(arb(servers), arb(traffic))
        assert (
            abs(mpmath.mpf(long.mid().str(40, radius=False)) / inverse - 1) < mpmath.mpf(10) ** -25
        )
        assert long.rel_accuracy_bits() > 100


def _mp_loss(servers: Any, traffic: Any) -> Any:
    above = mpmath.gammainc(servers + 1, traffic)
    return traffic**servers * mpmath.exp(-traffic) / above


def _mp_waiting(servers: Any, traffic: Any) -> Any:
    ratio = traffic / servers
    return 1 / ((1 - ratio) / _mp_loss(servers, traffic) + ratio)


def _mp_periodic_wait(flows: Any, load: Any) -> Any:
    return (1 / _mp_loss(flows - 1, flows / load) - 1) / 2


SLOPES = [
    ("erlang_b", _mp_loss, (1.0, 0.5)),
    ("erlang_b", _mp_loss, (20.0, 1.0)),
    ("erlang_b", _mp_loss, (11.74, 678.4)),
    ("erlang_b", _mp_loss, (2.0, 1e4)),
    ("erlang_b", _mp_loss, (0.3, 0.01)),
    ("erlang_b", _mp_loss, (100.0, 99.5)),
    ("erlang_b", _mp_loss, (100.0, 300.0)),
    ("erlang_b", _mp_loss, (100.0, 30.0)),
    ("erlang_b", _mp_loss, (50.5, 51.5)),
    ("erlang_c", _mp_waiting, (1.0, 0.5)),
    ("erlang_c", _mp_waiting, (16.0, 15.99)),
    ("erlang_c", _mp_waiting, (2.5, 0.1)),
    ("erlang_c", _mp_waiting, (100.0, 99.5)),
    ("erlang_c", _mp_waiting, (100.0, 50.0)),
    ("periodic_wait", _mp_periodic_wait, (2.0, 0.5)),
    ("periodic_wait", _mp_periodic_wait, (10.0, 0.9)),
    ("periodic_wait", _mp_periodic_wait, (100.0, 0.99)),
    ("periodic_wait", _mp_periodic_wait, (100.0, 0.01)),
]


@pytest.mark.parametrize(("name", "exact", "arguments"), SLOPES)
def test_slopes(name: str, exact: Callable[..., Any], arguments: tuple[float, ...]) -> None:
    found = ARRAYS[f"{name}_slopes"](*arguments)
    assert_same(np.array(found), exact_slopes(exact, *arguments), within=1e-9)


def test_slopes_where_all_wait_or_none_calls() -> None:
    assert_same(np.array(queue_arrays.erlang_c_slopes(2, 3)), [0, 0])
    assert_same(np.array(queue_arrays.erlang_c_slopes([1, 2], 0)), [[0, 0], [1, 0]])
    assert_same(np.array(queue_arrays.periodic_wait_slopes([1, 5], [0.5, 0])), [[0, 0], [0, 0.4]])
    assert_same(np.array(queue_arrays.periodic_wait_slopes(5, 1)), [nan, nan])
