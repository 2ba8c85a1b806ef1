"""Boxes decide whether a percentile is within its limit as the percentile itself does."""

import random

from qps.engine.expressions.formulas import ONE, Formula, apply, number, symbol
from qps.engine.operations import OPERATIONS
from qps.solver.search.bounds import BoundedFunction
from qps.solver.search.boxes import first_failure_in_boxes

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
