"""Is a system still what its spec says? Costs of new runs against those stated."""

from __future__ import annotations

import csv
import random
from datetime import datetime, timedelta
from math import exp
from pathlib import Path

import pytest

from helpers.measured.drift_runs import (
    FIXED,
    OCTET,
    REQUEST,
    START,
    dearer,
    fitted_spec,
    queried,
    runs,
    spec,
    still,
    write,
)
from qps.cli import main


@pytest.mark.parametrize("is_fitted", [True, False])
def test_what_did_not_move_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], is_fitted: bool
) -> None:
    # One in a hundred may be told by chance; what is asked several times makes it fewer.
    path = fitted_spec(tmp_path, daily=0.03) if is_fitted else spec(tmp_path)
    found = []
    for seed in range(20):
        observed = runs(seed, tmp_path / "new.csv", daily=0.03)
        status, result = queried(capsys, path, observed, "--tolerance", "0 %", "--chance", "5 %")
        assert status == int(result["moved"])
        found.append(result["moved"])
        assert 0 <= result["by_chance"] <= 1
    assert sum(found) <= 2


@pytest.mark.parametrize("is_fitted", [True, False])
@pytest.mark.parametrize("without", [(), ("day",)])
def test_a_cost_that_moved_is_named_with_its_time(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], is_fitted: bool, without: tuple[str, ...]
) -> None:
    path = fitted_spec(tmp_path) if is_fitted else spec(tmp_path)
    observed = runs(5, tmp_path / "new.csv", dearer(0.4), without=without)
    status, result = queried(capsys, path, observed)
    assert status == 1
    by_item = {cost["per"]: cost for cost in result["costs"]}
    request = by_item["request"]
    assert request["moved"]
    assert request["relative_difference"] == pytest.approx(0.4, abs=0.1)
    assert abs(request["difference"] - 0.4 * REQUEST) < request["half_width"]
    assert [cost["per"] for cost in result["costs"] if cost["moved"]] == ["request"]
    middle = START + timedelta(days=7)
    since = {key: result["since"][key] for key in ("earliest", "at", "latest")}
    times = {key: datetime.fromisoformat(at) for key, at in since.items()}
    assert times["earliest"] <= middle <= times["latest"] < middle + timedelta(days=1)
    assert not result["since"]["may_be_before"]


