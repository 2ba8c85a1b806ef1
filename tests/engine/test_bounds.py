"""Bounds over a box hold at every point of it, for every function that the language has."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise, product
from math import inf, isfinite, isnan

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.formulas import R, absolute, acos, ceil, cos, exp, floor, lambert, log, ratio, waiting
from helpers.nightly import examples
from helpers.operations import CASES
from qps.engine.expressions.cancellation import canceled
from qps.engine.expressions.formula_parts import parts_first
from qps.engine.expressions.formulas import (
    Formula,
    apply,
    maximum,
    minimum,
    number,
    population,
    square_root,
)
from qps.engine.expressions.point_values import EvaluationPoint
from qps.engine.numerics.sloped_intervals import SlopedInterval, power, span
from qps.engine.operations import OF_QUEUES, OPERATIONS
from qps.solver.search.bounds import BoundedFunction
from qps.solver.search.rounding_bounds import stretches_to_search

N = population("N")
law = settings(max_examples=examples(60), deadline=None)

_LEVEL = R(19, 20)
_ONE = [
    exp(-N / 20),
    exp(N / 50),
    log(N),
    square_root(N),
    1 / square_root(N),
    N ** R(7, 10),
    (N + 1) ** R(-3, 2),
    R(9, 10) ** N,
    absolute(N - 30),
    (N - 30) ** 2,
    (N - 30) ** 3,
    1 / (N - R(61, 2)),
    ceil(N / 7),
    floor(N / 7),
    N / ceil(N / 7),
    cos(N / 5),
    acos(1 - N / 60),
    lambert(N),
    apply("lower_w", -1 / (N + 2)),
    apply("harmonic", N),
    maximum(N / 3, 20 - N),
    minimum(N / 3, 20 - N, 5),
    ratio(N, maximum(0, N - 40)),
    apply("mean", N, maximum(0, N - 40)),
    waiting(N, N / 70),
    apply("effective", N + 1, R(9, 10)),
    *(
        apply(word, *arguments)
        for word in sorted(OF_QUEUES)
        for arguments in {
            "erlang_b": [(N / 2, R(20)), (R(20), N / 2), (N, R(10))],
            "erlang_c": [(N, R(10)), (R(70), N)],
            "periodic_wait": [(N, N / 101)],
            "md1_tail": [(N / 101, R(3))],
            "md1_quantile": [(N / 101, _LEVEL)],
            "batch_quantile": [(N / 101, _LEVEL)],
            "periodic_tail": [(N, N / 101, R(3))],
            "periodic_quantile": [(N, N / 101, _LEVEL)],
            "normal_tail": [(N / 30 - 1,)],
            "normal_quantile": [(N / 101,)],
        }.get(word, [])
    ),
    apply("sojourn_quantile", N / 101, 1 - N / 101, _LEVEL),
    apply("sojourn_quantile", apply("erlang_c", R(400), N), 400 - N, _LEVEL),
    square_root(apply("erlang_c", R(400), N) * apply("erlang_b", R(300), N)),
    apply("gamma_quantile", N / 101, R(1, 2), _LEVEL),
    apply("gamma_quantile", N / 101, R(36, 25), _LEVEL),  # no float
]


_ONE += [
    apply(word, *(number(Fraction(low)) + Fraction(high - low) * N / 160 for low, high in ends))
    for word, ends in CASES.items()
    if word not in {part.word for part in parts_first(*_ONE)}
]


def _value(expr: Formula, at: Fraction) -> float:
    return EvaluationPoint({N: at}).number(expr)


def test_every_function_is_among_those_that_are_tried() -> None:
    tried = {part.word for part in parts_first(*_ONE)}
    assert not OPERATIONS.keys() - tried


_BOXES = st.tuples(st.integers(4, 300), st.integers(0, 160), st.booleans())


@law
@given(st.sampled_from(_ONE), st.sampled_from(_ONE), st.sampled_from("1+*/-m"), _BOXES)
def test_bounds_hold_at_every_point(
    one: Formula, other: Formula, join: str, box: tuple[int, int, bool]
) -> None:
    expr = {
        "1": one,
        "+": one + other,
        "*": one * other,
        "/": one / (1 + other**2),
        "-": one - 2 * other,
        "m": maximum(one, other),
    }[join]
    start, width, is_narrow = box
    low = Fraction(start, 4)
    high = low + (Fraction(width, 1000) if is_narrow else Fraction(width, 4))
    found = BoundedFunction(expr, N).over(float(low), float(high))
    values = []
    for part in range(6):
        at = Fraction(float(low + (high - low) * part / 5))
        value = _value(expr, at)
        if isnan(value):
            continue
        # Numbers of queues are as good as that; an infinite one is met by a bound alone.
        room = 1e-9 * (1 + abs(value)) if isfinite(value) else 0.0
        assert found.low - room <= value <= found.high + room, (expr, at)
        values.append((at, value))
    for (at, value), (later, next_value) in pairwise(values):
        if later > at and abs(value) < 1e300 and abs(next_value) < 1e300:
            slope = (next_value - value) / float(later - at)
            room = 1e-7 * (1 + abs(slope)) + 1e-8 * (abs(value) + 1) / float(later - at)
            assert found.slow - room <= slope <= found.steep + room, (expr, at, later)


@pytest.mark.parametrize("cores", [200, 230, 300, 1000])
@pytest.mark.parametrize("ends", [(1.0, 10.0), (1.0, 500.0), (7.0, 7.0)])
def test_what_rests_on_a_share_that_floats_hardly_hold_has_bounds(
    cores: int, ends: tuple[float, float]
) -> None:
    # Bounds of the share were widened to below zero, where no quantile and no root has a value.
    waits = apply("erlang_c", R(cores), N)
    for expr in (
        apply("sojourn_quantile", waits, cores - N, _LEVEL),
        square_root(waits),
        log(1 - waits),
    ):
        found = BoundedFunction(expr, N).over(ends[0], min(ends[1], cores / 2))
        assert -inf < found.low <= found.high < inf, expr


@pytest.mark.parametrize(
    "word", [row.word for row in OPERATIONS.values() if row.by_ends and len(row.grows) > 1]
)
def test_what_is_known_with_a_number_that_is_a_float_is_known_with_another(word: str) -> None:
    row = OPERATIONS[word]

    def known(second: Fraction) -> SlopedInterval:
        rest = [R(second), *(R(Fraction(low + high) / 2) for low, high in CASES[word][2:])]
        return BoundedFunction(apply(word, N / 101, *rest[: row.operands - 1]), N).over(2.0, 3.0)

    float_, other = known(Fraction(3, 4)), known(Fraction(751, 1000))
    for part in ("low", "high", "slow", "steep"):
        assert isfinite(getattr(float_, part)) == isfinite(getattr(other, part)), part


def test_a_product_of_intervals_lies_between_those_of_its_ends() -> None:
    values = (-3.5, -1.0, -0.1, 0.0, 0.3, 1.0, 7.1)
    intervals = [(low, high) for low in values for high in values if low <= high]
    for (a, b), (c, d) in product(intervals, intervals):
        low, high = span(a, b, c, d)
        exact = [Fraction(one) * Fraction(other) for one in (a, b) for other in (c, d)]
        assert low <= min(exact)
        assert max(exact) <= high
        assert (low, high) == pytest.approx((float(min(exact)), float(max(exact))), rel=1e-15)


@law
@given(st.sampled_from([e for e in _ONE if e.word in OF_QUEUES]), _BOXES)
def test_bounds_of_a_number_of_queues_lie_where_its_values_lie(
    expr: Formula, box: tuple[int, int, bool]
) -> None:
    low, width, _ = box
    found = BoundedFunction(expr, N).over(low / 4, (low + width) / 4)
    if found.low > -inf or found.high < inf:
        least, most = OPERATIONS[expr.word].lies
        assert least <= found.low
        assert found.high <= most


@st.composite
def _rounded(draw: st.DrawFn, depth: int = 3) -> Formula:
    """Draw an expression in which much is rounded."""
    kinds = ["N", "number", "+", "*", "max", "min", "ratio", "waiting", "/", "power", "round"]
    kind = draw(st.sampled_from(kinds if depth else kinds[:2]))
    if kind == "N":
        return N / draw(st.integers(1, 9))
    if kind == "number":
        return R(draw(st.integers(-9, 9)), draw(st.integers(1, 7)))
    one = draw(_rounded(depth - 1))
    if kind == "round":
        return draw(st.sampled_from([ceil, floor]))(one)
    if kind == "power":
        return one ** draw(st.integers(1, 3))
    other = draw(_rounded(depth - 1))
    return one / other if kind == "/" else apply(kind, one, other)


@law
@given(_rounded())
def test_elsewhere_what_is_rounded_is_not_above_zero(over: Formula) -> None:
    stretches = stretches_to_search(BoundedFunction(over, N), 1, 1e15)
    for at in (Fraction(n, 4) for n in range(4, 160)):
        if not any(start <= at and (end is None or at <= end) for start, end in stretches):
            value = EvaluationPoint({N: at}).exact(over)
            assert value is not None
            assert value < 0, (at, value, stretches)


@pytest.mark.parametrize(
    ("over", "stretches"),
    [
        # 20/21 at most, from where it is one machine more on
        (N / 21 / ceil(N / 20) - 1, []),
        (N / 19 / ceil(N / 20) - 1, [(19, None)]),
        # 22/N is the most it can be: above 1 up to 22
        (N * R(55, 1000) / ceil(N * N / 400) - 1, [(18, 22)]),
        # what is rounded down is at most its argument, and at least that less one
        (floor(N / 10) - 3, [(30, None)]),
        (5 - floor(N / 10), [(1, 60)]),
        # a pole: below zero up to it, above from it on, for a while
        (1 / (N - 50) + ceil(N / 10) - N / 10 - 2, [(50, 51)]),
        (square_root(N) + ceil(N / 9), [(1, None)]),
    ],
)
def test_where_roundings_can_be_above_zero(
    over: Formula, stretches: list[tuple[float, float | None]]
) -> None:
    found = stretches_to_search(BoundedFunction(over, N), 1, 1e15)
    assert len(found) == len(stretches)
    for (start, end), (least, most) in zip(found, stretches, strict=True):
        assert start == pytest.approx(least, abs=0.5)
        assert end == (None if most is None else pytest.approx(most, abs=0.5))


_SHAPES: list[Callable[[Formula, Formula], Formula]] = [
    lambda c, _: N / c,
    lambda _, f: N / f,
    lambda c, _: c - N,
    lambda c, f: c * N / (f + c),
    lambda c, _: N**2 / c,
]


@law
@given(
    st.integers(2, 30),
    st.integers(2, 30),
    st.fractions(Fraction(1, 50), 3, max_denominator=200),
    st.sampled_from(_SHAPES),
)
def test_outside_of_the_stretches_nothing_is_above_zero(
    one: int, other: int, limit: Fraction, shape: Callable[[Formula, Formula], Formula]
) -> None:
    over = shape(ceil(N / one), 1 + floor(N / other)) / 20 - limit
    found = stretches_to_search(BoundedFunction(over, N), 2, 1e15)
    for at in (Fraction(n, 3) for n in range(6, 600, 4)):
        if not any(start <= at and (end is None or at <= end) for start, end in found):
            assert _value(over, at) < 0, (over, at)


@given(
    means=st.lists(st.floats(0.1, 4), min_size=2, max_size=2),
    varied=st.lists(st.floats(0.05, 4), min_size=2, max_size=2),
    load=st.floats(0.05, 0.9),
    level=st.sampled_from([0.5, 0.95, 0.999]),
    parts=st.tuples(st.floats(0, 1), st.floats(0, 1)),
)
@settings(max_examples=examples(60), deadline=None)
def test_a_gamma_law_is_within_those_of_the_ends(
    means: list[float],
    varied: list[float],
    load: float,
    level: float,
    parts: tuple[float, float],
) -> None:
    """The quantile grows with neither of its variations, and still has bounds."""
    row = OPERATIONS["stages_quantile"]
    lows, highs = sorted(means), sorted(varied)
    mean = lows[0] + parts[0] * (lows[1] - lows[0])
    spread = highs[0] + parts[1] * (highs[1] - highs[0])
    law = SlopedInterval(*lows, 0, 0), SlopedInterval(*highs, 0, 0)
    fixed = [SlopedInterval(one, one, 0, 0) for one in (level, load, load, 1.0, 0.0)]
    found = row.interval(*fixed[:3], *law, fixed[3], *law, fixed[3], fixed[4])
    value = row.number(level, load, load, mean, spread, 1.0, mean, spread, 1.0, 0.0)
    assert found.low <= value <= found.high < inf


@pytest.mark.parametrize("level", [0.3, 0.5, 0.99])
def test_a_variation_that_moves_makes_a_quantile_rise_or_fall(level: float) -> None:
    row = OPERATIONS["stages_quantile"]
    low, high = 0.5, 0.75

    def found(variation: SlopedInterval) -> SlopedInterval:
        fixed = [SlopedInterval(one, one, 0, 0) for one in (level, 0.4, 0.4, 1.0, 1.0, 0.0)]
        return row.interval(*fixed[:4], variation, fixed[4], fixed[3], variation, *fixed[4:])

    ends = [found(SlopedInterval(at, at, 0, 0)) for at in (low, high)]
    slope = (ends[1].low - ends[0].high) / (high - low)  # by one user more, so much more of it
    moving = found(SlopedInterval(low, high, 1, 1))
    assert moving.slow <= slope <= moving.steep
    assert moving.low <= ends[0].low
    assert ends[1].high <= moving.high


def _mean(one: Formula, other: Formula) -> Formula:
    return apply("mean", one, other)


_RATES = R(3, 7) * N, R(1, 5) * N
_QUOTIENTS = [
    _mean(*_RATES),
    _mean(_RATES[0] ** 2 + _RATES[1] ** 2, (_RATES[0] + _RATES[1]) ** 2),
    _mean(maximum(0, _RATES[0] ** 2 - _RATES[1] ** 2), N**2 + maximum(N, 2 * N) * N),
    ratio(N * _mean(_RATES[0], 3 * N), N * minimum(_RATES[0], _RATES[1]) / N),
    _mean(square_root(N) * 3, square_root(N)),
    maximum(0, _mean(_mean(_RATES[0], N), _mean(N, _RATES[1]) ** 2) - 1),
]


@pytest.mark.parametrize("whole", _QUOTIENTS, ids=str)
def test_what_cancels_where_there_are_users_makes_no_bounds_wide(whole: Formula) -> None:
    short = canceled(whole, N)
    for at in (Fraction(1, 3), Fraction(2), Fraction(10**6)):
        values = [EvaluationPoint({N: at}).number(one) for one in (short, whole)]
        assert values[0] == pytest.approx(values[1], rel=1e-15)
    assert BoundedFunction(short, N).over(1, 1e6).is_fixed
    assert not BoundedFunction(whole, N).over(1, 1e6).is_fixed


@pytest.mark.parametrize(
    "whole",
    [
        _mean(N + 1, N),  # nothing in common
        _mean(N, maximum(0, N - 40)),
        ratio(N, R(0)),
        _mean(N * exp(-N), N * log(N)),
        (N - 1) / (2 * N),
    ],
    ids=str,
)
@pytest.mark.parametrize("at", [Fraction(1, 3), Fraction(40), Fraction(41), Fraction(999)])
def test_what_is_left_of_quotients_has_the_same_values(whole: Formula, at: Fraction) -> None:
    values = [EvaluationPoint({N: at}).number(one) for one in (whole, canceled(whole, N))]
    assert values[0] == pytest.approx(values[1], rel=1e-15)


@pytest.mark.parametrize("exponent", [2, 3, 4, 5, 29, 64])
@pytest.mark.parametrize("value", [0.1, 0.999, 1.0, 1.1, 3.0, 1e-8, 1e-120, 1e40, 0.0])
def test_a_whole_power_lies_within_its_bounds(value: float, exponent: int) -> None:
    exact, here = Fraction(value) ** exponent, power(SlopedInterval(value, value), exponent)
    assert here.low <= exact <= here.high
    assert here.high == inf or here.high <= exact * (1 + Fraction(1, 10**14)) + Fraction(1e-300)
    if value.is_integer() and exact < 2**53:
        assert here.low == here.high == exact
    around = power(SlopedInterval(-value, value), exponent)
    assert around.low <= (0 if exponent % 2 == 0 else -exact)
    assert around.high == here.high


@pytest.mark.parametrize("load", [0.5, 1.5])
def test_an_operand_without_bounds_does_not_hide_what_is_infinite(load: float) -> None:
    """Of two stages, one whose waiting share is not known, the other loaded as it says."""
    unknown, one = SlopedInterval(-inf, inf, -inf, inf), SlopedInterval(1.0, 1.0)
    half, none, own = SlopedInterval(0.5, 0.5), SlopedInterval(0.0, 0.0), SlopedInterval(load, load)
    stages = (unknown, half, one, one, one, one, one, one, none, own, own, *[one] * 6, none)
    found = OPERATIONS["stages_quantile"].interval(SlopedInterval(0.99, 0.99), *stages).sound()
    assert (found.low == inf) is (load >= 1)
    assert found.low > 1
