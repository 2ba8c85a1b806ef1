"""What published result files showed (laboratory/questions/result_files.md), in small files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from qps.compiler.measurement.measured_tables import DataError
from qps.compiler.measurement.observations.file_texts import FileReading
from qps.compiler.measurement.observations.observed_runs import ObservedRuns
from qps.compiler.measurement.observations.recognized_files import recognized_files

OHA = """Summary:
  Success rate: {rate}
  Total:        {total}
  Slowest:      {slowest}
  Fastest:      0.0100 {unit}
  Average:      0.0500 {unit}
  Requests/sec: 20.0000

  Total data:   2.00 MiB
  Size/request: 10.24 KiB
  Size/sec:     204.80 KiB

Response time histogram:
  0.010 [1]   |
  0.500 [199] |■■■■■■

{title} distribution:
  {fifty} in 0.0400 {unit}
  {tail} in 0.2000 {unit}

Details (average, fastest, slowest):
  DNS+dialup:   0.0010 {unit}, 0.0010 {unit}, 0.0010 {unit}

Status code distribution:
  [200] 150 responses
  [503] 40 responses

Error distribution:
  [10] connection error: refused
  [4] aborted due to deadline
"""
FORMER = {"rate": "1.0000", "total": "10.0000 secs", "slowest": "0.5000 secs", "unit": "secs"}
FORMER |= {"title": "Latency", "fifty": "50%", "tail": "99%"}
LATER = {"rate": "95.00%", "total": "10000.0 ms", "slowest": "500.0 ms", "unit": "sec"}
LATER |= {"title": "Response time", "fifty": "50.00%", "tail": "99.00%"}


def _observed(text: str, folder: Path, *columns: str) -> ObservedRuns:
    path = folder / "run.txt"
    path.write_text(text, encoding="utf-8")
    return recognized_files([path], FileReading(column=columns))


def _row(found: ObservedRuns) -> dict[str, str]:
    (row,) = found.rows
    return dict(zip(found.headings, row, strict=True))


@pytest.mark.parametrize("layout", [FORMER, LATER], ids=["former", "later"])
def test_what_oha_prints_is_read(layout: dict[str, str], tmp_path: Path) -> None:
    found = _observed(OHA.format(**layout), tmp_path)
    row = _row(found)
    assert float(row["request/s"]) == pytest.approx(20)
    assert float(row["byte/s"]) == pytest.approx(2 * 1024**2 / 10)
    assert float(row["share failed"]) == pytest.approx((40 + 10) / 200)
    kinds = ("mean", "least", "p50", "p99", "longest")
    assert [float(row[f"latency {kind}, ms"]) for kind in kinds] == [50, 10, 40, 200, 500]
    assert any("recognized as oha" in note for note in found.notes)


def test_a_rate_of_oha_that_its_counts_contradict_is_reported(tmp_path: Path) -> None:
    text = OHA.format(**FORMER).replace("[200] 150 responses", "[200] 15 responses")
    warnings = [note for note in _observed(text, tmp_path).notes if note.startswith("warning")]
    assert any("request/s" in note for note in warnings)


def test_a_run_of_redis_benchmark_may_take_no_time_that_it_prints(tmp_path: Path) -> None:
    text = (
        "====== SET ======\n  100 requests completed in 0.00 seconds\n  50 parallel clients\n"
        "  3 bytes payload\n  keep alive: 1\n\n100.00% <= 0 milliseconds\n"
        "50000.00 requests per second\n\n"
    )
    found = _observed(text, tmp_path)
    assert _row(found)["request/s"] == "50000"
    assert not [note for note in found.notes if note.startswith("warning")]


def test_the_foot_of_a_histogram_may_be_indented(tmp_path: Path) -> None:
    text = (
        "    Value   Percentile   TotalCount 1/(1-Percentile)\n\n"
        "    0.016     0.000000            1         1.00\n"
        "    1.500     0.500000          500         2.00\n"
        "    9.000     1.000000         1000          inf\n"
        "    #[Mean    =        2.500, StdDeviation   =        1.000]\n"
        "    #[Max     =        9.000, Total count    =         1000]\n"
        "    #[Buckets =           27, SubBuckets     =         2048]\n"
    )
    row = _row(_observed(text, tmp_path, "Value=ms"))
    assert row["values"] == "1000"
    assert row["latency mean, ms"] == "2.5"
    assert row["latency p50, ms"] == "1.5"


def test_old_docker_names_containers_in_its_first_column(tmp_path: Path) -> None:
    text = (
        "CONTAINER           CPU %               MEM USAGE/LIMIT     MEM %               NET I/O\n"
        "web                 12.50%              41.16 MiB/994 MiB   4.14%               0 B/0 B\n"
    )
    assert _row(_observed(text, tmp_path))["cpu in core"] == "0.125"


def test_pidstat_of_memory_and_disks_is_passed_over(tmp_path: Path) -> None:
    text = (
        "Linux 6.8.0-79-generic (web) \t10/23/2025 \t_x86_64_\t(2 CPU)\n\n"
        "10:25:29 AM   UID       PID    %usr %system  %guest   %wait    %CPU   CPU  Command\n"
        "10:55:29 AM     0    369825   12.00    2.00    0.00    0.00   14.00     1  python3\n\n"
        "10:25:29 AM   UID       PID  minflt/s  majflt/s     VSZ     RSS   %MEM  Command\n"
        "10:55:29 AM     0    369825      0.04      0.00  225288   91932   1.14  python3\n\n"
        "10:55:29 AM   UID       PID    %usr %system  %guest   %wait    %CPU   CPU  Command\n"
        "11:25:29 AM     0    369825    6.00    1.00    0.00    0.00    7.00     1  python3\n"
    )
    rows = _observed(text, tmp_path).rows
    assert rows == (("2025-10-23T10:55:29", "0.14"), ("2025-10-23T11:25:29", "0.07"))


@pytest.mark.parametrize(("sent", "rate", "failed"), [(40, "4", "0"), (44, "4.4", "0.0909090909")])
def test_mistakes_in_scripts_of_artillery_are_no_requests(
    sent: int, rate: str, failed: str, tmp_path: Path
) -> None:
    counters = {"vusers.created": 30, "http.requests": sent, "http.responses": 40}
    counters |= {"http.codes.200": 40, 'errors.Undefined function "add"': 30, "errors.ETIMEDOUT": 4}
    times = {"mean": 1.6, "min": 1, "max": 8, "p50": 1}
    totals = {"counters": counters, "summaries": {"http.response_time": times}}
    totals |= {"firstCounterAt": 1751247460000, "lastCounterAt": 1751247470000}
    row = _row(_observed(json.dumps({"aggregate": totals}), tmp_path))
    assert (row["request/s"], row["share failed"]) == (rate, failed)


@pytest.mark.parametrize(
    ("text", "reason", "hint"),
    [
        (
            (
                "All VUs finished. Total time: 30 seconds\n\n-----\n"
                "Summary report @ 21:20:11(+0200)\n-----\n\nhttp.requests: ..... 184\n"
            ),
            "what artillery prints",
            "artillery run --output",
        ),
        (
            "Report for the previous 10s @ 2016-11-01T17:31:50.134Z\n  Scenarios launched:  18\n",
            "what artillery prints",
            "artillery run --output",
        ),
        (
            '{"aggregate": {"timestamp": "2018-03-12T15:40:39.730Z", "scenariosCreated": 60}}',
            "a report of artillery 1",
            "with version 2",
        ),
        (
            'var stats = {\n type: "GROUP",\nstats: {"meanNumberOfRequestsPerSecond": {}',
            "not a complete `js/stats.js` of Gatling",
            "do not edit",
        ),
    ],
)
def test_what_is_not_read_is_refused_with_what_helps(
    text: str, reason: str, hint: str, tmp_path: Path
) -> None:
    with pytest.raises(DataError, match=reason) as error:
        _observed(text, tmp_path)
    assert hint in (error.value.hint or "")