def test_the_order_of_the_rows_does_not_matter(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = spec(tmp_path)
    observed = runs(5, tmp_path / "new.csv", dearer(0.3))
    first = queried(capsys, path, observed)
    head, *lines = observed.read_text(encoding="utf-8").splitlines()
    random.Random(1).shuffle(lines)
    observed.write_text("\n".join([head, *lines]) + "\n", encoding="utf-8")
    assert queried(capsys, path, observed) == first


def test_loads_in_cores_are_those_of_the_machine(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = spec(tmp_path)
    observed = runs(5, tmp_path / "new.csv", dearer(0.3))
    status, result = queried(capsys, path, observed)
    rows = list(csv.DictReader(observed.read_text(encoding="utf-8").splitlines()))
    for row in rows:
        row["cpu in core"] = f"{float(row.pop('cpu in %')) * 0.04:.10f}"
    write(observed, rows)
    in_cores = queried(capsys, path, observed)
    assert in_cores[0] == status == 1
    assert in_cores[1]["costs"] == [pytest.approx(cost) for cost in result["costs"]]


def test_what_moved_before_the_runs_may_have_begun_before(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    observed = runs(6, tmp_path / "new.csv", dearer(0.3, since=0))
    status, result = queried(capsys, spec(tmp_path), observed)
    assert (status, result["since"]["may_be_before"]) == (1, True)
    assert result["compared_from"] is None


def test_what_is_always_there_is_a_cost_like_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    observed = runs(7, tmp_path / "new.csv", lambda _: (0.06, REQUEST, OCTET))
    status, result = queried(capsys, spec(tmp_path), observed)
    assert status == 1
    assert [cost["per"] for cost in result["costs"] if cost["moved"]] == [None]
    # Where the spec says nothing of it, it is nobody's claim.
    status, result = queried(capsys, spec(tmp_path, idle=""), observed)
    assert status == 0
    assert [cost["per"] for cost in result["costs"]] == ["request", "bit"]


def test_little_is_let_pass(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    observed = runs(8, tmp_path / "new.csv", dearer(0.05, since=0), noise=0.002)
    status, result = queried(capsys, spec(tmp_path), observed)
    assert (status, result["moved"]) == (0, False)
    assert result["by_chance"] < 1e-6
    assert "within the tolerance of 5 %" in result["text"][0]
    status, result = queried(capsys, spec(tmp_path), observed, "--tolerance", "1 %")
    assert (status, result["moved"]) == (1, True)


def test_numbers_that_are_uncertain_may_be_off_by_as_much(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    observed = runs(9, tmp_path / "new.csv", dearer(0.2, since=0))
    cost = "component answer {{ cpu (300 us/request{}) + 20 ns/byte measured on server }}"
    assert queried(capsys, spec(tmp_path, cost.format("")), observed)[0] == 1
    assert queried(capsys, spec(tmp_path, cost.format(" +- 30 %")), observed)[0] == 0


@pytest.mark.parametrize(("at", "is_reported"), [("70..80 %", True), ("5..80 %", False)])
def test_runs_at_other_loads_are_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], at: str, is_reported: bool
) -> None:
    cost = f"component answer {{ cpu 300 us/request + 20 ns/byte measured on server at {at} load }}"
    _, result = queried(capsys, spec(tmp_path, cost), runs(9, tmp_path / "new.csv"))
    assert (
        any("where the service demands were measured" in line for line in result["text"])
        is is_reported
    )


def test_rates_that_move_together_do_not_separate_costs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    observed = runs(10, tmp_path / "new.csv", dearer(0.3, since=0), noise=0.02)
    rows = list(csv.DictReader(observed.read_text(encoding="utf-8").splitlines()))
    drawn = random.Random(2)
    for row in rows:  # each request has nearly as many bytes as any other
        rate = float(row["request/s"])
        octets = rate * 10_000 * exp(drawn.gauss(0, 0.001))
        load = FIXED + (1.3 * REQUEST * rate + OCTET * octets) / 4
        row |= {"byte/s": f"{octets:.1f}", "cpu in %": f"{100 * load * exp(drawn.gauss(0, 0.02))}"}
    write(observed, rows)
    status, result = queried(capsys, spec(tmp_path), observed)
    assert status == 1
    assert not any(cost["moved"] for cost in result["costs"])
    assert {one["per"] for one in result["explained_alone_by"]} == {"request", "bit"}
    assert any("to separate them" in line for line in result["text"])


def test_costs_of_several_components_add_up(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    both = """
    component parse { cpu 100 us/request measured on server }
    component draw  { cpu 200 us/request + 20 ns/byte measured on server }
    """
    path = spec(tmp_path, both, steps="parse; draw")
    observed = runs(11, tmp_path / "new.csv")
    assert main(["test", path, "--observed", str(observed), "-q"]) == 2
    errors = capsys.readouterr().err
    assert "these runs may measure `draw` or `parse`" in errors
    assert "`--of draw` or `--of parse`; several are summed" in errors
    status, found = queried(capsys, path, observed, "--of", "parse", "--of", "draw")
    assert (status, found["components"]) == (0, ["parse", "draw"])
    stated = {cost["per"]: cost["stated"] for cost in found["costs"]}
    assert stated == pytest.approx({None: 0.02, "request": 300e-6, "bit": 20e-9 / 8})
    assert queried(capsys, path, observed, "--of", "draw")[0] == 1


def test_formats(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = spec(tmp_path)
    observed = runs(5, tmp_path / "new.csv", dearer(0.4))
    words = ["test", path, "--observed", str(observed), "-q", "--format"]
    capsys.readouterr()
    for form, signs in {
        "text": ["server.cpu (4 cores)", "120 rows", "DRIFT", "Since        2026-11-16"],
        "markdown": ["### ", "| request |", "service demand per request is 124 µs higher"],
        "github": [f"::error file={path},title=drift::Drift detected: "],
    }.items():
        assert main([*words, form]) == 1
        output = capsys.readouterr().out
        for sign in signs:
            assert sign in output, output
    assert main([*words, "junit"]) == 2
    assert "`--format junit` does not support `--observed`" in capsys.readouterr().err


def test_since_when_is_reported_though_several_costs_moved(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def all_dearer(part: float) -> tuple[float, float, float]:
        return (0.04, 1.3 * REQUEST, 1.6 * OCTET) if part > 0.5 else still(part)

    observed = runs(12, tmp_path / "new.csv", all_dearer, noise=0.02)
    status, result = queried(capsys, spec(tmp_path), observed)
    assert status == 1
    assert result["explained_alone_by"] == []
    middle = START + timedelta(days=7)
    times = {key: datetime.fromisoformat(result["since"][key]) for key in ("earliest", "latest")}
    assert times["earliest"] <= middle <= times["latest"]
    assert not any("no column" in line for line in result["text"])
    # Without times nobody can tell.
    observed = runs(12, observed, all_dearer, noise=0.02, without=("time", "day"))
    status, result = queried(capsys, spec(tmp_path), observed)
    assert (status, result["since"]) == (1, None)
    assert any("no column" in line for line in result["text"])
