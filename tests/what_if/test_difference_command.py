"""`qps diff`: revisions, thresholds, texts and claims of two specs."""

from __future__ import annotations

import json
import subprocess
from fractions import Fraction
from math import floor
from pathlib import Path

import pytest

from qps.cli import main
from what_if.difference_specs import BASE

WAITING = """users N in 1..1000
param work = {work} ms/request
machine box {{ cpu 1 core, queueing mg1 cv 2 }}
component answer {{ cpu work }}
topology {{ node host = box }}
stream ask for each user {{ traffic 1 request/s; at host {{ answer }} }}
require {{ quantile(ask.latency, 99 %) <= 30 ms }}
"""


def test_less_than_the_model_error_is_no_difference(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = []
    for work in (1, 1.02, 1.5):
        files.append(str(tmp_path / f"{work}.qps"))
        Path(files[-1]).write_text(WAITING.format(work=work))
    assert main(["diff", *files[:2], "--fail-on", "worse"]) == 0
    out = capsys.readouterr().out
    # The quantile is within 10 %: 2 % more work moves it by less at either capacity.
    assert "Capacity     ~ 615 -> ~ 595 users (unchanged within the model error)\n" in out
    assert "work: 1 -> 1.02 ms/request (no effect, within the model error)\n" in out
    assert main(["diff", *files[:2], "--fail-on", "capacity -3 %"]) == 1
    assert main(["diff", files[0], files[2], "--fail-on", "worse"]) == 1
    assert "~ 615 -> ~ 286 users (-329, -53.5 %)" in capsys.readouterr().out


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository whose spec, and the module that it uses, have changed since the commit."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "specs"
    (folder / "parts").mkdir(parents=True)
    module = "machine box { cpu 2 core }\n"
    text = 'use "parts/hardware.qps" as hw\n' + BASE.format(work=10, pace=1).replace(
        "machine box { cpu 1 core }\n", ""
    ).replace("= box", "= hw.box")
    (folder / "app.qps").write_text(text)
    (folder / "parts" / "hardware.qps").write_text(module)

    def git(*arguments: str) -> None:
        subprocess.run(["git", *arguments], cwd=tmp_path, check=True, capture_output=True)

    git("init", "-q", "-b", "main")
    git("config", "user.email", "a@example.org")
    git("config", "user.name", "a")
    git("add", ".")
    git("commit", "-q", "-m", "first")
    (folder / "parts" / "hardware.qps").write_text(module.replace("2 core", "4 core"))
    return tmp_path


def test_a_revision_of_git(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", "main:specs/app.qps", "specs/app.qps", "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["schema"] == "qps/diff/7"
    assert found["users"] == 200
    assert [change["name"] for change in found["changes"]] == ["host.cpu.cores"]
    assert found["before"]["file"] == "main:specs/app.qps"


def test_worse_fails_where_it_is_requested(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = ["specs/app.qps", "main:specs/app.qps"]
    assert main(["diff", *files]) == 0
    assert main(["diff", *files, "--fail-on", "worse"]) == 1
    assert main(["diff", *reversed(files), "--fail-on", "worse"]) == 0
    assert "400 -> 200 users (-200, -50 %)" in capsys.readouterr().out
    assert main(["diff", *files, "--fail-on", "capacity -50 %"]) == 1
    assert "fails: capacity falls from 400 to 200 users (-200, -50 %)" in capsys.readouterr().err
    assert main(["diff", *files, "--fail-on", "capacity -51 %", "--fail-on", "cost +1 %"]) == 0
    assert main(["diff", *files, "--fail-on", "better"]) == 2


@pytest.mark.parametrize(
    ("old", "message"),
    [
        ("nix:specs/app.qps", "unknown git revision `nix`"),
        ("--output=x:specs/app.qps", "required"),
        ("main:specs/nope.qps", "`specs/nope.qps` does not exist at `main`"),
        ("main:/etc/passwd", "unknown git revision `main`"),
        ("nowhere.qps", "does not exist"),
    ],
)
def test_what_cannot_be_compared(
    repository: Path, old: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["diff", old, "specs/app.qps"]) == 2
    assert message in capsys.readouterr().err
    assert not (repository / "x").exists()


def test_many_users_are_reported_to_the_last_so_that_parts_add_up(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, pace, work in (("old", 1, 7), ("new", 2, 9)):
        text = BASE.format(work=work, pace=pace).replace("ms/packet", "ns/packet")
        text = "target cpu 75 %\n" + text.replace("1..1000", "1..1_000_000_000")
        (tmp_path / f"{name}.qps").write_text(text)
    main(["diff", str(tmp_path / "old.qps"), str(tmp_path / "new.qps")])
    out = capsys.readouterr().out
    # 0.75 / 7 ns, 0.75 / 18 ns
    assert "Capacity     107,142,857 -> 41,666,666 users (-65,476,191, -61.1 %)" in out
    rows = [line.split() for line in out.splitlines() if line.startswith(("  pace", "  work"))]
    steps = [int(row[-2].replace(",", "")) for row in rows]
    assert sum(steps) == 41_666_666 - 107_142_857
    shares = [float(row[-1].replace(",", "")) for row in rows]
    assert sum(shares) == pytest.approx(sum(steps), abs=0.1)
    assert "host CPU at 75 % (target)" in out


@pytest.mark.parametrize("work", ["0.067", "0.0683", "0.0011"])
def test_populations_are_whole_and_rounded_down_alike(
    work: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [tmp_path / "old.qps", tmp_path / "new.qps"]
    for file, cost in zip(files, ("7", work), strict=True):
        text = BASE.format(work=cost, pace=1).replace("1..1000", "1..10_000_000")
        file.write_text(text, encoding="utf-8")
    whole = f"{floor(1000 / Fraction(work)):,}"
    main(["diff", *map(str, files)])
    (row,) = (row for row in capsys.readouterr().out.splitlines() if "  host CPU at 100 %" in row)
    assert row.split()[-2:] == ["142", whole]
    for options, heading in (
        ([], "Saturates at"),
        (["--all"], "first to saturate: host CPU, above"),
    ):
        main(["solve", str(files[1]), "--no-advice", *options])
        out = capsys.readouterr().out
        assert heading in out
        assert f" {whole} " in out.replace(".", " ")


def test_the_text(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["diff", "main:specs/app.qps", "specs/app.qps"])
    assert (
        capsys.readouterr().out
        == """\
main:specs/app.qps -> specs/app.qps

  Capacity     200 -> 400 users (+200, +100 %)
  Bottleneck   host CPU (unchanged)
  Change       host.cpu.cores: 2 -> 4 (+200 users)

  Limit              Before  After
  host CPU at 100 %     200    400
"""
    )


def test_expressions_written_alike_show_their_values(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = BASE.format(work=10, pace=1).replace("10 ms/packet", "slow(10 ms/packet)")
    for name, factor in (("a", 2), ("b", 3)):
        (tmp_path / f"{name}.qps").write_text(f"{text}func slow(x) = {factor} * x\n")
    main(["diff", str(tmp_path / "a.qps"), str(tmp_path / "b.qps")])
    row = " ".join(capsys.readouterr().out.split())
    assert "(20 ms/packet)" in row
    assert "(30 ms/packet)" in row


def test_another_way_of_waiting_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = """users N in 1..100
machine box { cpu 1 core, queueing mm1 }
network wire { rate 1 Mbit/s; queueing mm1 }
component work { cpu 1 ms/packet }
topology { node host = box; node far = box; link lan = wire between host, far }
stream flow { traffic N * 1 packet/s, 100 byte/packet; at host { work }; at far { work } }
"""
    needs = "require { flow.latency <= 2.2 ms + 0.8 ms }\n"
    other = text.replace("core, queueing mm1", "core, queueing mg1 cv 2")
    other = other.replace("Mbit/s; queueing mm1", "Mbit/s")
    for name, written in (("a", text), ("b", other), ("c", text + needs), ("d", other + needs)):
        (tmp_path / f"{name}.qps").write_text(written)
    for old, new in (("a", "b"), ("c", "d")):
        main(["diff", str(tmp_path / f"{old}.qps"), str(tmp_path / f"{new}.qps")])
        out = capsys.readouterr().out
        text = " ".join(out.split())
        assert "host.cpu.queueing: mm1 -> mg1 cv 2 (part of other model changes)" in text
        assert "lan.queueing: mm1 -> none (part of other model changes)" in text
        assert "half-way" not in out


CLAIMS = """
expect most { largest_acceptable >= 90; source "us" }
expect few { largest_acceptable <= 80; source "us" }
expect still { largest_acceptable >= 1; source "us" }
"""


def test_claims_that_fail_now_and_that_hold_now_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old, new = tmp_path / "old.qps", tmp_path / "new.qps"
    old.write_text(BASE.format(work=1, pace=10) + CLAIMS, encoding="utf-8")
    new.write_text(
        BASE.format(work=2, pace=10)
        + CLAIMS.replace("still", "later")
        + 'expect fresh { largest_acceptable >= 60; source "us" }\n',
        encoding="utf-8",
    )
    words = ["diff", str(old), str(new), "--format", "json"]
    assert main([*words, "--fail-on", "worse"]) == 1
    output = json.loads(capsys.readouterr().out)["claims"]
    names = {kind: [one["name"] for one in output[kind]] for kind in ("now_fail", "now_hold")}
    assert names == {"now_fail": ["most", "fresh"], "now_hold": ["few"]}
    assert [(one["name"], one["before"], one["after"]) for one in output["others"]] == [
        ("later", None, "holds"),
        ("still", "holds", None),
    ]
    assert main(["diff", str(new), str(old), "--fail-on", "worse"]) == 1  # `few` fails again
    assert "Newly failing" in capsys.readouterr().out
    assert main([*words, "--no-claims"]) == 0
    assert json.loads(capsys.readouterr().out)["claims"] is None
