"""Values at a population are those of the worst moment: in claims, `explain`, and `solve`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import qps
from qps.cli import main

SPEC = """
users N in 1..1_000_000
calendar date in 2026-12..2030-12
forecast N = 20_000 * 1.06^date
profile visits over day { 08:00..22:00 = 0.6; 18:00..21:00 = 1; else = 0.1 }
profile nightly over day { 01:00..04:00 = 1; else = 0 }
machine server { cpu 16 core }
topology { node cluster = server * 3 }
component answer  { cpu 6 ms/request }
component extract { cpu 1 s/message }
stream queries for each user { traffic 0.05 request/s * visits; at cluster { answer } }
stream etl in all { traffic 2 message/s * nightly, 1 kB/message; at cluster { extract } }
target cpu 80 %
"""
SMALL, LARGE = 10_000, 100_000
"""Few users, of whom the night is the worst time, and many, of whom the evening is."""


def _utilization(users: int) -> float:
    night = 0.05 * 0.1 * 0.006 * users + 2
    evening = 0.05 * 0.006 * users
    return max(night, evening) / 48


@pytest.mark.parametrize("users", [SMALL, LARGE])
def test_claims_and_solve_take_the_worst_moment(users: int) -> None:
    solved = qps.loads(SPEC).solve(set={"N": users})
    (cluster,) = [one for one in solved.resources if one.name == "cluster.cpu"]
    assert cluster.utilization_at_limit == pytest.approx(_utilization(users))
    claims = "\n".join(
        f"expect {name} {{ cluster.cpu.utilization {sign} {value:.6f} with N = {users}; "
        "source model }"
        for name, sign, value in (
            ("above", ">=", _utilization(users) - 1e-5),
            ("below", "<=", _utilization(users) + 1e-5),
        )
    )
    results = qps.loads(SPEC + claims).test()
    assert {one.verdict.value for one in results} == {"holds"}


@pytest.mark.parametrize("users", [SMALL, LARGE])
def test_explain_takes_the_worst_moment(
    users: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "spec.qps"
    file.write_text(SPEC)
    arguments = ["cluster.cpu.utilization", "--at", str(users), "--format", "json"]
    main(["explain", str(file), *arguments])
    assert json.loads(capsys.readouterr().out)["value"] == pytest.approx(_utilization(users))


def test_a_set_population_has_no_date(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "spec.qps"
    file.write_text(SPEC)
    main(["solve", str(file), "--set", f"N={SMALL}"])
    assert "Holds until" not in capsys.readouterr().out


def test_a_set_profile_is_that_value() -> None:
    claim = """
    expect night {
      cluster.cpu.utilization ~ 0.0625 within 1 % with N = 100_000, visits = 0.1, nightly = 0
      source model
    }
    """
    (result,) = qps.loads(SPEC + claim).test()
    assert result.verdict.value == "holds"
