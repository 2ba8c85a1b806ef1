"""Exit status, output and diagnostics of commands."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import qps
from helpers.cases.command_lines import SMALL, run
from qps.cli import main

SPEAK = str(Path(__file__).parents[3] / "specs" / "audioconference.qps")


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (["check", "small.qps"], 0),
        (["check", "wrong.qps"], 2),
        (["check", "nowhere.qps"], 2),
        (["solve", "small.qps"], 0),
        (["solve", "hopeless.qps"], 1),
        (["solve", "wrong.qps"], 2),
        (["solve", "small.qps", "--scenario", "none"], 2),
        (["solve", "small.qps", "--set", "pace=3"], 2),
        (["solve", "small.qps", "--set", "pace="], 2),
        (["solve", "."], 2),
        (["explain", "small.qps", "host.cpu"], 0),
        (["explain", "small.qps", "host.gpu"], 2),
        (["explain", "small.qps", "host.cpu", "--at", "1000"], 2),
        (["explain", "QPS0301"], 0),
        (["explain", "small.qps"], 2),
        (["test", "good.qps"], 0),
        (["test", "failing.qps"], 1),
        (["test", "small.qps"], 2),
        (["test", "good.qps", "wrong.qps"], 2),
        (["report", "small.qps", "-o", "small.html"], 0),
        (["report", "small.qps", "-o", "small.HTM"], 0),
        (["report", "small.qps", "-o", "small"], 0),
        (["report", "small.qps", "-o", "small.png"], 2),
        (["report", "small.qps", "-o", "small.html.pdf"], 2),
        (["report", "small.qps", "-o", "no/such/folder.html"], 2),
        (["new", "mine"], 0),
        (["new", "small"], 2),
    ],
)
def test_exit_status(capsys: pytest.CaptureFixture[str], arguments: list[str], status: int) -> None:
    assert run(capsys, *arguments)[0] == status


@pytest.mark.parametrize("arguments", [["slove"], ["solve"], ["solve", "x", "--format", "xml"]])
def test_a_wrong_command_line_ends_with_2(
    capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    status, out, err = run(capsys, *arguments)
    assert (status, out) == (2, "")
    assert "error[QPS0604]: " in err


def test_a_report_is_written_under_no_other_name(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(capsys, "report", "small.qps", "-o", "shown/small.png")
    assert (status, out) == (2, "")
    page = Path("shown/small.html")
    assert "a report is an HTML page, not a PNG file" in err
    assert f"write `-o {page}`" in err
    assert not Path("shown/small.png").exists()


def test_a_fault_of_qps_ends_with_3(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_model: object, _configuration: object) -> object:
        raise ZeroDivisionError("planted")

    monkeypatch.setattr("qps.solver.reliable_solution.solve_model", broken)
    status, out, err = run(capsys, "solve", "small.qps")
    assert (status, out) == (3, "")
    assert "ZeroDivisionError: planted" in err
    assert "report it" in err


def test_answers_go_to_stdout_and_diagnostics_to_stderr(
    capsys: pytest.CaptureFixture[str],
) -> None:
    _, out, err = run(capsys, "solve", "small.qps")
    assert "100 users" in out or "1 to 100" in out
    assert err == ""
    _, out, err = run(capsys, "check", "wrong.qps")
    assert out == ""
    assert "wrok" in err
    assert "\x1b" not in err


def test_solve_prints_the_keys_of_the_contract(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "solve", SPEAK, "--set", "deletion=off", "--format", "json")
    data = json.loads(out)
    assert status == 0
    assert data["schema"] == "qps/solve/5"
    assert data["model"] == "audioconference"
    assert data["scenario"] is None
    assert data["population"] == {"name": "N", "from": 2, "to": 200}
    resource = {r["name"]: r for r in data["resources"]}["station.cpu"]
    assert {"utilization", "utilization_at_limit", "saturates_at", "closed_form", "shares"} <= set(
        resource
    )
    assert resource["closed_form"] is True
    assert data["bottleneck"]["resource"] == "lan"
    assert data["bottleneck"]["saturates_at"] == pytest.approx(13.009996)
    assert {"at", "to"} == set(data["bottleneck"]["changes"][0])
    requirement = data["requirements"][0]
    assert (requirement["measure"], requirement["limit"], requirement["unit"]) == (
        "voice.latency",
        0.23,
        "s",
    )
    assert requirement["met_up_to"] == 7
    assert data["quality"]["metric"] == "euclidean"
    assert data["capacity"] == 6
    assert data["limited_by"] == "quality"
    assert {"parameter", "elasticity"} == set(data["sensitivity"][0])
    assert data["warnings"] == []


def test_never_saturating_and_never_acceptable_are_null(
    capsys: pytest.CaptureFixture[str],
) -> None:
    _, out, _ = run(capsys, "solve", SPEAK, "--format", "json")
    resources = {r["name"]: r for r in json.loads(out)["resources"]}
    assert resources["station.cpu"]["saturates_at"] is None
    _, out, _ = run(capsys, "solve", "hopeless.qps", "--format", "json")
    assert json.loads(out)["capacity"] is None


def test_the_range_as_the_limit_is_a_warning(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "solve", "small.qps", "--set", "N=1..50", "--format", "json")
    data = json.loads(out)
    assert data["capacity"] == 50
    assert data["limited_by"] is None
    assert [w["code"] for w in data["warnings"]] == ["QPS0605"]


def test_test_prints_an_entry_for_each_claim(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "test", "failing.qps", "--format", "json")
    data = json.loads(out)
    assert (data["schema"], data["passed"], data["failed"]) == ("qps/test/2", 1, 1)
    entry = data["expectations"][1]
    assert entry["name"] == "b"
    assert (entry["claimed"], entry["predicted"]) == (0.2, 0.1)
    assert entry["difference"] == pytest.approx(-0.1)
    assert (entry["within"], entry["holds"], entry["source"]) == ("1 %", False, "a guess")
    assert entry["file"] == "failing.qps"
    assert entry["line"] == 10


def test_quiet_prints_failures_only(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "test", "failing.qps", "-q")
    assert "FAIL" in out
    assert "ok " not in out
    _, out, err = run(capsys, "check", "small.qps", "-q")
    assert (out, err) == ("", "")


def test_a_folder_stands_for_the_specs_below_it(capsys: pytest.CaptureFixture[str]) -> None:
    Path("deep/er").mkdir(parents=True)
    Path("deep/er/one.qps").write_text(SMALL)
    Path("deep/.hidden").mkdir()
    Path("deep/.hidden/two.qps").write_text("nonsense")
    status, _, err = run(capsys, "check", "deep")
    assert status == 0
    assert "1 spec checked" in err
    Path("empty").mkdir()
    assert run(capsys, "check", "empty")[0] == 2


@pytest.mark.parametrize(
    ("choice", "environment", "colored"),
    [
        ("always", {"NO_COLOR": "1"}, True),
        ("never", {"FORCE_COLOR": "1"}, False),
        ("auto", {"FORCE_COLOR": "1"}, True),
        ("auto", {"NO_COLOR": "1", "FORCE_COLOR": "1"}, False),
        ("auto", {"TERM": "dumb", "FORCE_COLOR": "1"}, False),
        ("auto", {}, False),
    ],
)
def test_color(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    choice: str,
    environment: dict[str, str],
    colored: bool,
) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    _, _, err = run(capsys, "check", "wrong.qps", "--color", choice)
    assert ("\x1b[" in err) == colored


def test_the_api_says_what_the_command_line_says(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "solve", "small.qps", "--format", "json")
    data = json.loads(out)
    model = qps.load("small.qps")
    answer = model.solve()
    assert answer.capacity == data["capacity"]
    assert answer.resources[0].utilization == data["resources"][0]["utilization"]
    assert answer.population.to == 100
    assert str(model.load_of("host.cpu")) == data["resources"][0]["utilization"]
    assert model.solve(set={"pace": "2 packet/s"}).capacity == 50
    assert model.solve(scenario="quick").capacity == 25
    table = model.sweep(N=range(1, 4))
    assert table["host.cpu.utilization"].tolist() == pytest.approx([0.01, 0.02, 0.03])
    with pytest.raises(TypeError, match="N="):
        model.sweep(M=range(3))
    with pytest.raises(KeyError):
        model.load_of("nothing")
    assert capsys.readouterr().out == ""


def test_the_api_raises_mistakes_with_their_diagnostics() -> None:
    with pytest.raises(qps.QpsError) as raised:
        qps.load("wrong.qps")
    assert [d.code.id for d in raised.value.diagnostics] == ["QPS0201"]
    with pytest.raises(qps.QpsError):
        qps.loads('users N in 1..2\nuse "small.qps" as s')
    with pytest.raises(qps.QpsError):
        qps.load("small.qps").solve(set={"pace": 3})


@pytest.mark.parametrize("form", ["json", "markdown", "page"])
def test_what_the_spec_warns_of_goes_with_the_answer(
    form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An answer that is passed on alone still says what it rests on."""
    spec = tmp_path / "one.qps"
    spec.write_text(
        "users N in 1..9\nmachine box { cpu 1 core; memory 4 GB }\n"
        "component work { cpu 1 ms/request }\ntopology { node host = box }\n"
        "stream jobs { traffic N * 1 request/s; at host { work } }\n",
        encoding="utf-8",
    )
    if form == "page":
        assert main(["report", "-q", str(spec), "-o", str(tmp_path / "one.html")]) == 0
        output = (tmp_path / "one.html").read_text(encoding="utf-8")
    else:
        assert main(["solve", "-q", str(spec), "--format", form]) == 0
        output = capsys.readouterr().out
    assert "QPS0502" in output
    assert "memory" in output


