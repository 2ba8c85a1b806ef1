"""Searches of samples: what one row shows of others, and what need not be searched at all."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.number_rows import NumberRows
from qps.engine.execution.programs import ProgramStep, StraightLineProgram
from qps.engine.leaves import NUMBER, POPULATION
from qps.engine.numerics.sobol import sobol_points
from qps.solver.uncertainty.response_surface import are_below_one
from qps.solver.uncertainty.surface_refinement import Structures
from qps.solver.uncertainty.threshold_search import ExcessShape, crossings


def _points(count: int, numbers: int) -> dict[str, np.ndarray]:
    points = 0.5 + sobol_points(count, numbers, 1)
    return {f"x{i}": points[:, i] for i in range(numbers)}


def _program(steps: tuple[ProgramStep, ...]) -> StraightLineProgram:
    return StraightLineProgram(steps, (frozenset(),) * len(steps), (False,) * len(steps))


def test_the_shape_of_one_row_straightens_others() -> None:
    def excess(rows: NumberRows, at: np.ndarray) -> np.ndarray:
        latency = 0.1 + np.maximum(at / rows.own - 0.98, 0.0) * 45  # flat up to a knee
        return np.asarray(1 - 1 / latency)

    shape, calls = ExcessShape(), 0
    crossings(NumberRows(np.array([5000.0])), excess, 1.0, 1e5, 4000.0, shape=shape)  # type: ignore[arg-type]
    assert shape.is_known
    assert np.all(np.diff(shape.excess) > 0)
    assert np.all(np.diff(shape.offsets) >= 0)

    def counted(rows: NumberRows, at: np.ndarray) -> np.ndarray:
        nonlocal calls
        calls += 1
        return excess(rows, at)

    own = np.array([3000.0, 5200.0, 40_000.0])
    with_shape = crossings(NumberRows(own), counted, 1.0, 1e5, 5000.0, shape=shape)  # type: ignore[arg-type]
    calls_with, calls = calls, 0
    without = crossings(NumberRows(own), counted, 1.0, 1e5, 5000.0)  # type: ignore[arg-type]
    assert with_shape == pytest.approx(own, rel=5e-5)
    assert without == pytest.approx(own, rel=5e-5)
    assert calls_with < calls


def test_what_is_far_from_its_limit_is_not_searched() -> None:
    pool = _points(2000, 2)
    few = {name: column[:12] for name, column in pool.items()}
    assert are_below_one(few, 0.3 * few["x0"], pool, 2000)
    assert np.all(0.7 * few["x0"] < 1)  # at all points, but not in all samples
    assert not are_below_one(few, 0.7 * few["x0"], pool, 2000)
    assert not are_below_one(few, np.where(few["x0"] > 1, 1.2, 0.3), pool, 2000)
    assert not are_below_one(few, np.full(12, np.nan), pool, 2000)


def test_operations_are_known_again_under_other_numbers() -> None:
    population, one, two = (
        ProgramStep(POPULATION),
        ProgramStep(NUMBER, value=1),
        ProgramStep(NUMBER, value=2),
    )
    ones = _program((population, one, ProgramStep("plus", (0, 1))))
    others = _program(
        (two, one, population, ProgramStep("plus", (2, 1)), ProgramStep("plus", (2, 0)))
    )
    (known,) = Structures(ones).of([2])
    assert Structures(others).of([3, 4])[0] == known
    assert Structures(others).of([4]) != (known,)


@pytest.mark.parametrize("start", [1.0, 18_000.0, 22_482.0, 24_700.0, 60_000.0])
def test_a_bent_excess_is_followed_to_where_it_is_zero(start: float) -> None:
    """What falls short tenfold and exceeds little has one failure, wherever the search begins.

    Below the knee the excess is the slope of a pool that fills up; beyond it hardly grows.
    """
    knee = 24_729.0

    def excess(rows: NumberRows, at: np.ndarray) -> np.ndarray:
        part = at / (rows.own * knee)
        short = -np.minimum(10.0, 200 * (1 - part) ** 0.9)
        return np.where(part < 1, short, 0.28 + 0.1 * (part - 1))

    own = np.array([1.0, 1.01])
    rows = NumberRows(own)
    with np.errstate(all="ignore"):
        found = crossings(rows, excess, 1.0, 1e6, start, off=0.0)  # type: ignore[arg-type]
    assert found == pytest.approx(own * knee, abs=1.0)
