"""Readers of results against the sums of what a file holds, and files that contradict themselves.

Each file is written here, in the layout of its tool, from requests that are drawn: what a reader
says of it is what these come to. Then one number that the file gives twice is changed in one place:
that is reported.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from observations import result_writers as writers
from observations.drawn_requests import START, Drawn, Request, drawn
from observations.tool_layouts import (
    IN_SECONDS,
    JMETER,
    LAYOUTS,
    NAMES,
    NO_USERS,
    NOTHING_TWICE,
    ONE_RUN,
    Writer,
    h2load,
    jmeter,
    k6_points,
    k6_printed,
    pgbench,
    pgbench_log,
    sysbench,
    wrk,
)
from qps.compiler.measurement.measured_tables import DataError
from qps.compiler.measurement.observations.file_texts import FileReading
from qps.compiler.measurement.observations.measurement_sources import SOURCES
from qps.compiler.measurement.observations.observed_files import observed_files
from qps.compiler.measurement.observations.observed_runs import ObservedRuns
from qps.compiler.measurement.observations.source_layouts import MeasurementTool, ReaderOutput


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
    [(t, w) for t, w, _, _ in LAYOUTS if w not in NOTHING_TWICE],
    ids=[w.__name__ for _, w, _, _ in LAYOUTS if w not in NOTHING_TWICE],
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
