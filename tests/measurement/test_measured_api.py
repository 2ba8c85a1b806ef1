"""What others have measured, from Python: read, fitted, and held against a spec."""

from __future__ import annotations

import json
from html import escape
from pathlib import Path
from typing import Any

import msgspec
import pytest

import qps
from processes.fake_prometheus import fake_prometheus
from qps.cli import main
from qps.compiler.measurement.observations.observed_runs import ObservedRuns
from qps.reports.text.schemas.json_encoding import as_json

FILES = Path(__file__).parents[1] / "observed"

RUNS = """time,cpu in %,request/s,byte/s
2026-11-01T00:00:00Z,12.1,100,100000
2026-11-02T00:00:00Z,22.2,200,100000
2026-11-03T00:00:00Z,42.2,400,200000
2026-11-04T00:00:00Z,13.9,100,900000
2026-11-05T00:00:00Z,25.8,200,1900000
2026-11-06T00:00:00Z,48.1,400,3000000
2026-11-07T00:00:00Z,17.3,150,200000
2026-11-08T00:00:00Z,33.0,300,600000
"""
SPEC = """users N in 1..9
machine server { cpu 1 core, idle 2 % }
component answer { cpu 1 ms/request + 20 ns/byte measured on server }
topology { node web = server }
stream replies for each user { traffic 1 request/s, 1 kB/request; at web { answer } }
require { web.cpu.load <= 75 % }
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("web.csv").write_text(RUNS)
    Path("web.qps").write_text(SPEC)
    return tmp_path


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    capsys.readouterr()
    main(list(words))
    return json.loads(capsys.readouterr().out)


def test_a_fit_has_the_keys_of_its_json(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = qps.fit("web.csv", cores=2)
    output = printed(capsys, "fit", "web.csv", "--cores", "2", "--format", "json")
    assert json.loads(json.dumps(as_json(found))) == output
    by_name = {one.name: one.value for one in found.coefficients}
    assert by_name["request/s"] == pytest.approx(2e-3, rel=0.05)  # s of one of two cores
    assert found.component is not None
    assert 'cpu fit "web.csv" measured on tested' in found.component
    bare = qps.fit("web.csv", cores=2, fixed=False, resource="cpu")
    assert [one.name for one in bare.coefficients] == ["request/s", "byte/s"]
    assert "measured below 50 % utilization" in found._repr_html_()


def test_runs_of_a_tool_are_what_the_command_writes(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = [FILES / "wrk.txt", FILES / "wrk_404.txt"]
    found = qps.observe("wrk", *paths, item="page")
    assert main(["observe", "wrk", *map(str, paths), "--item", "page"]) == 0
    output = capsys.readouterr()
    assert found.as_csv() == output.out
    assert "page/s" in found.headings
    assert list(found.notes) == output.err.splitlines()


def test_runs_that_were_read_are_fitted_without_a_file(place: Path) -> None:
    rows = [line.split(",") for line in RUNS.splitlines()]
    table = ObservedRuns(headings=tuple(rows[0]), rows=tuple(map(tuple, rows[1:])))
    from_file = qps.fit("web.csv", cores=1)
    found = qps.fit(table, cores=1)
    assert found.coefficients == from_file.coefficients
    assert found.file == "runs.csv"


def test_runs_of_a_prometheus(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with fake_prometheus(cpu=lambda t: 0.5 * t, requests=lambda t: 100 * t) as fake:
        found = qps.observe_prometheus(
            fake.url,
            cpu="cpu",
            rates={"request": "requests"},
            since="1h",
            until="2026-11-23T00:00Z",
            cores=2,
            environment={"QPS_PROMETHEUS_TOKEN": "secret"},
        )
        words = ["observe", "prometheus", fake.url, "--cpu", "cpu", "--rate", "request=requests"]
        words += ["--since", "1h", "--until", "2026-11-23T00:00Z", "--cores", "2"]
        capsys.readouterr()
        assert main(words) == 0
    assert found.as_csv() == capsys.readouterr().out
    assert found.headings == ("time", "cpu in %", "request/s", "cores")
    assert [float(cell) for cell in found.rows[0][1:]] == pytest.approx([25, 100, 2])


@pytest.mark.parametrize("dearer", [1.0, 1.5])
def test_drift_is_that_of_the_command(
    place: Path, capsys: pytest.CaptureFixture[str], dearer: float
) -> None:
    head, *lines = RUNS.splitlines()
    cells = [line.split(",") for line in lines]
    rows = [[time, f"{dearer * float(load):.4f}", *rest] for time, load, *rest in cells]
    Path("new.csv").write_text("\n".join([head, *(",".join(row) for row in rows)]) + "\n")
    model = qps.load("web.qps")
    found = model.drift("new.csv", of="answer", tolerance="4 %")
    words = ("--observed", "new.csv", "--of", "answer", "--tolerance", "4 %", "--format", "json")
    output = printed(capsys, "test", "web.qps", "-q", *words)
    mine = json.loads(json.dumps(as_json(found)))
    assert Path(mine.pop("file")).name == Path(output.pop("file")).name == "web.qps"
    assert mine == output
    assert found.moved == (dearer > 1)
    assert found.from_ == "2026-11-01T00:00:00+00:00"
    assert escape(found.text[0]) in found._repr_html_()


WRONG = [
    (lambda: qps.fit("nowhere.csv"), "nowhere.csv"),
    (lambda: qps.fit("web.csv", cores=0), "must be a number of cores"),
    (lambda: qps.fit("web.csv", resource="disk"), "disk"),
    (lambda: qps.fit("web.csv", units=["not one"]), "cannot be a unit"),
    (lambda: qps.observe("abacus", "x"), "unknown source `abacus`"),
    (lambda: qps.observe("wrk", "nowhere.txt"), "cannot be read"),
    (lambda: qps.observe("wrk", FILES / "pgbench.txt"), "contains no result: no line"),
    (lambda: qps.observe("wrk", FILES / "wrk.txt", window="1s"), "without times"),
    (lambda: qps.observe("jmeter", FILES / "jmeter.jtl", window="soon"), "is not a time between"),
    (lambda: qps.observe("sysbench", FILES / "sysbench.txt", item="a b"), "is not a valid item"),
    (lambda: qps.observe_prometheus("file:///x", cpu="c", rates={"request": "r"}), "file:"),
    (
        lambda: qps.observe_prometheus("http://localhost", cpu="c", rates={"a b": "r"}),
        "does not name the counted item",
    ),
    (lambda: qps.load("web.qps").drift("web.csv", of="nobody"), "nobody"),
    (lambda: qps.load("web.qps").drift("web.csv", chance="60 %"), "`--chance` must be from"),
    (lambda: qps.load("web.qps").drift("web.csv", tolerance="soon"), "--tolerance"),
]


@pytest.mark.parametrize(("ask", "expected"), WRONG)
def test_insufficient_data_raises_an_error_of_qps(place: Path, ask: Any, expected: str) -> None:
    with pytest.raises(qps.QpsError, match=expected.replace("(", r"\(")):
        ask()


def test_no_file_is_a_mistake_of_the_program(place: Path) -> None:
    with pytest.raises(TypeError, match="takes the paths of files"):
        qps.observe("wrk")


def test_views_can_be_changed_and_compared() -> None:
    one = ObservedRuns(headings=("a",), rows=(("1",),))
    assert msgspec.structs.replace(one, rows=()).as_csv() == "a\n"
