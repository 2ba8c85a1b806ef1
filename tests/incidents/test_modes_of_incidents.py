"""An incident happens in each mode of a spec, and what it comes to is that in the worst one."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from qps.cli import main

SHOP = """
users shoppers in 1..2_000
param work = 1 in 0..10
param queries = 1 in 0..10
machine vm { cpu 4 core, queueing mmc }
topology { node web = vm * 5; node db = vm * 4 }
component page { cpu 240 ms/request * work }
component query { cpu 180 ms/request * queries }
stream browse for each user { traffic 0.1 request/s; at web { page } }
stream search for each user { traffic 0.05 request/s; at db { query } }
require { browse.p99 <= 50 s }
MODES
incident web_down { lose web for 1 minute }
incident db_down { lose db for 1 minute }
"""
MODES = "mode usual { }; mode sale { work = 2 }; mode night { work = 0.5; queries = 3 }"
WORK = {"usual": (1, 1), "sale": (2, 1), "night": (0.5, 3)}
AT = 350


def _cleared(name: str, mode: str) -> float:
    """What came within 60 s is served by what the servers have left."""
    work, queries = WORK[mode]
    busy = AT * 0.1 * 0.24 * work / 20 if name == "web_down" else AT * 0.05 * 0.18 * queries / 16
    return 60 / (1 - busy)


def _run(tmp_path: Path, capsys: pytest.CaptureFixture[str], modes: str, *more: str) -> str:
    spec = tmp_path / "shop.qps"
    spec.write_text(SHOP.replace("MODES", modes))
    capsys.readouterr()
    main(["incident", str(spec), *more, "--no-advice"])
    found = capsys.readouterr()
    return found.out + found.err


def _incidents(tmp_path: Path, capsys: pytest.CaptureFixture[str], modes: str, *more: str) -> Any:
    text = _run(tmp_path, capsys, modes, "--at", str(AT), "--format", "json", *more)
    return {one["name"]: one for one in json.loads(text)["incidents"]}


@pytest.mark.parametrize(
    ("modes", "is_worst"),
    [
        (MODES, {"web_down": "sale", "db_down": "night"}),
        (f"{MODES}\nsurvive any one of web, db", {"web_down": "sale", "db_down": "night"}),
    ],
)
def test_the_worst_mode_is_the_answer_and_the_others_are_listed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], modes: str, is_worst: dict[str, str]
) -> None:
    for name, one in _incidents(tmp_path, capsys, modes).items():
        assert one["mode"] == is_worst[name]
        assert one["over_at"] == pytest.approx(_cleared(name, one["mode"]), rel=0.02)
        others = {each["mode"]: each["over_at"] for each in one["other_modes"]}
        assert others.keys() == WORK.keys() - {one["mode"]}
        for mode, over_at in others.items():
            assert over_at == pytest.approx(_cleared(name, mode), rel=0.02)
        assert [*others.values()] == sorted(others.values(), reverse=True)


def test_a_mode_that_is_chosen_is_the_only_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = _incidents(tmp_path, capsys, MODES, "--set", "mode=usual")["web_down"]
    assert (one["mode"], one["other_modes"]) == ("usual", [])
    assert one["over_at"] == pytest.approx(_cleared("web_down", "usual"), rel=0.02)


@pytest.mark.parametrize("modes", ["", "mode usual { }", "survive any one of web, db"])
def test_without_several_modes_none_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], modes: str
) -> None:
    one = _incidents(tmp_path, capsys, modes)["web_down"]
    assert (one["mode"], one["other_modes"]) == (None, [])
    assert one["over_at"] == pytest.approx(_cleared("web_down", "usual"), rel=0.02)
    assert "in mode" not in _run(tmp_path, capsys, modes, "--at", str(AT))


def test_modes_are_named_in_words_in_files_and_in_messages(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = _run(tmp_path, capsys, MODES, "web_down", "--at", str(AT))
    assert "350 shoppers in mode sale, 52.5 requests/s" in text
    assert "Other modes  usual: 1" in text
    courses = tmp_path / "courses.csv"
    written = _run(tmp_path, capsys, MODES, "--at", str(AT), "-o", str(courses))
    assert "web_down in mode sale, over: " in written
    with courses.open(encoding="utf-8") as file:
        rows = {(row["incident"], row["mode"]) for row in csv.DictReader(file)}
    assert rows == {("web_down", "sale"), ("db_down", "night")}
    refused = _run(tmp_path, capsys, MODES, "--at", "500")
    assert "is overloaded before the incident: 120 % for 500 shoppers in mode sale" in refused
