"""What makes the solver quick gives what the slow way gives."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.formulas import R, absolute, exp, lambert, log, ratio
from helpers.nightly import examples
from helpers.specs import PRELUDE, checked
from qps.engine.exact_algebra.rational_functions import HIGHEST_DEGREE
from qps.engine.expressions.algebraic_functions import as_rational_function, piecewise
from qps.engine.expressions.formulas import (
    Formula,
    maximum,
    minimum,
    number,
    population,
    square_root,
    symbol,
    total,
)
from qps.engine.expressions.gradients import gradient
from qps.engine.expressions.point_values import EvaluationPoint
from qps.engine.expressions.substitution import substituted
from qps.engine.expressions.sympy_algebra import to_sympy
from qps.solver.answers.capacity import first_failure
from qps.solver.answers.worst_mode import solve_model
from qps.solver.search.certain_signs import sign_at
from qps.solver.search.critical_points import critical_points
from qps.solver.search.whole_populations import fails
from qps.solver.what_if.advice import advise

law = settings(max_examples=examples(60), deadline=None)

N = population("N")
A, B = symbol("a"), symbol("b")
LOW, HIGH = 1, 30


@st.composite
def _functions(draw: st.DrawFn, depth: int = 3) -> Formula:
    """Draw an expression of rational functions, maxima, minima and absolute values of N."""
    kinds = ["N", "number", "sum", "product", "max", "min", "abs", "quotient", "ratio", "power"]
    kind = draw(st.sampled_from(kinds if depth else kinds[:2]))
    if kind == "N":
        return N
    if kind == "number":
        return R(draw(st.integers(-40, 40)), draw(st.integers(1, 7)))
    one = draw(_functions(depth - 1))
    if kind == "abs":
        return absolute(one)
    if kind == "power":
        return one**2
    other = draw(_functions(depth - 1))
    match kind:
        case "sum":
            return one + other
        case "product":
            return one * other
        case "max":
            return maximum(one, other, 3)
        case "min":
            return minimum(one, other)
        case "ratio":
            return ratio(one, other + N)
        case _:
            return one / (other**2 + 1)


@law
@given(_functions())
def test_pieces_are_the_function(expr: Formula) -> None:
    whole = piecewise(expr, N, Fraction(LOW), Fraction(HIGH))
    if whole is None:
        return
    assert whole.pieces[0].start == LOW
    assert whole.pieces[-1].end == HIGH
    for one, next_one in pairwise(whole.pieces):
        assert one.end == next_one.start
    breakpoints = set(whole.breakpoints)
    for at in (Fraction(n, 3) for n in range(3 * LOW, 3 * HIGH)):
        if at not in breakpoints:
            assert whole.at(at).at(at) == EvaluationPoint({N: at}).exact(expr)


@law
@given(_functions(), st.booleans())
def test_the_first_failure_is_that_of_trying_all(expr: Formula, strict: bool) -> None:
    tried = [n for n in range(LOW, HIGH + 1) if fails(expr, N, n, strict=strict)]
    first = tried[0] if tried else None
    assert first_failure(expr, N, LOW, HIGH, strict=strict) == first
    for until in (1, 7, 29):
        expected = first if first is not None and first <= until else None
        assert first_failure(expr, N, LOW, HIGH, strict=strict, until=until) == expected


@law
@given(_functions())
def test_between_critical_points_signs_do_not_change(expr: Formula) -> None:
    points = critical_points(expr, N, Fraction(LOW), Fraction(HIGH))
    if points is None:
        return
    ends = [Fraction(LOW), *points, Fraction(HIGH)]
    for start, end in pairwise(ends):
        if end - start > Fraction(1, 1000):
            inside = [start + (end - start) * Fraction(k, 7) for k in (1, 3, 6)]
            assert len({sign_at(expr, N, at) for at in inside}) == 1


def test_shared_parts_are_cut_once() -> None:
    expr: Formula = N
    for index in range(40):  # written out, 2^40 parts
        expr = maximum(expr - index, 7 - expr)
    whole = piecewise(expr, N, Fraction(1), Fraction(1000))
    assert whole is not None
    at = 500
    for index in range(40):
        at = max(at - index, 7 - at)
    assert whole.at(Fraction(500)).at(Fraction(500)) == at


@law
@given(_functions(), _functions(), st.integers(1, 30))
def test_values_put_in_are_those_at_the_point(one: Formula, other: Formula, at: int) -> None:
    expr = maximum(one * A, other + B) / (A**2 + 1) + one
    values = {A: Fraction(2, 3), B: Fraction(5), N: Fraction(at)}
    found = EvaluationPoint(values).exact(expr)
    assert substituted(expr, {each: number(value) for each, value in values.items()}).exact == found


@pytest.mark.parametrize(
    "expr",
    [
        A * B**2 * N + A / N,
        square_root(A * N + B) + exp(-A / B) * (A + 1) ** 3,
        log(A + N) * ratio(A * N, B + 2) + absolute(B - A),
        lambert(A) * (A + B) + (A + B) ** R(5, 2),
        (A * N) ** B + 4,
    ],
)
def test_derivatives_are_those_of_sympy(expr: Formula) -> None:
    values = {A: Fraction(7, 3), B: Fraction(11, 10), N: Fraction(25, 2)}
    put_in = {to_sympy(each): sympy.Rational(str(value)) for each, value in values.items()}
    result = gradient(expr, EvaluationPoint(values))
    for each in (A, B, N):
        true = to_sympy(expr).diff(to_sympy(each)).xreplace(put_in)
        assert result.get(each, 0.0) == pytest.approx(float(true), rel=1e-12)


def test_advice_that_is_left_out_unsolved_is_not_among_the_best() -> None:
    machines = {f"m{i:02}": 10 + (i * 7) % 23 for i in range(12)}
    text = (
        PRELUDE.replace("1..100", "1..10_000")
        + "".join(f"machine {name} {{ cpu {score} score }}\n" for name, score in machines.items())
        + "costs measured on rated\ncomponent x { cpu 10 ms/packet }\n"
        "topology { node host = rated * 2\n node user = box * N }\n"
        "stream flow for each user { traffic 4 packet/s; at host { x } }\n"
    )
    spec = checked(text)
    configuration = spec.configuration(None, ())
    solution = solve_model(spec.model, configuration)
    # 5 users for each score of the two machines; twice as many or as fast are 20 scores
    every = {f"host = {name}": 5 * score for name, score in machines.items()}
    every |= {"host = twice": 100, "host = rated * 4": 100, "twice the host.cpu.speed": 100}
    best = sorted(every.items(), key=lambda item: (-item[1], item[0]))[:3]
    advice = advise(spec.model, configuration, solution)
    assert [(a.change, a.capacity) for a in advice] == best


@pytest.mark.parametrize("count", [1, 2, 40, 300])
def test_a_sum_of_one_divisor_or_of_poles_that_cancel_is_treated_exactly(count: int) -> None:
    alike = total([R(k + 1) * N ** (k % 3) / (2 * N + 3) for k in range(count)])
    cancelled = [part for k in range(count) for part in (1 / (N + k + 1), -2 / (2 * N + 2 * k + 2))]
    nothing = total(cancelled) * (N + 1)
    for expr, true in ((alike, EvaluationPoint({N: Fraction(5)}).exact(alike)), (nothing, 0)):
        function = as_rational_function(expr, N)
        assert function is not None
        assert function.at(Fraction(5)) == true


def test_a_sum_of_more_poles_than_the_highest_degree_is_not_begun() -> None:
    # Each further one would take longer than the last: 10,000 of them without end.
    assert as_rational_function(total([1 / (N + k) for k in range(HIGHEST_DEGREE)]), N)
    assert as_rational_function(total([1 / (N + k) for k in range(2000)]), N) is None
