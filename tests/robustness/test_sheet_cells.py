"""No cell of a CSV file that we write is run by a spreadsheet, and none is lost by that."""

from __future__ import annotations

import ast
import csv
import io
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qps.cli import main
from qps.compiler.measurement.campaigns.campaign_axes import CampaignAxis
from qps.compiler.measurement.campaigns.measured_rows import SettingRow, TableLayout, table_text
from qps.compiler.measurement.measured_tables import read_table
from qps.compiler.measurement.observations.load_runs import LoadRun
from qps.compiler.measurement.observations.observed_runs import ObservedRuns, runs_table
from qps.compiler.measurement.sheet_cells import as_cell, of_cell

ROOT = Path(__file__).parents[2]
RUN = [
    "=1+1",
    "=cmd|' /C calc'!A0",
    "+cmd|' /C calc'!A0",
    "-2+3+cmd|' /C calc'!A0",
    "@SUM(1+1)*cmd|' /C calc'!A0",
    "\t=1+1",
    "\r=1+1",
    "\n=1+1",
    "＝1+1",
    "'=1+1",
    "-5 ms",
    "-5\n",
]
"""What a spreadsheet may run, and what it would run were its apostrophe lost."""
STARTS = "=+-@\t\r\n＝＋－＠"


@pytest.mark.parametrize("text", RUN)
def test_what_may_be_run_stands_behind_an_apostrophe(text: str) -> None:
    assert as_cell(text) == f"'{text}"
    assert of_cell(as_cell(text)) == text


@pytest.mark.parametrize(
    "text", ["-5", "+5", "-1.5e-3", "-.5", "12", "", "-", "web-1", "a=b", "'tis"]
)
def test_all_else_stands_as_it_is(text: str) -> None:
    assert as_cell(text) == text
    assert of_cell(text) == text


@given(st.text(st.sampled_from([*STARTS, "'", "1", "x", ".", "e"]), max_size=6))
def test_nothing_is_lost(text: str) -> None:
    cell = as_cell(text)
    assert cell == text or of_cell(cell) == text
    assert is_safe(cell)


def is_safe(cell: str) -> bool:
    """Return whether a cell is a number, or begins with nothing that is run."""
    try:
        float(cell)
    except ValueError:
        return len(cell) < 2 or cell[0] not in STARTS
    return True


# -- all that write ------------------------------------------------------------------------

MATRIX = """
users N in 1..1000
param work = 1 ms/request
machine server { cpu 1 core }
topology {
  node user = server * N
  node here = server
  link wan = lan between user, here
}
network lan { rate 1 Mbit/s }
component answer { cpu work }
stream requests for each user {
  traffic 1 request/s, 10 byte/request
  at user { }
  over wan
  at here { answer }
}
matrix all { work in [1, 2 ms/request] }
"""


def observed(name: str) -> str:
    return ObservedRuns(headings=(name, "request/s"), rows=((name, "-5"), ("x", "3"))).as_csv()


def of_load_runs(name: str) -> str:
    return runs_table([LoadRun(file=name, done=3.0, latencies={name: 0.1})], item=name).as_csv()


def measured(name: str) -> str:
    row = SettingRow(
        setting=(name,),
        loads={name: 0.5},
        rates={name: 3.0, "byte": 1.0},
        repetitions=2,
        spread=0.1,
        generator=0.1,
        others=0.0,
        stolen=0.0,
        seconds=1.0,
        elapsed=1.0,
        each=None,
        busiest=0.1,
        generator_busiest=0.1,
        requested_rates={},
        notes=(),
    )
    axis = CampaignAxis(name=name, values=(name,))
    return table_text([row], TableLayout(items=(name,), axes=(axis,), cores=1.0, machine_cores=1))


def of_a_matrix(name: str) -> str:
    pa = pytest.importorskip("pyarrow")
    from qps.reports.text import matrix_output

    table = pa.table({name: [name, None, "-5"], "number": [-1.5, -2.0, None]})
    file = io.BytesIO()
    with matrix_output.csv.CSVWriter(file, matrix_output._in_sheet(table).schema) as writer:
        matrix_output._SheetWriter(writer).write_table(table)
    return file.getvalue().decode()


WRITERS: dict[str, Callable[[str], str]] = {
    "compiler/measurement/observations/observed_runs.py": observed,
    "compiler/measurement/observations/observed_runs.py, of load": of_load_runs,
    "compiler/measurement/campaigns/measured_rows.py": measured,
    "reports/text/matrix_output.py": of_a_matrix,
}


@pytest.mark.parametrize("text", RUN)
@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)
def test_no_writer_lets_a_name_be_run(write: Callable[[str], str], text: str) -> None:
    cells = [cell for row in csv.reader(io.StringIO(write(text), newline="")) for cell in row]
    assert all(is_safe(cell) for cell in cells), cells
    assert any(text in cell for cell in cells)


def test_numbers_below_zero_stay_numbers() -> None:
    assert list(csv.reader(io.StringIO(observed("x"))))[1][1] == "-5"
    assert "-1.5" in of_a_matrix("x").splitlines()[1]


def test_these_are_all_that_write() -> None:
    found = set()
    for room in (ROOT / "src" / "qps").iterdir():
        for path in room.rglob("*.py") if room.is_dir() else [room]:
            if path.suffix != ".py":
                continue
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Attribute) and node.attr in {
                    "writer",
                    "DictWriter",
                    "CSVWriter",
                    "write_csv",
                    "to_csv",
                }:
                    found.add(str(path.relative_to(ROOT / "src" / "qps")))
    assert found == {"compiler/measurement/sheet_cells.py", "reports/text/matrix_output.py"}


# -- reading again -------------------------------------------------------------------------


@pytest.mark.parametrize("text", [one for one in RUN if one.strip() == one])
def test_a_table_that_we_wrote_is_read_as_what_it_was_written_of(text: str) -> None:
    table = read_table(observed(text), "runs.csv")
    assert table.headings == (text, "request/s")
    assert table.columns == {text: (text, "x"), "request/s": ("-5", "3")}


@pytest.mark.parametrize("text", RUN)
def test_a_matrix_that_we_wrote_is_read_as_what_it_was_written_of(
    text: str, tmp_path: Path
) -> None:
    pytest.importorskip("pyarrow")
    from qps.reports.pages.matrices.matrix_file import _csv

    (tmp_path / "x.csv").write_bytes(of_a_matrix(text).encode())
    table = _csv(tmp_path / "x.csv", 10)
    assert table.column_names == [text, "number"]
    assert table[text].to_pylist() == [text, None, "-5"]
    assert table["number"].to_pylist() == [-1.5, -2.0, None]


@pytest.mark.parametrize("to_file", [False, True])
def test_what_a_matrix_prints_is_as_before(
    to_file: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("pyarrow")
    spec = tmp_path / "shop.qps"
    spec.write_text(MATRIX)
    if to_file:
        assert main(["matrix", str(spec), "-o", str(tmp_path / "x.csv")]) == 0
        output = (tmp_path / "x.csv").read_text()
    else:
        assert main(["matrix", str(spec), "--format", "csv"]) == 0
        output = capsys.readouterr().out
    head, *rows = output.splitlines()
    assert head.startswith('"work"')
    assert len(rows) == 2
    assert "'" not in output
