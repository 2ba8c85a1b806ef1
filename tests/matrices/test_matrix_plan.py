"""What a large matrix takes, estimated before all of it is solved."""

from __future__ import annotations

import pytest

from helpers.specs import checked
from qps.cli import main
from qps.commands import matrix
from qps.commands.matrices.matrix_plan import MatrixPlan, planned
from qps.solver.matrix.matrix_compiler import compile_matrix

MANY = """
users N in 1..100_000
param cost = 2 ms/request in 1..9 ms/request
param rate = 1 request/s in 0.1..9 request/s
param limit = 50 ms in 10..90 ms
machine box { cpu 4 core, queueing mmc }
component run { cpu cost }
topology { node web = box }
stream page for each user { traffic rate; at web { run } }
require { page.latency <= limit }
matrix all {
  cost in 1..9 ms/request, 1000 values
  rate in 0.1..9 request/s, 1000 values
  limit in 10..90 ms, 1000 values
  select largest_acceptable
}
"""


def test_a_billion_configurations_are_planned_by_some_of_them() -> None:
    spec = checked(MANY)
    plan = planned(compile_matrix(spec.model, spec.model.matrices[0]))
    assert plan.count == 10**9
    assert 8 <= plan.sampled <= 8192
    assert plan.seconds > 0
    assert 10**8 < plan.size < 10**12  # from a byte to a thousand of them for a row


def test_the_estimate_is_printed_in_words() -> None:
    plan = MatrixPlan(count=10**9, seconds=1500, size=8.64e9, sampled=8192)
    assert str(plan) == (
        "1,000,000,000 configurations take about 25 min of processor time and 8.6 GB of disk "
        "space, estimated from 8,192 of them"
    )


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize(
    ("words", "has_plan"),
    [
        (("-o", "a.parquet"), True),
        (("-o", "a.parquet", "-q"), False),
        (("-o", "a.csv"), False),
    ],
)
def test_a_large_matrix_is_planned_before_it_is_written_to_a_parquet_file(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: tuple[str, ...],
    has_plan: bool,
) -> None:
    monkeypatch.setattr(matrix, "LARGE", 80)
    assert main(["matrix", "shop.qps", *words]) == 0
    printed = capsys.readouterr().err
    assert printed.startswith("80 configurations take about ") is has_plan
    monkeypatch.setattr(matrix, "LARGE", 81)
    assert main(["matrix", "shop.qps", *words]) == 0
    assert "take about" not in capsys.readouterr().err
