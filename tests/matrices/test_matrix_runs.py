"""`qps matrix`: files, parts, broken runs, clusters."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pyarrow import csv, parquet

import qps
from helpers.cases.matrix_of_parts import SPEC
from matrices.test_matrices import BASE
from qps.cli import main
from qps.compiler import ir
from qps.solver.answers.solution import SolverFault
from qps.solver.matrix import row_ranges as rows
from qps.solver.matrix.compilation import group_compiler
from qps.solver.matrix.compilation.compiled_matrix import CompiledGroup, CompiledMatrix
from qps.solver.matrix.compilation.structures import configured
from qps.solver.matrix.matrix_claims import MatrixClaimEvaluator

ROWS = 80
pytestmark = pytest.mark.usefixtures("small_parts")


def rows_of(path: str) -> list[dict[str, object]]:
    return list(parquet.read_table(path).to_pylist())


# -- files ----------------------------------------------------------------------------


def test_all_files_hold_the_same_rows() -> None:
    for name in ("a.parquet", "a.csv", "a.json"):
        assert main(["matrix", "shop.qps", "-o", name]) == 0
    found = rows_of("a.parquet")
    output = json.loads(Path("a.json").read_text())
    assert output["schema"] == "qps/matrix/5"
    assert output["units"]["size"] == "bit/packet"
    assert output["rows"] == found
    assert len(found) == ROWS
    from_csv = csv.read_csv("a.csv").to_pylist()
    assert [row["capacity"] for row in from_csv] == [row["capacity"] for row in found]
    assert not list(Path().glob("*.parts"))
    assert not list(Path().glob("*.tmp"))


def test_a_table_shows_the_first_rows(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["matrix", "shop.qps"]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed[0].split() == ["Matrix:", "m", "shop.qps"]
    assert printed[2].startswith("  Result           80 configurations")
    assert printed[-1] == "  30 more rows. To save all rows, use `-o FILE`."
    start = printed.index("", 3) + 2
    assert len(printed[start : printed.index("", start)]) == 50


@pytest.mark.parametrize("form", ["json", "csv", "markdown"])
def test_other_forms_on_the_screen(form: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["matrix", "shop.qps", "--format", form]) == 0
    out = capsys.readouterr().out
    if form == "json":
        assert len(json.loads(out)["rows"]) == ROWS
    elif form == "csv":
        assert len(out.splitlines()) == ROWS + 1
    else:
        assert "| ---" in out


def test_the_status_is_1_where_nobody_is_carried() -> None:
    Path("none.qps").write_text(BASE + "matrix m { extra in [5000, 9000] }")
    assert main(["matrix", "none.qps"]) == 1


def test_settings_change_what_is_no_axis(capsys: pytest.CaptureFixture[str]) -> None:
    for setting, found in (("N=1..3", 3), ("lan=fast", 200)):
        main(["matrix", "shop.qps", "--format", "json", "--set", setting])
        output = json.loads(capsys.readouterr().out)["rows"]
        assert max(row["capacity"] or 0 for row in output) <= found


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--set", "extra=3"], "`extra` is an axis of matrix `m`"),
        (["-o", "a.xlsx"], "unknown file type: `a.xlsx`"),
        (["-o", "nowhere/a.csv"], "`nowhere` is not a folder"),
        (["--resume"], "`--resume` requires `-o FILE`"),
        (["--on", "moon"], "unknown value `moon` of `--on`"),
        (["--workers", "0"], "`--workers` must be at least 1"),
        (["other"], "has no matrix named `other`"),
    ],
)
def test_wrong_arguments(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["matrix", "shop.qps", *arguments]) == 2
    assert message in capsys.readouterr().err


def test_a_spec_with_several_matrices_or_none(capsys: pytest.CaptureFixture[str]) -> None:
    Path("two.qps").write_text(SPEC + "\nmatrix n { zip in [on, off] }\n")
    assert main(["matrix", "two.qps"]) == 2
    assert "choose `m` or `n`" in capsys.readouterr().err
    assert main(["matrix", "two.qps", "n"]) == 0
    Path("no.qps").write_text(BASE)
    assert main(["matrix", "no.qps"]) == 2
    assert "has no matrix" in capsys.readouterr().err


# -- faults of ours -------------------------------------------------------------------


@pytest.fixture
def faulty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have every row answered alone; where `extra` is 7 or 8, that is a fault."""
    whole = rows.compile_alone

    def alone(matrix: CompiledMatrix, block: int, index: tuple[int, ...]) -> CompiledGroup:
        axes = matrix.blocks[block].structure.axes
        configuration = configured(matrix.model, matrix.matrix, axes, index)
        extra = configuration.parameters["extra"]
        if isinstance(extra, ir.Constant) and extra.value == 7:
            raise SolverFault("off by 1")
        if isinstance(extra, ir.Constant) and extra.value == 8:
            raise ZeroDivisionError("by nothing")
        return whole(matrix, block, index)

    def by_themselves(*_: object) -> bool:
        return False

    monkeypatch.setattr(rows, "compile_alone", alone)
    monkeypatch.setattr(group_compiler.GroupCompiler, "_is_shared", by_themselves)


