"""Test results for continuous integration: JUnit, GitHub annotations, Markdown."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from helpers.nightly import nightly
from qps.cli import main
from qps.reports.text.layout.table import escaped
from qps.solver.answers.solution import SolverFault
from qps.solver.claims.claim_evaluation import Claims

SPEC = """\
users N in 1..9
machine box { cpu 1 core }
component work { cpu 1 ms/packet }
topology { node host = box }
stream flow { traffic 10 packet/s; at host { work } }
expect good { host.cpu.load ~ 1 % within 1 % with N = 2; source "a & b" }
expect bad {
  host.cpu.load ~ 2 % within 1 % with N = 2
  source "x ]]> <b> \x07 ::error file=a::b"
  note "half"
}
observe runs "runs.csv" { users -> N; busy -> host.cpu.load; source "us" }
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("a,b:c.qps").write_text(SPEC)
    Path("runs.csv").write_text("users,busy\n3,0.02\n")
    Path("wrong.qps").write_text(SPEC + "let a = nothing\n")
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    status = main(["test", *arguments])
    return status, capsys.readouterr().out


def test_junit_holds_every_claim(capsys: pytest.CaptureFixture[str]) -> None:
    status, out = run(capsys, "--format", "junit", "a,b:c.qps")
    assert status == 1
    root = ET.fromstring(out)
    assert root.attrib | {"tests": "3", "failures": "1", "errors": "0", "skipped": "1"} == (
        root.attrib
    )
    cases = {case.get("name"): case for case in root.iter("testcase")}
    assert len(cases) == 3
    assert list(cases["good"]) == []
    failure = cases["bad"].find("failure")
    assert failure is not None
    assert failure.get("message") == "expected 2 % within 1 %, predicted 1 % (-50 %)"
    assert failure.text is not None
    assert "x ]]> <b> \ufffd ::error" in failure.text
    assert cases["bad"].get("line") == "8"


def test_junit_reports_wrong_specs_too(capsys: pytest.CaptureFixture[str]) -> None:
    status, out = run(capsys, "--format", "junit", "wrong.qps")
    assert status == 2
    root = ET.fromstring(out)
    assert root.get("errors") == "1"
    (case,) = root.iter("testcase")
    assert case.get("classname") == "wrong.qps:13"
    assert case.find("error") is not None


def test_github_annotates_the_line(capsys: pytest.CaptureFixture[str]) -> None:
    status, out = run(capsys, "--format", "github", "a,b:c.qps")
    assert status == 1
    assert out == (
        "::error file=a%2Cb%3Ac.qps,line=8,title=bad::expected 2 %25 within 1 %25, predicted 1 %25 "
        "(-50 %25)%0Asource: x ]]> <b> \ufffd ::error file=a::b%0Anote: half\n"
    )


def test_github_annotates_mistakes(capsys: pytest.CaptureFixture[str]) -> None:
    status, out = run(capsys, "--format", "github", "wrong.qps")
    assert status == 2
    assert out.splitlines()[0].startswith("::error file=wrong.qps,line=13,col=9,title=QPS0201::")


def test_markdown_shows_failures_first(capsys: pytest.CaptureFixture[str]) -> None:
    status, out = run(capsys, "--format", "markdown", "a,b:c.qps")
    assert status == 1
    head, _, rest = out.partition("<details>")
    assert head.startswith(
        "### ✗ qps test: 1 passed, 1 for comparison only (error -50 %), 1 failed\n"
    )
    assert "| FAIL | bad |" in head
    assert "good" not in head
    assert "| pass | good |" in rest


