"""The scaling efficiency of a processor: fitted to cores, below one half and above one."""

from __future__ import annotations

import json
import random
from math import log2
from pathlib import Path

import pytest

from qps.cli import main
from qps.compiler.diagnostics import codes
from qps.compiler.measurement.scalability.closed_tables import ClosedTable
from qps.compiler.measurement.scalability.core_scaling import core_scaling
from qps.compiler.measurement.student_t import student_quantile
from qps.compiler.pipeline import check_file

SPEC = """users N in 1..50_000
machine vm { cpu 16 core, efficiency fit "cores.csv" by cores }
component relay { cpu 1 ms/request }
topology { node server = vm }
stream calls for each user { traffic 1 request/s; at server { relay } }
"""


def rows(efficiency: float, cores: list[int], noise: float = 0.0, seed: int = 1) -> str:
    drawn = random.Random(seed)
    found = (
        f"{c},{1000 * c * efficiency ** log2(c) * (1 + drawn.gauss(0, noise)):.6f}\n" for c in cores
    )
    return "cores,request/s\n" + "".join(found)


def written(folder: Path, table: str, text: str = SPEC) -> Path:
    (folder / "cores.csv").write_text(table)
    (folder / "site.qps").write_text(text)
    return folder / "site.qps"


@pytest.mark.parametrize("efficiency", [0.44, 0.93, 1.06])
def test_a_spec_has_the_capacity_of_the_cores_that_it_is_fitted_to(
    efficiency: float, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = written(tmp_path, rows(efficiency, [1, 2, 4, 8, 16]))
    capacity = 16 * efficiency**4 * 1000  # 1 ms for each request, one a second
    claim = f"expect fit {{ server.cpu.load ~ 50 % within 1 % with N = {round(capacity / 2)} }}\n"
    spec.write_text(SPEC + claim)
    assert main(["test", str(spec)]) == 0, capsys.readouterr().out


def test_it_is_an_uncertain_input(tmp_path: Path) -> None:
    checked = check_file(written(tmp_path, rows(0.93, [1, 2, 4, 8])))
    assert checked.value is not None
    assert [p.name for p in checked.value.model.parameters] == ["vm.cpu.efficiency"]
    assert not checked.diagnostics


def test_intervals_hold() -> None:
    held = 0
    for seed in range(400):
        text = rows(0.9, [1, 2, 4, 8, 16], noise=0.03, seed=seed).splitlines()[1:]
        cells = [line.split(",") for line in text]
        table = ClosedTable(
            file="cores.csv",
            by="cores",
            item="request",
            lines=tuple(range(2, 7)),
            clients=tuple(int(cores) for cores, _ in cells),
            throughputs=tuple(float(rate) for _, rate in cells),
        )
        found = core_scaling(table)
        half = student_quantile(0.95, found.freedom) * found.deviation
        held += abs(found.efficiency - 0.9) <= half
    assert 0.87 * 400 <= held <= 0.95 * 400


@pytest.mark.parametrize(
    ("table", "code", "message"),
    [
        ("cores,request/s\n1,100\n2,350\n4,400\n8,800\n", codes.POOR_FIT, "poor fit"),
        ("cpus,request/s\n1,100\n2,190\n", codes.BAD_DATA, "no column `cores`"),
        ("cores,request/s\n2,100\n2,190\n", codes.BAD_DATA, "the same number"),
    ],
)
def test_what_is_wrong_with_a_table_is_reported(
    table: str, code: codes.Code, message: str, tmp_path: Path
) -> None:
    (found,) = check_file(written(tmp_path, table)).diagnostics
    assert found.code is code
    assert message in found.message


def test_it_is_drawn_with_the_capacity(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec = written(tmp_path, rows(0.93, [1, 2, 4, 8]))
    main(["solve", str(spec), "--format", "json"])
    assert "vm.cpu.efficiency" in json.dumps(json.loads(capsys.readouterr().out))
