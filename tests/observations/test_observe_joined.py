"""A load test beside what a machine used: joined by time or by users, with clocks and warm-up."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from qps.cli import main
from qps.compiler.measurement.measured_tables import DataError
from qps.compiler.measurement.observations.file_texts import FileReading
from qps.compiler.measurement.observations.observed_runs import ObservedRuns
from qps.compiler.measurement.observations.recognized_files import recognized_files

START = 1_795_419_820
COST, IDLE = 0.002, 0.1
"""Core seconds per request, and busy cores without any."""
LEVELS = (50, 100, 150, 200, 250, 300)
LENGTH = 20
"""How long each rate lasts, in s."""


def rate_at(second: int) -> int:
    return LEVELS[min(max(second // LENGTH, 0), len(LEVELS) - 1)]


def jmeter(folder: Path, *, has_users: bool = True) -> Path:
    users = ",allThreads" if has_users else ""
    lines = [f"timeStamp,elapsed,success{users}"]
    for second in range(LENGTH * len(LEVELS)):
        rate = rate_at(second)
        cell = f",{rate // 10}" * has_users
        lines += [f"{1000 * (START + second) + 1000 * i // rate},0,true{cell}" for i in range(rate)]
    file = folder / "load.jtl"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return file


def usage(folder: Path, ahead: float = 0, heading: str = "CPU (cores)", factor: float = 1) -> Path:
    """Each sample is of the second that ends with it."""
    rows = [
        f"{datetime.fromtimestamp(START + second + 1 + ahead, UTC):%Y-%m-%dT%H:%M:%S},"
        f"{(IDLE + COST * rate_at(second)) * factor:.4f}"
        for second in range(-30, LENGTH * len(LEVELS) + 30)
    ]
    file = folder / "cpu.csv"
    file.write_text(f"Timestamp,{heading}\n" + "\n".join(rows) + "\n", encoding="utf-8")
    return file


def rows_of(found: ObservedRuns) -> list[dict[str, str]]:
    return [dict(zip(found.headings, row, strict=True)) for row in found.rows]


def said(found: ObservedRuns) -> str:
    return "\n".join(found.notes)


def test_windows_have_what_the_machine_used_in_them(tmp_path: Path) -> None:
    files = [jmeter(tmp_path), usage(tmp_path)]
    found = recognized_files(files, FileReading(window="5s"))
    rows = rows_of(found)
    assert {float(row["request/s"]) for row in rows} == {*map(float, LEVELS)}
    for row in rows:
        assert float(row["cpu in core"]) == pytest.approx(IDLE + COST * float(row["request/s"]))
    # Of 24 windows the first and the last are cut, and each of five changes warms up.
    assert f"joined by time: {len(rows)} of 22 windows of 5 s have a row" in said(found)
    assert len(rows) == 22 - 1 - 5
    assert "warm-up" in said(found)
    assert "clocks agree" in said(found)


def test_without_users_the_first_window_is_warm_up(tmp_path: Path) -> None:
    files = [usage(tmp_path), jmeter(tmp_path, has_users=False)]
    found = recognized_files(files, FileReading(window="5s"))
    assert len(found.rows) == 21
    assert "the first one is warm-up" in said(found)


@pytest.mark.parametrize("ahead", [-4, 4])
def test_clocks_that_differ_are_reported_and_corrected(ahead: int, tmp_path: Path) -> None:
    files = [jmeter(tmp_path), usage(tmp_path, ahead)]
    found = recognized_files(files, FileReading(window="5s"))
    assert f"`--offset {ahead}s`" in said(found) or "clocks agree" in said(found)
    found = recognized_files(files, FileReading(window="5s", offset=f"{ahead}s"))
    assert "warning: the clocks" not in said(found)
    for row in rows_of(found):
        assert float(row["cpu in core"]) == pytest.approx(IDLE + COST * float(row["request/s"]))


def test_another_time_zone_is_named(tmp_path: Path) -> None:
    files = [jmeter(tmp_path), usage(tmp_path, -7200)]
    with pytest.raises(DataError, match="no time in common") as caught:
        recognized_files(files, FileReading())
    assert "`--offset -120m`" in caught.value.hint
    assert recognized_files(files, FileReading(offset="-120m")).rows


@pytest.mark.parametrize("offset", ["2", "x", "3d"])
def test_a_wrong_offset_is_refused(offset: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="is not a time up to a day"):
        recognized_files([jmeter(tmp_path), usage(tmp_path)], FileReading(offset=offset))


@pytest.mark.parametrize(
    ("heading", "factor", "expected"),
    [("CPU (m)", 1000, "cpu in core"), ("CPU (%)", 25, "cpu in %")],
)
def test_units_of_usage_are_known_by_their_heading(
    heading: str, factor: float, expected: str, tmp_path: Path
) -> None:
    found = recognized_files(
        [jmeter(tmp_path), usage(tmp_path, heading=heading, factor=factor)], FileReading()
    )
    row = rows_of(found)[0]
    scale = factor if expected.endswith("%") else 1
    value = (IDLE + COST * float(row["request/s"])) * scale
    assert float(row[expected]) == pytest.approx(value, rel=1e-3)


def test_per_cent_of_a_core_is_not_guessed(tmp_path: Path) -> None:
    files = [jmeter(tmp_path), usage(tmp_path, heading="CPU %", factor=200)]
    with pytest.raises(DataError, match="more than all of a machine") as caught:
        recognized_files(files, FileReading())
    stated = caught.value.hint.partition("--column '")[2].partition("'")[0]
    row = rows_of(recognized_files(files, FileReading(column=(stated,))))[0]
    assert float(row["cpu in core"]) == pytest.approx(2 * (IDLE + COST * float(row["request/s"])))


def test_the_joined_table_is_fitted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    jmeter(tmp_path), usage(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert main(["observe", "load.jtl", "cpu.csv", "--window", "5s", "-o", "runs.csv"]) == 0
    assert "runs.csv" in capsys.readouterr().err
    assert main(["fit", "runs.csv", "--cores", "4"]) == 0
    assert "ms/request" in capsys.readouterr().out
    assert main(["observe", "load.jtl", "cpu.csv", "-o", "cpu.csv"]) == 2


def test_without_times_rows_are_joined_by_users(tmp_path: Path) -> None:
    (tmp_path / "load.csv").write_text("Users,rps\n10,120\n20,240\n40,470\n")
    (tmp_path / "cpu.csv").write_text("users,CPU %\n10,3\n20.0,6\n")
    found = recognized_files([tmp_path / "load.csv", tmp_path / "cpu.csv"], FileReading())
    assert found.headings == ("users", "request/s", "cpu in %")
    assert found.rows == (("10", "120", "3"), ("20", "240", "6"))
    assert "joined by users: 2 rows; 1 without the other" in said(found)
    (tmp_path / "cpu.csv").write_text("users,CPU %\n10,3\n10,6\n")
    with pytest.raises(DataError, match="several rows have 10 users"):
        recognized_files([tmp_path / "load.csv", tmp_path / "cpu.csv"], FileReading())


def test_a_summary_cannot_be_joined_by_time(tmp_path: Path) -> None:
    (tmp_path / "k6.txt").write_bytes(
        (Path(__file__).parents[1] / "observed" / "k6.txt").read_bytes()
    )
    with pytest.raises(DataError, match="if both have a time") as caught:
        recognized_files([tmp_path / "k6.txt", usage(tmp_path)], FileReading())
    assert "--out csv" in caught.value.hint


def test_files_of_different_tools_are_one_table() -> None:
    observed = Path(__file__).parents[1] / "observed"
    found = recognized_files([observed / "wrk.txt", observed / "ab.txt"], FileReading())
    assert [Path(row["file"]).name for row in rows_of(found)] == ["wrk.txt", "ab.txt"]


VMSTAT = (
    "procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu----- -----stamp\n"
    " r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st   UTC\n"
    " 1  0      0 100 10 10    0    0     0     0   1  1 90  6  4  0  0 2026-03-01 10:00:00\n"
    " 1  0      0 100 10 10    0    0     0     0   1  1 20 10 60  6  4 2026-03-01 10:00:01\n"
)


def test_vmstat_counts_neither_waiting_nor_what_others_took(tmp_path: Path) -> None:
    file = tmp_path / "vmstat"
    file.write_text(VMSTAT + VMSTAT.replace(" 6  4 2026", " 0  0 2026"))
    found = recognized_files([file], FileReading())
    assert found.rows[0] == ("2026-03-01T10:00:01", "30")
    assert found.headings == ("time", "cpu in %")
    file.write_text(VMSTAT.replace(" 60  6  4", " 60  x  4").replace("60", "x"))
    with pytest.raises(DataError, match=r"line 4: .* is not recognized"):
        recognized_files([file], FileReading())
    file.write_text("\n".join(line.partition(" 2026")[0] for line in VMSTAT.splitlines()))
    found = recognized_files([file], FileReading())
    assert found.headings == ("cpu in %",)
    assert "has no times" in said(found)


PIDSTAT = (
    "Linux 6.1 (web) \t11/29/26 \t_x86_64_\t(2 CPU)\n\n"
    "# Time        UID       PID    %usr %system  %guest   %wait    %CPU   CPU  Command\n"
    "{at}        0        10   10.00   15.00    0.00   47.00   25.00     1  nginx\n"
    "{at}        0        11   10.00   15.00    0.00   47.00   50.00     0  nginx\n"
    "{at}        0        12   10.00   15.00    0.00   47.00  150.00     0  {other}\n"
    "Average:      0        12   10.00   15.00    0.00   47.00   50.00     0  nginx\n"
)


@pytest.mark.parametrize("at", ["23:50:01", "1795996201", "11:50:01 PM"])
def test_processes_of_one_name_are_added(at: str, tmp_path: Path) -> None:
    file = tmp_path / "pidstat"
    file.write_text(PIDSTAT.format(at=at, other="nginx"))
    [row] = rows_of(recognized_files([file], FileReading()))
    assert (row["time"][:19], row["cpu in core"]) == ("2026-11-29T23:50:01", "2.25")
    file.write_text(PIDSTAT.format(at=at, other="php"))
    with pytest.raises(DataError, match="several processes: `nginx` and `php`") as caught:
        recognized_files([file], FileReading())
    assert "--process nginx" in caught.value.hint
    [row] = rows_of(recognized_files([file], FileReading(process="nginx")))
    assert row["cpu in core"] == "0.75"
    with pytest.raises(DataError, match="no process `ngnx`"):
        recognized_files([file], FileReading(process="ngnx"))


K6 = (
    '{"metrics":{"http_reqs":{"count":36012,"rate":120.04},"http_req_duration":{"avg":18.4,'
    '"min":3.1,"med":15.2,"max":210.5,"p(90)":33.0,"p(95)":42.6},"iterations":{"count":36012,'
    '"rate":120.04},"data_received":{"count":300000,"rate":1000},"vus":{"value":20,"min":20,"max":20}}}'
)


def _by_rate(folder: Path, rates: str) -> ObservedRuns:
    (folder / "summary.json").write_text(K6)
    rows = "".join(f"{rate},{float(rate) * 0.34:g}\n" for rate in rates.split())
    (folder / "cpu.csv").write_text(f"request/s,CPU (%)\n{rows}")
    return recognized_files([folder / "summary.json", folder / "cpu.csv"], FileReading())


def test_a_table_of_rates_and_cpu_gets_the_latencies_of_a_run_at_its_rate(tmp_path: Path) -> None:
    found = _by_rate(tmp_path, "40 80 120 160")
    rows = rows_of(found)
    assert [row["request/s"] for row in rows] == ["40", "80", "120", "160"]
    assert [row["latency mean, ms"] for row in rows] == ["", "", "18.4", ""]
    assert "byte/s" not in found.headings
    assert "joined by request/s: 1 of 4 rows have a load test at their rate" in said(found)
    assert "`byte/s` of some rows alone are left out" in said(found)
    whole = _by_rate(tmp_path, "120")
    assert rows_of(whole)[0]["byte/s"] == "1000"


def test_tables_without_a_rate_in_common_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"no rate in common: `120\.04`; `40` and `80`"):
        _by_rate(tmp_path, "40 80")
