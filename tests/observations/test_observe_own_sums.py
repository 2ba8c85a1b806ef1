"""Readers of results against the sums of what a file holds, and files that contradict themselves.

Each file is written here, in the layout of its tool, from requests that are drawn: what a reader
says of it is what these come to. Then one number that the file gives twice is changed in one place:
that is told.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from math import ceil
from pathlib import Path

import pytest

from measurement import result_writers as writers
from measurement.drawn_requests import START, Drawn, Request, drawn
from qps.compiler.measurement.measured_tables import DataError
from qps.compiler.measurement.observations.file_texts import FileReading
from qps.compiler.measurement.observations.measurement_sources import SOURCES
from qps.compiler.measurement.observations.observed_files import observed_files
from qps.compiler.measurement.observations.observed_runs import ObservedRuns
from qps.compiler.measurement.observations.source_layouts import MeasurementTool, ReaderOutput


def ms(value: float) -> str:
    return f"{value:.2f}ms"


def wrk(test: Drawn, factor: float = 1) -> str:
    count, seconds = len(test.requests), test.seconds
    mean = test.total / count
    shares = "".join(f"     {p}%  {ms(test.percentile(p))}\n" for p in (50, 90))
    return (
        f"Running 4s test @ http://127.0.0.1/\n  1 threads and {test.users} connections\n"
        "  Thread Stats   Avg      Stdev     Max   +/- Stdev\n"
        f"    Latency  {ms(mean)}  {ms(mean)}  {ms(test.times[-1])}   92.30%\n"
        "    Req/Sec    60.58k    21.31k   91.24k    70.00%\n"
        f"  Latency Distribution\n{shares}"
        f"  {count} requests in {seconds:.2f}s, {test.octets / 1024:.2f}KB read\n"
        f"  Non-2xx or 3xx responses: {test.failed}\n"
        f"Requests/sec:  {test.rate * factor:.2f}\n"
        f"Transfer/sec:  {test.octets / seconds / 1024:.2f}KB\n"
    )


def wrk2(test: Drawn, factor: float = 1) -> str:
    """Two tables, the second of times that do not count."""
    count = len(test.requests)

    def table(title: str, times: Sequence[float]) -> str:
        rows = "".join(
            f" {share:.3f}%  {ms(times[ceil(count * share / 100) - 1])}\n"
            for share in (50, 90, 95, 100)
        )
        return (
            f"  Latency Distribution (HdrHistogram - {title})\n{rows}\n"
            "  Detailed Percentile spectrum:\n       Value   Percentile   TotalCount\n\n"
            f"       0.071     0.000000            1         1.00\n"
            f"#[Mean    =  {sum(times) / count:.3f}, StdDeviation   =  {times[-1] / 3:.3f}]\n"
            f"#[Max     =  {times[-1]:.3f}, Total count    =  {count}]\n-----\n\n"
        )

    head, _, rest = wrk(test, factor).partition("  Latency Distribution\n")
    rest = rest[rest.index(f"  {count} requests in") :]
    both = table("Recorded Latency", test.times) + table(
        "Uncorrected Latency (measured without taking delayed starts into account)",
        [one / 7 for one in test.times],
    )
    return head + both + rest


def h2load(test: Drawn, factor: float = 1) -> str:
    count, seconds = len(test.requests), test.seconds
    good = count - test.failed
    return (
        f"starting benchmark...\nspawning thread #0: {test.users} total client(s). 9 requests\n\n"
        f"finished in {seconds:.2f}s, {test.rate * factor:.2f} req/s, 1.17MB/s\n"
        f"requests: {count} total, {count} started, {count} done, {good} succeeded, "
        f"{test.failed} failed, 0 errored, 0 timeout\n"
        f"traffic: 5.86MB ({test.octets}) total, 0.7MB (732000) headers\n"
        "                     min         max         mean         sd        +/- sd\n"
        f"time for request:  {test.times[0]}.00ms  {test.times[-1]}.00ms  "
        f"{ms(test.total / count)}  443us    99.32%\n"
    )


def pgbench(test: Drawn, factor: float = 1) -> str:
    count = len(test.requests)
    return (
        f"transaction type: x\nnumber of clients: {test.users}\nduration: {test.seconds:.0f} s\n"
        f"number of transactions actually processed: {count}\n"
        f"latency average = {test.total / count:.3f} ms\n"
        f"tps = {test.rate * factor:.6f} (without initial connection time)\n"
    )


def sysbench(test: Drawn, factor: float = 1) -> str:
    """The mean is rounded to hardly anything: times here are of some hundredths of a ms."""
    count = len(test.requests)
    return (
        f"sysbench 1.0.20\nNumber of threads: {test.users}\nGeneral statistics:\n"
        f"    total time:                {test.seconds:.4f}s\n"
        f"    total number of events:    {count}\n\nLatency (ms):\n"
        f"         min:     {test.times[0]:.2f}\n"
        f"         avg:     {test.total / count * factor:.0f}\n"
        f"         max:     {test.times[-1]:.2f}\n"
        f"         95th percentile:   {test.percentile(95):.2f}\n"
        f"         sum:     {test.total:.2f}\n"
    )


def sysbench_before_1(test: Drawn, factor: float = 1) -> str:
    """The layout of its versions 0.4 and 0.5."""
    text = sysbench(test, factor)
    for name in ("min", "avg", "max", "95th percentile"):
        text = re.sub(rf"({name}: .*)", r"\1ms", text)
    text = text.replace("95th percentile:", "approx.  95 percentile: ")
    taken = f"    total time taken by event execution: {test.total / 1000:.4f}s\n"
    return re.sub(r" *sum: .*\n", taken, text).replace("General statistics:", "Test summary:")


def k6_values(test: Drawn, factor: float) -> dict[str, dict[str, float]]:
    count = len(test.requests)
    trend = {"avg": test.total / count, "min": test.times[0], "max": test.times[-1]}
    trend |= {"med": test.percentile(50), "p(90)": test.percentile(90)}
    return {
        "vus_max": {"value": 50, "min": 50, "max": 50},
        "vus": {"value": 1, "min": 1, "max": test.users},
        "http_req_duration": trend,
        "http_req_duration{expected_response:true}": dict.fromkeys(trend, 1),
        "http_req_failed": {
            "passes": test.failed,
            "fails": count - test.failed,
            "value": test.failed / count,
        },
        "data_received": {"count": test.octets, "rate": test.octets / test.seconds},
        "http_reqs": {"count": count, "rate": test.rate * factor},
        "iterations": {"count": count, "rate": test.rate},
    }


def k6_summary(test: Drawn, factor: float = 1) -> str:
    return json.dumps({"metrics": k6_values(test, factor)})


def k6_printed(test: Drawn, factor: float = 1) -> str:
    """With thresholds, whose marks stand before the names, and colors."""
    found = k6_values(test, factor)
    count, trend = len(test.requests), found["http_req_duration"]
    times = " ".join(f"{name}={value:.4f}ms" for name, value in trend.items())
    return (
        "  execution: local\n"
        f"   ✓ \x1b[1mhttp_req_duration\x1b[0m.......: {times}\n"
        "       { expected_response:true }...: avg=1ms min=1ms med=1ms max=1ms p(90)=1ms\n"
        f"   ✗ http_req_failed................: {test.failed / count:.4%} ✓ {test.failed} "
        f"✗ {count - test.failed}\n"
        f"     http_reqs......................: {count} {found['http_reqs']['rate']:.6f}/s\n"
        f"     iterations.....................: {count} {test.rate:.6f}/s\n"
        f"     data_received..................: 1 MB {test.octets / test.seconds:.4f} B/s\n"
        f"     vus............................: 1 min=1 max={test.users}\n"
        "     vus_max........................: 50 min=50 max=50\n"
    )


def k6_points(test: Drawn, factor: float = 1) -> str:
    lines = ["metric_name,timestamp,metric_value,check"]
    for one in test.requests:
        at = START + one.begin + one.took
        lines += [f"vus,{at},{test.users},", f"http_req_duration,{at},{one.took},"]
        lines += [f"http_req_failed,{at},{int(one.failed)},", f"data_received,{at},{one.octets},"]
    return "\n".join(lines) + "\n"


JMETER = "timeStamp,elapsed,label,responseMessage,threadName,success,bytes,allThreads,URL\n"


def jmeter(test: Drawn, factor: float = 1) -> str:
    """As a spreadsheet writes it; every third request is redirected, each user has a visit."""
    lines, visits = [], dict[int, list[Request]]()
    for one in test.requests:
        visits.setdefault(one.user, []).append(one)
        rest = f"OK,group 1-{one.user + 1},{str(not one.failed).upper()}"
        behind = f"{one.octets},{test.users},http://here/"
        at = START + one.begin
        if one.begin % 3 == 0:
            lines.append(f"{at},{one.took},page,{rest},{behind}\n")
            lines.append(f"{at},{one.took},page-0,{rest},{behind}\n")
        else:
            lines.append(f"{at},{one.took},page,{rest},{behind}\n")
    for user, own in visits.items():
        begin, end = own[0].begin, own[-1].begin + own[-1].took
        text = f'"Number of samples in transaction : {len(own)}, number of failing samples : 0"'
        total = sum(one.octets for one in own)
        lines.append(
            f"{START + begin},{end - begin},visit,{text},group 1-{user + 1},TRUE,{total},"
            f"{test.users},null\n"
        )
    return JMETER + "".join(lines)


def pgbench_log(test: Drawn, factor: float = 1) -> str:
    lines = []
    for one in test.requests:
        seconds, rest = divmod(START + one.begin + one.took, 1000)
        lines.append(f"{one.user} 1 {1000 * one.took} 0 {seconds} {1000 * rest}\n")
    return "".join(lines)


def h2load_log(test: Drawn, factor: float = 1) -> str:
    return "".join(
        f"{1000 * (START + one.begin)}\t{500 if one.failed else 200}\t{1000 * one.took}\n"
        for one in test.requests
    )


Writer = Callable[..., str]
REPORTS = (writers.oha, writers.fortio, writers.artillery, writers.gatling_stats)
"""Summaries as JSON."""
ONE_RUN = (
    *REPORTS,
    writers.jmeter_xml,
    k6_summary,
    writers.locust,
    writers.locust_history,
    writers.fio,
)
"""What holds a single run: one JSON, or one table."""
IN_SECONDS = ("access-log",)
"""What has times in whole seconds, and a test of its own."""
SENT = (writers.vegeta_log, writers.vegeta_csv, writers.hey_log)
"""What holds each request, and no number of users."""
UNTOLD = (
    *SENT,
    k6_points,
    jmeter,
    writers.jmeter_xml,
    pgbench_log,
    h2load_log,
    writers.locust_history,
    writers.gatling_log,
    writers.gatling_stats,
)
"""What gives no number twice."""
NO_USERS = (
    *SENT,
    h2load_log,
    writers.hey,
    writers.vegeta,
    writers.vegeta_json,
    writers.locust,
    writers.oha,
    writers.artillery,
    writers.gatling_stats,
)
"""What does not say how many users there were."""
ALL = frozenset(drawn(0).columns)
SUMS = frozenset(
    ["request/s", "share failed", "latency mean, ms", "latency least, ms", "latency longest, ms"]
)
MIDDLE = frozenset(["latency p50, ms", "latency p90, ms"])
LAYOUTS: list[tuple[str, Writer, frozenset[str], float]] = [
    ("wrk", wrk, ALL - {"latency least, ms", "latency p95, ms"}, 6e-3),
    ("wrk", wrk2, ALL - {"latency least, ms"}, 6e-3),
    ("h2load", h2load, ALL - MIDDLE - {"latency p95, ms"}, 6e-3),
    ("pgbench", pgbench, frozenset(["users", "request/s", "latency mean, ms"]), 1e-3),
    ("sysbench", sysbench, ALL - {"byte/s", "share failed"} - MIDDLE, 1e-4),
    ("sysbench", sysbench_before_1, ALL - {"byte/s", "share failed"} - MIDDLE, 1e-4),
    ("k6", k6_summary, ALL - {"latency p95, ms"}, 1e-6),
    ("k6", k6_printed, ALL - {"latency p95, ms"}, 1e-3),
    ("k6", k6_points, ALL - {"latency least, ms"}, 1e-6),
    ("jmeter", jmeter, ALL - {"latency least, ms"}, 1e-6),
    ("pgbench", pgbench_log, ALL - {"byte/s", "latency least, ms"}, 1e-6),
    ("h2load", h2load_log, ALL - {"users", "byte/s", "latency least, ms"}, 1e-6),
]
LAYOUTS += [
    ("ab", writers.ab, ALL - {"latency least, ms", "latency p50, ms"}, 6e-3),
    ("hey", writers.hey, ALL - {"users"}, 6e-3),
    ("vegeta", writers.vegeta, ALL - {"users"}, 6e-3),
    ("vegeta", writers.vegeta_json, ALL - {"users"}, 1e-6),
    ("vegeta", writers.vegeta_log, ALL - {"users", "latency least, ms"}, 1e-6),
    ("vegeta", writers.vegeta_csv, ALL - {"users", "latency least, ms"}, 1e-6),
    ("hey", writers.hey_log, ALL - {"users", "byte/s", "latency least, ms"}, 1e-6),
    ("locust", writers.locust, ALL - {"users"}, 1e-6),
    ("locust", writers.locust_history, writers.COUNTED, 1e-6),
    ("redis-benchmark", writers.redis, ALL - {"byte/s", "share failed", "latency p90, ms"}, 6e-3),
    ("fio", writers.fio, ALL, 1e-6),
    ("oha", writers.oha, ALL - {"users"}, 1e-6),
    ("fortio", writers.fortio, ALL, 1e-6),
    ("artillery", writers.artillery, ALL - {"users"}, 1e-6),
    ("gatling", writers.gatling_log, ALL - {"byte/s", "latency least, ms"}, 1e-6),
    ("gatling", writers.gatling_stats, SUMS, 1e-6),
    ("jmeter", writers.jmeter_xml, ALL - {"latency least, ms"}, 1e-6),
]
NAMES = [writer.__name__ for _, writer, _, _ in LAYOUTS]


def observed(tool: str, text: str, folder: Path, **how: str) -> ObservedRuns:
    file = folder / "file"
    file.write_text(text, encoding="utf-8")
    return observed_files(tool, [file], FileReading(**how))


def rows_of(found: ObservedRuns) -> list[dict[str, float]]:
    stored = [i for i, heading in enumerate(found.headings) if heading not in ("time", "file")]
    return [{found.headings[i]: float(row[i]) for i in stored if row[i]} for row in found.rows]


def origins(found: ObservedRuns) -> set[str]:
    """Return of what a reader says which field it was taken from."""
    values = [note.partition(": ")[2] for note in found.notes if " from `" in note]
    parts = (one.partition(" from ") for note in values for one in note.split("; "))
    return {what for what, stated, _ in parts if stated}


def warnings(found: ObservedRuns) -> str:
    values = [
        note for note in found.notes if note.startswith("warning") and "1 % failed" not in note
    ]
    return "\n".join(values)


@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
def test_a_source_has_all_that_belongs_to_it(source: MeasurementTool) -> None:
    tests = Path(__file__).parents[1]
    assert [*(tests / "observed").glob(f"{source.name}*")], "put a file into tests/observed"
    page = (tests.parent / "docs/cli/observe.md").read_text(encoding="utf-8")
    rows = [line for line in page.splitlines() if line.startswith("| `") and " FILE…`" in line]
    assert any(source.name in line.split(" | ")[0] for line in rows), "add a row to observe.md"
    tables = [one for one in source.layouts if one.output is ReaderOutput.TABLE]
    written = [tool for tool, *_ in LAYOUTS if tool == source.name]
    if source.name in IN_SECONDS:
        return
    assert len(written) >= len(source.layouts) - len(tables), "add its layouts to LAYOUTS"


@pytest.mark.parametrize(("tool", "writer", "columns", "rounding"), LAYOUTS, ids=NAMES)
@pytest.mark.parametrize("seed", range(3))
def test_a_reader_says_what_requests_come_to(
    tool: str, writer: Writer, columns: frozenset[str], rounding: float, seed: int, tmp_path: Path
) -> None:
    test = drawn(seed)
    found = observed(tool, writer(test), tmp_path)
    [row] = rows_of(found)
    assert set(row) - {"latency p99, ms", "latency deviation, ms"} == columns
    expected = {heading: test.columns[heading] for heading in columns}
    if writer in (pgbench_log, writers.fio):
        expected["share failed"] = 0  # what failed has no time there
    assert {heading: row[heading] for heading in columns} == pytest.approx(expected, rel=rounding)
    if writer in (jmeter, writers.jmeter_xml):
        assert "are ignored, so that requests are counted once" in warnings(found)
    else:
        assert warnings(found) == ""
    assert any("request/s from" in note for note in found.notes)
    assert origins(found) <= {heading.partition(" mean")[0] for heading in row}


def test_nothing_is_taken_from_a_field_that_is_not_there(tmp_path: Path) -> None:
    lines = [line.split(",") for line in jmeter(drawn(1)).splitlines()]
    dropped = [lines[0].index(name) for name in ("bytes", "allThreads")]
    text = "\n".join(
        ",".join(cell for place, cell in enumerate(line) if place not in dropped)
        for line in lines
        if "visit" not in line
    )
    found = observed("jmeter", text, tmp_path)
    assert origins(found) == {"request/s", "share failed", "latency"}


@pytest.mark.parametrize(
    ("tool", "writer"),
    [(t, w) for t, w, _, _ in LAYOUTS if w not in UNTOLD],
    ids=[w.__name__ for _, w, _, _ in LAYOUTS if w not in UNTOLD],
)
def test_a_number_that_is_given_twice_and_differs_is_reported(
    tool: str, writer: Writer, tmp_path: Path
) -> None:
    found = observed(tool, writer(drawn(1), 1.3), tmp_path)
    others = {
        "sysbench": "the mean latency in ms",
        "vegeta": "the throughput",
        "artillery": "the number of responses",
    }
    what = others.get(tool, "request/s")
    assert f"{what} is " in warnings(found)


@pytest.mark.parametrize(("tool", "writer"), [(t, w) for t, w, *_ in LAYOUTS], ids=NAMES)
def test_more_jobs_than_users_are_reported(tool: str, writer: Writer, tmp_path: Path) -> None:
    """As where a pool, or the wrong column, is taken for the users."""
    test = drawn(4)
    assert test.users > 2
    text = writer(Drawn(1, test.requests))
    if writer is pgbench_log:
        text = "".join(f"0 {line.partition(' ')[2]}\n" for line in text.splitlines())
    found = observed(tool, text, tmp_path)
    assert ("Little's law" in warnings(found)) == (writer not in NO_USERS)


@pytest.mark.parametrize("separator", [";", "\t", "|"])
def test_jmeter_writes_any_separator(separator: str, tmp_path: Path) -> None:
    text = "".join(line for line in jmeter(drawn(3)).splitlines(True) if "visit" not in line)
    plain = observed("jmeter", text, tmp_path)
    assert observed("jmeter", text.replace(",", separator), tmp_path).rows == plain.rows


@pytest.mark.parametrize(("tool", "writer"), [(t, w) for t, w, *_ in LAYOUTS], ids=NAMES)
def test_two_runs_in_a_file_are_two_rows(tool: str, writer: Writer, tmp_path: Path) -> None:
    first, second = drawn(5), drawn(6)
    later = Drawn(
        second.users,
        tuple(
            Request(one.user, one.begin + 300_000, one.took, one.octets, one.failed)
            for one in second.requests
        ),
    )
    if writer in (*ONE_RUN, writers.hey_log):
        return
    rows = rows_of(observed(tool, writer(first) + writer(later), tmp_path))
    for row, test in zip(rows, (first, later), strict=True):
        assert row["request/s"] == pytest.approx(test.rate, rel=6e-3)
        assert row["latency mean, ms"] == pytest.approx(test.columns["latency mean, ms"], rel=6e-3)


def test_users_who_think_for_minutes_are_one_run(tmp_path: Path) -> None:
    lines = "".join(f"{START + 90_000 * i},100\n" for i in range(50))
    [row] = rows_of(observed("jmeter", f"timeStamp,elapsed\n{lines}", tmp_path))
    assert row["request/s"] == pytest.approx(50 / (49 * 90 + 0.1))


def test_windows_hold_nothing_of_the_time_between_runs(tmp_path: Path) -> None:
    text = "".join(f"{START + at + 100 * i},10\n" for at in (0, 691_200_000) for i in range(100))
    found = observed("jmeter", f"timeStamp,elapsed\n{text}", tmp_path, window="2s")
    assert [row["request/s"] for row in rows_of(found)] == [10] * 6


def test_transactions_count_where_nothing_else_is_there(tmp_path: Path) -> None:
    text = '"Number of samples in transaction : 3, number of failing samples : 0"'
    lines = "".join(f"{START + 100 * i},80,visit,{text},g 1-1,true,100,1,null\n" for i in range(40))
    [row] = rows_of(observed("jmeter", JMETER + lines, tmp_path))
    assert row["request/s"] == pytest.approx(40 / 3.98)


def test_sums_without_a_word_are_known_by_name_and_time(tmp_path: Path) -> None:
    head = "timeStamp,elapsed,label,threadName\n"
    lines = f"{START},300,a-0,t\n{START + 300},100,a-1,t\n{START},401,a,t\n{START + 500},50,b,t\n"
    found = observed("jmeter", head + lines, tmp_path)
    [row] = rows_of(found)
    assert row["latency mean, ms"] == pytest.approx(150)
    assert "`a`, are ignored" in warnings(found)
    found = observed("jmeter", head + lines.replace(",a,t", ",whole,t"), tmp_path)
    assert "1 sample overlaps with another of the same thread" in warnings(found)


def test_the_pool_of_k6_is_not_its_users(tmp_path: Path) -> None:
    values = {
        "vus_max": {"value": 50, "min": 50, "max": 50},
        "iterations": {"count": 1500, "rate": 25.0},
        "iteration_duration": {"avg": 109.8},
        "http_reqs": {"count": 1500, "rate": 25.0},
    }
    found = observed("k6", json.dumps({"metrics": values}), tmp_path)
    [row] = rows_of(found)
    assert row["users, mean"] == pytest.approx(2.745)
    assert "2.75 users" in warnings(found)
    assert "there is no `vus`" in warnings(found)


NOT_UNDERSTOOD = [
    ("k6", k6_printed, "avg=", "mean:", "`✓ http_req_duration"),
    ("k6", k6_printed, "min=1 max=", "of ", "`vus..."),
    ("wrk", wrk, "Transfer/sec:  ", "Transfer/sec: about ", "Transfer/sec: about"),
    ("wrk", wrk, " connections", " sockets", "sockets"),
    ("h2load", h2load, "total, 0.7MB", "in all", "traffic:"),
    ("sysbench", sysbench, "avg:     ", "avg:  ~", "avg:"),
    ("pgbench", pgbench, "latency average = ", "latency average = about ", "latency average"),
]


@pytest.mark.parametrize(("tool", "writer", "old", "new", "expected"), NOT_UNDERSTOOD)
def test_a_line_that_is_not_understood_is_not_dropped(
    tool: str, writer: Writer, old: str, new: str, expected: str, tmp_path: Path
) -> None:
    text = writer(drawn(2))
    if writer is h2load:
        text = text.replace("traffic: 5.86MB (", "traffic: 5.86MB [")
    elif old.startswith(("avg=", "min=1")):
        lines = text.splitlines()
        lines = [
            line.split(":")[0] + ": ?" if expected.strip("`✓ .") in line else line for line in lines
        ]
        text = "\n".join(lines)
    else:
        text = text.replace(old, new)
    with pytest.raises(DataError, match=r"line .*is not recognized"):
        observed(tool, text, tmp_path)


# -- sar -------------------------------------------------------------------------------------

SAR_HEAD = "Linux 5.10.0 ({host}) \t{date} \t_x86_64_\t(4 CPU)\n"


def sar_tables(samples: Sequence[tuple[str, float, float]]) -> str:
    """Return both tables of times, busy shares and packets, as `sar -u -n DEV` of a file prints."""
    cpu = "".join(
        f"{at}        all     {busy:.2f}      0.00      0.00      0.00      0.00     "
        f"{100 - busy:.2f}\n"
        for at, busy, _ in samples
    )
    packets = "".join(
        f"{at}         eth0    {rate:.2f}      1.00      8.00      0.00\n"
        for at, _, rate in samples
    )
    return (
        "\n00:00:01        CPU     %user     %nice   %system   %iowait    %steal     %idle\n"
        f"{cpu}Average:        all     9.00      0.00      0.00      0.00      0.00     91.00\n"
        "\n00:00:01        IFACE   rxpck/s   txpck/s    rxkB/s    txkB/s\n"
        f"{packets}Average:         eth0    9.00      1.00      8.00      0.00\n"
        "\n00:00:01        CPU      MHz\n00:01:01        all     2000.00\n"
    )


def test_days_and_machines_of_sar_are_rows_of_their_own(tmp_path: Path) -> None:
    days = [
        ("a", "04/18/19", [("10:00:00", 10.0, 100.0), ("10:10:00", 20.0, 200.0)]),
        ("a", "04/19/19", [("10:00:00", 30.0, 300.0), ("10:10:00", 40.0, 400.0)]),
        ("b", "04/19/19", [("10:00:00", 50.0, 500.0)]),
    ]
    text = "\n".join(SAR_HEAD.format(host=h, date=d) + sar_tables(s) for h, d, s in days)
    found = observed("sar", text, tmp_path)
    assert found.headings == ("machine", "time", "cpu in %", "packet/s", "byte/s", "cores")
    assert found.rows == tuple(
        (
            host,
            f"2019-04-{date[3:5]}T{at}",
            f"{busy:g}",
            f"{rate + 1:g}",
            "8192",
            "4",
        )
        for host, date, samples in days
        for at, busy, rate in samples
    )


def test_sar_beyond_midnight_and_in_pieces(tmp_path: Path) -> None:
    night = [("23:50:00", 10.0, 100.0), ("00:00:00", 20.0, 200.0), ("23:50:00", 30.0, 300.0)]
    head = SAR_HEAD.format(host="a", date="2026-03-01")
    rows = observed("sar", head + sar_tables(night), tmp_path).rows
    assert [row[0] for row in rows] == [
        "2026-03-01T23:50:00",
        "2026-03-02T00:00:00",
        "2026-03-02T23:50:00",
    ]
    assert [row[2] for row in rows] == ["101", "201", "301"]
    # The two tables of one day, each with a line `Linux …` of its own, tell of the same moments.
    cpu, _, packets = sar_tables(night[:2]).partition("\n00:00:01        IFACE")
    pieces = f"{head}{cpu}\n{head}\n00:00:01        IFACE{packets}"
    assert observed("sar", pieces, tmp_path).rows == rows[:2]


def test_contradicting_values_of_sar_are_rejected(tmp_path: Path) -> None:
    head = SAR_HEAD.format(host="a", date="05/04/26")
    first, other = (sar_tables([("10:00:00", 10.0, rate)]) for rate in (100.0, 900.0))
    assert len(observed("sar", head + first + head + first, tmp_path).rows) == 1
    with pytest.raises(DataError, match="`eth0` at 05/04/26 10:00:00 differs"):
        observed("sar", head + first + head + other, tmp_path)
    with pytest.raises(DataError, match=r"line 4: .* is not recognized"):
        observed("sar", head + first.replace("all     10.00 ", "all "), tmp_path)


def test_shares_that_do_not_add_up_and_interfaces_that_stand_on_others(tmp_path: Path) -> None:
    text = SAR_HEAD.format(host="a", date="2026-03-01") + sar_tables([("10:00:00", 10.0, 100.0)])
    diagnostic = warnings(observed("sar", text.replace(" 90.00\n", " 30.00\n"), tmp_path))
    assert "do not add up to 100 % at 2026-03-01T10:00:00" in diagnostic
    row = "10:00:00         eth0    100.00      1.00      8.00      0.00\n"
    both = text.replace(row, row + row.replace("eth0", "br0"))
    assert "the sum of `eth0` and `br0`" in warnings(observed("sar", both, tmp_path))
    assert "the sum of" not in warnings(observed("sar", both, tmp_path, interface="eth0"))


def test_points_of_json_are_those_of_csv(tmp_path: Path) -> None:
    test = drawn(3)
    lines = []
    for line in k6_points(test).splitlines()[1:]:
        metric, at, value, _ = line.split(",")
        clock = datetime.fromtimestamp(int(at) / 1000, UTC).isoformat()
        data = {"time": clock, "value": float(value)}
        lines.append(json.dumps({"type": "Point", "metric": metric, "data": data}))
    [row] = rows_of(observed("k6", "\n".join(lines) + "\n", tmp_path))
    assert row["request/s"] == pytest.approx(test.rate)


def test_rows_of_several_files_of_sar_say_which_they_are_of(tmp_path: Path) -> None:
    files = [tmp_path / "monday.txt", tmp_path / "tuesday.txt"]
    for file, busy in zip(files, (10.0, 20.0), strict=True):
        text = sar_tables([("10:00:00", busy, 100.0)])
        file.write_text(SAR_HEAD.format(host="a", date="05/04/26") + text, encoding="utf-8")
    found = observed_files("sar", files, FileReading())
    assert found.headings[:3] == ("file", "time", "cpu in %")
    assert [row[0] for row in found.rows] == list(map(str, files))
