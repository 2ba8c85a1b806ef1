"""Utilization that is not proportional to rates: upward by contention, downward by batching."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from qps.cli import main
from qps.compiler.check.model.fits.table_units import units_with
from qps.compiler.diagnostics import codes
from qps.compiler.measurement.bending import Bend, bend_of
from qps.compiler.measurement.fit_columns import FitColumns
from qps.compiler.measurement.fits import fitted
from qps.compiler.measurement.measured_tables import read_table
from qps.compiler.pipeline import check_file

SPEC = """users N in 1..50
machine vm { cpu 4 core, idle fit "runs.csv" }
component relay { cpu fit "runs.csv" measured on vm }
topology { node server = vm }
stream voice { traffic N * 50 packet/s; at server { relay } }
"""


def table_of(load: Callable[[float], float], noise: float = 0.0, seed: int = 1) -> str:
    drawn = random.Random(seed)
    rows = (
        f"{load(rate) * (1 + drawn.gauss(0, noise)):.6f},{rate}\n"
        for rate in range(4000, 28_000, 2000)
    )
    return "cpu in %,packet/s\n" + "".join(rows)


def bend(text: str) -> Bend | None:
    reading = FitColumns(resource="cpu", cores=None, processors=None)
    text = text.replace("packet/s\n", "packet/s,cores\n", 1)
    lines = [line if "cores" in line else f"{line},4" for line in text.splitlines()]
    return bend_of(fitted(read_table("\n".join(lines), "runs.csv"), reading, units_with([])))


def test_a_parabola_bends_by_the_ratio_of_its_slopes() -> None:
    upward = bend(table_of(lambda rate: 2 + rate / 1000 + (rate / 5000) ** 2))
    assert upward is not None
    assert upward.is_upward
    slopes = [1 / 1000 + 2 * rate / 5000**2 for rate in (4000, 26_000)]
    assert upward.high / upward.low == pytest.approx(slopes[1] / slopes[0], rel=1e-3)
    downward = bend(table_of(lambda rate: (rate / 100) ** 0.7))
    assert downward is not None
    assert not downward.is_upward


def test_straight_tables_seldom_bend_by_chance() -> None:
    reported = sum(
        bend(table_of(lambda rate: 2 + rate / 500, noise=0.03, seed=seed)) is not None
        for seed in range(200)
    )
    assert reported <= 8


def warned(tmp_path: Path, text: str) -> list[tuple[str, str]]:
    (tmp_path / "runs.csv").write_text(text)
    spec = tmp_path / "site.qps"
    spec.write_text(SPEC)
    return [(d.code.id, d.message) for d in check_file(spec).diagnostics]


def test_a_fixed_part_below_zero_is_a_warning_with_its_cause(tmp_path: Path) -> None:
    found = warned(tmp_path, table_of(lambda rate: rate / 1000 + (rate / 4000) ** 2))
    of_bend = [message for code, message in found if code == codes.BENDING_LOAD.id]
    assert len(of_bend) == 1, found
    assert "bends upward" in of_bend[0]
    assert "no idle utilization" in of_bend[0]
    assert codes.BAD_DATA.id not in [code for code, _ in found]


def test_a_fixed_part_below_zero_by_chance_is_none(tmp_path: Path) -> None:
    text = "cpu in %,packet/s\n9.9,4000\n20.2,8000\n29.9,12000\n40.5,16000\n50,20000\n"
    assert warned(tmp_path, text) == []


@pytest.mark.parametrize(
    ("heading", "is_named"), [("batch", True), ("p99 in ms", False), ("memory in MB", False)]
)
def test_an_unused_column_that_costs_depend_on_is_named(
    heading: str, *, is_named: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A step of 2 ms for each batch, and 0.1 ms for each image."""
    rows = [f"{size / (2e-3 + 1e-4 * size):.1f},{size}\n" for size in (1, 4, 16, 64, 256)]
    table = tmp_path / "gpu.csv"
    table.write_text(f"served in image/s,{heading}\n" + "".join(rows))
    assert main(["fit", str(table), "--unit", "image"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert ("costs that depend on `batch` predict rows" in out) == is_named
    assert ("--per 'image' --per 'image / batch'" in out) == is_named


def test_batching_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = warned(tmp_path, table_of(lambda rate: (rate / 100) ** 0.7))
    assert any("bends downward" in message for _, message in found), found
    main(["fit", str(tmp_path / "runs.csv"), "--cores", "4"])
    assert "batching" in capsys.readouterr().out
