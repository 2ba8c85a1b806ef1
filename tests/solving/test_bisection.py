"""Closing in on where something begins to fail: at the right point, and with few evaluations."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import atan, exp, inf, nan
from typing import cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qps.engine.execution.array_runs import Runner
from qps.engine.expressions.formulas import symbol
from qps.engine.numerics.bisection import bisected, first_above_zero, shared_cut
from qps.engine.numerics.fixed_points import FixedPointSteps
from qps.solver.matrix.limits.failure_brackets import closed_in
from qps.solver.matrix.limits.row_preparation import Floats, Rows
from qps.solver.search.boxes import Budget, first_above


class _Counted:
    """Rows of a function with a number of each, which counts how often it is evaluated."""

    def __init__(self, function: Callable[[Floats, Floats], Floats], numbers: list[float]) -> None:
        self.function, self.numbers, self.count = function, np.array(numbers), 0

    def closed_in(self, low: float, high: float, *, is_whole: bool) -> Floats:
        ends = np.full(self.numbers.size, low), np.full(self.numbers.size, high)
        values = self.function(self.numbers, ends[0]), self.function(self.numbers, ends[1])
        rows = Rows(cast("Runner", None), {0: self.numbers}, self.numbers.size)
        return closed_in(rows, self._excess, ends, values, is_whole=is_whole)

    def _excess(self, rows: Rows, population: Floats) -> Floats:
        self.count += 1
        return self.function(rows.known[0], population)


def kink(number: Floats, population: Floats) -> Floats:
    """Full by design up to a point, and fuller behind it."""
    return np.maximum(1.0, population / number) - 1.0 - 1e-12


def line(number: Floats, population: Floats) -> Floats:
    return population / number - 1.0


def curve(number: Floats, population: Floats) -> Floats:
    return (population / number) ** 3 - 1.0


def jump(number: Floats, population: Floats) -> Floats:
    return np.where(population > number, 0.5, -0.25)


def pole(number: Floats, population: Floats) -> Floats:
    """A wait with a limit of a thousand, endless from a point on."""
    with np.errstate(divide="ignore"):
        wait = 1.0 / (1.0 - population / number)
    return np.where(population < number, wait - 1000.0, np.inf)


_ALL = (kink, line, curve, jump, pole)


@given(st.sampled_from(_ALL), st.lists(st.floats(3, 4e8), min_size=1, max_size=5))
def test_what_is_found_fails_and_what_is_just_before_it_holds(
    function: Callable[[Floats, Floats], Floats], numbers: list[float]
) -> None:
    rows = np.array(numbers)
    whole = _Counted(function, numbers).closed_in(2.0, 1e9, is_whole=True)
    assert (function(rows, whole) > 0).all()
    assert (function(rows, whole - 1) <= 0).all()
    real = _Counted(function, numbers).closed_in(2.0, 1e9, is_whole=False)
    assert (function(rows, real) > 0).all()
    just = 1e-15 if function is jump else 1e-11  # all else is rounded near to where it fails
    assert (function(rows, real * (1 - just)) <= 0).all()


@pytest.mark.parametrize(("function", "most"), [(kink, 24), (line, 8), (curve, 14), (jump, 60)])
def test_few_evaluations_are_enough(
    function: Callable[[Floats, Floats], Floats], most: int
) -> None:
    """Halves take 44, and more are not needed but of a jump, which has no slope."""
    counted = _Counted(function, [1537.3])
    counted.closed_in(1024.0, 2048.0, is_whole=False)
    assert counted.count <= most


@pytest.mark.parametrize(
    ("value", "low", "high"),
    [
        (lambda at: at * at - 2, 1.0, 2.0),
        (lambda at: exp(at) - 1e5, 0.0, 20.0),
        (lambda at: 1 / (10 - at) - 3 if at < 10 else inf, 0.0, 12.0),
        (lambda at: nan if at > 2 else at - 5, 0.0, 4.0),
        (lambda at: at - 5, 4.0, 5.0),
        (lambda at: at - 4, 4.0, 5.0),
    ],
)
def test_false_position_ends_where_bisection_does(
    value: Callable[[float], float], low: float, high: float
) -> None:
    seen: list[float] = []

    def counted(at: float) -> float:
        seen.append(at)
        return value(at)

    found = first_above_zero(counted, low, high)
    assert found == bisected(lambda at: not value(at) <= 0, low, high)
    assert len(seen) < 60


def test_false_position_takes_few_looks_where_lines_lead() -> None:
    seen: list[float] = []

    def value(at: float) -> float:
        seen.append(at)
        return atan(at - 133.7)

    first_above_zero(value, 133.0, 134.0)
    assert len(seen) <= 10


def test_steps_that_learn_reach_a_fixed_point_that_plain_ones_are_slow_to() -> None:
    turn = np.array([[0.9, 0.3], [-0.2, 0.95]]) * 0.97
    point, steps = np.zeros(2), FixedPointSteps()
    for _ in range(6):
        point = steps.after(point, turn @ point + 1)
    assert point == pytest.approx(np.linalg.solve(np.eye(2) - turn, np.ones(2)), rel=1e-9)


def test_stretches_with_other_ends_are_cut_at_the_same_points() -> None:
    assert shared_cut(1, 1000) == shared_cut(3, 400) == 32
    assert shared_cut(32, 1000) == shared_cut(33, 900) == 128
    # within an octave, at its half, or at a half of that
    assert shared_cut(32, 37) == shared_cut(33, 39) == 36
    assert shared_cut(512, 1000) == shared_cut(700, 1000) == 768
    assert 1 < shared_cut(1.0, 1.0 + 2**-50) < 1 + 2**-50
    assert shared_cut(-1, 1) == 0


def test_nothing_rises_between_a_point_and_itself() -> None:
    population = symbol("N")
    assert (
        first_above(population - 3, population, Fraction(5), Fraction(5), Budget(unit=1.0)) is None
    )