def test_numbers_are_reported_in_the_units_of_the_claim(capsys: pytest.CaptureFixture[str]) -> None:
    Path("share.csv").write_text("users,busy\n3,4\n")
    Path("told.qps").write_text("""\
users N in 1..20_000
machine box { cpu 1 core }
component work { cpu 1.25 us/packet }
topology { node host = box }
stream flow { traffic N * 10 packet/s; at host { work; tick }; at host { } }
component tick { delay 2 ms }
require { flow.latency <= 50 ms; host.cpu.load <= 13.13 % }
expect counts { largest_acceptable == 10_504; source "10 * 1.25 us each" }
expect times { 1 ms < flow.latency < 3 ms with N = 1; source "2 ms and 1.25 us" }
expect amounts { flow.latency ~ 2 ms within 0.5 ms with N = 1; source "the same" }
observe runs "share.csv" { users -> N; busy in % -> host.cpu.load; source "us" }
""")
    status, out = run(capsys, "told.qps")
    assert status == 0
    lines = {line.split()[1]: line for line in out.splitlines() if len(line.split()) > 1}
    assert "≤ 10,504 " in lines["counts"]
    assert " ≥ 2.001 ms " in lines["times"]
    assert " ".join(lines["amounts"].split()[2:]) == "2 ms ≥ 2.001 ms +0.1 % 0.5 ms 10"
    assert lines["runs[2].busy"].split()[2:6] == ["4", "%", "0.00375", "%"]


def test_one_wrong_spec_takes_no_other_away(capsys: pytest.CaptureFixture[str]) -> None:
    Path("broken.qps").write_text("users N in\n")
    files = ("a,b:c.qps", "broken.qps", "wrong.qps")
    status, out = run(capsys, *files)
    assert status == 2
    assert re.search("^ *FAIL +bad ", out, re.MULTILINE)
    assert "1 failed, 2 specs with errors" in " ".join(out.split())
    result = out.partition("Not tested:")[2]
    assert "broken.qps:1" in result
    assert "wrong.qps:13" in result
    status, out = run(capsys, "--format", "json", *files)
    assert status == 2
    found = json.loads(out)
    assert [one["name"] for one in found["expectations"]] == ["good", "bad", "runs[2].busy"]
    assert (found["unread"], found["unanswered"]) == (2, 0)
    assert found["summary"].endswith("1 failed, 2 specs with errors")
    wrong = [(one["file"], one["line"]) for one in found["wrong"]]
    assert {("broken.qps", 1), ("wrong.qps", 13)} <= {*wrong}
    status, out = run(capsys, "--format", "markdown", *files)
    assert status == 2
    assert out.startswith("### ✗ qps test: ")
    assert "1 failed, 2 specs with errors\n" in out.splitlines(keepends=True)[0]
    assert "| FAIL | bad |" in out
    assert "| wrong.qps:13 | QPS0201 |" in out
    status, out = run(capsys, "--format", "junit", *files)
    assert status == 2
    assert ET.fromstring(out).get("failures") == "1"


def test_a_claim_without_an_answer_takes_no_other_away(capsys: pytest.CaptureFixture[str]) -> None:
    options = 'host.cpu.load / (N - 2) ~ 1 % within 1 % with N = 2; source "x"'
    Path("open.qps").write_text(SPEC + f"expect open {{ {options} }}\n")
    status, out = run(capsys, "--format", "json", "open.qps", "a,b:c.qps")
    assert status == 2
    found = json.loads(out)
    assert len(found["expectations"]) == 6
    assert [(one["line"], one["code"]) for one in found["wrong"]] == [(13, "QPS0602")]
    assert (found["unread"], found["unanswered"]) == (0, 1)
    assert found["summary"].endswith("2 failed, 1 claim without a result")


def test_a_row_without_an_answer_takes_no_other_away(capsys: pytest.CaptureFixture[str]) -> None:
    Path("ratio.csv").write_text("users,ratio\n2,1\n3,1\n4,\n")
    observed = "users -> N; ratio -> host.cpu.load / (N - 2)"
    Path("ratio.qps").write_text(
        SPEC + f'observe ratios "ratio.csv" {{ {observed}; source "x" }}\n'
    )
    status, out = run(capsys, "--format", "json", "ratio.qps")
    assert status == 2
    found = json.loads(out)
    assert [one["name"] for one in found["expectations"] if "ratios" in one["name"]] == [
        "ratios[3].ratio"
    ]
    assert (found["unread"], found["unanswered"]) == (0, 1)


