"""What lowering asks of formulas: signs, polynomials, powers, numbers compared."""

from __future__ import annotations

from fractions import Fraction
from math import inf, isfinite

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from helpers.formulas import R, absolute, ceil, exp, floor, log, ratio, waiting
from helpers.nightly import examples
from helpers.specs import PRELUDE, lowered
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.diagnostics.source import Source, Span
from qps.compiler.lower.expressions.exact_order import compare
from qps.compiler.lower.expressions.power_limits import power_errors_placed
from qps.compiler.lower.expressions.simplified_extremes import simplify_extremes
from qps.engine.exact_algebra.exact_powers import as_power
from qps.engine.expressions.formula_parts import parts_first
from qps.engine.expressions.formulas import (
    INFINITY,
    MINUS_INFINITY,
    ONE,
    UNDEFINED,
    ZERO,
    Formula,
    apply,
    maximum,
    minimum,
    number,
    population,
    power,
    product,
    square_root,
    symbol,
    total,
)
from qps.engine.expressions.monomials import expanded, monomials
from qps.engine.expressions.point_values import EvaluationPoint
from qps.engine.expressions.signs import range_of
from qps.engine.numerics.value_ranges import ANY, NOT_NEGATIVE, NOT_POSITIVE, ValueRange

law = settings(max_examples=examples(150), deadline=None)

N, X, Y = population("N"), symbol("x"), symbol("y")
NUMBERS = st.fractions(-9, 9, max_denominator=6)

# -- signs -----------------------------------------------------------------------------------


@st.composite
def _trees(draw: st.DrawFn, depth: int = 3) -> Formula:
    """Draw a formula of fractions, all of whose values are fractions or infinite."""
    if depth == 0:
        return draw(st.one_of(st.sampled_from([N, X, Y]), NUMBERS.map(number)))
    parts = draw(st.lists(_trees(depth - 1), min_size=2, max_size=3))
    word = draw(
        st.sampled_from(
            ["+", "*", "max", "min", "pow", "ratio", "mean", "waiting", "abs", "floor", "ceil"]
        )
    )
    if word in ("+", "*", "max", "min"):
        return apply(word, *parts)
    if word == "pow":
        return power(parts[0], draw(st.integers(-3, 3)))
    return (
        apply(word, *parts[:2]) if word in ("ratio", "mean", "waiting") else apply(word, parts[0])
    )


@st.composite
def _within(draw: st.DrawFn) -> tuple[ValueRange, Fraction]:
    """Draw a range, and a value in it."""
    ends = sorted(draw(st.lists(NUMBERS, min_size=3, max_size=3)))
    low, at, high = ends
    kind = draw(st.sampled_from(["between", "any", "above", "below", "one"]))
    found = {
        "between": ValueRange(low, high),
        "any": ANY,
        "above": ValueRange(low, inf),
        "below": ValueRange(-inf, high),
        "one": ValueRange(at, at),
    }
    return found[kind], at


_NOTHING = ValueRange(Fraction(0), Fraction(0)), Fraction(0)


@law
@given(_trees(), _within(), _within(), st.integers(1, 9))
@example(ratio(X, Y), _NOTHING, _NOTHING, 1)
def test_every_value_lies_in_the_range_that_is_reported(
    formula: Formula, x: tuple[ValueRange, Fraction], y: tuple[ValueRange, Fraction], users: int
) -> None:
    result = range_of(formula, {X: x[0], Y: y[0]})
    value = EvaluationPoint({X: x[1], Y: y[1], N: Fraction(users)}).exact(formula)
    if value is not None and (isinstance(value, Fraction) or value in (inf, -inf)):
        assert result.low <= value <= result.high


@pytest.mark.parametrize(
    ("formula", "below", "above"),
    [
        (N - 1, False, True),
        (1 - N, True, False),
        (N - 2, True, True),
        (-3 * N * X, True, False),
        (X**2 - Y, True, True),
        (Y**2, False, True),
        (Y**3, True, True),
        (exp(Y), False, True),
        (absolute(Y), False, True),
        (log(N), False, True),
        (log(X), True, True),
        (apply("lower_w", Y), True, False),
        (waiting(X, Y), False, True),
        (ratio(-X, N), True, False),
        (ratio(X, Y), True, True),
        (maximum(X, Y), False, True),
        (minimum(X, Y), True, True),
        (ceil(X) + floor(N), False, True),
        (apply("erlang_b", N, Y), False, True),
        (apply("normal_quantile", X), True, True),
        (square_root(2) - 1, False, True),
        (1 - square_root(2), True, False),
        (ZERO * X, False, False),
        (UNDEFINED, True, True),
    ],
    ids=str,
)
def test_signs_by_hand(formula: Formula, below: bool, above: bool) -> None:
    """x is not negative, y may be anything."""
    result = range_of(formula, {X: NOT_NEGATIVE})
    assert (result.below, result.above) == (below, above)


def test_the_kinds_of_ranges() -> None:
    assert (NOT_POSITIVE.below, NOT_POSITIVE.above) == (True, False)
    assert range_of(number(3), {}) == ValueRange(Fraction(3), Fraction(3))


