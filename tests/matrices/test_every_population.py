"""Rows of which bounds prove nothing: all populations are tried, as alone."""

from __future__ import annotations

import numpy as np

from helpers.specs import checked
from qps.solver.answers.worst_mode import solve_model
from qps.solver.matrix.limits.every_population import tried
from qps.solver.matrix.limits.row_preparation import Floats, Rows
from qps.solver.matrix.matrix_compiler import compile_matrix
from qps.solver.matrix.row_ranges import MatrixSolver

SPEC = """
users workers in 1..60
param pool = 3 connection in 1..20 connection
machine service { connections pool }
machine store { cpu 1 core, queueing mm1 }
network lan { propagation 1 ms }
component query { cpu 12 ms/request }
topology { node pay = service; node db = store; link wire = lan between pay, db }
stream checkout for each user {
  traffic 1 request, think 0.2 s
  at pay { take connections; call db { query }; give connections }
}
require { checkout.p95 <= 150 ms }
matrix pools { pool in 2..8 connection by 3 }
"""


def test_rows_of_a_quantile_behind_a_pool_are_those_of_solve() -> None:
    spec = checked(SPEC)
    rows = MatrixSolver(compile_matrix(spec.model, spec.model.matrices[0])).row_blocks(0, 3)[0]
    assert not rows.one_by_one.any()
    settings = [(f"pool={pool} connection",) for pool in (2, 5, 8)]
    each = [
        solve_model(spec.model, spec.configuration(settings=setting)).capacity
        for setting in settings
    ]
    assert rows.largest.tolist() == each
    assert 1 < min(each) < 60  # a limit decides


class _Known(Rows):
    """Rows that are known by their numbers alone."""


def test_the_first_population_that_may_fail_is_found_however_far_it_is() -> None:
    first = np.array([1.0, 7.0, 400.0, 8000.0, np.inf])
    rows = _Known(None, {0: first}, first.size)  # type: ignore[arg-type]

    def excess(some: Rows, at: Floats) -> Floats:
        return np.where(at == some.known[0], 1.0, -1.0)  # holds again behind it

    low, end = np.ones(first.size), np.full(first.size, 8100.0)
    found, is_open = tried(rows, excess, low, end)
    assert found.tolist() == first.tolist()
    assert not is_open.any()


def test_what_is_almost_on_its_limit_may_fail_and_too_long_a_range_is_left_open() -> None:
    rows = _Known(None, {}, 2)  # type: ignore[arg-type]
    low, end = np.ones(2), np.array([20.0, 1e6])
    found, is_open = tried(rows, lambda _, at: np.where(at == 5, -1e-12, -1.0), low, end)
    assert found.tolist() == [5.0, np.inf]
    assert is_open.tolist() == [False, True]
