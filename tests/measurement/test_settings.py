"""Rows of one setting: left out together, whatever noise their rates have."""

from __future__ import annotations

import json
from collections.abc import Hashable
from fractions import Fraction
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from qps.cli import main
from qps.compiler.measurement.fit_columns import FitColumns
from qps.compiler.measurement.fit_spread import fit_spread, spread
from qps.compiler.measurement.fits import CostFit, fitted
from qps.compiler.measurement.least_squares import LeastSquares
from qps.compiler.measurement.measured_tables import read_table
from qps.compiler.measurement.regression import regression
from qps.compiler.measurement.repeated_settings import errors_unseen
from qps.compiler.measurement.student_t import student_quantile
from qps.compiler.quantities.dimension import DIMENSIONLESS, TIME, Dimension

UNITS = {
    "%": (Fraction(1, 100), DIMENSIONLESS),
    "request/s": (Fraction(1), Dimension.of("request") / TIME),
    "packet/s": (Fraction(1), Dimension.of("packet") / TIME),
}


def fit_of(text: str) -> CostFit:
    reading = FitColumns(resource="cpu", cores=Fraction(1), processors=Fraction(1))
    return fitted(read_table(text, "runs.csv"), reading, UNITS.get)


rows = st.lists(
    st.tuples(st.integers(0, 3), st.integers(1, 1000), st.integers(1, 1000)),
    min_size=5,
    max_size=14,
)


@given(rows)
def test_settings_are_left_out_together(rows: list[tuple[int, int, int]]) -> None:
    """By numpy, fitting to the other settings."""
    labels = [label for label, *_ in rows]
    matrix = np.array([[1.0, rate] for _, rate, _ in rows])
    loads = np.array([float(load) for *_, load in rows])
    assume(len({rate for _, rate, _ in rows}) > 1)
    squares = LeastSquares(
        ((1,) * len(rows), tuple(rate for _, rate, _ in rows)), tuple(load for *_, load in rows)
    )
    result = errors_unseen(squares, squares.errors(squares.columns, squares.target), labels)
    for i, (label, rate, load) in enumerate(rows):
        others = np.array([one != label for one in labels])
        distinct = sorted({other for one, other, _ in rows if one != label})
        if len(distinct) < 2:
            assert result[i] is None
            continue
        if distinct[-1] - distinct[0] < 20:
            continue  # a number that hardly anything decides
        found, *_ = np.linalg.lstsq(matrix[others], loads[others], rcond=None)
        assert result[i] == pytest.approx(found @ [1, rate] - load, rel=1e-5, abs=1e-5)


def noisy_table(heading: str, settings: int = 5) -> str:
    """Return runs whose loads have noise of each setting, and hardly any from run to run."""
    random = Random(4)
    lines = [f"cpu in %,request/s{heading}"]
    for setting in range(settings):
        rate = 100 * (setting + 1)
        off = 1 + 0.1 * random.gauss(0, 1)
        for _ in range(3):
            near = round(rate * (1 + 0.005 * random.gauss(0, 1)), 2)
            load = 0.1 * near * off * (1 + 0.002 * random.gauss(0, 1)) + 2
            lines.append(f"{load:.4f},{near}{f',{rate}' if heading else ''}")
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("heading", [",setting", ",requested rate", ",asked rate"])
def test_twins_predict_what_no_other_setting_does(heading: str) -> None:
    alone, together = regression(fit_of(noisy_table(""))), regression(fit_of(noisy_table(heading)))
    assert (alone.settings, together.settings) == (15, 5)
    assert not alone.is_repeated
    assert together.is_repeated
    assert alone.left_out_error is not None
    assert together.left_out_error is not None
    assert together.left_out_error > 1.2 * alone.left_out_error
    one, other = fit_spread(alone.fit), fit_spread(together.fit)
    assert one is not None
    assert other is not None
    assert not one.is_grouped
    assert other.is_grouped
    assert other.freedom == 3


def is_conditional(random: Random, settings: int) -> bool:
    """Return whether nine of ten intervals hold a load of three noisy runs at each setting."""
    labels: list[Hashable] = []
    rates, loads = [], []
    deviation = random.uniform(0.01, 0.1)
    for setting in range(settings):
        rate = 0.1 + 0.8 * (setting + 0.5) / settings
        off = 1 + deviation * random.gauss(0, 1)
        for _ in range(3):
            near = rate * (1 + 0.01 * random.gauss(0, 1))
            rates.append(round(1e6 * near))
            loads.append(
                round(1e6 * (0.05 + 0.8 * near) * off * (1 + deviation / 3 * random.gauss(0, 1)))
            )
            labels.append(setting)
    squares = LeastSquares(((10**6,) * len(rates), tuple(rates)), tuple(loads))
    found = spread(squares, [1.0, 1.0], None, labels)
    assert found is not None
    assert squares.numbers is not None
    off = [a + 0.8 * b for a, b in zip(*found.weights, strict=True)]
    width = student_quantile(0.95, found.freedom) * float(np.linalg.norm(off))
    return abs(float(squares.numbers[0] + Fraction(4, 5) * squares.numbers[1]) - 0.69) <= width


@pytest.mark.parametrize("settings", [4, 8])
def test_nine_of_ten_truths_are_held_by_settings(settings: int) -> None:
    random = Random(settings)
    held = sum(is_conditional(random, settings) for _ in range(600))
    assert 0.86 <= held / 600 <= 0.94


def test_what_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "runs.csv").write_text(noisy_table(",setting"))
    assert main(["fit", str(tmp_path / "runs.csv"), "--cores", "1"]) == 0
    output = " ".join(capsys.readouterr().out.split())
    assert "leave-one-setting-out error: median" in output
    assert "and maximum" in output
    assert "setting" not in output.partition("that were not used")[2]
    assert main(["fit", str(tmp_path / "runs.csv"), "--cores", "1", "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["settings"] == 5
    assert 0 < found["left_out_shares"]["median"] < found["left_out_shares"]["most"]


def test_a_setting_that_alone_decides_a_number_is_not_predicted() -> None:
    text = "cpu in %,request/s,packet/s,setting\n"
    text += "10,100,0,a\n21,200,0,b\n30,300,0,c\n35,300,100,d\n36,300,110,d\n"
    found = regression(fit_of(text))
    assert [row.left_out is None for row in found.residuals] == [False] * 3 + [True] * 2