# -- polynomials -----------------------------------------------------------------------------


@law
@given(_trees(), NUMBERS, NUMBERS, st.integers(1, 9))
def test_what_is_written_out_has_the_same_values(
    formula: Formula, x: Fraction, y: Fraction, users: int
) -> None:
    point = EvaluationPoint({X: x, Y: y, N: Fraction(users)})
    value, result = point.exact(formula), point.exact(expanded(formula, {X, N}))
    if isinstance(value, Fraction) and isinstance(result, Fraction):
        assert result == value


def test_polynomials_by_hand() -> None:
    found = monomials((X + Y) * (X - N) + ratio(X, N) + maximum(X, 3), {X, N})
    assert {"".join(sorted(each.name for each in of)): by for of, by in found.items()} == {
        "xx": ONE,
        "Nx": number(-1),
        "x": Y,
        "N": -Y,
        "": ratio(X, N) + maximum(X, 3),
    }
    assert monomials(ratio(X + 2, Y), {X}) == {(X,): ratio(1, Y), (): ratio(2, Y)}
    assert monomials(Y, {X}) == {(): Y}
    assert expanded((N + 1) ** 2 - N**2 - 1, {N}) is 2 * N


def test_what_is_too_long_to_write_out_stays() -> None:
    factors = [total(symbol(f"x{i}{j}") for j in range(30)) for i in range(9)]
    symbols = {part for factor in factors for part in factor.operands}
    whole = product(factors)
    assert monomials(whole, symbols) == {(): whole}


@pytest.mark.parametrize(
    ("extreme", "low", "tidied"),
    [
        (maximum(0, N - 2), 2, N - 2),
        (maximum(0, N - 2), 1, None),
        (minimum(N, 1), 1, ONE),
        (maximum(N * (N - 1), N), 2, N * (N - 1)),
        (maximum(1, X), 1, None),
        (maximum(1, N / 3, N), 3, N),
        (maximum(0, (N - 1) / N - 1), 1, ZERO),
    ],
    ids=str,
)
def test_what_the_range_decides(extreme: Formula, low: int, tidied: Formula | None) -> None:
    assert simplify_extremes(extreme, N, low) is (extreme if tidied is None else tidied)


# -- powers and numbers ----------------------------------------------------------------------


@law
@given(st.fractions(Fraction(1, 99), 99, max_denominator=99), st.integers(1, 9))
def test_a_number_as_a_power(base: Fraction, exponent: int) -> None:
    found, degree = as_power(base**exponent)
    assert found**degree == base**exponent
    assert found >= 1
    if base != 1:
        assert degree % exponent == 0


def test_logarithms_of_powers_are_exact() -> None:
    for base, argument, result in ((10, 1000, 3), (2, Fraction(1, 8), -3), (4, 8, Fraction(3, 2))):
        assert log(argument) / log(base) is number(result)
    assert log(1) is ZERO
    assert not (log(12) / log(2)).operands[0].is_symbol


@pytest.mark.parametrize(
    ("left", "right", "sign"),
    [
        (number(2), number(3), -1),
        (INFINITY, number(3), 1),
        (MINUS_INFINITY, INFINITY, -1),
        (square_root(2), R(7, 5), 1),
        (square_root(2) * square_root(3), square_root(6), 0),
        (log(8), 3 * log(2), 0),
    ],
)
def test_numbers_compared(left: Formula, right: Formula, sign: int) -> None:
    distinct = {
        operator
        for operator in ("<", "<=", ">", ">=", "==", "!=")
        if compare(operator, left, right)
    }
    assert distinct == {-1: {"<", "<=", "!="}, 0: {"<=", ">=", "=="}, 1: {">", ">=", "!="}}[sign]


# -- what grows with a spec ------------------------------------------------------------------


def _elastic(count: int) -> int:
    """Return of how many parts the formulas are of a resource that so many parameters fill."""
    each = "".join(
        f"param e{i} elastic 1..30 packet/s\n"
        f"stream s{i} {{ traffic N * e{i}; at host {{ work }} }}\n"
        for i in range(count)
    )
    graph = lowered(f"{PRELUDE}topology {{ node host = box }}\n{each}")
    load = graph.resources["host.cpu"].load
    values = [configuration.value for configuration in graph.elastic]
    assert isfinite(graph.at(100).number(load))
    return sum(1 + len(part.operands) for part in parts_first(load, *values))


def test_elastic_parameters_share_their_formulas() -> None:
    small, large = _elastic(10), _elastic(40)
    assert large < 4.5 * small


@pytest.mark.parametrize("span", [None, Span(Source("spec.qps", "a power"), 2, 7)])
def test_a_power_that_is_too_long_is_reported_where_it_stands(span: Span | None) -> None:
    with pytest.raises(QpsError) as raised, power_errors_placed(span):
        power(number(10**15), 10**15)
    (diagnostic,) = raised.value.diagnostics
    assert "a power has more than 100,000 binary digits" in diagnostic.message
    assert (diagnostic.primary and diagnostic.primary.span) is span
