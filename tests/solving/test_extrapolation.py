"""Fitted costs beyond what was measured: told with the column, by how much, and what to do."""

# ruff: noqa: E501 - tables: one case a line, however long

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qps.cli import main
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Diagnostic
from qps.compiler.measurement.fit_columns import FitColumns
from qps.compiler.measurement.fits import CostFit, fitted
from qps.compiler.measurement.leverage import relative_uncertainty
from qps.compiler.measurement.measured_tables import read_table
from qps.compiler.pipeline import check_file
from qps.compiler.quantities.dimension import DIMENSIONLESS, TIME, Dimension
from qps.solver.answers.worst_mode import solve_model

UNITS = {
    "%": (Fraction(1, 100), DIMENSIONLESS),
    "packet/s": (Fraction(1), Dimension.of("packet") / TIME),
    "request/s": (Fraction(1), Dimension.of("request") / TIME),
}
SPEC = """
users N in 1..100_000
param incoming = {incoming} request/s
param size = {size} byte/request
unit score of rating
machine vm {{ cpu 2 core * 10 score, idle fit "runs.csv" }}
machine more {{ cpu 8 core * 10 score, idle 1 % }}
machine other {{ cpu 2 core * 12 score, idle 1 % }}
machine both {{ cpu 8 core * 12 score, idle 1 % }}
component relay {{ cpu fit "runs.csv" measured on vm }}
topology {{ node server = {machine} }}
stream page in all {{ traffic incoming, size; at server {{ relay }} }}
"""
ONE = "cpu in %,request/s\n3,10\n11,50\n22,100\n31,150\n44,200\n"
TWO = (
    "cpu in %,request/s,byte/s\n3,10,1000\n13,50,50000\n21,100,12000\n36,150,90000\n45,200,50000\n"
)
RIDGE = "cpu in %,request/s,byte/s\n4.02,10,10000\n11.55,50,6000\n22.2,100,11000\n32.5,150,15750\n43.05,200,20000\n"
LARGE = "that is 5 times the largest value of column `request/s`; intervals assume a linear trend"
MEND = ": add a similar run to the table, or specify the uncertainty with `relay * trust.same_load` of `std.trust`"


def beyond(
    folder: Path, table: str, incoming: float, size: float = 100, machine: str = "vm"
) -> list[Diagnostic]:
    (folder / "runs.csv").write_text(table)
    text = SPEC.format(incoming=incoming, size=size, machine=machine)
    (folder / "spec.qps").write_text(text)
    checked = check_file(folder / "spec.qps")
    assert checked.value is not None, checked.diagnostics
    solution = solve_model(checked.value.model, checked.value.configuration())
    found = (*checked.diagnostics, *solution.warnings)
    return [one for one in found if one.code is codes.BEYOND_MEASURED]


NO_KNEE = "; intervals expect a gradual change there, as in other tables, and no knee"


@pytest.mark.parametrize(
    ("table", "incoming", "size", "hint"),
    [
        (ONE, 290, 100, None),
        (ONE, 1000, 100, LARGE),
        (TWO, 100, 500, None),
        (TWO, 10, 3000, f"that is 3 times the largest measured value{NO_KNEE}"),
        (TWO, 100, 20, f"the smallest measured value is 5 times as large{NO_KNEE}"),
        # Each is within: 20 requests a second, 20,000 bytes, 1,000 bytes a request.
        (RIDGE, 20, 1000, "the fit is 3.36 times as uncertain there as at any row"),
        (RIDGE, 100, 120, None),
    ],
)
def test_how_far_and_what_to_do(
    tmp_path: Path, table: str, incoming: float, size: float, hint: str | None
) -> None:
    found = [one.hints[0] for one in beyond(tmp_path, table, incoming, size)]
    assert found == ([] if hint is None else [hint + MEND])


@pytest.mark.parametrize(
    ("machine", "factor"),
    [
        ("more", "trust.more_cores"),
        ("other", "trust.other_machine"),
        ("both", "trust.other_machine * trust.more_cores"),
    ],
)
def test_the_factor_of_another_machine_is_named(tmp_path: Path, machine: str, factor: str) -> None:
    (found,) = beyond(tmp_path, ONE, 100, machine=machine)
    assert found.hints[0].endswith(
        f"specify the uncertainty with `relay * {factor}` of `std.trust`"
    )


def test_programs_get_the_numbers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    beyond(tmp_path, ONE, 1000)
    main(["solve", "--no-advice", "--format", "json", str(tmp_path / "spec.qps")])
    warnings = json.loads(capsys.readouterr().out)["warnings"]
    (details,) = [one["details"] for one in warnings if one["name"] == "beyond-measured"]
    assert details == {
        "component": "relay",
        "resource": "server.cpu",
        "file": "runs.csv",
        "column": "request/s",
        "kind": "rate",
        "unit": "request/s",
        "value": 1000.0,
        "low": 10.0,
        "high": 200.0,
        "times": 5.0,
    }
    assert not any("details" in one for one in warnings if one["name"] != "beyond-measured")


def test_the_fix_widens_the_interval(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What the hint says can be said, and does what it is said to do."""
    widths = []
    for step in ("relay", "relay * trust.same_load"):
        beyond(tmp_path, ONE, 100)
        text = (tmp_path / "spec.qps").read_text().replace("{ relay }", f"{{ {step} }}")
        text = text.replace("incoming, size", "N * 1 request/s, size")
        (tmp_path / "spec.qps").write_text(f"use std.trust as trust\n{text}")
        main(["solve", "--no-advice", "--format", "json", str(tmp_path / "spec.qps")])
        interval = json.loads(capsys.readouterr().out)["capacity_interval"]
        widths.append(interval["most"] - interval["least"])
    assert widths[1] > 1.1 * widths[0]


def fit_of(rows: list[tuple[int, int, int]]) -> CostFit:
    text = "cpu in %,request/s,packet/s\n" + "".join(f"{a},{b},{c}\n" for a, b, c in rows)
    return fitted(
        read_table(text, "runs.csv"),
        FitColumns(resource=None, cores=Fraction(1), processors=Fraction(1)),
        UNITS.get,
    )


whole = st.integers(1, 1000)


@given(st.lists(st.tuples(st.integers(1, 90), whole, whole), min_size=4, max_size=12), whole, whole)
def test_how_unsure_a_fit_is(rows: list[tuple[int, int, int]], x: int, y: int) -> None:
    """By numpy: the standard error as a share of a fitted load, over the largest of the rows."""
    matrix = np.array([[1, a, b] for _, a, b in rows], dtype=float)
    if np.linalg.matrix_rank(matrix) < 3 or np.linalg.cond(matrix) > 1e5:
        return
    if len({load for load, *_ in rows}) == 1:
        return
    found = fit_of(rows)
    weights = np.array(found.weights, dtype=float)[:, np.newaxis]
    inverse = np.linalg.inv((matrix * weights).T @ (matrix * weights))
    numbers = np.array([float(found.fixed), *(float(term.value) for term in found.terms)])
    at = np.array([1, x, y], dtype=float)
    least = 0.05 * np.abs(matrix @ numbers).max()
    loads = np.maximum(np.abs(matrix @ numbers), least)
    rows_ = np.einsum("ij,jk,ik->i", matrix, inverse, matrix) / loads**2
    load = max(abs(at @ numbers), least)
    value = relative_uncertainty(found, {"request": float(x), "packet": float(y)})
    assert value == pytest.approx((at @ inverse @ at / rows_.max()) ** 0.5 / load, rel=1e-6)
