"""From the summary of a single run and a CPU table to a service demand, by what errors propose."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path

import pytest

from qps.cli import main

SUMMARY = Path(__file__).parents[1] / "observed" / "k6_summary.json"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with a summary, in which files have short names."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(SUMMARY, "k6.json")
    return tmp_path


def test_a_summary_that_has_no_time_is_joined_by_users(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "cpu.csv").write_text("time,cpu_percent\n2026-11-20 10:00:00,31\n", encoding="utf-8")
    assert main(["observe", "k6.json", "cpu.csv"]) == 2
    assert "as a table `users,CPU (%)`" in capsys.readouterr().err


def test_one_run_has_a_single_demand(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "cpu.csv").write_text("users,CPU (%)\n3,32.1\n", encoding="utf-8")
    assert main(["observe", "k6.json", "cpu.csv", "-o", "runs.csv"]) == 0
    assert main(["fit", "runs.csv", "--cores", "4"]) == 2
    proposed = capsys.readouterr().err.rpartition("`qps ")[2].partition("`")[0]
    assert main(shlex.split(proposed)) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "request/s 25.32 ±" in shown  # 0.321 of 4 cores at 50.7 requests/s
    assert "unused columns: byte/s" in shown
    assert "looks like a rate" not in shown
