"""Quantiles of which bounds prove nothing: the first failure, by the values before it."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pytest

from helpers.specs import checked
from qps.engine.expressions.formulas import ZERO
from qps.solver.matrix.limits import first_failures as search
from qps.solver.matrix.limits.every_population import tried
from qps.solver.matrix.limits.row_preparation import CompiledCriterion, Floats, Rows
from qps.solver.matrix.limits.values_before import PriorPopulations
from qps.solver.matrix.matrix_compiler import compile_matrix
from qps.solver.matrix.row_ranges import MatrixSolver

POOL = """
users workers in 1..900
param pool = 3 connection in 1..60 connection
machine service { connections pool }
machine store { cpu 4 core, queueing mmc }
network lan { propagation 1 ms }
component query { cpu 12 ms/request }
topology { node pay = service; node db = store; link wire = lan between pay, db }
stream checkout for each user {
  traffic 1 request, think 2 s
  at pay { take connections; call db { query }; give connections }
}
require { checkout.p95 <= 60 ms }
matrix rows { pool in 2..60 connection, 7 values }
"""
LIMITED = """
users N in 1..3_000
param cost = 10 ms/request in 5..20 ms/request
machine pod { cpu 500 millicore, queueing quota per 100 ms on 8 core }
component work { cpu cost }
topology { node web = pod }
stream asks in all { traffic N * 0.05 request/s; at web { work } }
require { asks.p99 <= 100 ms }
matrix rows { cost in 5..20 ms/request, 7 values }
"""


def _largest(text: str) -> list[int]:
    spec = checked(text)
    (rows,) = MatrixSolver(compile_matrix(spec.model, spec.model.matrices[0])).row_blocks(0, 7)
    assert not rows.one_by_one.any()
    return [int(one) for one in rows.largest]


@pytest.mark.parametrize("text", [POOL, LIMITED], ids=["pool", "limited"])
def test_rows_are_those_of_which_each_population_is_tried(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked = []
    first = PriorPopulations.first

    def counted(*arguments: object) -> object:
        looked.append(arguments)
        return first(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(PriorPopulations, "first", counted)
    found = _largest(text)
    assert looked
    monkeypatch.setattr(search, "_otherwise", lambda *_: (tried, 3, None))
    assert found == _largest(text)
    assert np.unique(found).size > 3


class _Bumps:
    """Computes what passes its limit 1 at one population, and again from another one on."""

    bump, end = np.array([40.0, 7.0, np.inf, 1.0, 299.0]), 300.0

    def value(self, row: Floats, at: Floats) -> Floats:
        return np.where((at == self.bump[row.astype(int)]) | (at >= self.end), 2.0, at / 400)

    def run(self, outputs: Any, known: Any, _: object, at: Floats) -> dict[int, Floats]:
        return {number: self.value(known[2], at) for number in outputs}

    def bounds(self, _: object, known: Any, *__: object) -> Any:
        return known


def test_what_fails_for_a_while_before_it_holds_again_is_found() -> None:
    bumps = _Bumps()
    known = {1: np.ones(5), 2: np.arange(5.0)}
    rows = Rows(cast("Any", bumps), known, 5)
    criterion = CompiledCriterion(
        name="", is_stated=True, is_strict=False, at_most=True,
        measure=0, limit=1, tight=(0, 1), over=ZERO,
    )  # fmt: skip
    before = PriorPopulations(criteria=[criterion], inner=frozenset({0}), most=1 << 13)

    def excess(some: Rows, at: Floats) -> Floats:
        return bumps.value(some.known[2], at) - 1.0

    found, is_open = before.first(rows, excess, np.ones(5), np.full(5, 500.0))
    assert found.tolist() == [40, 7, 300, 1, 299]
    assert not is_open.any()
    few = PriorPopulations(criteria=[criterion], inner=frozenset({0}), most=100)
    _, is_open = few.first(rows, excess, np.ones(5), np.full(5, 500.0))
    assert is_open.tolist() == [True, True, True, False, True]