def test_report_prints_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(capsys, "report", "small.qps")
    assert (status, err) == (0, "")
    assert out == ("small.html: No limit is reached from 1 to 100 users, the full range.\n")
    assert run(capsys, "report", "small.qps", "-q")[1] == ""


def test_a_failure_is_reported_at_a_glance(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    _, bare, _ = run(capsys, "test", "failing.qps")
    _, shown, _ = run(capsys, "test", "failing.qps", "--color", "always")
    assert "\x1b" not in bare
    assert re.sub(r"\x1b\[[0-9;]*m", "", shown) == bare
    colored = re.findall(r"\x1b\[1;31m(.*)\x1b\[0m", shown)
    # In the table, once more by itself, and in the count.
    assert [line.split()[0] for line in colored] == ["FAIL", "FAIL", "1"]
    assert colored[2].endswith("1 failed")
    _, shown, _ = run(capsys, "test", "good.qps", "--color", "always")
    assert "\x1b[1;31m" not in shown
    assert shown.count("\x1b[1;32m") == 1


def test_what_fails_is_reported_whole_behind_all_claims(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "test", "failing.qps")
    assert (
        "\n\nFAIL  b  failing.qps:10\n"
        "  Expected     20 % within 1 %\n"
        "  Predicted    10 %\n"
        "  Error        -50 %\n"
        "\n"
    ) in out
    assert out.splitlines()[-1].endswith("1 failed")
    _, quiet, _ = run(capsys, "test", "failing.qps", "-q")
    assert quiet.startswith("FAIL  b  failing.qps:10\n")


@pytest.mark.parametrize("columns", [80, 200])
def test_claims_fit_the_terminal_and_no_program_has_others(
    columns: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = Path("failing.qps").read_text(encoding="utf-8")
    name = "the_load_of_the_processor_with_two_of_these_users_at_once"
    Path("long.qps").write_text(re.sub("expect b ", f"expect {name} ", spec), encoding="utf-8")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", str(columns))
    _, out, _ = run(capsys, "test", "long.qps")
    assert max(map(len, out.splitlines())) <= columns
    assert out.count(name) == (2 if columns == 200 else 1)
    assert f"FAIL  {name}  long.qps:10\n" in out
