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
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.nightly import examples
from qps.engine.queueing import queue_arrays, queue_numbers
from qps.engine.queueing.erlang_numbers import inverse_erlang_ball

law = settings(max_examples=examples(40), deadline=None)
ARRAYS: dict[str, Callable[..., Any]] = {
    name: getattr(queue_arrays, name) for name in queue_arrays.__all__
}
NAMES = [name.removesuffix("_slopes") for name in ARRAYS if name.endswith("_slopes")]
_DIGITS = 40


def _same(found: Any, expected: Any, within: float = 1e-10, least: float = 0.0) -> None:
    found, expected = np.asarray(found, dtype=float), np.asarray(expected, dtype=float)
    assert found.shape == expected.shape
    with np.errstate(invalid="ignore"):
        is_same = (found == expected) | (np.isnan(found) & np.isnan(expected))
        is_same |= np.abs(found - expected) <= within * np.abs(expected) + least
    assert is_same.all(), list(zip(found[~is_same], expected[~is_same], strict=True))


def _one_by_one(name: str, columns: list[list[float]]) -> list[float]:
    function = getattr(queue_numbers, name)
    return [function(*row) for row in zip(*columns, strict=True)]


def _columns(draw: st.DrawFn, *kinds: st.SearchStrategy[float]) -> list[list[float]]:
    count = draw(st.integers(1, 12))
    return [draw(st.lists(kind, min_size=count, max_size=count)) for kind in kinds]


def _powers(low: float, high: float) -> st.SearchStrategy[float]:
    return st.floats(low, high).map(lambda power: 10**power)


