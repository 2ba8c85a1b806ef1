"""Rows that are looked for beside those before and behind them: at the same point, in few steps."""

from __future__ import annotations

from typing import cast

import numpy as np
import pytest
from scipy.stats import qmc

from qps.engine.execution.array_runs import Runner
from qps.engine.numerics.array_blocks import Array, falling_root, falling_root_by_neighbors
from qps.solver.matrix.limits.failure_brackets import closed_in
from qps.solver.matrix.limits.neighboring_rows import first_failing
from qps.solver.matrix.limits.row_preparation import Floats, Rows

ROWS = 500
SMOOTH = 3e4 / np.linspace(1, 9, ROWS)
CASES = {
    "smooth": SMOOTH,
    "with a jump": np.where(np.arange(ROWS) < 77, SMOOTH, SMOOTH / 2),
    "two axes": np.tile(SMOOTH[::100], ROWS // 5),
    "nothing alike": np.random.default_rng(3).uniform(2, 1e4, ROWS),
    "at the ends": np.where(np.arange(ROWS) % 2, 1.5, 1e5 - 0.5),
}


@pytest.mark.parametrize("name", CASES)
def test_rows_begin_to_fail_where_each_does(name: str) -> None:
    points, looks = CASES[name], [0, 0]
    rows = Rows(cast("Runner", None), {0: points}, ROWS)
    ends = np.ones(ROWS), np.full(ROWS, 1e5)
    found = []
    for way, close_in in enumerate(
        (first_failing, lambda *some: closed_in(*some, is_whole=True)),
    ):

        def excess(some: Rows, at: Floats, way: int = way) -> Floats:
            looks[way] += some.count
            return np.where(at > 2 * some.known[0], np.inf, np.log(at / some.known[0]))

        values = excess(rows, ends[0]), excess(rows, ends[1])
        found.append(close_in(rows, excess, ends, values))
    assert found[0].tolist() == found[1].tolist() == (np.floor(points) + 1).tolist()
    if name == "smooth":
        assert looks[0] < looks[1] / 2


@pytest.mark.parametrize("has_kink", [False, True])
def test_samples_begin_to_fail_where_each_does_in_few_looks(has_kink: bool) -> None:
    """Rows in the order of a Sobol sequence, of which those that follow each other are far apart.

    One number is a power of another: of three that vary, two say all.
    """
    drawn = qmc.Sobol(2, seed=5).random(4096)
    cost, pause = 1 + drawn[:, 0], 3 + 2 * drawn[:, 1]
    looks = 0

    def excess(some: Rows, at: Floats) -> Floats:
        nonlocal looks
        looks += some.count
        load = at * some.known[0] / 5e4
        wait = np.where(load < 1, load / (1 - load), np.inf) / some.known[2]
        return np.maximum(wait - 2, at / 2e4 - 1) if has_kink else wait - 2

    rows = Rows(cast("Runner", None), {0: cost, 1: cost**2.5, 2: pause}, cost.size)
    ends = np.ones(cost.size), np.full(cost.size, 1e6)
    found = first_failing(rows, excess, ends, (excess(rows, ends[0]), excess(rows, ends[1])))
    exact = 5e4 / cost * (2 * pause) / (1 + 2 * pause)
    exact = np.minimum(exact, 2e4) if has_kink else exact
    assert found.tolist() == (np.floor(exact) + 1).tolist()
    assert looks / cost.size < (16 if has_kink else 5)


def test_roots_of_neighboring_elements_are_those_of_each() -> None:
    size = np.exp(np.linspace(0, 3, 200))

    def excess(at: Array, own: Array) -> tuple[Array, Array]:
        return own - at**3, -3 * at**2

    ends = np.zeros(200), np.full(200, 50.0), np.full(200, 50.0)
    alone, beside = (
        root(excess, *ends, size) for root in (falling_root, falling_root_by_neighbors)
    )
    assert beside == pytest.approx(alone, rel=1e-14)
    assert beside == pytest.approx(np.cbrt(size), rel=1e-14)
