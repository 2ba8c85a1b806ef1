"""Courses that are not followed to their end: what is counted until then is no final number."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from qps.cli import main

API = """
users rps in 1..2_000
machine vm { cpu 4 core, queueing mmc }
component query { cpu 10 ms/request }
topology { node db = vm }
stream ask for each user { traffic 1 request/s; at db { query } }
require { ask.p99 <= 500 ms }
retry ask { timeout 1 s; retries 2 }
incident down { lose db for 5 minute }
"""
RATE, CAPACITY, DOWN = 360, 400, 300


@pytest.fixture
def path(tmp_path: Path) -> str:
    found = tmp_path / "api.qps"
    found.write_text(API)
    return str(found)


def test_lost_requests_of_a_long_course_are_a_lower_bound(
    path: str, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["incident", path, "down", "--at", f"{RATE}"]
    assert main([*arguments, "--format", "json"]) == 1
    (incident,) = json.loads(capsys.readouterr().out)["incidents"]
    found = {one["change"]: one for one in incident["mitigations"]}
    without = found["no_retries"]
    # The backlog of 5 minutes is cleared by what is left of the capacity; those who wait for
    # longer than a second are lost.
    over = DOWN * CAPACITY / (CAPACITY - RATE)
    assert without["over_at"] == pytest.approx(over, rel=0.01)
    assert without["is_extrapolated"]
    assert without["counted_until"] < over
    assert without["lost"] == pytest.approx(RATE * without["counted_until"], rel=0.01)
    assert main(arguments) == 1
    text = " ".join(capsys.readouterr().out.split())
    lost = float(f"{without['lost']:.3g}")
    assert f"≥ {lost:,.0f}" in text
    assert "counted until 41.7 minutes; more follow" in text


def test_a_backlog_that_grows_without_end_has_no_maximum(
    path: str, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["incident", path, "down", "--at", f"{RATE}"]
    assert main([*arguments, "--format", "json"]) == 1
    (incident,) = json.loads(capsys.readouterr().out)["incidents"]
    assert not incident["returns"]
    (backlog,) = incident["backlogs"]
    assert backlog["is_growing"]
    assert main(arguments) == 1
    text = " ".join(capsys.readouterr().out.split())
    assert "still growing at" in text
    assert "up to 18" not in text
    # One that is cleared has a largest one.
    assert main(["incident", path, "down", "--at", "100", "--format", "json"]) == 0
    (incident,) = json.loads(capsys.readouterr().out)["incidents"]
    assert [one["is_growing"] for one in incident["backlogs"]] == [False]
