"""Values of the table of operations, for every row: each implementation has the same."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Iterable
from fractions import Fraction
from itertools import product
from math import ceil, inf, isfinite, isinf, isnan, nan
from typing import TypeVar

import numpy as np
import pytest
import sympy
from flint import arb
from hypothesis import strategies as st

from helpers.cases.operation_cases import drawn, each_row, in_digits, law_of_each_row, same
from helpers.nightly import draws, examples
from helpers.operations import (
    CASES,
    EDGES,
    OF_NETWORKS,
    POLES,
    arguments_at_edges,
    counted,
    some_of,
)
from qps.engine.evaluators.on_balls import UNKNOWN, ball
from qps.engine.exact_algebra.exact_values import InexactError, NoValueError
from qps.engine.expressions.formulas import formula
from qps.engine.numerics.sloped_intervals import SlopedInterval
from qps.engine.operations import OPERATIONS

Case = TypeVar("Case")


def test_every_row_has_its_case() -> None:
    assert CASES.keys() == OPERATIONS.keys()
    for word, row in OPERATIONS.items():
        more = len(CASES[word]) - row.operands
        assert more >= 0 if row.repeats else more == 0


@law_of_each_row
def test_algebra_has_the_same_values(word: str, data: st.DataObject) -> None:
    at = drawn(word, data)
    numbers = (sympy.Float(sympy.Rational(n.numerator, n.denominator), 25) for n in at)
    result = OPERATIONS[word].in_sympy(*numbers).evalf(20)
    found = OPERATIONS[word].number(*map(float, at))
    assert float(result) == pytest.approx(found, rel=1e-8, abs=1e-12)


@law_of_each_row
def test_all_columns_have_one_value(word: str, data: st.DataObject) -> None:
    at, row = drawn(word, data), OPERATIONS[word]
    found = row.number(*map(float, at))
    with np.errstate(all="ignore"):
        assert float(row.array(*map(float, at))) == pytest.approx(found, rel=1e-10, abs=1e-13)
    proven = in_digits(row, at, 128)
    if not isfinite(found):
        assert proven == arb(found)
        return
    assert proven.is_finite()
    near = proven.mid() if row.by_floats else proven
    assert abs(near - found) <= 1e-10 * abs(arb(found)) + 1e-13
    assert proven.overlaps(in_digits(row, at, 300))
    try:
        exact = row.exact(*at)
    except InexactError:
        pass
    else:
        assert proven.overlaps(ball(exact))
    bounds = row.interval(*(SlopedInterval(float(n), float(n)) for n in at)).sound()
    assert proven.overlaps(arb(bounds.low).union(arb(bounds.high)))
    # A part of the number may be off by how it is computed: of times behind forks, by their grids.
    assert bounds.high - bounds.low <= max(1e-8, 3 * row.part) * (1 + abs(found))


def part_of(word: str, cases: Iterable[Case]) -> list[Case]:
    """Return which cases a law of edges is held at: of networks, which have most, by day a part."""
    found = list(cases)
    is_part = word in OF_NETWORKS
    return random.Random(word).sample(found, examples(len(found))) if is_part else found


@draws
@each_row
def test_edges_have_one_meaning(word: str) -> None:
    """Poles, infinities and what is not real are the same in every column."""
    row = OPERATIONS[word]
    for at in part_of(word, arguments_at_edges(word)):
        found = row.number(*at)
        with np.errstate(all="ignore"):
            assert same(float(row.array(*map(np.float64, at))), found), at
        if any(map(isnan, at)):
            assert isnan(found) or (word == "pow" and at[1] == 0), at
            continue
        exact = [number if isinf(number) else Fraction(number) for number in at]
        try:
            assert same(float(row.exact(*exact)), found), at
        except InexactError:
            assert not isnan(found) or any(map(isinf, at)), at
        except NoValueError:
            assert isnan(found), at
        try:
            proven = in_digits(row, exact, 128)
        except NoValueError:
            assert isnan(found), at
        else:
            assert proven.is_nan() or same(float(proven.mid()), found), at


_ANYTHING = [Fraction(-1), Fraction(0), Fraction(1, 2), Fraction(10**6)]


@each_row
def test_what_holds_with_an_unknown_operand_holds_of_any(word: str) -> None:
    row, ends = (
        OPERATIONS[word],
        [(Fraction(str(low)), Fraction(str(high))) for low, high in CASES[word]],
    )
    middles = (low + (high - low) * Fraction(3, 10) for low, high in ends)
    at = [
        ball(Fraction(ceil(one)) if whole else one)
        for one, whole in zip(middles, counted(word), strict=True)
    ]
    for place, of_place in enumerate(ends):
        found = row.ball(*at[:place], UNKNOWN, *at[place + 1 :])
        for number in () if found.is_nan() else (*of_place, *_ANYTHING):
            try:
                of_it = row.ball(*at[:place], ball(number), *at[place + 1 :])
            except NoValueError:
                continue
            assert of_it.is_nan() or found.overlaps(of_it), (place, number)


@draws
@each_row
def test_outside_of_its_domain_nothing_has_a_value(word: str) -> None:
    """What must not be negative, or zero, tells of every edge that is told; others may be none."""
    row = OPERATIONS[word]
    for at in part_of(word, arguments_at_edges(word)):
        if any(map(isnan, at)):
            continue
        for needed in row.domain(*map(formula, map(_exactly, at))) or ():
            value = needed.of.value
            assert isinstance(value, Fraction | float)
            is_out = (value < 0 and not needed.may_be_negative) or (
                value == 0 and needed.is_zero_out
            )
            assert not is_out or isnan(row.number(*at)), at


@draws
@each_row
def test_what_needs_nothing_has_a_value_of_all_numbers(word: str) -> None:
    row = OPERATIONS[word]
    finite, poles = ([one for one in some if isfinite(one)] for some in (EDGES, POLES))
    for at in part_of(
        word, some_of(finite, [(low + high) / 2 for low, high in CASES[word]], poles)
    ):
        if row.divisor is None and row.domain(*map(formula, map(_exactly, at))) == ():
            assert isfinite(row.number(*at)), at


def _exactly(value: float) -> Fraction | float:
    return value if isinf(value) else Fraction(value)


@draws
@each_row
def test_what_has_bounds_has_a_value_throughout(word: str) -> None:
    """Bounds that are finite on both sides prove that there is a finite value everywhere."""
    row = OPERATIONS[word]
    sides, poles = (
        [(low, high) for low in ends for high in ends if low <= high and isfinite(low + high)]
        for ends in (EDGES, POLES)
    )
    for box in part_of(word, some_of(sides, [(low, low) for low, _ in CASES[word]], poles)):
        found = row.interval(*(SlopedInterval(low, high, 1.0, 1.0) for low, high in box)).sound()
        if isfinite(found.low) and isfinite(found.high):
            for at in product(*({low, (low + high) / 2, high} for low, high in box)):
                assert isfinite(row.number(*at)), (box, at)


@pytest.mark.parametrize(
    ("word", "at", "meaning"),
    [
        ("pow", (0.0, -1.0), nan),
        ("ln", (0.0,), nan),
        ("ln", (-1.0,), nan),
        ("sqrt", (-1.0,), nan),
        ("acos", (2.0,), nan),
        ("pow", (-8.0, 0.5), nan),
        ("w", (-1.0,), nan),
        ("+", (inf, -inf), nan),
        ("*", (0.0, inf), nan),
        ("pow", (0.0, 0.0), 1.0),
        ("exp", (inf,), inf),
        ("exp", (-inf,), 0.0),
        ("ratio", (3.0, 0.0), inf),
        ("mean", (0.0, 0.0), 0.0),
        ("waiting", (0.0, 1.0), inf),
        ("md1_quantile", (1.0, 0.5), inf),
        ("md1_tail", (inf, 3.0), 1.0),
        ("exp", (1000.0,), inf),
        ("exp", (-1000.0,), 0.0),
        ("max", (1.0, nan), nan),
        ("ceil", (7.000000000000001,), 7.0),
    ],
)
def test_the_reference_states_the_meaning(word: str, at: tuple[float, ...], meaning: float) -> None:
    """The table of docs/language; all columns agree there by the law of the edges."""
    assert same(OPERATIONS[word].number(*at), meaning)


_IN_ARRAYS = {
    *(word for word in CASES if word.startswith(("class_", "shared_", "nested_"))),
    *("order_mean", "order_quantile", "order_tail", "fork_mean", "fork_quantile", "fork_tail"),
}
"""These wait for numpy: all populations of several classes are one table, an array, and so are all
times at which an integral over a law of order statistics, or of a fork, is summed."""


def test_a_plain_value_needs_no_numpy() -> None:
    code = (
        "import sys\n"
        "from qps.engine.operations import OPERATIONS\n"
        "for word, at in CASES.items(): OPERATIONS[word].number(*at)\n"
        "print({'numpy', 'sympy', 'mpmath'} & sys.modules.keys())"
    )
    plain = {word: ends for word, ends in CASES.items() if word not in _IN_ARRAYS}
    at = {word: tuple((low + high) / 2 for low, high in ends) for word, ends in plain.items()}
    output = subprocess.run(
        [sys.executable, "-c", f"CASES = {at}\n{code}"],
        env={"PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert output == "set()\n"


@each_row
def test_what_the_language_has_names_its_arguments(word: str) -> None:
    row = OPERATIONS[word]
    assert len(row.arguments) in (0, 1 if row.takes_more else row.operands)


def test_the_ball_of_a_largest_number_has_nothing_below_zero_where_that_is_among_them() -> None:
    for radius in (4.87e-307, 2e-11, 3.0):
        assert OPERATIONS["max"].ball(arb(0), arb(0, radius)) >= 0
        assert -OPERATIONS["min"].ball(arb(0, radius), arb(0)) >= 0
        slowest = OPERATIONS["slowest"].ball
        branch = (OPERATIONS["max"].ball(arb(0), arb(0, min(radius, 1e-6))), arb(1), arb(1))
        found = slowest(*branch, *branch)
        assert found.contains(1.5)
        assert float(found.rad()) < 1e-5


def test_a_number_of_copies_is_one_but_for_its_last_digits() -> None:
    """One that is a quotient of equal products is known no better."""
    row = OPERATIONS["closed_rate"]
    nearly = arb(1, 1e-18)
    found = row.ball(arb(10), arb(2), arb(0.5), arb(1), arb(0), nearly)
    assert found.overlaps(row.ball(arb(10), arb(2), arb(0.5), arb(1), arb(0), arb(1)))
    assert float(found.rad()) < 1e-15
