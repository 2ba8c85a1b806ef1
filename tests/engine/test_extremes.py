"""Maxima and minima in formulas: they choose as Python does, and stay as they stand until then."""

from __future__ import annotations

from fractions import Fraction
from math import isnan

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.formulas import R, exp, lambert, log
from helpers.nightly import examples
from qps.engine.execution.array_functions import array_function
from qps.engine.expressions.formulas import (
    INFINITY,
    UNDEFINED,
    Formula,
    apply,
    maximum,
    minimum,
    number,
    product,
    square_root,
    symbol,
    total,
)
from qps.engine.expressions.point_values import EvaluationPoint, in_floats
from qps.engine.expressions.substitution import substituted
from qps.engine.expressions.sympy_algebra import to_sympy

law = settings(max_examples=examples(40), deadline=None)

X, Y, Z = symbol("x"), symbol("y"), symbol("z")
NUMBERS = st.fractions(-100, 100, max_denominator=30)
POINTS = st.fixed_dictionaries({"x": NUMBERS, "y": NUMBERS, "z": NUMBERS})


@st.composite
def _trees(draw: st.DrawFn, depth: int = 3) -> tuple[Formula, str]:
    """Draw a formula, and the same as a text of Python with its own max and min."""
    kind = draw(st.sampled_from(["symbol", "number", "max", "min", "sum", "product"]))
    if depth == 0 or kind == "symbol":
        one = draw(st.sampled_from([X, Y, Z]))
        return one, one.name
    if kind == "number":
        value = draw(NUMBERS)
        return number(value), f"Fraction({value.numerator}, {value.denominator})"
    parts = draw(st.lists(_trees(depth - 1), min_size=2, max_size=3))
    formulas, texts = [formula for formula, _ in parts], [text for _, text in parts]
    match kind:
        case "max":
            return maximum(*formulas), f"max({', '.join(texts)})"
        case "min":
            return minimum(*formulas), f"min({', '.join(texts)})"
        case "sum":
            return total(formulas), f"({' + '.join(texts)})"
        case _:
            return product(formulas), f"({' * '.join(texts)})"


def _plain(text: str, point: dict[str, Fraction]) -> Fraction:
    return Fraction(eval(text, {"Fraction": Fraction, "max": max, "min": min}, dict(point)))


@law
@given(st.lists(NUMBERS, min_size=1, max_size=6))
def test_of_numbers_the_largest_and_the_smallest(numbers: list[Fraction]) -> None:
    assert maximum(*numbers) is number(max(numbers))
    assert minimum(*numbers) is number(min(numbers))


@law
@given(_trees(), POINTS)
def test_nested_with_symbols_as_python_says(
    tree: tuple[Formula, str], point: dict[str, Fraction]
) -> None:
    formula, text = tree
    values = {symbol(name): value for name, value in point.items()}
    assert EvaluationPoint(values).exact(formula) == _plain(text, point)
    numbers = {one: number(value) for one, value in values.items()}
    assert substituted(formula, numbers) is number(_plain(text, point))


@law
@given(_trees(), POINTS)
def test_numbers_may_be_put_in_one_after_the_other(
    tree: tuple[Formula, str], point: dict[str, Fraction]
) -> None:
    formula, text = tree
    for one in (Z, X, Y):
        formula = substituted(formula, {one: number(point[one.name])})
    assert formula is number(_plain(text, point))


@law
@given(_trees(), POINTS)
def test_arrays_say_what_symbols_say(tree: tuple[Formula, str], point: dict[str, Fraction]) -> None:
    formula, text = tree
    expected = pytest.approx(float(_plain(text, point)), rel=1e-9, abs=1e-6)
    alone = substituted(formula, {Y: number(point["y"]), Z: number(point["z"])})
    (result,) = array_function(X, [alone])(np.full(3, float(point["x"])))
    assert result.tolist() == [expected] * 3


@law
@given(NUMBERS, NUMBERS)
def test_the_smallest_is_the_largest_turned_round(one: Fraction, other: Fraction) -> None:
    assert minimum(one, other) is -maximum(-one, -other)
    assert minimum(one, other) + maximum(one, other) is number(one + other)


def test_one_argument_is_itself() -> None:
    assert maximum(X) is X
    assert minimum(X, X) is X


def test_one_inside_another_of_its_kind_reads_as_one() -> None:
    size, users = symbol("size"), symbol("users")
    nested = minimum(minimum(size, users), 1)
    assert nested.operands[0] is minimum(size, users)
    assert str(to_sympy(nested)) == "min(size, users, 1)"
    assert str(to_sympy(minimum(maximum(size, users), 1))) == "min(max(size, users), 1)"


def test_while_one_is_open_none_is_chosen() -> None:
    assert maximum(3, X).operands == (number(3), X)
    assert substituted(maximum(3, X), {X: number(2)}) is number(3)
    assert substituted(minimum(3, X), {X: number(2)}) is number(2)


def test_the_written_order_stays() -> None:
    assert maximum(Z, 2, X).operands == (Z, number(2), X)
    assert str(to_sympy(maximum(Z, 2, X))) == "max(z, 2, x)"


def test_irrational_numbers_are_compared_too() -> None:
    assert in_floats(maximum(square_root(2), R(7, 5))) == in_floats(square_root(2))
    assert in_floats(minimum(exp(1), 3)) == in_floats(exp(1))
    assert in_floats(maximum(lambert(1), R(1, 2))) == in_floats(lambert(1))


def test_infinity_is_the_largest() -> None:
    assert maximum(5, INFINITY) is INFINITY
    assert minimum(5, INFINITY) is number(5)


@pytest.mark.parametrize("bad", [square_root(-2), log(-1), UNDEFINED])
@pytest.mark.parametrize("word", ["max", "min"])
def test_what_is_not_real_has_no_largest(word: str, bad: Formula) -> None:
    for result in (apply(word, 1, bad), apply(word, bad, 1)):
        assert isnan(in_floats(result))
    assert isnan(EvaluationPoint({X: bad}).number(apply(word, 1, X)))


@pytest.mark.parametrize("word", ["max", "min"])
def test_arrays_carry_what_is_no_number(word: str) -> None:
    (result,) = array_function(X, [apply(word, X, 1, 2)])(np.array([np.nan, 1.5]))
    assert np.isnan(result[0])
    assert result[1] == (2 if word == "max" else 1)
