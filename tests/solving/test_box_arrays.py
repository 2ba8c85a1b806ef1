"""Bounds over many boxes at once: no value lies beyond them, and they prove what searches find."""

from __future__ import annotations

from itertools import pairwise
from math import isfinite

import numpy as np
import pytest

from helpers.specs import lowered
from qps.engine.execution.float_runs import number_function
from qps.engine.expressions.formulas import Formula, apply, maximum, minimum, number, symbol
from qps.engine.numerics.sloped_intervals import SlopedInterval
from qps.solver.answers.graph_criteria import largest_acceptable
from qps.solver.search import box_arrays
from qps.solver.search.bounds import BoundedFunction
from qps.solver.search.box_arrays import Box, BoxArrays, left_open

N = symbol("N")
HALF = number(1) / 2
POOL = [*map(number, (1, 0, 20, 1, 3, -2)), HALF / 20, *map(number, (1, 0, 3))]
RATE = apply("nested_rate", N, number(2), *POOL)
TIME = apply("nested_time", number(0), N, number(2), *POOL)

FORMULAS = {
    "polynomial": N**2 / 1000 - 3 * N + 1,
    "quotient": (N - 30) / (N + 7) - HALF,
    "extremes": maximum(minimum(N, number(300)), N / 3) - N / 2,
    "powers": N**HALF - apply("exp", -N / 50) * N,
    "wait": apply("waiting", number(1) / 10, N / 2000) - number(1) / 5,
    "mean": apply("mean", N - 1, N - 1) - N / 900,
    "pool": N / RATE - 30,
    "time": TIME - N / 90,
}


@pytest.mark.parametrize("name", FORMULAS)
def test_no_value_lies_beyond_bounds_of_its_box_and_slope(name: str) -> None:
    formula = FORMULAS[name]
    value, arrays = number_function(N, formula), BoxArrays(formula, N)
    start = np.array([1.0, 3.0, 50.0, 400.0, 1999.0, 700.0])
    end = np.array([2.0, 40.0, 51.0, 900.0, 2001.0, 700.0])
    found = arrays.over(start, end)
    for k in range(start.size):
        points = np.linspace(start[k], end[k], 9)
        values = [value(float(point)) for point in points]
        for one in filter(isfinite, values):
            assert found.low[k] <= one <= found.high[k]
        for (a, b), (x, y) in zip(pairwise(values), pairwise(points), strict=True):
            if x < y and isfinite(a) and isfinite(b):
                off = 1e-8 * max(abs(a), abs(b), 1.0) / (y - x)
                assert found.slope_low[k] - off <= (b - a) / (y - x) <= found.slope_high[k] + off


@pytest.mark.parametrize("name", FORMULAS)
def test_what_is_left_open_begins_no_later_than_the_first_failure(name: str) -> None:
    formula = FORMULAS[name]
    value = number_function(N, formula)
    first = next((n for n in range(2, 1500) if not value(float(n)) <= 0), None)
    left = left_open(BoxArrays(formula, N), [(2, 40), (41, 1499)], strict=False)
    if first is not None:
        assert any(low <= first <= high for low, high in left)
    assert sum(high - low + 1 for low, high in left) < 300


@pytest.mark.parametrize("name", FORMULAS)
def test_populations_before_a_likely_failure_take_one_run(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where that is is the one box of one population: what is left does not rest on it."""
    formula = FORMULAS[name]
    value, sizes = number_function(N, formula), list[int]()
    over = BoxArrays.over

    def counted(arrays: BoxArrays, start: Box, end: Box) -> object:
        sizes.append(np.size(start))
        return over(arrays, start, end)

    monkeypatch.setattr(BoxArrays, "over", counted)
    failing = [n for n in range(2, 1500) if not value(float(n)) <= 0]
    likely = failing[0] if failing else 700
    boxes = [(2, likely - 1), (likely, likely), (likely + 1, 1499)]
    left = left_open(BoxArrays(formula, N), boxes, strict=False)
    near = {n for n in range(2, likely) if value(float(n)) > -1e-6}
    assert {n for low, high in left for n in range(low, high + 1) if n < likely} <= near
    if failing:
        assert left[-1] == (likely, likely)
        assert sizes == [likely - 1]


def test_boxes_behind_a_sure_failure_are_left_out() -> None:
    formula: Formula = N - 100
    assert left_open(BoxArrays(formula, N), [(1, 10), (50, 5000)], strict=False)[-1][1] < 5000
    assert left_open(BoxArrays(formula, N), [(1, 10), (11, 99)], strict=False) == []
    assert left_open(BoxArrays(formula, N), [(1, 10), (11, 100)], strict=True) == [(100, 100)]


def test_what_is_nothing_is_not_below_zero_by_rounding() -> None:
    """So a share of a load beyond 1 has no value, and what rests on it no bounds."""
    nothing = (1 - minimum(number(1), N / 10)) * (1 / N)
    found = BoxArrays(nothing, N).over(np.array([20.0, 5.0]), np.array([40.0, 12.0]))
    assert found.low[0] == 0 <= found.high[0] < 1e-299
    assert found.low[1] == 0 < found.high[1] < 0.11
    stage = [nothing, N / 2000, number(1), number(1), number(2), number(1), number(1)]
    late = apply("stages_quantile", number(19) / 20, *stage, number(1), number(0))
    assert np.all(BoxArrays(late, N).over(np.array([20.0]), np.array([40.0])).high < np.inf)


PAYMENT = """
users clients in 1..2000
unit thread
machine app_vm { cpu 4 core, queueing mmc; threads 50 thread }
component render { cpu 5 ms/request }
component payment { delay 400 ms }
topology { node web = app_vm }
stream request in all {
  traffic clients * 1 request/s
  at web { take threads; render; 20 %: payment; give threads }
}
require { request.p95 <= 450 ms }
"""


def test_boxes_that_arrays_leave_open_are_halved_where_bounds_of_one_say_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each of 200 populations was looked at by itself, in each search."""
    looks = list[float]()
    over = BoundedFunction.over

    def counted(
        self: BoundedFunction, low: float, high: float, *, sign_only: bool = False
    ) -> SlopedInterval:
        looks.append(low)
        return over(self, low, high, sign_only=sign_only)

    monkeypatch.setattr(BoundedFunction, "over", counted)
    graph = lowered(PAYMENT)
    assert largest_acceptable(graph) == 539
    assert len(looks) < 60
    looks.clear()

    def nothing(_arrays: BoxArrays, boxes: list[tuple[int, int]], **_: bool) -> list[Box]:
        return [(n, n) for low, high in boxes for n in range(low, high + 1)]

    monkeypatch.setattr(box_arrays, "left_open", nothing)
    assert largest_acceptable(graph) == 539
    assert len(looks) < 150
