"""Rows that arrays leave open, and saturations that no column states."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

from helpers.specs import checked
from qps.solver.matrix.compilation.compiled_matrix import CompiledMatrix
from qps.solver.matrix.limits.first_failures import first_failures
from qps.solver.matrix.matrix_compiler import compile_matrix
from qps.solver.matrix.row_ranges import MatrixSolver
from qps.solver.matrix.row_tables import Tabulator
from qps.solver.matrix.rows import mode_rows
from qps.solver.matrix.rows.scalar_fallback import ScalarFallback

SPEC = """
users N in 1..400
param pool = 4 connection in 1..40 connection
param cost = 60 ms/request in 1..200 ms/request
machine app { cpu 2 core, queueing ps; connections pool }
machine db  { cpu 1 core, queueing ps }
component run(s) { cpu s }
network wire { propagation 1 ms }
topology { node web = app; node base = db; link lan = wire between all }
stream page for each user {
  traffic 1 request, think 5 s
  at web { run(cost); take connections; call base { run(20 ms/request) }; give connections }
}
require { page.latency <= 300 ms }
matrix pools { pool in 1..9 connection by 4; cost in [20 ms/request, 60 ms/request] SELECTED }
"""


def _compiled(selected: str = "") -> CompiledMatrix:
    spec = checked(SPEC.replace("SELECTED", selected))
    return compile_matrix(spec.model, spec.model.matrices[0])


def _rows(compiled: CompiledMatrix) -> list[dict[str, Any]]:
    return Tabulator(compiled).table(0, compiled.size).to_pylist()


def _left_open(*arguments: Any) -> Any:
    found = first_failures(*arguments)
    rows, proven, _, low, end = arguments
    return replace(first_failures(rows, proven, [], low, end), is_open=np.ones_like(found.is_open))


def test_rows_that_are_left_open_are_those_that_are_solved_together(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    together = _rows(_compiled())
    monkeypatch.setattr(mode_rows, "first_failures", _left_open)
    alone = _rows(_compiled())
    assert len({row["capacity"] for row in alone}) > 3
    for row, other in zip(alone, together, strict=True):
        for name, value in row.items():
            assert value == (
                pytest.approx(other[name]) if isinstance(value, float) else other[name]
            )


def test_what_fails_behind_another_limit_is_not_looked_for() -> None:
    compiled = _compiled()
    group = compiled.blocks[0].groups[0]
    (solver,) = MatrixSolver(compiled).solvers_of(0, group)
    index = (np.array([0, 1, 2]), np.array([0, 1, 0]), np.zeros(3, dtype=np.int64))
    for row in range(3):
        one = ScalarFallback(mode=solver.mode, decider=solver.decider, index=index)
        each = one.first_failures(row)
        assert each is not None
        first, of_all = min(each), partial(one.first_failure, row, solver.mode.criteria)
        assert of_all(solver.mode.high) == first < solver.mode.high
        assert of_all(first) == first
        assert of_all(first - 1) == first  # one behind what is looked at


@pytest.mark.parametrize("selected", ["select largest_acceptable, limited_by, bottleneck"])
def test_answers_do_not_depend_on_the_columns_that_are_selected(selected: str) -> None:
    every, some = _compiled(), _compiled(f"; {selected}")
    assert every.has_saturations
    assert not some.has_saturations
    assert _compiled("; select largest_acceptable, saturates_at").has_saturations
    names = ("capacity", "capacity_known", "limited_by", "bottleneck")
    whole = [[row[name] for name in names] for row in _rows(every)]
    assert [[row[name] for name in names] for row in _rows(some)] == whole
    assert len({row[3] for row in whole}) > 1
