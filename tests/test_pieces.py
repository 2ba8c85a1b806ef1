"""What makes the solver quick gives what the slow way gives."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.specs import PRELUDE, checked
from qps.compiler.lower.extremes import Maximum, Minimum, Ratio
from qps.compiler.lower.substitution import Substitution
from qps.solver.advice import advise
from qps.solver.capacity import fails, first_failure
from qps.solver.critical import critical_points, sign_at
from qps.solver.modes import solve_model
from qps.solver.piecewise import piecewise
from qps.solver.rational import HIGHEST_DEGREE, as_rational_function, value_at
from qps.solver.sensitivity import _gradient

law = settings(max_examples=60, deadline=None)

N = sympy.Symbol("N", integer=True, positive=True)
A, B = sympy.symbols("a b", real=True)
LOW, HIGH = 1, 30


@st.composite
def _functions(draw: st.DrawFn, depth: int = 3) -> sympy.Expr:
    """Draw an expression of rational functions, maxima, minima and absolute values of N."""
    kinds = ["N", "number", "sum", "product", "max", "min", "abs", "quotient", "ratio", "power"]
    kind = draw(st.sampled_from(kinds if depth else kinds[:2]))
    if kind == "N":
        return N
    if kind == "number":
        return sympy.Rational(draw(st.integers(-40, 40)), draw(st.integers(1, 7)))
    one = draw(_functions(depth - 1))
    if kind == "abs":
        return sympy.Abs(one)
    if kind == "power":
        return one**2
    other = draw(_functions(depth - 1))
    match kind:
        case "sum":
            return one + other
        case "product":
            return one * other
        case "max":
            return Maximum(one, other, 3)
        case "min":
            return Minimum(one, other)
        case "ratio":
            return Ratio(one, other + N)
        case _:
            return one / (other**2 + 1)


@law
@given(_functions())
def test_pieces_are_the_function(expr: sympy.Expr) -> None:
    whole = piecewise(expr, N, Fraction(LOW), Fraction(HIGH))
    if whole is None:
        return
    assert whole.pieces[0].start == LOW
    assert whole.pieces[-1].end == HIGH
    for one, next_one in pairwise(whole.pieces):
        assert one.end == next_one.start
    seams = {seam.near for seam in whole.seams}
    for at in (Fraction(n, 3) for n in range(3 * LOW, 3 * HIGH)):
        if at not in seams:
            point = sympy.Rational(at.numerator, at.denominator)
            value = value_at(whole.at(at), at)
            assert value is not None
            told = expr.xreplace({N: point})
            assert told == sympy.Rational(value.numerator, value.denominator)


@law
@given(_functions(), st.booleans())
def test_the_first_failure_is_that_of_trying_all(expr: sympy.Expr, strict: bool) -> None:
    tried = [n for n in range(LOW, HIGH + 1) if fails(expr, N, n, strict=strict)]
    first = tried[0] if tried else None
    assert first_failure(expr, N, LOW, HIGH, strict=strict) == first
    for until in (1, 7, 29):
        expected = first if first is not None and first <= until else None
        assert first_failure(expr, N, LOW, HIGH, strict=strict, until=until) == expected


@law
@given(_functions())
def test_between_critical_points_signs_do_not_change(expr: sympy.Expr) -> None:
    points = critical_points(expr, N, Fraction(LOW), Fraction(HIGH))
    if points is None:
        return
    ends = [Fraction(LOW), *(p.near for p in points), Fraction(HIGH)]
    for start, end in pairwise(ends):
        if end - start > Fraction(1, 1000):
            inside = [start + (end - start) * Fraction(k, 7) for k in (1, 3, 6)]
            assert len({sign_at(expr, N, at) for at in inside}) == 1


def test_shared_parts_are_cut_once() -> None:
    expr: sympy.Expr = N
    for index in range(40):  # written out, 2^40 parts
        expr = Maximum(expr - index, 7 - expr)
    whole = piecewise(expr, N, Fraction(1), Fraction(1000))
    assert whole is not None
    at = 500
    for index in range(40):
        at = max(at - index, 7 - at)
    assert value_at(whole.at(Fraction(500)), Fraction(500)) == at


@law
@given(_functions(), _functions(), st.integers(1, 30))
def test_values_are_put_in_as_sympy_does(one: sympy.Expr, other: sympy.Expr, at: int) -> None:
    expr = Maximum(one * A, other + B) / (A**2 + 1) + one
    values = {A: sympy.Rational(2, 3), B: sympy.Integer(5), N: sympy.Integer(at)}
    assert Substitution(values)(expr) == expr.xreplace(values)
    some = {A: values[A]}
    assert Substitution(some)(expr) == expr.xreplace(some)


@pytest.mark.parametrize(
    "expr",
    [
        A * B**2 * N + A / N,
        sympy.sqrt(A * N + B) + sympy.exp(-A / B) * (A + 1) ** 3,
        sympy.log(A + N) * Ratio(A * N, B + 2) + sympy.Abs(B - A),
        sympy.LambertW(A) * (A + B) + (A + B) ** sympy.Rational(5, 2),
        (A * N) ** B + 4,
    ],
)
def test_derivatives_are_those_of_sympy(expr: sympy.Expr) -> None:
    values = {A: sympy.Rational(7, 3), B: sympy.Rational(11, 10), N: sympy.Float(12.5, 20)}
    gradient = _gradient(expr, Substitution(values))
    for symbol in (A, B, N):
        told = float(gradient.get(symbol, sympy.S.Zero))
        assert told == pytest.approx(float(expr.diff(symbol).xreplace(values)), rel=1e-12)


def test_advice_that_is_left_out_unsolved_is_not_among_the_best() -> None:
    machines = {f"m{i:02}": 10 + (i * 7) % 23 for i in range(12)}
    text = (
        PRELUDE.replace("1..100", "1..10_000")
        + "".join(f"machine {name} {{ cpu {score} score }}\n" for name, score in machines.items())
        + "costs measured on rated\ncomponent x { cpu 10 ms/packet }\n"
        "topology { node host = rated * 2\n node user = box * N }\n"
        "stream flow for each user { source 4 packet/s; at host { x } }\n"
    )
    spec = checked(text)
    configuration = spec.configuration(None, ())
    solution = solve_model(spec.model, configuration)
    # 5 users for each score of the two machines; twice as many or as fast are 20 scores
    every = {f"host = {name}": 5 * score for name, score in machines.items()}
    every |= {"host = twice": 100, "host = rated * 4": 100, "twice the host.cpu.speed": 100}
    best = sorted(every.items(), key=lambda item: (-item[1], item[0]))[:3]
    advice = advise(spec.model, configuration, solution)
    assert [(a.change, a.largest_acceptable) for a in advice] == best


@pytest.mark.parametrize("count", [1, 2, 40, 300])
def test_a_sum_of_one_divisor_or_of_poles_that_cancel_is_treated_exactly(count: int) -> None:
    alike = sympy.Add(*[sympy.Rational(k + 1) * N ** (k % 3) / (2 * N + 3) for k in range(count)])
    cancelled = [part for k in range(count) for part in (1 / (N + k + 1), -2 / (2 * N + 2 * k + 2))]
    nothing = sympy.Add(*cancelled, evaluate=False)
    for expr, true in ((alike, alike.subs(N, 5)), (nothing, 0)):
        function = as_rational_function(expr, N)
        assert function is not None
        assert value_at(function, Fraction(5)) == Fraction(str(true))


def test_a_sum_of_more_poles_than_the_highest_degree_is_not_begun() -> None:
    # Each further one would take longer than the last: 10,000 of them without end.
    assert as_rational_function(sympy.Add(*[1 / (N + k) for k in range(HIGHEST_DEGREE)]), N)
    assert as_rational_function(sympy.Add(*[1 / (N + k) for k in range(2000)]), N) is None
