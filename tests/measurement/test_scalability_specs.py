"""What a spec and the command make of a closed load test, and which tables they refuse."""

from __future__ import annotations

from pathlib import Path

import pytest

from helpers.measured.closed_load_tests import (
    DATABASE,
    SPEC,
    answered,
    predicted,
    written,
)
from qps.cli import main
from qps.compiler.diagnostics import codes
from qps.compiler.measurement.scalability.scalability_law import ScalabilityLaw
from qps.compiler.pipeline import check_file


def test_a_spec_has_the_throughput_of_the_table_it_is_fitted_to(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = written(tmp_path)
    claims = "\nexpect fit {\n"
    for count, throughput in predicted(DATABASE, [1, 4, 16, 64]).items():
        claims += f"  throughput ~ {throughput:.3f} request/s within 1 % with N = {count}\n"
    spec.write_text(SPEC + claims + "}\n")
    assert main(["test", str(spec)]) == 0, capsys.readouterr().out


def test_its_numbers_are_uncertain_together(tmp_path: Path) -> None:
    checked = check_file(written(tmp_path))
    assert checked.value is not None
    names = {p.name for p in checked.value.model.parameters}
    assert names == {"query.cpu.request", "query.delay", "db.cpu.parallel", "db.cpu.coherency"}
    assert not checked.diagnostics


def test_what_the_table_shows_and_the_spec_leaves_out_is_warned_of(tmp_path: Path) -> None:
    def warned(text: str) -> list[str]:
        return [d.code.id for d in check_file(written(tmp_path, text)).diagnostics]

    fit = ' fit "runs.csv" by threads'
    assert warned(SPEC.replace(f"; delay{fit}", "")) == [codes.DELAY_DROPPED.id]
    assert warned(SPEC.replace(f" speeds{fit}", "")) == [codes.SPEEDS_DROPPED.id]
    assert warned(SPEC.replace(" measured on db", "")) == [codes.MISSING_PART.id]
    assert warned(SPEC.replace(f"speeds{fit}", 'speeds fit "runs.csv"')) == [codes.MISPLACED.id]
    assert codes.MISPLACED.id in warned(SPEC.replace(f"delay{fit}", f"keep{fit}"))
    assert codes.MISPLACED.id in warned(SPEC.replace("cpu 1 core,", f"cpu 1 core, idle{fit},"))
    assert warned(SPEC.replace("cpu 1 core,", "cpu 4 core,")) == [codes.MISPLACED.id]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("clients,request/s\n1,10\n2,20\n", "`runs.csv` has no column `threads`"),
        (
            "threads,request/s\n1,10\n2.5,20\n",
            "`2.5` in column `threads` is not a number of clients",
        ),
        ("threads,request/s\n1,10\n-2,20\n", "`-2` in column `threads` is not a number of clients"),
        (
            "threads,request/s\n1,10\n200000,20\n",
            "200,000 in column `threads`, more than the limit",
        ),
        ("threads,request/s\n1,10\n2,0\n", "line 3: 2 clients without throughput"),
        ("threads,request/s\n4,10\n4,11\n", "the same number in column `threads`"),
        ("threads,done\n1,10\n2,20\n", "`runs.csv` has no column with a throughput"),
        ("threads,request/s,query/s\n1,1,2\n2,2,4\n", "several columns with rates"),
        ("threads,request/s\n1,10\n2,x\n", "`x` in column `request/s` is not a number"),
    ],
)
def test_a_table_that_cannot_be_fitted_is_refused(
    table: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = written(tmp_path, clients=table)
    spec.write_text("unit query\n" + SPEC)
    found = [d.message for d in check_file(spec).diagnostics]
    assert any(message in one for one in found), found
    units = ["--unit", "query"]
    assert main(["fit", str(tmp_path / "runs.csv"), "--by", "threads", *units]) == 2
    assert message.replace("`runs.csv`", "") in capsys.readouterr().err.replace("\n", " ")


def test_idle_rows_and_byte_rates_do_not_disturb(tmp_path: Path) -> None:
    text = "threads,request/s,MB/s\n0,0,0\n1,100,1\n2,190,1.9\n4,330,3.3\n8,400,4\n16,405,4.05\n"
    checked = check_file(written(tmp_path, clients=text))
    assert checked.value is not None
    ((_, station), *_) = checked.value.model.stations
    assert station.table.clients == (1, 2, 4, 8, 16)


def test_the_command_prints_what_a_spec_takes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    written(tmp_path)
    file = str(tmp_path / "runs.csv")
    found = answered(capsys, "fit", file, "--by", "threads")
    assert found["schema"] == "qps/scalability/1"
    assert found["peak_clients"] == 64
    assert 'queueing ps speeds fit "' in str(found["component"])
    assert main(["fit", file, "--by", "threads"]) == 0
    printed = capsys.readouterr().out
    assert "service demand" in printed
    assert "requests/s with 64 threads" in printed
    assert main(["fit", file, "--by", "threads", "--cores", "4"]) == 2
    assert "cannot be combined with `--by`" in capsys.readouterr().err


def test_a_column_that_looks_like_a_response_time_is_warned_of(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "threads,request/s,avg\n1,100,10\n2,190,10.5\n4,330,12.1\n8,400,20\n16,405,39.5\n"
    checked = check_file(written(tmp_path, clients=text))
    messages = [d.message for d in checked.diagnostics if d.code is codes.UNUSED_RATE]
    assert messages == ["column `avg` of `runs.csv` looks like a response time and is not used"]
    assert main(["fit", str(tmp_path / "runs.csv"), "--by", "threads"]) == 0
    printed = capsys.readouterr().out.replace("\n    ", " ")
    assert "looks like a response time and is not used: name the columns `latency in ms`" in printed


@pytest.mark.parametrize(
    "columns", ["threads,tps,ms", "ms,threads,tps", "threads,tps,Avg. lat [ms]"]
)
def test_threads_tps_and_ms_are_read_as_people_head_them(
    columns: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    values = {"threads": (1, 2, 4, 8, 16), "tps": (100, 190, 330, 400, 405)}
    times = [1e3 * n / x for n, x in zip(values["threads"], values["tps"], strict=True)]
    rows = [
        ",".join(
            f"{values[c][i]}" if c in values else f"{times[i]:.2f}" for c in columns.split(",")
        )
        for i in range(len(times))
    ]
    file = tmp_path / "bench.csv"
    file.write_text("\n".join([columns, *rows]))
    assert main(["fit", str(file), "--by", "threads"]) == 0
    printed = capsys.readouterr().out
    assert "Response times agree with the throughput by Little's law" in printed
    assert "looks like" not in printed


def test_a_column_of_milliseconds_that_is_no_response_time_is_not_used(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "bench.csv"
    file.write_text("threads,tps,ms\n1,100,60000\n2,190,60001\n4,330,60000\n8,400,60002\n")
    assert main(["fit", str(file), "--by", "threads"]) == 0
    assert "contradict each other" in capsys.readouterr().out.replace("\n    ", " ")


def test_more_requests_at_once_than_at_the_peak_are_warned_of(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = "threads,request/s\n1,98\n4,340\n16,812\n32,806\n64,590\n"
    spec = written(tmp_path, SPEC + "require { queries.latency <= 80 ms }\n", table)
    main(["solve", str(spec), "--no-advice", "--samples", "1000"])
    assert codes.PAST_PEAK.id in capsys.readouterr().out
    spec.write_text(spec.read_text().replace("80 ms", "20 ms"))
    main(["solve", str(spec), "--no-advice", "--samples", "1000"])
    assert codes.PAST_PEAK.id not in capsys.readouterr().out


@pytest.mark.parametrize("cell", ["0", "x", "-1"])
def test_a_response_time_that_cannot_be_is_refused(cell: str, tmp_path: Path) -> None:
    text = f"threads,request/s,p99 in ms\n1,100,10\n2,190,{cell}\n4,330,9\n"
    found = [d.message for d in check_file(written(tmp_path, clients=text)).diagnostics]
    assert any("line 3" in one for one in found), found


def test_later_speeds_that_a_spec_does_not_list_are_warned_of(tmp_path: Path) -> None:
    law = ScalabilityLaw(demand=1e-3, contention=1e-3, coherency=1e-6)
    rows = predicted(law, [1, 50, 400, 1000, 2000, 4000])
    table = "threads,request/s\n" + "".join(f"{n},{x:.6g}\n" for n, x in rows.items())
    found = check_file(written(tmp_path, clients=table))
    assert codes.BEYOND_MEASURED in [d.code for d in found.diagnostics]
    assert found.value is not None
