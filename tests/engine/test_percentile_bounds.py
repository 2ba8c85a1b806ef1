"""Boxes decide whether a percentile is within its limit as the percentile itself does."""

import random
from itertools import chain

import numpy as np
import pytest

from qps.engine.expressions.formulas import ONE, Formula, apply, number, symbol
from qps.engine.operations import OPERATIONS
from qps.solver.search.bounds import BoundedFunction
from qps.solver.search.boxes import first_failure_in_boxes
from qps.solver.search.open_populations import open_by_percentiles

N = symbol("N")
LEVEL = number(99) / number(100)


def _station(seconds: float) -> tuple[Formula, ...]:
    """Return the operands of a single server whose load is N/1000."""
    load, mean = N / number(1000), number(seconds)
    return load, load, mean, ONE, ONE, mean, ONE, ONE, number(0)


def _excess(limit: float, *seconds: float) -> Formula:
    stages = [one for s in seconds for one in _station(s)]
    return apply("stages_quantile", LEVEL, *stages) + number(0.001) - number(limit)


def test_boxes_are_decided_as_by_the_percentiles() -> None:
    draw = random.Random(7)
    decided = 0
    for _ in range(30):
        seconds = [draw.uniform(0.001, 0.02) for _ in range(draw.randint(1, 3))]
        curve = BoundedFunction(_excess(draw.uniform(0.05, 0.5), *seconds), N)
        start = draw.randint(1, 900)
        end = start + draw.randint(1, 99)
        plain, quick = curve.over(start, end), curve.over(start, end, sign_only=True)
        assert quick.high >= plain.high or quick.high < 0
        if abs(plain.high) > 1e-5:
            assert (quick.high < 0) == (plain.high < 0), (seconds, start, end)
            decided += quick.high < 0
        worst = max(curve.at(n).low for n in range(start, end + 1, 7))
        assert worst <= quick.high  # bounds hold at each population
    assert decided >= 5


def test_the_first_failure_is_that_of_each_population_tried() -> None:
    excess = _excess(0.3, 0.01, 0.02)
    row = OPERATIONS["stages_quantile"]

    def late(n: int) -> bool:
        load = n / 1000
        stages = [x for s in (0.01, 0.02) for x in (load, load, s, 1, 1, s, 1, 1, 0)]
        return row.number(0.99, *map(float, stages)) + 0.001 > 0.3

    first = next(n for n in range(1, 1000) if late(n))
    assert first_failure_in_boxes(excess, N, 1, 999, strict=False) == first


def test_populations_that_are_left_out_hold_each_by_itself() -> None:
    row = OPERATIONS["stages_quantile"]
    excess, limit = _excess(0.3, 0.01, 0.02), 0.3

    def late(n: int) -> bool:
        stages = [x for s in (0.01, 0.02) for x in (n / 1000, n / 1000, s, 1, 1, s, 1, 1, 0)]
        return row.number(0.99, *map(float, stages)) + 0.001 > limit

    first = next(n for n in range(1, 1000) if late(n))
    curve = BoundedFunction(excess, N)
    found = open_by_percentiles(curve, 1, first + 2, strict=False)
    assert found == [(n, n) for n in range(first, first + 3)]
    assert open_by_percentiles(curve, 1, first - 1, strict=False) == []
    assert open_by_percentiles(curve, 1, 999, strict=False) == [(1, 999)]  # more than a few


def _with_a_choice(draw: random.Random) -> tuple[float, ...]:
    """Return two stations behind a fixed time, and a third by chance: nine operands of each."""
    stages: list[tuple[float, ...]] = [(0, 0, 0, 0, 1, 0.003, 0, 1, 0)]
    for _ in range(3):
        load, mean = draw.uniform(0.1, 0.9), draw.uniform(0.001, 0.02)
        stages.append((load, load, mean, 1, 1, mean, draw.choice([0.5, 1, 2]), 1, 0))
    stages[-1] = (*stages[-1][:7], draw.uniform(0.05, 0.95), 0)
    stages.append((0, 0, 0, 0, 1, 0.004, 0, draw.uniform(0.05, 0.95), 0))
    return tuple(map(float, chain.from_iterable(stages)))


def test_tails_in_arrays_are_those_of_each_with_fixed_times_by_chance() -> None:
    draw, row = random.Random(11), OPERATIONS["stages_tail"]
    rows = [(draw.uniform(0.001, 0.3), *_with_a_choice(draw)) for _ in range(200)]
    rows[0] = (0.003, *rows[0][1:])  # at a fixed time
    each = row.array(*(np.array(column) for column in zip(*rows, strict=True)))
    assert each == pytest.approx([row.number(*one) for one in rows], rel=1e-7, abs=1e-12)


def test_slopes_by_tails_along_one_line_are_those_of_quantiles() -> None:
    draw, row = random.Random(12), OPERATIONS["stages_quantile"]
    for _ in range(5):
        operands = (0.99, *_with_a_choice(draw))
        places = [1, 2, 5 + 9, 10, 12, 15, 3 * 9 + 8, 4 * 9 + 6]
        found = row.slopes.at(places, operands)  # type: ignore[attr-defined]
        for place, slope in zip(places, found, strict=True):
            step = 1e-6 * (operands[place] or 1)
            more, less = (
                row.number(*operands[:place], operands[place] + by, *operands[place + 1 :])
                for by in (step, -step)
            )
            if operands[place]:
                assert slope == pytest.approx((more - less) / (2 * step), rel=1e-3, abs=1e-9)
