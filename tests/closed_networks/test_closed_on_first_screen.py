"""Throughput and response time of a closed population, in the first lines of `qps solve`."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from qps.cli import main

SPEC = """
users N in 50..50
machine server { cpu 1 core, queueing mm1 }
component work { cpu 10 ms/request }
topology { node web = server }
stream page for each user { traffic 1 request, 1 byte/request, think 1 s; at web { work } }
"""


@pytest.mark.parametrize("arguments", [[], ["--all"]])
def test_a_closed_population_states_throughput_and_response_time(
    arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = tmp_path / "site.qps"
    spec.write_text(SPEC, encoding="utf-8")
    assert main(["solve", str(spec), "--format", "json"]) in (0, None)
    (closed,) = json.loads(capsys.readouterr().out)["closed"]
    assert closed["rate"] == pytest.approx(50 / (1 + closed["latency"]))  # the response time law
    main(["solve", str(spec), *arguments])
    shown = " ".join(capsys.readouterr().out.split())
    found = re.search(
        r"(?:Throughput page|Closed load page\b.*?throughput) ([\d.]+) requests/s", shown
    )
    assert found is not None
    assert float(found[1]) == pytest.approx(closed["rate"], rel=1e-3)
    assert re.search(r"response time ([\d.]+) ms", shown) is not None


def test_open_traffic_has_no_such_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec = tmp_path / "site.qps"
    spec.write_text(
        SPEC.replace("1 request, 1 byte/request, think 1 s", "1 request/s, 1 byte/request")
    )
    main(["solve", str(spec)])
    assert "Throughput" not in capsys.readouterr().out
