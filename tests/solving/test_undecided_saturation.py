"""Saturations that are undecided, or there from the start: next to what is known."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from helpers.specs import checked
from qps.cli import main
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.solver.answers.solution import Saturation
from qps.solver.claims.claim_evaluation import Claims
from qps.solver.claims.claim_runner import ClaimRunner
from qps.solver.search.method import SearchMethod
from solving.saturation_specs import FILLED, MEETING_STEPS, OWN_LOAD, solved

UNDERFLOW = OWN_LOAD.replace("1..10000", "1..100").replace(
    "LOAD", "erlang_b(N, 2) / erlang_b(N, 3) / 2"
)
UNKNOWN = "host.cpu saturates above N = 214"


def _printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main([*arguments]) == 0
    return capsys.readouterr().out


def test_what_is_undecided_beyond_the_range_takes_no_answer_away(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = tmp_path / "underflow.qps"
    matrix = "param cost = 1 s/request\nmatrix m { cost in [0.5 s/request, 1 s/request] }\n"
    spec.write_text(UNDERFLOW.replace("cpu 1 s/request", "cpu cost") + matrix)
    solution, _ = solved(spec.read_text())
    assert solution.capacity == 100
    (cpu,) = solution.resources
    assert cpu.saturation == Saturation(None, SearchMethod.UNDECIDED, not_below=214)
    assert solution.bottleneck is not None
    assert solution.bottleneck.undecided == ("host.cpu",)
    in_words = UNKNOWN.replace("host.cpu", "host CPU")
    output = " ".join(_printed(capsys, "solve", "--all", str(spec)).split())
    assert "≥ 214" in output
    assert "Host CPU saturation point is a lower bound (true value may be higher)" in output
    assert "All results are exact" not in output
    assert (
        f"no resource is known to saturate; highest utilization: host CPU. "
        f"It is unknown whether {in_words}." in output
    )
    reported_as_json = json.loads(_printed(capsys, "solve", str(spec), "--format", "json"))
    (resource,) = reported_as_json["resources"]
    assert (resource["saturates_at"], resource["saturates_not_below"]) == (None, 214)
    assert resource["known"]["kind"] == "lower bound"
    assert reported_as_json["bottleneck"]["undecided"] == ["host.cpu"]
    explained = _printed(capsys, "explain", str(spec), "host.cpu.utilization")
    assert "not below N = 214 (no upper bound is known)" in explained
    rows = _printed(capsys, "matrix", str(spec))
    assert rows.count("≥ 21") == 2
    (row, *_) = json.loads(_printed(capsys, "matrix", str(spec), "--format", "json"))["rows"]
    assert (row["capacity"], row["saturates_at"]) == (100, None)
    assert row["saturates_not_below"] >= 214
    _printed(capsys, "report", str(spec), "-o", str(tmp_path / "page.html"))
    page = (tmp_path / "page.html").read_text()
    assert "≥ 214" in page
    assert f"No resource is known to saturate. It is unknown whether {in_words}" in page


@pytest.mark.parametrize(
    ("cost", "first", "undecided", "expected"),
    [
        (4, "d.cpu", ("host.cpu",), f"{UNKNOWN}, but still earlier."),
        (5, "d.cpu", (), None),
        (0, "host.cpu", ("host.cpu",), f"It is unknown whether {UNKNOWN}."),
    ],
)
def test_what_is_undecided_ranks_behind_what_is_known(
    cost: int,
    first: str,
    undecided: tuple[str, ...],
    expected: str | None,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = UNDERFLOW.replace("node host = box", "node d = box; node host = box") + (
        f"component small {{ cpu {cost} ms/request }}\n"
        f"stream other {{ traffic N * (1 request/s); at d {{ small }} }}\n"
    )
    solution, saturations = solved(text)
    assert saturations == {"d.cpu": 1000 / cost if cost else None, "host.cpu": None}
    assert solution.bottleneck is not None
    assert solution.bottleneck.undecided == undecided
    assert solution.bottleneck.resource == first
    spec = tmp_path / "two.qps"
    spec.write_text(text)
    printed = " ".join(_printed(capsys, "solve", "--all", str(spec)).split())
    expected = expected and expected.replace("host.cpu", "host CPU")
    assert expected in printed if expected else "is unknown" not in printed


def test_a_claim_on_an_undecided_saturation_is_not_judged() -> None:
    model = checked(UNDERFLOW + 'expect e { saturation(host) <= 20; source "x" }\n').model
    with pytest.raises(QpsError, match=r"the saturation point of host\.cpu is undecided"):
        Claims(ClaimRunner(model=model)).results()


def test_what_is_full_and_no_more_is_said_next_to_an_answer_beyond_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    spec = tmp_path / "full.qps"
    text = MEETING_STEPS.replace("ROOM vcpu", "room") + "param room = 21 vcpu\n"
    spec.write_text(text + "matrix rooms { room in [20 vcpu, 21 vcpu, 22 vcpu, 24.5 vcpu] }\n")
    main(["matrix", str(spec)])
    output = {
        line.split()[0]: line for line in capsys.readouterr().out.splitlines() if line.strip()
    }
    assert "from the start (exactly full to 5,100)" in output["21"]
    assert "(" not in output["20"]
    assert "5,200" in output["22"]
    assert "6,000" in output["24.5"]
    main(["solve", "--all", str(spec)])
    printed = " ".join(capsys.readouterr().out.split())
    assert "its utilization stays at the limit up to N = 5,100." in printed
    assert "cluster.requests is at 100 % utilization even at N = 4900" in printed


@pytest.mark.parametrize("first", ["1", "100"])
@pytest.mark.parametrize(
    "load",
    [
        "min(most, N / 100)",  # in a bracket
        "most",  # in closed form
        "most * N / 100",
        "min(most, N / 100) + max(0, N - 120) * (190 - N) / 100000",  # row by row
        "most * min(1, (N - 100.5) * (N - 100.5) / 100 + 0.99)",
    ],
)
@pytest.mark.parametrize("at", ["", "; at N = 120"])
def test_a_matrix_reports_as_solve_what_is_saturated_from_the_start_and_stays_so(
    first: str, load: str, at: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = FILLED.replace("FIRST", first).replace("LOAD", load).replace("AT", at)
    spec, result = tmp_path / "full.qps", tmp_path / "full.json"
    spec.write_text(text)
    main(["matrix", str(spec), "-o", str(result)])
    for row in json.loads(result.read_text())["rows"]:
        main(["solve", str(spec), "--set", f"most={row['most']}", "--format", "json"])
        printed = capsys.readouterr().out
        data = json.loads(printed[printed.index("{") :])
        starts = [
            r["name"] for r in data["resources"] if r["method"] == SearchMethod.AT_START.value
        ]
        assert row["saturated_from_start"] == (", ".join(starts) or None)
        assert row["stays_full"] == data["bottleneck"]["stays_full"]
        assert row["bottleneck"] == data["bottleneck"]["resource"]


def test_what_is_full_from_the_start_and_stays_so_is_on_the_pages(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    spec = tmp_path / "full.qps"
    spec.write_text(
        FILLED.replace("FIRST", "1").replace("LOAD", "min(most, N / 100)").replace("AT", "")
    )
    for end in ("parquet", "csv", "json"):
        result, page = tmp_path / f"full.{end}", tmp_path / f"{end}.html"
        main(["matrix", str(spec), "-o", str(result)])
        main(["report", str(result), "-o", str(page)])
        assert "at its limit up to capacity" in page.read_text()
        assert ">exactly</td>" in page.read_text()
    main(["matrix", str(spec)])
    assert "100 (exactly full to 150)" in capsys.readouterr().out
    main(["report", str(spec), "-o", str(tmp_path / "page.html")])
    assert (
        "its utilization stays at the limit up to N = 150" in (tmp_path / "page.html").read_text()
    )
