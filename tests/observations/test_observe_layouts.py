"""Other layouts of the tools: versions and modes of each, and outputs of them that are not read.

The files were written in short runs on loopback by fio 3.33, fortio 1.60.3, vegeta 12.13,
Gatling 3.7.6 and 3.13.5, JMeter 5.6.3, artillery 2.0.34, Locust 2.47, oha 1.10.0, pgbench 15.20,
procps 4.0.2, sysstat 12.6.1 and wrk2 (44a94c1). Expected numbers are read off the files, by eye.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from observations.observed_files import FILES, observed
from qps.compiler.measurement.measured_tables import DataError
from qps.compiler.measurement.observations.file_texts import FileReading
from qps.compiler.measurement.observations.recognized_files import recognized_files

UNREAD = FILES / "unread"
READ: list[tuple[str, str, int, dict[str, float]]] = [
    (
        "fio",
        "fio_interim.json",
        1,
        {"users": 1, "request/s": 200.2667, "latency p99, ms": 0.025472},
    ),
    ("fio", "fio_depth.json", 1, {"users": 16, "request/s": 26597.402597}),
    (
        "fortio",
        "fortio_tcp.json",
        1,
        {"users": 2, "request/s": 49.930523, "share failed": 16 / 50},
    ),
    (
        "vegeta",
        "vegeta_interim.txt",
        1,
        {"request/s": 300 / 2.991, "latency mean, ms": 9.263, "latency longest, ms": 166.186},
    ),
    ("vegeta", "vegeta_interim.json", 1, {"request/s": 103.35, "latency mean, ms": 1.312751}),
    ("gatling", "gatling_376.log", 1, {"share failed": 0.5, "latency longest, ms": 792}),
    (
        "gatling",
        "gatling_stats.js",
        1,
        {"request/s": 20, "share failed": 0.5, "latency mean, ms": 31, "latency longest, ms": 710},
    ),
    ("jmeter", "jmeter_dates.jtl", 1, {"users": 3, "share failed": 0.5}),
    ("jmeter", "jmeter_transactions.jtl", 1, {"users": 3, "share failed": 0.5}),
    ("artillery", "artillery_2034.json", 1, {"latency mean, ms": 1.2, "latency p95, ms": 6}),
    ("locust", "locust_full_history.csv", 1, {"users": 4, "share failed": 0.477848}),
    ("locust", "locust_2470_stats.csv", 1, {"request/s": 55.6225, "latency p95, ms": 22}),
    (
        "pgbench",
        "pgbench_skipped.txt",
        1,
        {"users": 2, "request/s": 39.365087, "share failed": 0.19792},
    ),
    (
        "oha",
        "oha_1100.json",
        1,
        {"request/s": 737.797711, "share failed": 0, "latency p95, ms": 10.728647},
    ),
    (
        "oha",
        "oha_failed.json",
        1,
        {"request/s": 49.9454895, "share failed": 1, "latency p99, ms": 3.85359},
    ),
    (
        "oha",
        "oha_1100.txt",
        1,
        {"request/s": 26.2048, "byte/s": 78.6142921, "latency p90, ms": 1841},
    ),
    (
        "wrk",
        "wrk2_uncorrected.txt",
        1,
        {"users": 2, "request/s": 50.08, "latency p99, ms": 11.57, "latency mean, ms": 1.594},
    ),
    ("wrk", "wrk2_failed.txt", 1, {"users": 2, "request/s": 50.09, "share failed": 1}),
    ("vmstat", "vmstat_wide.txt", 2, {"cpu in %": 98}),
    ("pidstat", "pidstat_divided.txt", 2, {"cpu in core": 0.3}),
    ("pidstat", "pidstat_threads.txt", 2, {"cpu in core": 0.28}),
    ("sar", "sar_mpstat.txt", 3, {"cpu in %": 99.49, "cores": 2}),
]
NOT_READ = {
    "ab-e.csv": ("what `ab -e` writes", "save what ab prints"),
    "ab-g.tsv": ("what `ab -g` writes", "save what ab prints"),
    "ab-w.html": ("what `ab -w` prints", "save what ab prints"),
    "artillery.txt": ("what artillery prints", "artillery run --output"),
    "autocannon.json": ("a report of autocannon", "as a CSV table"),
    "autocannon.txt": ("what autocannon prints", "as a CSV table"),
    "fio-terse.txt": ("fio's terse output", "--output-format=json"),
    "fio.txt": ("what fio prints", "--output-format=json"),
    "fortio.txt": ("what fortio prints", "fortio load -json"),
    "gatling.bin": ("the binary log of a newer version of Gatling", "`js/stats.js`"),
    "jmeter-headless.jtl": ("results of JMeter without a header", "print_field_names=true"),
    "locust.json": ("what `locust --json` prints", "locust --csv NAME"),
    "locust.txt": ("what Locust prints", "locust --csv NAME"),
    "locust_exceptions.csv": ("Locust's exceptions", "NAME_stats.csv"),
    "locust_failures.csv": ("Locust's failures", "NAME_stats.csv"),
    "oha.csv": ("single requests of oha", "--output-format json"),
    "pgbench-aggregated.log": ("an aggregated log of pgbench", "without `--aggregate-interval`"),
    "pidstat-child.txt": ("what `pidstat -T CHILD` prints", "pidstat -u -h 1"),
    "prometheus-counter.json": ("is a counter", "rate(process_cpu_seconds_total[1m])"),
    "prometheus-error.json": ("an error message of Prometheus", "correct the query"),
    "promtool.txt": ("what promtool prints", "promtool query range -o json"),
    "redis-q.txt": ("what `redis-benchmark -q` prints", "without `-q`"),
    "sadf-Td.csv": ("what `sadf -d` writes", "sadf -j"),
    "sadf-d.csv": ("what `sadf -d` writes", "sadf -j"),
    "sadf-g.svg": ("a picture", "the data that it was drawn from"),
    "sadf-p.txt": ("what `sadf -p` writes", "sadf -j"),
    "sadf-r.txt": ("what `sadf -r` writes", "sadf -j"),
    "sadf-x.xml": ("what `sadf -x` writes", "sadf -j"),
    "siege.json": ("a report of siege", "as a CSV table"),
    "siege.txt": ("a report of siege", "as a CSV table"),
    "top.txt": ("what top prints", "pidstat -u -h 1"),
    "iostat.txt": ("what iostat prints", "vmstat -t 1"),
    "vegeta-hist.txt": ("a histogram of vegeta", "without `-type=hist`"),
    "vegeta.bin": ("the binary results of vegeta", "vegeta encode --to json"),
    "vmstat-d.txt": ("output of vmstat without the CPU", "vmstat -t 1"),
    "vmstat-s.txt": ("output of vmstat without the CPU", "vmstat -t 1"),
    "wrk-none.txt": ("contains no run with completed requests", "the server responded"),
    "hey-none.txt": ("contains no run with completed requests", "the server responded"),
    "h2load-none.txt": ("contains no run with completed requests", "the server responded"),
}


@pytest.mark.parametrize(("tool", "name", "count", "expected"), READ, ids=[one[1] for one in READ])
def test_other_layouts_are_read(
    tool: str, name: str, count: int, expected: dict[str, float], tmp_path: Path
) -> None:
    rows = observed(tool, FILES / name, folder=tmp_path)
    assert len(rows) == count
    found = {heading: float(rows[0][heading]) for heading in expected}
    assert found == pytest.approx(expected, rel=1e-3)


def test_each_output_that_is_not_read_has_its_reason() -> None:
    assert sorted(path.name for path in UNREAD.iterdir()) == sorted(NOT_READ)


@pytest.mark.parametrize("name", NOT_READ)
def test_output_that_is_not_read_is_named_with_what_helps(name: str) -> None:
    with pytest.raises(DataError) as caught:
        recognized_files([UNREAD / name], FileReading())
    what, hint = NOT_READ[name]
    assert what in caught.value.message
    assert hint in (caught.value.hint or "")


def test_interim_reports_are_left_out_and_that_is_noted() -> None:
    for name, count in (("fio_interim.json", 3), ("vegeta_interim.txt", 2)):
        notes = recognized_files([FILES / name], FileReading()).notes
        assert any(f"{count} interim reports left out" in note for note in notes)


def test_two_runs_of_fio_in_a_file_are_two_rows(tmp_path: Path) -> None:
    """As of a shell loop: the second began after the first one had ended."""
    text = (FILES / "fio_depth.json").read_text(encoding="utf-8")
    stamp = int(text.partition('"timestamp_ms" : ')[2].partition(",")[0])
    later = text.replace(f'"timestamp_ms" : {stamp}', f'"timestamp_ms" : {stamp + 60_000}')
    file = tmp_path / "both.json"
    file.write_text(text + later, encoding="utf-8")
    assert len(recognized_files([file], FileReading()).rows) == 2


def test_two_attacks_of_vegeta_in_a_file_are_two_rows(tmp_path: Path) -> None:
    text = (FILES / "vegeta_interim.txt").read_text(encoding="utf-8")
    file = tmp_path / "both.txt"
    file.write_text(text + text, encoding="utf-8")
    assert len(recognized_files([file], FileReading()).rows) == 2


def test_a_percentage_divided_by_the_processors_is_reported() -> None:
    notes = recognized_files([FILES / "pidstat_divided.txt"], FileReading()).notes
    assert any("divided by the number of processors" in note for note in notes)


@pytest.mark.parametrize("cell", ["07/11/26 10:00:00", "2026/13/01 10:00:00", "noon"])
def test_a_time_of_jmeter_that_is_not_read_is_the_reason(cell: str, tmp_path: Path) -> None:
    file = tmp_path / "run.jtl"
    row = f"{cell},5,page,200,true\n"
    file.write_text(f"timeStamp,elapsed,label,responseCode,success\n{row}{row}", encoding="utf-8")
    with pytest.raises(DataError, match="not a JMeter sample") as caught:
        recognized_files([file], FileReading())
    assert "timestamp_format=ms" in (caught.value.hint or "")


def test_latencies_that_are_rounded_to_0_are_left_out(tmp_path: Path) -> None:
    rows = observed("artillery", FILES / "artillery_2034.json", folder=tmp_path)
    assert rows[0]["latency p75, ms"] == "1"
    assert "latency p50, ms" not in rows[0]
    notes = recognized_files([FILES / "artillery_2034.json"], FileReading()).notes
    assert any("rounded to 0 are left out" in note for note in notes)


def test_blank_lines_take_no_time_of_their_own(tmp_path: Path) -> None:
    """Patterns that begin with blanks would try each line with all that follow."""
    file = tmp_path / "blank.txt"
    file.write_text("\n \n" * 2_000_000 + "Type  Name\n", encoding="utf-8")
    with pytest.raises(DataError, match="is empty"):
        recognized_files([file], FileReading())


def test_a_part_of_a_cpu_usage_that_is_no_number_is_reported(tmp_path: Path) -> None:
    text = (FILES / "pidstat_divided.txt").read_text(encoding="utf-8")
    file = tmp_path / "pidstat.txt"
    file.write_text(text.replace("27.00", "9" * 400), encoding="utf-8")
    with pytest.raises(DataError, match="line 4"):
        recognized_files([file], FileReading())
