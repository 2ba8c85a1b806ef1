"""Tables of machines whose number of cores is a parameter, or is set by a column."""

from __future__ import annotations

from pathlib import Path

import pytest

from qps.cli import main
from qps.compiler.pipeline import check_file

FITTED = """users N in 1..500
param cores = 4 in 1..64
machine vm { cpu cores, idle fit "runs.csv" }
component relay { cpu fit "runs.csv" measured on vm }
topology { node server = vm }
stream voice { traffic N * 50 packet/s; at server { relay } }
"""
RUNS = "cpu in %,packet/s,cores\n10,4000,4\n18,8000,4\n26.1,12000,4\n33.9,16000,4\n42,20000,4\n"
OBSERVED = """users N in 1..50_000
machine vm { cpu 4 core }
component relay { cpu 0.02 ms/request }
topology { node server = vm }
stream calls { traffic N * 1 request/s; at server { relay } }
observe bench "bench.csv" {
  users -> N
  cores -> server.cpu.cores
  "busy" in % -> server.cpu.load within 1 %
}
"""


def test_a_fit_takes_the_cores_of_the_table_and_idle_load_is_that_of_so_many(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "runs.csv").write_text(RUNS)
    spec = tmp_path / "site.qps"
    claims = "".join(
        f"expect on_{cores} {{ server.cpu.load ~ {18 * 4 / cores} % within 1 % "
        f"with N = 160, cores = {cores} }}\n"
        for cores in (4, 8, 16)
    )
    spec.write_text(FITTED)
    assert not check_file(spec).diagnostics
    spec.write_text(FITTED + claims)
    assert main(["test", str(spec)]) == 0, capsys.readouterr().out


def test_without_a_column_of_cores_it_is_refused(tmp_path: Path) -> None:
    (tmp_path / "runs.csv").write_text(RUNS.replace(",cores", "").replace(",4\n", "\n"))
    (tmp_path / "site.qps").write_text(FITTED)
    (found,) = check_file(tmp_path / "site.qps").diagnostics
    assert "does not specify how many cores" in found.message
    assert "column `cores`" in found.hints[0]


def test_a_column_sets_the_cores_of_each_row(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = "users,busy,cores\n10000,10,2\n20000,10,4\n40000,10,8\n"
    (tmp_path / "bench.csv").write_text(table)
    spec = tmp_path / "site.qps"
    spec.write_text(OBSERVED)
    assert main(["test", str(spec)]) == 0, capsys.readouterr().out
    (tmp_path / "bench.csv").write_text(table.replace("40000,10,8", "40000,10,4"))
    assert main(["test", str(spec)]) == 1
    capsys.readouterr()
    (tmp_path / "bench.csv").write_text(table.replace(",8", ",x"))
    (found,) = check_file(spec).diagnostics
    assert "line 4, column `cores`" in found.message