def test_a_fault_of_ours_is_reported_with_all_else(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = Claims._claim

    def faulty(self: Claims, name: str, *rest: object) -> object:
        if name == "good":
            raise SolverFault("off by 1")
        return whole(self, name, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(Claims, "_claim", faulty)
    for form in ("text", "json", "markdown", "junit", "github"):
        status = main(["test", "--format", form, "a,b:c.qps"])
        out, err = capsys.readouterr()
        assert status == 3
        assert "bad" in out
        assert "internal error of qps: SolverFault: off by 1" in out
        assert "a,b:c.qps: internal error of qps: SolverFault: off by 1" in err


def test_rows_are_annotated_where_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    Path("deep/er").mkdir(parents=True)
    Path("deep/er/runs.csv").write_text("users,busy\n3,0.02\n")
    text = SPEC.replace('"runs.csv"', '"er/runs.csv"').replace(
        "busy -> host.cpu.load;", "busy -> host.cpu.load within 1 %;"
    )
    Path("deep/rows.qps").write_text(text)
    _, out = run(capsys, "--format", "github", "deep/rows.qps")
    assert "::error file=deep/er/runs.csv,line=2,title=runs[2].busy::" in out
    _, out = run(capsys, "--format", "github", "deep")
    assert "::error file=deep/er/runs.csv,line=2,title=runs[2].busy::" in out


def test_junit_has_times(capsys: pytest.CaptureFixture[str]) -> None:
    _, out = run(capsys, "--format", "junit", "a,b:c.qps")
    root = ET.fromstring(out)
    times = [float(str(case.get("time"))) for case in root.iter("testcase")]
    assert len(times) == 3
    assert sum(times) > 0
    assert float(str(root.get("time"))) == pytest.approx(sum(times))
    for suite in root:
        own = [float(str(case.get("time"))) for case in suite.iter("testcase")]
        assert float(str(suite.get("time"))) == pytest.approx(sum(own))


@pytest.mark.parametrize("failing", [0, pytest.param(3, marks=nightly), 400])
def test_a_comment_has_room_for_what_github_takes(
    failing: int, capsys: pytest.CaptureFixture[str]
) -> None:
    claims = [
        f"expect c{n} {{ host.cpu.load ~ {1 + 9 * (n < failing)} % within 1 % with N = 2; "
        f'source "{"long " * 40}" }}\n'
        for n in range(1200)
    ]
    Path("many.qps").write_text(SPEC + "".join(claims))
    _, out = run(capsys, "-q", "--format", "markdown", "many.qps", "a,b:c.qps")
    assert 60_000 < len(out) <= 65_536
    result = out.count("| FAIL | c")
    assert result >= min(failing, 400)
    left = re.findall(r"([0-9,]+) more claims not shown: run `qps test` for all", out)
    assert left
    rows = len(re.findall(r"^\| (pass|FAIL|shown) \|", out.partition("<details>")[2], re.MULTILINE))
    assert rows + int(left[-1].replace(",", "")) == 1206


def test_a_new_spec_is_laid_out() -> None:
    assert main(["new", "fresh"]) == 0
    assert main(["fmt", "--check", "fresh.qps"]) == 0


def test_counterexamples_have_the_units_of_the_spec(capsys: pytest.CaptureFixture[str]) -> None:
    Path("units.qps").write_text("""\
users N in 1..9
param bandwidth = 10 Mbit/s
param share = 50 %
param pace = 2
machine box { cpu 1 core }
network wire { rate bandwidth }
component work { cpu 1 ms/packet * share * pace }
topology { node host = box; node far = box; link lan = wire between host, far }
stream flow { traffic 10 packet/s, 100 byte/packet; at host { work }; over lan; at far { } }
matrix m { bandwidth in [10, 12.5 Mbit/s]; share in [50, 60 %]; pace in 1..3 by 1 }
expect all { every configuration: lan.load <= 0.07 %; source "us" }
""")
    _, out = run(capsys, "units.qps")
    assert "not bandwidth = 10 Mbit/s, share = 50 %, pace = 1" in out


def test_texts_of_a_spec_call_nobody_and_link_nothing_in_markdown() -> None:
    hostile = "[here](http://evil) @team #12 `x` <b> &amp; ~~no~~ \\| \u202e*!*"
    result = escaped(hostile)
    assert result == (
        "\\[here\\](http://evil) @\u200bteam #\u200b12 \\`x\\` &lt;b&gt; &amp;amp; "
        "\\~\\~no\\~\\~ \\\\\\| \ufffd\\*!\\*"
    )