# below 1: small, middling, and next to 1
SHARES = st.one_of(_powers(-6, 0), st.floats(0.01, 0.99), _powers(-6, -1).map(lambda x: 1 - x))
SERVERS = st.one_of(
    st.integers(1, 60).map(float), _powers(-1.5, 3), st.integers(60, 3000).map(float)
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
        _same(ARRAYS[name](*arguments), value)
        _same(ARRAYS[name](*([one] * 3 for one in arguments)), [value] * 3)
        for slope in ARRAYS[f"{name}_slopes"](*arguments):
            if isnan(value):
                assert isnan(slope)
    _same(getattr(queue_numbers, name)(*arguments), value)


@pytest.mark.parametrize("name", NAMES)
def test_any_shape(name: str) -> None:
    count = len(EDGES[[edge[0] for edge in EDGES].index(name)][1])
    low = [2.5, 0.5, 0.5][:count] if count > 1 else [0.5]
    if name == "normal_tail":
        low = [1.0]
    values = [np.full((3, 1), low[0]), *low[1:]]
    single = ARRAYS[name](*low)
    assert np.ndim(single) == 0
    _same(ARRAYS[name](*values), np.full((3, 1), single))
    assert ARRAYS[name](np.empty((0, 2)), *low[1:]).shape == (0, 2)
    many = ARRAYS[name](np.full(10_000, low[0]), *low[1:])  # more than a block
    _same(many, np.full(10_000, single))
    slopes = ARRAYS[f"{name}_slopes"](*values)
    assert len(slopes) == count
    for slope, one in zip(slopes, ARRAYS[f"{name}_slopes"](*low), strict=True):
        _same(slope, np.full((3, 1), one))


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
    servers, ratios = _columns(data.draw, SERVERS, st.one_of(SHARES, _powers(0, 2)))
    traffic = [c * ratio for c, ratio in zip(servers, ratios, strict=True)]
    for name in ("erlang_b", "erlang_c", "inverse_erlang_b"):
        found = getattr(queue_arrays, name)(servers, traffic)
        _same(found, _one_by_one(name, [servers, traffic]), within=2e-12)
    flows = [count + 0.5 for count in servers]
    found = queue_arrays.periodic_wait(flows, ratios)
    # Half of 1/B less 1: what is next to nothing has the digits that are left of 1.
    _same(found, _one_by_one("periodic_wait", [flows, ratios]), within=1e-10, least=1e-15)


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
        _same(queue_arrays.inverse_erlang_b(servers, traffic), float(inverse), within=2e-12)
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


def _mp_slopes(function: Callable[..., Any], *arguments: float) -> list[float]:
    with mpmath.workdps(_DIGITS):
        at = [mpmath.mpf(argument) for argument in arguments]
        step = mpmath.mpf(10) ** -18
        found = []
        for k, argument in enumerate(at):
            more, less = (
                function(*at[:k], argument * (1 + sign * step), *at[k + 1 :]) for sign in (1, -1)
            )
            found.append(float((more - less) / (2 * step * argument)))
        return found


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
    _same(np.array(found), _mp_slopes(exact, *arguments), within=1e-9)


def test_slopes_where_all_wait_or_none_calls() -> None:
    _same(np.array(queue_arrays.erlang_c_slopes(2, 3)), [0, 0])
    _same(np.array(queue_arrays.erlang_c_slopes([1, 2], 0)), [[0, 0], [1, 0]])
    _same(np.array(queue_arrays.periodic_wait_slopes([1, 5], [0.5, 0])), [[0, 0], [0, 0.4]])
    _same(np.array(queue_arrays.periodic_wait_slopes(5, 1)), [nan, nan])


# -- quantiles and tails ---------------------------------------------------------------------

LEVELS = st.one_of(st.floats(0.001, 0.999), _powers(-12, -1).map(lambda x: 1 - x))
TIMES = st.one_of(_powers(-3, 2), st.integers(0, 25).map(float))
FLOWS = st.one_of(st.integers(1, 70).map(float), _powers(0, 6))
COLUMNS: dict[str, tuple[st.SearchStrategy[float], ...]] = {
    "md1_tail": (SHARES, TIMES),
    "md1_quantile": (SHARES, LEVELS),
    "batch_quantile": (SHARES, LEVELS),
    "periodic_tail": (FLOWS, SHARES, TIMES),
    "periodic_quantile": (FLOWS, SHARES, LEVELS),
    "sojourn_quantile": (st.floats(0, 1), st.one_of(_powers(-5, 4), st.just(1.0)), LEVELS),
    "gamma_quantile": (SHARES, st.one_of(st.just(0.0), _powers(-7, 1.5)), LEVELS),
    "normal_tail": (st.floats(-30, 30),),
    "normal_quantile": (LEVELS,),
}


@pytest.mark.parametrize("name", COLUMNS)
@law
@given(data=st.data())
def test_as_one_by_one(name: str, data: st.DataObject) -> None:
    columns = _columns(data.draw, *COLUMNS[name])
    _same(ARRAYS[name](*columns), _one_by_one(name, columns), within=1e-11)


def _mp_md1_tail(load: Any, time: Any) -> Any:
    """Return P(W > t) by Erlang's alternating sum, with digits enough for what it loses."""
    with mpmath.workdps(_DIGITS + int(time)):
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
    with mpmath.workdps(_DIGITS):
        _same(found, float(exact(*map(mpmath.mpf, arguments))), within=1e-12)
    slopes = ARRAYS[f"{name}_slopes"](*arguments)
    _same(np.array(slopes), _mp_slopes(exact, *arguments), within=2e-9)


@pytest.mark.parametrize(("load", "time"), [(0.5, 0.3), (0.9, 1.0), (0.3, 7.5), (0.999, 19.9)])
def test_tails_and_their_slopes(load: float, time: float) -> None:
    with mpmath.workdps(_DIGITS):
        exact = float(_mp_md1_tail(mpmath.mpf(load), mpmath.mpf(time)))
    _same(queue_arrays.md1_tail(load, time), exact, within=1e-13)
    if time != int(time):  # at whole times the slope by the time has a step or a kink
        slopes = np.array(queue_arrays.md1_tail_slopes(load, time))
        _same(slopes, _mp_slopes(_mp_md1_tail, load, time), within=1e-10)


def test_slopes_of_tails_at_their_edges() -> None:
    by_load, by_time = queue_arrays.md1_tail_slopes([0, 0, 0.5, 1, 0.5], [0.25, 2, -1, 3, inf])
    _same(by_load, [0.75, 0, 0, 0, 0])
    _same(by_time, [0, 0, 0, 0, 0])


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
    _same(slope, float(-mpmath.npdf(1.5)))
    (slope,) = queue_arrays.normal_quantile_slopes([0.9, 0.0, 1.0])
    _same(slope, [1 / float(mpmath.npdf(queue_arrays.normal_quantile(0.9))), nan, nan])


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
    _same(queue_arrays.periodic_tail(flows, load, time), expected, within=1e-11)
    _same(queue_numbers.periodic_tail(flows, load, time), expected, within=1e-11)
    if time != int(time):
        none, by_load, by_time = queue_arrays.periodic_tail_slopes(flows, load, time)
        assert isnan(none)
        _same(np.array([by_load, by_time]), _mp_slopes(exact, load, time), within=1e-9)
        if 1e-6 < expected < load / 2:
            level = 1 - expected
            _same(queue_arrays.periodic_quantile(flows, load, level), time, within=1e-9)
            none, of_load, of_level = queue_arrays.periodic_quantile_slopes(flows, load, level)
            assert isnan(none)
            _same(of_level, -1 / by_time, within=1e-8)
            _same(of_load, -by_load / by_time, within=1e-8)


def test_a_thousand_million_periodic_flows_wait_as_poisson_ones() -> None:
    loads, flows = np.array([0.3, 0.7, 0.9]), np.array([1e5, 1e9])[:, None]
    gap = 1 - queue_arrays.periodic_quantile(flows, loads, 0.99) / queue_arrays.md1_quantile(
        loads, 0.99
    )
    assert np.all(gap > 0)
    # what is missing falls like 1/N
    assert np.all(np.abs(gap[0] / gap[1] / 1e4 - 1) < 0.05)
