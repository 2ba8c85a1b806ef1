"""What k6 writes in each of its formats is the same result, and its points are stretches."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from observations.observed_files import observed
from qps.cli import main

K6_TEXT = """
  █ THRESHOLDS

    http_req_duration
    ✓ 'p(95)<1500' p(95)=148.21ms


  █ TOTAL RESULTS

    checks_total.......................: 90      13.122179/s

    CUSTOM
    custom_waiting_time................: avg=152.355556 min=120      med=141      max=684

    HTTP
    http_req_duration.............: avg=90.5ms min=900µs med=1.25s max=1m2.5s p(90)=2s p(99.9)=3s
      { expected_response:true }.......: avg=1ms   min=1ms med=1ms max=1ms p(90)=1ms p(95)=1ms
    http_req_failed....................: 0.50%  1 out of 200
    http_reqs..........................: 200    40.25/s

    EXECUTION
    iteration_duration.................: avg=900ms min=1ms med=800ms max=1m2.5s p(90)=2s p(99.9)=3s
    iterations.........................: 40     8.05/s
    vus................................: 1      min=1       max=7
    vus_max............................: 8      min=8       max=8

    NETWORK
    data_received......................: 378 kB 76 kB/s
    data_sent..........................: 4.9 kB 718 B/s

  █ SCENARIO: left

    HTTP
    http_reqs..........................: 40     7.116111/s
"""
TREND = {"avg": 90.5, "min": 0.9, "med": 1250, "max": 62_500, "p(90)": 2000, "p(99.9)": 3000}
VALUES: dict[str, dict[str, float]] = {
    "http_reqs": {"count": 200, "rate": 40.25},
    "iterations": {"count": 40, "rate": 8.05},
    "iteration_duration": {"avg": 900, "med": 800},
    "vus": {"value": 1, "min": 1, "max": 7},
    "http_req_duration": TREND,
    "http_req_failed": {"rate": 0.005, "passes": 1, "fails": 199},
    "vus_max": {"value": 8, "min": 8, "max": 8},
    "data_received": {"count": 378_000, "rate": 76_000},
}


def machine_readable() -> dict[str, Any]:
    """Return the third form: counts without rates, and how long the test took."""
    counts = {
        "http_reqs": {"count": 402.5},
        "iterations": {"count": 80.5},
        "http_req_failed": {"rate": 0.005},
        "data_received": {"count": 760_000},
    }
    listed = [{"name": name, "values": v} for name, v in (VALUES | counts).items()]
    return {"version": "1.0.0", "config": {"duration": 10}, "results": {"metrics": listed}}


K6_FILES = {
    "printed.txt": K6_TEXT,
    "export.json": json.dumps({"metrics": VALUES | {"http_req_failed": {"value": 0.005}}}),
    "handled.json": json.dumps({"metrics": {k: {"values": v} for k, v in VALUES.items()}}),
    "machine.json": json.dumps(machine_readable()),
}


@pytest.mark.parametrize("name", K6_FILES)
def test_each_format_of_k6_gives_the_same_result(name: str, tmp_path: Path) -> None:
    file = tmp_path / name
    file.write_text(K6_FILES[name], encoding="utf-8")
    [row] = observed("k6", file, folder=tmp_path)
    assert row == {
        "file": str(file),
        "users": "7",
        "users, mean": "7.245",
        "request/s": "40.25",
        "byte/s": "76000",
        "share failed": "0.005",
        "latency mean, ms": "90.5",
        "latency least, ms": "0.9",
        "latency p50, ms": "1250",
        "latency p90, ms": "2000",
        "latency p99.9, ms": "3000",
        "latency longest, ms": "62500",
    }


def k6_points(kind: str) -> str:
    """Return points as k6 writes them: three requests in each of four seconds, one fails."""
    points = []
    for second in range(4):
        moment = 1_795_419_820 + second
        points.append(("vus", moment, 5 + second))
        for number in range(3):
            points.append(("http_req_duration", moment, 10 * (number + 1)))
            points.append(("http_req_failed", moment, int(number == second == 1)))
        points.append(("data_received", moment, 3000))
        points.append(("iterations", moment, 1))
    if kind == "csv":
        head = "metric_name,timestamp,metric_value,check,error,extra_tags\n"
        return head + "".join(f"{name},{at},{value:.6f},,,\n" for name, at, value in points)
    lines = ['{"type":"Metric","data":{"type":"gauge","contains":"default"},"metric":"vus"}']
    for name, at, value in points:
        clock = datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%S.123456789Z")
        data = {"time": clock, "value": value, "tags": {"status": "200"}}
        lines.append(json.dumps({"type": "Point", "data": data, "metric": name}))
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("kind", ["csv", "json"])
def test_points_of_k6_are_rows_of_stretches(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / f"run.{kind}"
    file.write_text(k6_points(kind)[:-3], encoding="utf-8")  # as it stands when k6 is ended
    rows = observed("k6", file, "--window", "1s", folder=tmp_path)
    assert "more than 1 % failed" in capsys.readouterr().err
    values = [(row["time"], row["users"], row["request/s"], row["byte/s"]) for row in rows]
    assert values == [
        ("2026-11-23T07:43:41.000Z", "6", "3", "3000"),
        ("2026-11-23T07:43:42.000Z", "7", "3", "3000"),
    ]
    assert [row["share failed"] for row in rows] == ["0.333333333", "0"]
    assert rows[0]["latency mean, ms"] == "20"
    # The whole of it: four seconds are touched, else it is from when the first began.
    [row] = observed("k6", file, folder=tmp_path)
    assert ("has times in whole seconds" in capsys.readouterr().err) == (kind == "csv")
    seconds = 3 if kind == "csv" else 3.03
    assert float(row["request/s"]) == pytest.approx(12 / seconds)
    assert row["users"] == "8"


def test_a_summary_has_no_stretches(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "run.txt"
    file.write_text(K6_TEXT, encoding="utf-8")
    assert main(["observe", "k6", str(file), "--window", "1s"]) == 2
    assert "is a k6 summary of a whole run, without times" in capsys.readouterr().err
