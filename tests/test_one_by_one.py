"""Configurations that were answered one by one are counted wherever a matrix is told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pyarrow import parquet

import qps
from qps.cli import main
from qps.solver.matrix import run
from qps.solver.matrix.row_block import RowBlock
from qps.solver.matrix.rows import MatrixSolver
from test_matrices import BASE

MATRIX = "matrix m { extra in 1..20 by 1; host in [box, big]; size in [100, 900 byte/packet]"
SPEC = BASE + MATRIX + " }"
SORTED = BASE + MATRIX + "; exclude extra > 19; order by largest_acceptable descending }"
TOLD = "of 80 were answered one by one, which takes longer"


@pytest.fixture(autouse=True)
def where_we_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(run.Parts.__init__, "__defaults__", (16,))
    Path("shop.qps").write_text(SPEC)
    Path("sorted.qps").write_text(SORTED)


@pytest.fixture
def every_tenth(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have it said of every tenth row that arrays left something of it open."""
    stretch = MatrixSolver.row_blocks

    def noting(solver: MatrixSolver, start: int, stop: int) -> list[RowBlock]:
        found = stretch(solver, start, stop)
        for rows in found:
            assert not rows.one_by_one.any()
            rows.one_by_one[[i for i in range(rows.count) if (start + i) % 10 == 9]] = True
        return found

    monkeypatch.setattr(MatrixSolver, "row_blocks", noting)


@pytest.mark.usefixtures("every_tenth")
@pytest.mark.parametrize("workers", ["1", "2"])
@pytest.mark.parametrize(("spec", "count"), [("shop.qps", 8), ("sorted.qps", 7)])
def test_they_are_counted(
    workers: str, spec: str, count: int, capsys: pytest.CaptureFixture[str]
) -> None:
    # Of those that are excluded nothing was asked: one of the last four.
    for output in ("a.parquet", "a.json", "a.csv", "a.html"):
        assert main(["matrix", spec, "-o", output, "--workers", workers]) == 0
        assert f"{count} {TOLD}" in capsys.readouterr().err
    assert main(["matrix", spec, "--workers", workers]) == 0
    assert f"{count} {TOLD}" in capsys.readouterr().out
    assert json.loads(Path("a.json").read_text())["counts"]["one_by_one"] == count
    assert parquet.read_metadata("a.parquet").metadata[b"one_by_one"] == str(count).encode()
    assert f"{count} {TOLD}" in Path("a.html").read_text()
    for result in ("a.parquet", "a.json"):
        assert main(["report", result, "-o", "b.html"]) == 0
        assert f"{count} {TOLD}" in Path("b.html").read_text()
    assert main(["report", "a.csv", "-o", "b.html"]) == 0  # which has no place for it
    table = qps.load(spec).matrix().to_arrow()
    assert table.schema.metadata[b"one_by_one"] == str(count).encode()


def test_where_there_are_none_nothing_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    for output in ("a.parquet", "a.json", "a.html"):
        assert main(["matrix", "shop.qps", "-o", output]) == 0
        assert "one by one" not in capsys.readouterr().err
    assert "one_by_one" not in Path("a.json").read_text()
    assert b"one_by_one" not in Path("a.parquet").read_bytes()
    assert b"one_by_one" not in (qps.load("shop.qps").matrix().to_arrow().schema.metadata or {})


@pytest.mark.parametrize("told", [-1, "3", None, [], 10**400, "x" * 10_000])
def test_a_count_of_a_stranger_is_a_number_or_nothing(
    told: object, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["matrix", "shop.qps", "-o", "a.json", "-q"]) == 0
    found = json.loads(Path("a.json").read_text())
    found["counts"]["one_by_one"] = told
    Path("a.json").write_text(json.dumps(found))
    assert main(["report", "a.json", "-o", "b.html"]) in (0, 2)
    if Path("b.html").exists():
        assert (TOLD in Path("b.html").read_text()) == (told == "3")
