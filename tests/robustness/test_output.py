"""What reaches the screen: nothing that drives it, and a loss of it is told; inputs stay."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from unicodedata import category

import pytest

from qps.cli import main

ROOT = Path(__file__).parents[2]
EVIL = "\x1b]0;owned\x07\x1b[31m\u202e\u2066\x9b2J\x08\u200f\u2028"
SPEC = f"""\"\"\"Title {EVIL}\"\"\"
users N in 1..50
machine box {{ cpu 1 core; source "box {EVIL}" }}
component work {{ cpu 10 ms/packet; source "work {EVIL}" }}
param pace = 1 packet/s source "pace {EVIL}"
option o = on
\"\"\"place {EVIL}\"\"\"
topology {{ node host = box }}
stream flow {{ traffic N * pace; at host {{ work }} }}
\"\"\"measured {EVIL}\"\"\"
measure m = flow.latency * 2
require {{ m <= 30 ms }}
scenario quick {{ pace = 4 packet/s }}
matrix all "matrix {EVIL}" {{ o in [on, off]; note "note {EVIL}"; source "s {EVIL}" }}
figure f "figure {EVIL}" {{ over N in 1..9; line "l {EVIL}" m; note "n {EVIL}"; source "{EVIL}" }}
expect e "claim {EVIL}" {{ m <= 1 ms with N = 3; note "note {EVIL}"; source "source {EVIL}" }}
observe runs "runs.csv" {{ N -> N; "late {EVIL[:-1]}" in ms -> m; source "lab {EVIL}" }}
"""
WRONG = SPEC + f'expect e {{ m == nothing; source "x{EVIL}" }} # {EVIL}\n'
COMMANDS = [
    ["check", "evil.qps"],
    ["check", "wrong.qps"],
    ["check", "wrong.qps", "--color", "always"],
    ["solve", "evil.qps"],
    ["solve", "evil.qps", "--for", "pace", "--users", "N = 5"],
    ["solve", "evil.qps", "--users", "5"],
    ["explain", "evil.qps", "f"],
    ["explain", "evil.qps", "m"],
    ["explain", "evil.qps", "host.cpu"],
    ["explain", "evil.qps", f"no{EVIL}"],
    ["test", "evil.qps"],
    ["matrix", "evil.qps"],
    ["report", "evil.qps", "-o", "page.html"],
    ["fit", "costs.csv", "--cores", "1"],
    ["fmt", "--check", f"evil{EVIL.replace('/', '')}.qps"],
    ["diff", "evil.qps", "other.qps"],
    ["trace", "trace.csv", "--period", "20ms"],
    ["new", f"x{EVIL}"],
    ["solve", "evil.qps", "--set", f"pace{EVIL}=3"],
    [f"command{EVIL}"],
]
FORMATS = {
    "check": ("plain", "json"),
    "solve": ("json", "markdown"),
    "explain": ("json", "markdown"),
    "test": ("json", "markdown", "junit", "github"),
    "matrix": ("json", "csv", "markdown"),
    "fit": ("json", "markdown"),
    "diff": ("json", "markdown"),
    "trace": ("json", "markdown"),
}
REQUESTED = [
    [*command, *shown]
    for command in COMMANDS
    for shown in ([], *(["--format", word] for word in FORMATS.get(command[0], ())))
]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("evil.qps").write_text(SPEC, encoding="utf-8")
    Path("other.qps").write_text(
        SPEC.replace("10 ms", "20 ms").replace("Title", "Other"), encoding="utf-8"
    )
    Path(f"evil{EVIL}.qps").write_text(SPEC, encoding="utf-8")
    Path("wide.qps").write_text("param   a = 1\n", encoding="utf-8")
    Path("wrong.qps").write_text(WRONG, encoding="utf-8")
    Path("runs.csv").write_text(f'N,"late {EVIL[:-1]}"\n3,20\n', encoding="utf-8")
    Path("costs.csv").write_text(
        f"cpu in %,request/s,run {EVIL}\n10,100,a{EVIL}\n20,200,b\n31,300,c\n", encoding="utf-8"
    )
    Path("trace.csv").write_text("time, ms\n0\n20\n41\n60\n", encoding="utf-8")
    return tmp_path


def _drives(text: str) -> set[str]:
    return {c for c in text if c != "\n" and category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp")}


@pytest.mark.parametrize("command", REQUESTED, ids=lambda command: ascii(" ".join(command))[:60])
def test_no_text_drives_the_screen(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(command) in (0, 1, 2)
    output = capsys.readouterr()
    shown = output.err
    if "--color" in command:
        for color in ("1;31", "1;33", "1;34", "1;36", "1", "0"):
            shown = shown.replace(f"\x1b[{color}m", "")
    assert _drives(output.out) | _drives(shown) == set()
    if command[-1] == "json" and output.out:
        json.loads(output.out)


def test_json_keeps_the_value(capsys: pytest.CaptureFixture[str]) -> None:
    main(["test", "evil.qps", "--format", "json"])
    output = json.loads(capsys.readouterr().out)
    assert any(entry["source"] == f"source {EVIL}" for entry in output["expectations"])


def test_json_files_are_escaped() -> None:
    assert main(["matrix", "evil.qps", "-o", "rows.json", "-q"]) == 0
    text = Path("rows.json").read_text(encoding="utf-8")
    assert _drives(text) == set()
    assert json.loads(text)["schema"] == "qps/matrix/5"


PRINTING = [
    ["check", "evil.qps", "--format", "json"],
    ["solve", "evil.qps"],
    ["explain", "evil.qps", "m"],
    ["explain", "QPS0301"],
    ["test", "evil.qps"],
    ["matrix", "evil.qps"],
    ["fit", "costs.csv", "--cores", "1"],
    ["fmt", "wide.qps"],
    ["diff", "evil.qps", "other.qps"],
    ["trace", "trace.csv", "--period", "20ms"],
    ["report", "evil.qps", "-o", "page.html"],
    ["--help"],
    ["--version"],
]


@pytest.mark.parametrize("command", PRINTING, ids=" ".join)
@pytest.mark.parametrize("where", ["> /dev/full", ">&-"])
def test_a_screen_that_is_lost_is_reported_in_one_line(command: list[str], where: str) -> None:
    done = subprocess.run(
        ["bash", "-c", f'"$0" -m qps "$@" {where}', sys.executable, *command],
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
    )
    lines = done.stderr.splitlines()
    assert done.returncode == 2, done.stderr
    lost = re.compile("qps: .*standard output")
    assert [line for line in lines if lost.match(line)] == [lines[-1]]
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr


def test_without_standard_error_the_answer_is_the_same() -> None:
    done = subprocess.run(
        ["bash", "-c", '"$0" -m qps "$@" 2>&-', sys.executable, "check", "wrong.qps"],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
    )
    assert (done.returncode, done.stdout) == (2, "")


@pytest.mark.parametrize(
    "command",
    [
        ["report", "spec.html", "-o", "spec.html"],
        ["report", "spec.html"],
        ["report", "evil.qps", "spec.html", "-o", "spec.html"],
        ["report", "spec.html", "--figure", "f", "-o", "./spec.html"],
        ["report", "spec.html", "-o", "link.html"],
        ["diff", "evil.qps", "spec.html", "-o", "spec.html"],
        ["diff", "spec.html", "evil.qps", "-o", "spec.html"],
        ["matrix", "spec.html", "-o", "spec.html"],
        ["matrix", "evil.qps", "-o", "runs.csv"],
    ],
    ids=" ".join,
)
def test_nothing_that_is_read_is_written_over(
    command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    Path("spec.html").write_text(SPEC, encoding="utf-8")
    Path("link.html").symlink_to("spec.html")
    runs = Path("runs.csv").read_bytes()
    assert main(command) == 2
    assert "would overwrite the input file" in capsys.readouterr().err
    assert Path("spec.html").read_text(encoding="utf-8") == SPEC
    assert Path("runs.csv").read_bytes() == runs
