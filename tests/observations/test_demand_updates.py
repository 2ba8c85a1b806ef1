"""Specs whose service demands follow new runs, as `qps observe … --into` writes them."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import qps
from qps.cli import main

SPEC = """users N in 1..10_000
# mine: the page
component page { cpu fit "runs.csv" measured on m }
machine m { cpu 4 core, idle fit "runs.csv", queueing mmc }
topology { node web = m }
stream pages for each user { traffic 1 request/s; at web { page } }
"""
NUMBERS = SPEC.replace('fit "runs.csv" measured on m', "4 ms/request").replace(
    'fit "runs.csv"', "5 %"
)


def _runs(path: str, cost: float) -> None:
    draw = random.Random(3)
    rows = [
        f"{users},{10 * users},{5 + 1000 * users * cost / 4 * draw.uniform(0.98, 1.02):.3f},4"
        for users in range(10, 61, 5)
    ]
    text = "users,request/s,cpu in %,cores\n" + "\n".join(rows) + "\n"
    Path(path).write_text(text, encoding="utf-8")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with a spec, its runs, runs like these and others that cost more."""
    monkeypatch.chdir(tmp_path)
    _runs("runs.csv", 0.004)
    _runs("same.csv", 0.00402)
    _runs("more.csv", 0.005)
    Path("s.qps").write_text(SPEC, encoding="utf-8")
    Path("numbers.qps").write_text(NUMBERS, encoding="utf-8")
    return tmp_path


def test_runs_without_drift_change_nothing(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["observe", "same.csv", "-q", "-o", "new.csv", "--into", "s.qps"]) == 0
    assert Path("s.qps").read_text(encoding="utf-8") == SPEC
    assert not Path("new.csv").exists()
    assert "no drift detected" in capsys.readouterr().out


def test_a_spec_is_fitted_to_the_runs_that_drifted(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = qps.load("s.qps").solve().capacity
    assert main(["observe", "more.csv", "-q", "-o", "new.csv", "--into", "s.qps"]) == 0
    text = Path("s.qps").read_text(encoding="utf-8")
    assert text == SPEC.replace("runs.csv", "new.csv")
    assert Path("runs.csv").exists()
    assert "uses new.csv instead of runs.csv" in capsys.readouterr().out
    after = qps.load("s.qps").solve().capacity
    assert before is not None
    assert after is not None
    assert after < 0.85 * before


def test_a_dry_run_writes_neither_spec_nor_table(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    update = ["observe", "more.csv", "-q", "-o", "new.csv", "--into", "s.qps", "--dry-run"]
    assert main(update) == 1
    assert Path("s.qps").read_text(encoding="utf-8") == SPEC
    assert not Path("new.csv").exists()
    assert '+component page { cpu fit "new.csv" measured on m }' in capsys.readouterr().out


def test_numbers_of_the_person_stay_unless_they_are_named(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = Path("numbers.qps")
    update = ["observe", "more.csv", "-q", "--into", "numbers.qps", "-o"]
    assert main([*update, "new.csv"]) == 0
    assert spec.read_text(encoding="utf-8") == NUMBERS
    assert "add `--replace page`" in capsys.readouterr().out
    mine = NUMBERS.replace("4 ms/request }", '4 ms/request; source "a guess" }')
    spec.write_text(mine, encoding="utf-8")
    assert main([*update, "new.csv", "--replace", "page"]) == 0
    text = spec.read_text(encoding="utf-8")
    assert 'cpu 5.001 ms/request +- 1.7 %; source "fit to 11 runs in new.csv" }' in text
    # What was fitted by such an update is updated again.
    assert main(["observe", "same.csv", "-q", "--into", "numbers.qps", "-o", "third.csv"]) == 0
    assert 'source "fit to 11 runs in third.csv"' in spec.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("flags", "reason"),
    [
        (["--into", "s.qps"], "`--into` requires `-o FILE.csv`"),
        (["--into", "s.qps", "-o", "runs.csv"], "`runs.csv` exists"),
        (["--into", "s.qps", "-o", "../elsewhere.csv"], "is outside the folder"),
        (["--dry-run"], "`--dry-run` requires `--into FILE.qps`"),
        (["--into", "absent.qps", "-o", "new.csv"], "absent.qps"),
    ],
)
def test_flags_that_do_not_go_together(
    flags: list[str], reason: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["observe", "more.csv", *flags]) == 2
    assert reason in capsys.readouterr().err