FEW = BASE + "matrix m { extra in [6, 7, 8, 9, 5000]; where largest_acceptable >= 5 }"


@pytest.mark.usefixtures("faulty")
@pytest.mark.parametrize("ending", ["parquet", "csv", "json", "html"])
def test_a_fault_survives_every_filter_and_is_status_3(
    ending: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("few.qps").write_text(FEW)
    assert main(["matrix", "few.qps", "-o", f"few.{ending}"]) == 3
    errors = capsys.readouterr().err
    assert "2 without a result after internal errors of qps, see `reason`" in errors
    assert "without capacity" not in errors
    if ending == "parquet":
        rows = {row["extra"]: row for row in rows_of("few.parquet")}
        assert rows.keys() == {6, 7, 8, 9}
        assert rows[7]["reason"] == "internal error of qps: off by 1"
        assert rows[8]["reason"] == "internal error of qps: ZeroDivisionError: by nothing"
        assert rows[7]["capacity"] is None
        assert rows[6]["reason"] is None
    if ending == "json":
        counts = json.loads(Path("few.json").read_text())["counts"]
        assert counts == {"rows": 4, "infeasible": 0, "faults": 2, "solved_individually": 5}
    if ending == "html":
        page = Path("few.html").read_text()
        assert "5 configurations; 2 meet the conditions." in page
        assert "2 without a result after internal errors of qps" in page


@pytest.mark.usefixtures("faulty")
@pytest.mark.parametrize("form", ["text", "markdown", "json", "csv"])
def test_a_fault_is_reported_with_all_other_rows(
    form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("few.qps").write_text(FEW.replace("where largest_acceptable >= 5", ""))
    assert main(["matrix", "few.qps", "--format", form]) == 3
    out, err = capsys.readouterr()
    assert "This" not in err
    assert "Please report it" in err
    assert out.count("internal error of qps") == 2
    if form in ("text", "markdown"):
        assert "5 configurations; 2 feasible, 1 infeasible" in out
        assert "2 without a result after internal errors of qps" in " ".join(out.split())
    if form == "json":
        assert json.loads(out)["counts"] == {
            "rows": 5,
            "infeasible": 1,
            "faults": 2,
            "solved_individually": 5,
        }


@pytest.mark.usefixtures("faulty")
@pytest.mark.parametrize(
    ("claim", "is_true"),
    [
        ("every configuration: largest_acceptable >= 1", False),  # of 5000 it does not hold
        ("some configuration: largest_acceptable >= 1", True),
        ("no configuration: largest_acceptable >= 1", False),
        ("at least 2 configurations: largest_acceptable >= 1", True),
        ("at least 3 configurations: largest_acceptable >= 1", None),
        ("at least 5 configurations: largest_acceptable >= 1", False),
        ("at most 1 configuration: largest_acceptable >= 1", False),
        ("at most 3 configurations: largest_acceptable >= 1", None),
        ("at most 4 configurations: largest_acceptable >= 1", True),
        ("every configuration where extra < 10: largest_acceptable >= 1", None),
    ],
)
def test_a_claim_that_rests_on_a_fault_is_not_judged(claim: str, is_true: bool | None) -> None:
    text = BASE + "matrix m { extra in [6, 7, 8, 9, 5000] }\n"
    spec = qps.loads(text + f'expect it {{ {claim}; source "us" }}\n').spec
    judge = MatrixClaimEvaluator(spec.model)
    judged = judge.of(spec.model.expectations[0].matrix_claims[0])
    assert judged.faults == 2
    if is_true is None:
        with pytest.raises(SolverFault, match="off by 1, at extra = 7"):
            assert judged.is_true
    else:
        assert judged.is_true is is_true
