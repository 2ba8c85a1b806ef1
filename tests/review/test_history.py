"""`qps history`: what a spec answered since when, along first parents and through renames."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import jsonschema
import pytest

from processes.repositories import made_once, work_in_a_copy
from qps.cli import main

ROOT = Path(__file__).parents[2]
MODULE = "machine box { cpu 1 core }\nparam each = 1 ms/packet\n"
SPEC = """\
use "hw.qps" as hw
users calls in 1..900
component work { cpu hw.each }
topology { node host = hw.box }
stream flow { traffic calls * 10 packet/s; at host { work } }
"""
OWN = {
    **{f"GIT_{who}_{what}": "a" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
    "GIT_COMMITTER_DATE": "2026-03-04T12:00:00Z",
}


def git(*arguments: str) -> None:
    subprocess.run(["git", *arguments], check=True, capture_output=True, env=os.environ | OWN)


def commit(subject: str, **texts: str | None) -> None:
    for name, text in texts.items():
        path = Path(f"{name}.qps")
        path.unlink() if text is None else path.write_text(text, encoding="utf-8")
    git("add", "-A")
    git("-c", "commit.gpgsign=false", "commit", "-q", "--allow-empty", "-m", subject)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_once(_make, tmp_path_factory)


@pytest.fixture(autouse=True)
def past(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in a repository with a past: 100, 50 by its module, broken, 25 under another name."""
    work_in_a_copy(made, tmp_path, monkeypatch)


def _make() -> None:
    git("init", "-q", "-b", "main")
    commit("first", old=SPEC, hw=MODULE)
    commit("nothing of it", other=MODULE)
    commit("the module", hw=MODULE.replace("1 ms", "2 ms"))
    git("checkout", "-qb", "side")
    commit("aside", old=SPEC.replace("10 packet", "99 packet"))
    commit("broken", old=SPEC.replace("work }", "wrk }"))
    git("checkout", "-q", "main")
    git("-c", "commit.gpgsign=false", "merge", "-q", "--no-ff", "-m", "a branch", "side")
    Path("old.qps").rename("ü, new.qps")
    commit(
        "\x02<script>alert(1)</script> [x](http://e) \x1b[2J",
        **{"ü, new": SPEC.replace("10 packet", "20 packet")},
    )


def reported(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    main(["history", "ü, new.qps", "--format", "json", *words])
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    schema = (ROOT / "docs" / "schemas" / "history.schema.json").read_text(encoding="utf-8")
    jsonschema.validate(found, json.loads(schema))
    return found


def test_it_goes_back_along_first_parents_and_through_renames(
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = reported(capsys)
    points = [(p["file"], p["state"], p["users"]) for p in found["points"]]
    assert points == [
        ("old.qps", "answers", 100),
        ("old.qps", "answers", 50),
        ("old.qps", "mistakes", None),
        ("ü, new.qps", "answers", 25),
    ]
    assert found["is_whole"]
    assert found["population"] == "calls"
    assert "wrk" in found["points"][2]["reason"]
    assert [p["subject"] for p in found["points"]][:3] == ["first", "the module", "a branch"]


def test_it_is_bounded_and_begins_where_it_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    found = reported(capsys, "--most", "2")
    assert [p["users"] for p in found["points"]] == [None, 25]
    assert not found["is_whole"]
    assert main(["history", "old.qps", "--from", "HEAD~2"]) == 0
    out = capsys.readouterr().out
    assert "Capacity     50 calls, -50 since 2026-03-04" in out
    assert re.search(r"2026-03-04 +\w{10} +50 +-50 +host.cpu.utilization +the module", out)


def test_its_capacity_is_the_one_that_solve_prints(capsys: pytest.CaptureFixture[str]) -> None:
    commit("uncertain", hw=MODULE.replace("each = 1 ms/packet", "each = 1 ms/packet +- 20 %"))
    assert main(["solve", "ü, new.qps", "--no-advice"]) == 0
    capacity = re.search(r"Capacity +(\d+) calls at 95 % confidence", capsys.readouterr().out)
    assert capacity is not None
    newest = reported(capsys)["points"][-1]
    assert (newest["users"], newest["confidence"]) == (int(capacity[1]), 0.95)
    assert newest["nominal_users"] == 50 > newest["users"]
    assert main(["history", "ü, new.qps", "--limit", "1"]) == 0
    out = capsys.readouterr().out
    assert f"Capacity     {capacity[1]} calls at 95 % confidence, the only result" in out
    assert re.search(rf"2026-03-04  \w{{10}} +{capacity[1]} +50 +host CPU +uncertain", out)


def test_pictures_hold_no_text_of_a_stranger_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("h.svg", "h.html"):
        assert main(["history", "ü, new.qps", "-o", name]) == 0
        text = Path(name).read_text(encoding="utf-8")
        assert "<script>" not in text
        assert "\x1b" not in text
        assert "&lt;script&gt;" in text
    picture = ET.parse("h.svg").getroot()
    assert len(picture.findall("{*}circle")) == 3
    assert sum("✗" in (one.text or "") for one in picture.findall("{*}text")) == 1
    assert "default-src 'none'" in Path("h.html").read_text(encoding="utf-8")
    assert "\x1b" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["gone.qps"], "`gone.qps` does not exist at `HEAD`"),
        (["ü, new.qps", "--from", "nowhere"], "unknown git revision `nowhere`"),
        (["ü, new.qps", "--limit", "0"], "`--limit` must be at least 1"),
        (["ü, new.qps", "-o", "h.pdf"], "cannot draw to"),
        (["/none/such.qps"], "is not in a git repository"),
    ],
)
def test_what_cannot_be_decided(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["history", *words]) == 2
    assert said in capsys.readouterr().err
