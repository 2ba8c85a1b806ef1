"""Percentiles in one line: `measure page.latency p50, p95, p99`, and columns of a matrix."""

from __future__ import annotations

import json
from math import log
from pathlib import Path

import pytest

from helpers.renaming import plain, renamed
from helpers.specs import lowered
from qps.cli import main
from qps.compiler.diagnostics.source import Source
from qps.compiler.examination import examine
from qps.compiler.pipeline import check_source
from qps.compiler.syntax.format import formatted

SPEC = """"A page."
users N in 50..50
machine server { cpu 1 core, queueing mm1 }
param cost = 10 ms/request in 1..20 ms/request
component work { cpu cost }
topology { node web = server }
stream page for each user { traffic 0.5 request/s; at web { work } }
require { page.p99 <= 100 ms }
measure busy = web.cpu.utilization
measure page.latency p50, p95, p99
measure web.cpu.wait p50, p99_9 source "we want to know"
matrix speeds {
  cost in [ 10, 5 ms/request ]
  column page.latency p50, p99
  column busy = web.cpu.utilization
  at N = 50
  order by page.p50 descending
}
""".replace('"A page."', '"""A page."""')
TIME_CONSTANT = 0.010 / (1 - 0.25)
"""Mean response time at 50 users: an M/M/1 queue at 25 %, in s."""


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    """Write the spec, and return its path."""
    path = tmp_path / "site.qps"
    path.write_text(SPEC, encoding="utf-8")
    return path


def test_percentiles_of_a_list_are_one_row(spec: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["solve", str(spec), "--no-advice"]) == 0
    printed = capsys.readouterr().out
    assert "page latency  p50 9.242 · p95 39.94 · p99 61.4 ms" in printed
    assert "p50 0 s · p99.9 73.6" in printed


def test_identifiers_of_a_list_stand_behind_its_row(
    spec: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["solve", str(spec), "--no-advice", "--all"]) == 0
    assert "page.latency p50, p95, p99" in capsys.readouterr().out


def test_each_percentile_is_a_measure_of_its_own_name(
    spec: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["solve", str(spec), "--format", "json", "--no-advice"]) == 0
    found = {one["name"]: one["value"] for one in json.loads(capsys.readouterr().out)["measures"]}
    names = ["busy", "page.p50", "page.p95", "page.p99", "web.cpu.wait.p50", "web.cpu.wait.p99_9"]
    assert list(found) == names
    assert found["page.p95"] == pytest.approx(TIME_CONSTANT * log(20), rel=1e-9)
    assert found["web.cpu.wait.p50"] == 0
    assert found["web.cpu.wait.p99_9"] == pytest.approx(TIME_CONSTANT * log(250), rel=1e-9)


def test_percentiles_are_columns_of_a_matrix(
    spec: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["matrix", str(spec), "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [row["page.p50"] for row in rows] == pytest.approx(
        [TIME_CONSTANT * log(2), 0.005 / (1 - 0.125) * log(2)], rel=1e-9
    )


def test_columns_stand_in_the_order_of_the_spec(
    spec: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["matrix", str(spec)]) == 0
    heading = next(
        line for line in capsys.readouterr().out.splitlines() if "page.p50" in line
    ).split()
    assert heading.index("page.p99") == heading.index("page.p50") + 1 < heading.index("busy")


def test_a_list_for_streams_of_kinds_is_one_for_each() -> None:
    text = (
        SPEC.partition("matrix")[0]
        .replace("users N in 50..50", "users N in 50..50\nkinds region { us 60 %; eu 40 % }")
        .replace("stream page for each user {", "stream page in all in each region {")
        .replace("0.5 request/s", "N * 0.5 request/s")
        .replace("require { page.p99 <= 100 ms }", "require { page.us.p99 <= 100 ms }")
    )
    measured = list(lowered(text).measures)
    assert measured[1:4] == ["page.us.p50", "page.us.p95", "page.us.p99"], measured
    assert measured[4:7] == ["page.eu.p50", "page.eu.p95", "page.eu.p99"]


def test_all_names_in_a_list_can_be_others() -> None:
    source = Source("site.qps", SPEC)
    examined = examine(source)
    assert examined.spec is not None
    assert not examined.bindings.unresolved
    checked = check_source(renamed(source, examined.bindings))
    assert checked.value is not None
    assert plain(checked.value.model) == plain(examined.spec.model)


def test_lists_are_laid_out_as_they_are() -> None:
    assert formatted(Source("site.qps", SPEC)).value == SPEC
