"""Bounds over a box hold at every point of it, for every function that the language has."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from math import inf, isfinite, isnan

import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st
from qps.compiler.lower.efficiency import Effective
from qps.compiler.lower.extremes import Maximum, Mean, Minimum, Ratio
from qps.compiler.lower.queue_functions import (
    QUEUE_FUNCTIONS,
    ErlangB,
    ErlangC,
    GammaQuantile,
    QueueFunction,
    SojournQuantile,
    Waiting,
)

from qps.compiler.lower.lower_expressions import _FUNCTIONS
from qps.solver.bounds import Curve
from qps.solver.rounding_bounds import stretches_to_search

N = sympy.Symbol("N", integer=True, positive=True)
R = sympy.Rational
law = settings(max_examples=60, deadline=None)

_LEVEL = R(19, 20)
_ONE = [
    sympy.exp(-N / 20),
    sympy.exp(N / 50),
    sympy.log(N),
    sympy.sqrt(N),
    1 / sympy.sqrt(N),
    N ** R(7, 10),
    (N + 1) ** R(-3, 2),
    R(9, 10) ** N,
    sympy.Abs(N - 30),
    (N - 30) ** 2,
    (N - 30) ** 3,
    1 / (N - R(61, 2)),
    sympy.ceiling(N / 7),
    sympy.floor(N / 7),
    N / sympy.ceiling(N / 7),
    sympy.cos(N / 5),
    sympy.acos(1 - N / 60),
    sympy.LambertW(N),
    sympy.LambertW(-1 / (N + 2), -1),
    sympy.harmonic(N),
    Maximum(N / 3, 20 - N),
    Minimum(N / 3, 20 - N, 5),
    Ratio(N, Maximum(0, N - 40)),
    Mean(N, Maximum(0, N - 40)),
    Waiting(N, N / 70),
    Effective(N + 1, R(9, 10)),
    *(
        kind(*arguments)
        for kind in QUEUE_FUNCTIONS
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
        }.get(kind.word, [])
    ),
    SojournQuantile(N / 101, 1 - N / 101, _LEVEL),
    SojournQuantile(ErlangC(R(400), N), 400 - N, _LEVEL),
    sympy.sqrt(ErlangC(R(400), N) * ErlangB(R(300), N)),
    GammaQuantile(N / 101, R(1, 2), _LEVEL),
]


def _value(expr: sympy.Expr, at: Fraction) -> float:
    value = expr.subs(N, R(at.numerator, at.denominator))
    return float(value) if value.is_extended_real else float("nan")


def test_every_function_is_among_those_that_are_tried() -> None:
    tried = {part.func for expr in _ONE for part in sympy.preorder_traversal(expr)}
    assert set(QUEUE_FUNCTIONS) <= tried
    made = {f for f in _FUNCTIONS.values() if isinstance(f, type)}
    assert made <= tried


_BOXES = st.tuples(st.integers(4, 300), st.integers(0, 160), st.booleans())


@law
@given(st.sampled_from(_ONE), st.sampled_from(_ONE), st.sampled_from("1+*/-m"), _BOXES)
def test_bounds_hold_at_every_point(
    one: sympy.Expr, other: sympy.Expr, join: str, box: tuple[int, int, bool]
) -> None:
    expr = {
        "1": one,
        "+": one + other,
        "*": one * other,
        "/": one / (1 + other**2),
        "-": one - 2 * other,
        "m": Maximum(one, other),
    }[join]
    start, width, is_narrow = box
    low = Fraction(start, 4)
    high = low + (Fraction(width, 1000) if is_narrow else Fraction(width, 4))
    found = Curve(expr, N).over(float(low), float(high))
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
    waits = ErlangC(R(cores), N)
    for expr in (
        SojournQuantile(waits, cores - N, _LEVEL),
        sympy.sqrt(waits),
        sympy.log(1 - waits),
    ):
        found = Curve(expr, N).over(ends[0], min(ends[1], cores / 2))
        assert -inf < found.low <= found.high < inf, expr


@law
@given(st.sampled_from([e for e in _ONE if isinstance(e, QueueFunction)]), _BOXES)
def test_bounds_of_a_number_of_queues_lie_where_its_values_lie(
    expr: sympy.Expr, box: tuple[int, int, bool]
) -> None:
    low, width, _ = box
    found = Curve(expr, N).over(low / 4, (low + width) / 4)
    if found.low > -inf or found.high < inf:
        least, most = type(expr).lies
        assert least <= found.low
        assert found.high <= most


@pytest.mark.parametrize(
    ("over", "stretches"),
    [
        # 20/21 at most, from where it is one machine more on
        (N / 21 / sympy.ceiling(N / 20) - 1, []),
        (N / 19 / sympy.ceiling(N / 20) - 1, [(19, None)]),
        # 22/N is the most it can be: above 1 up to 22
        (N * R(55, 1000) / sympy.ceiling(N * N / 400) - 1, [(18, 22)]),
        # what is rounded down is at most its argument, and at least that less one
        (sympy.floor(N / 10) - 3, [(30, None)]),
        (5 - sympy.floor(N / 10), [(1, 60)]),
        # a pole: below zero up to it, above from it on, for a while
        (1 / (N - 50) + sympy.ceiling(N / 10) - N / 10 - 2, [(50, 51)]),
        (sympy.sqrt(N) + sympy.ceiling(N / 9), [(1, None)]),
    ],
)
def test_where_roundings_can_be_above_zero(
    over: sympy.Expr, stretches: list[tuple[float, float | None]]
) -> None:
    found = stretches_to_search(Curve(over, N), 1, 1e15)
    assert len(found) == len(stretches)
    for (start, end), (least, most) in zip(found, stretches, strict=True):
        assert start == pytest.approx(least, abs=0.5)
        assert end == (None if most is None else pytest.approx(most, abs=0.5))


_SHAPES = ["{u} / {c}", "{u} / {f}", "{c} - {u}", "{c} * {u} / ({f} + {c})", "{u}**2 / {c}"]


@law
@given(
    st.integers(2, 30),
    st.integers(2, 30),
    st.fractions(Fraction(1, 50), 3, max_denominator=200),
    st.sampled_from(_SHAPES),
)
def test_outside_of_the_stretches_nothing_is_above_zero(
    one: int, other: int, limit: Fraction, shape: str
) -> None:
    written = shape.format(u="N", c=f"ceiling(N/{one})", f=f"(1 + floor(N/{other}))")
    over = sympy.sympify(written, {"N": N}) / 20 - R(limit.numerator, limit.denominator)
    found = stretches_to_search(Curve(over, N), 2, 1e15)
    for at in (Fraction(n, 3) for n in range(6, 600, 4)):
        if not any(start <= at and (end is None or at <= end) for start, end in found):
            assert _value(over, at) < 0, (written, at)
