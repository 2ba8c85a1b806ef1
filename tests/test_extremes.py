"""Maxima and minima of our own: they choose as Python does, and stay as they stand until then."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st
from qps.solver.compiled import array_function, number_function

from qps.compiler.lower.extremes import Maximum, Minimum

law = settings(max_examples=40, deadline=None)

X, Y, Z = sympy.symbols("x y z", real=True)
NUMBERS = st.fractions(-100, 100, max_denominator=30)
POINTS = st.fixed_dictionaries({"x": NUMBERS, "y": NUMBERS, "z": NUMBERS})


@st.composite
def _trees(draw: st.DrawFn, depth: int = 3) -> tuple[sympy.Expr, str]:
    """Draw an expression, and the same as a text of Python with its own max and min."""
    kind = draw(st.sampled_from(["symbol", "number", "max", "min", "sum", "product"]))
    if depth == 0 or kind == "symbol":
        symbol = draw(st.sampled_from([X, Y, Z]))
        return symbol, symbol.name
    if kind == "number":
        value = draw(NUMBERS)
        return _rational(value), f"Fraction({value.numerator}, {value.denominator})"
    parts = draw(st.lists(_trees(depth - 1), min_size=2, max_size=3))
    exprs, texts = [expr for expr, _ in parts], [text for _, text in parts]
    match kind:
        case "max":
            return Maximum(*exprs), f"max({', '.join(texts)})"
        case "min":
            return Minimum(*exprs), f"min({', '.join(texts)})"
        case "sum":
            return sympy.Add(*exprs), f"({' + '.join(texts)})"
        case _:
            return sympy.Mul(*exprs), f"({' * '.join(texts)})"


def _rational(value: Fraction) -> sympy.Rational:
    return sympy.Rational(value.numerator, value.denominator)


def _plain(text: str, point: dict[str, Fraction]) -> Fraction:
    return Fraction(eval(text, {"Fraction": Fraction, "max": max, "min": min}, dict(point)))


def _put_in(expr: sympy.Expr, point: dict[str, Fraction]) -> sympy.Expr:
    return expr.xreplace({s: _rational(point[s.name]) for s in (X, Y, Z)})


@law
@given(st.lists(NUMBERS, min_size=1, max_size=6))
def test_of_numbers_the_largest_and_the_smallest(numbers: list[Fraction]) -> None:
    exact = [_rational(number) for number in numbers]
    assert Maximum(*exact) == _rational(max(numbers))
    assert Minimum(*exact) == _rational(min(numbers))


@law
@given(_trees(), POINTS)
def test_nested_with_symbols_as_python_says(
    tree: tuple[sympy.Expr, str], point: dict[str, Fraction]
) -> None:
    expr, text = tree
    assert _put_in(expr, point) == _rational(_plain(text, point))


@law
@given(_trees(), POINTS)
def test_numbers_may_be_put_in_one_after_the_other(
    tree: tuple[sympy.Expr, str], point: dict[str, Fraction]
) -> None:
    expr, text = tree
    for symbol in (Z, X, Y):
        expr = sympy.sympify(expr).subs(symbol, _rational(point[symbol.name]))
    assert expr == _rational(_plain(text, point))


@law
@given(_trees(), POINTS)
def test_arrays_and_plain_numbers_say_what_symbols_say(
    tree: tuple[sympy.Expr, str], point: dict[str, Fraction]
) -> None:
    expr, text = sympy.sympify(tree[0]), tree[1]
    expected = pytest.approx(float(_plain(text, point)), rel=1e-9, abs=1e-6)
    at = [np.full(3, float(point[s.name])) for s in (X, Y, Z)]
    told = np.broadcast_to(np.asarray(array_function([X, Y, Z], expr)(*at)), (3,))
    assert told.tolist() == [expected] * 3
    alone = expr.xreplace({Y: _rational(point["y"]), Z: _rational(point["z"])})
    assert number_function(X, alone)(float(point["x"])) == expected


@law
@given(NUMBERS, NUMBERS)
def test_the_smallest_is_the_largest_turned_round(one: Fraction, other: Fraction) -> None:
    a, b = _rational(one), _rational(other)
    assert Minimum(a, b) == -Maximum(-a, -b)
    assert Minimum(a, b) + Maximum(a, b) == a + b


def test_one_argument_is_itself() -> None:
    assert Maximum(X) == X
    assert Minimum(X) == X


def test_one_inside_another_of_its_kind_reads_as_one() -> None:
    size, users = sympy.symbols("size users")
    nested = Minimum(Minimum(size, users), 1)
    assert (str(nested), nested.args[0]) == ("min(size, users, 1)", Minimum(size, users))
    assert str(Minimum(Maximum(size, users), 1)) == "min(max(size, users), 1)"


def test_while_one_is_open_none_is_chosen() -> None:
    assert Maximum(3, X).args == (3, X)
    assert Maximum(3, X).xreplace({X: sympy.Integer(2)}) == 3
    assert Minimum(3, X).xreplace({X: sympy.Integer(2)}) == 2


def test_the_written_order_stays() -> None:
    assert Maximum(Z, 2, X).args == (Z, 2, X)
    assert str(Maximum(Z, 2, X)) == "max(z, 2, x)"
    assert str(1 + Minimum(X, Maximum(Y, 0))) == "min(x, max(y, 0)) + 1"


def test_irrational_numbers_are_compared_too() -> None:
    assert Maximum(sympy.sqrt(2), sympy.Rational(7, 5)) == sympy.sqrt(2)
    assert Minimum(sympy.exp(1), sympy.Integer(3)) == sympy.exp(1)
    assert Maximum(sympy.LambertW(1), sympy.Rational(1, 2)) == sympy.LambertW(1)


def test_infinity_is_the_largest() -> None:
    assert Maximum(5, sympy.oo) == sympy.oo
    assert Minimum(5, sympy.oo) == 5


@pytest.mark.parametrize("bad", [sympy.I, sympy.sqrt(-2), sympy.log(-1), sympy.zoo, sympy.nan])
@pytest.mark.parametrize("function", [Maximum, Minimum])
def test_what_is_not_real_has_no_largest(
    function: type[Maximum | Minimum], bad: sympy.Expr
) -> None:
    assert function(1, bad) is sympy.nan
    assert function(bad, 1) is sympy.nan
    assert function(1, X).xreplace({X: bad}) is sympy.nan


@pytest.mark.parametrize("function", [Maximum, Minimum])
def test_arrays_carry_what_is_no_number(function: type[Maximum | Minimum]) -> None:
    told = array_function([X], function(X, 1, 2))(np.array([np.nan, 1.5]))
    assert np.isnan(told[0])
    assert told[1] == (2 if function is Maximum else 1)


def test_digits_are_those_of_the_chosen_one() -> None:
    told = Maximum(sympy.sqrt(2), X).evalf(30).xreplace({X: sympy.Integer(0)})
    assert abs(told - sympy.sqrt(2).evalf(40)) < sympy.Float("1e-28")
