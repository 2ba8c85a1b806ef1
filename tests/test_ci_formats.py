"""Test results for continuous integration: JUnit, GitHub annotations, Markdown."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from qps.cli import main

SPEC = """\
users N in 1..9
machine box { cpu 1 core }
component work { cpu 1 ms/packet }
topology { node host = box }
stream flow { source 10 packet/s; at host { work } }
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
    assert failure.get("message") == "claimed 2 % within 1 %, predicted 1 % (-50.0%)"
    assert failure.text is not None
    assert "x ]]> <b> \ufffd ::error" in failure.text
    assert cases["bad"].get("line") == "8"


def test_junit_tells_of_wrong_specs_too(capsys: pytest.CaptureFixture[str]) -> None:
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
        "::error file=a%2Cb%3Ac.qps,line=8,title=bad::claimed 2 %25 within 1 %25, predicted 1 %25 "
        "(-50.0%25)%0Asource: x ]]> <b> \ufffd ::error file=a::b%0Anote: half\n"
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
        "### ✗ qps test: 1 published holds with nothing fitted, "
        "1 shown beside what was measured (not judged: off by -50.0%), 1 fail\n"
    )
    assert "| FAIL | bad |" in head
    assert "good" not in head
    assert "| ok | good |" in rest


def test_numbers_are_told_in_the_units_of_the_claim(capsys: pytest.CaptureFixture[str]) -> None:
    Path("share.csv").write_text("users,busy\n3,4\n")
    Path("told.qps").write_text("""\
users N in 1..20_000
machine box { cpu 1 core }
component work { cpu 1.25 us/packet }
topology { node host = box }
stream flow { source N * 10 packet/s; at host { work; tick }; at host { } }
component tick { delay 2 ms }
require { flow.latency <= 50 ms; host.cpu.load <= 13.13 % }
expect counts { largest_acceptable == 10_504; source "10 * 1.25 us each" }
expect times { 1 ms < flow.latency < 3 ms with N = 1; source "2 ms and 1.25 us" }
expect amounts { flow.latency ~ 2 ms within 0.5 ms with N = 1; source "the same" }
observe runs "share.csv" { users -> N; busy in % -> host.cpu.load; source "us" }
""")
    status, out = run(capsys, "told.qps")
    assert status == 0
    lines = {line.split()[1]: line for line in out.splitlines() if line}
    assert "10,504; 10,504" in lines["counts"]
    assert "1 ms; >= 2.001 ms; 3 ms" in lines["times"]
    assert "500 us" in lines["amounts"]
    assert lines["runs[2].busy"].split()[2:6] == ["4", "%", "0.00375", "%"]
