"""A table of one machine, and a run of another: the scale, and the interval that it really has."""

from __future__ import annotations

import json
from fractions import Fraction
from math import exp, hypot, log
from pathlib import Path
from random import Random

import pytest

from qps.cli import main
from qps.compiler.check.model.fits.table_units import units_with
from qps.compiler.measurement.fit_columns import FitColumns
from qps.compiler.measurement.fits import fitted
from qps.compiler.measurement.measured_tables import DataError, read_table
from qps.compiler.measurement.noise_prior import BEND, NOISE, SPREAD
from qps.compiler.measurement.rescaled_fits import rescaled
from qps.compiler.measurement.student_t import student_quantile
from qps.compiler.pipeline import check_file
from qps.solver.answers.worst_mode import solve_model

OLD = "cpu in %,request/s,byte/s,cores\n6,500,1e6,2\n10,1000,1e6,2\n15,1000,6e6,2\n"
OLD += "19,2000,2e6,2\n29,3000,4e6,2\n27,2000,10e6,2\n39,4000,6e6,2\n"
SPEC = """users N in 1..1_000_000
machine vm { cpu 8 core, idle fit "old.csv" to "new.csv" }
component serve { cpu fit "old.csv" to "new.csv" measured on vm }
topology { node server = vm }
stream pages in all { traffic N * 1 request/s, 1 kB/request; at server { serve } }
target cpu 50 %
"""
LEVEL = 0.95


def solved(folder: Path, new: str, spec: str = SPEC) -> int:
    (folder / "old.csv").write_text(OLD)
    (folder / "new.csv").write_text(new)
    (folder / "spec.qps").write_text(spec)
    checked = check_file(folder / "spec.qps")
    assert checked.value is not None, checked.diagnostics
    found = solve_model(checked.value.model, checked.value.configuration()).capacity
    assert found is not None
    return found


def test_a_machine_that_is_twice_as_busy_serves_half(tmp_path: Path) -> None:
    slow = solved(tmp_path, "cpu in core,request/s,byte/s\n0.8,2000,2e6\n")
    fast = solved(tmp_path, "cpu in core,request/s,byte/s\n0.4,2000,2e6\n")
    less_idle = (4 - 0.01 * 8) / (4 - 0.02 * 8)
    assert fast / slow == pytest.approx(2 * less_idle, rel=0.03)


def test_scaled_to_a_run_of_the_same_machine_nothing_changes() -> None:
    units = units_with([])
    reading = FitColumns(resource="cpu", cores=Fraction(2), processors=Fraction(2))
    found = fitted(read_table(OLD, "old.csv"), reading, units)
    rates = {"request": 2500, "byte": 3e6}
    load = float(found.fixed * 2) + 2500 * float(found.terms[0].value)
    load += 3e6 * 8 * float(found.terms[1].value)
    table = read_table(
        f"cpu in core,byte/s,request/s\n{load:.12f},{rates['byte']},{rates['request']}\n", "new.csv"
    )
    again = rescaled(found, table, reading, units)
    assert again.scale is not None
    assert again.scale.factor == pytest.approx(1, rel=1e-8)
    assert float(again.fixed) == pytest.approx(float(found.fixed), rel=1e-8)


@pytest.mark.parametrize(
    ("new", "message"),
    [
        ("cpu in core,request/s\n0.8,2000\n", "`new.csv` has no column with a rate of `byte`"),
        ("cpu in core,request/s,byte/s\n0,2000,1\n", "has no run with a utilization above 0"),
        ("cpu in core,request/s,byte/s\n8,2000,1\n", "has no run with a utilization above 0"),
        ("cpu in core,request/s,byte/s,cores\n1,2000,1,4\n", "specifies 4 cores, not 8 cores"),
    ],
)
def test_a_run_that_shows_no_scale_is_refused(new: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "old.csv").write_text(OLD)
    (tmp_path / "new.csv").write_text(new)
    (tmp_path / "spec.qps").write_text(SPEC)
    found = [d.message for d in check_file(tmp_path / "spec.qps").diagnostics]
    assert any(message in one for one in found), found


def drawn(random: Random, rows: int) -> bool:
    """Return whether the interval holds one more run of another machine; drawn as it is expected.

    Noise is lognormal with a deviation of the prior, costs change along the load as Brownian motion
    does, and alike on both machines.
    """
    noise = NOISE * exp(SPREAD * random.gauss(0, 1))
    fixed, cost, octet = random.uniform(0, 0.02), random.uniform(5e-5, 2e-4), 1e-8
    top, bottom = log(0.9), log(0.005)
    steps = [0.0]
    for _ in range(60):
        steps.append(steps[-1] + random.gauss(0, BEND * noise * ((top - bottom) / 60) ** 0.5))

    def load(rate: float, size: float) -> float:
        line = fixed + rate * (cost + size * octet)
        place = (top - log(line)) / (top - bottom) * 60
        return line * exp(steps[max(0, min(60, round(place)))])

    def run(rate: float, size: float) -> float:
        return load(rate, size) * exp(random.gauss(0, noise))

    settings = [
        (random.uniform(0.1, 1) * 0.7 / (cost + 4000 * octet), random.choice([500, 4000]))
        for _ in range(rows)
    ]
    lines = [f"{run(*one):.9f},{one[0]:.3f},{one[0] * one[1]:.3f}" for one in settings]
    reading = FitColumns(resource="cpu", cores=Fraction(1), processors=Fraction(1))
    units = units_with([])
    head = "cpu in core,request/s,byte/s\n"
    found = fitted(read_table(head + "\n".join(lines) + "\n", "old.csv"), reading, units)
    scale = exp(random.uniform(-1, 0))
    (rate, size), (planned, large) = random.sample(settings, 2)
    new = f"{scale * run(rate, size):.9f},{rate:.3f},{rate * size:.3f}\n"
    again = rescaled(found, read_table(head + new, "new.csv"), reading, units)
    assert again.scale is not None
    at = [1.0, planned, planned * large * 8]
    numbers = [float(again.fixed), *(float(term.value) for term in again.terms)]
    middle = sum(a * b for a, b in zip(numbers, at, strict=True))
    off = [
        sum(a * b for a, b in zip(at, column, strict=True))
        for column in zip(*again.scale.weights, strict=True)
    ]
    width = student_quantile(LEVEL, again.scale.freedom) * hypot(*off, again.scale.noise * middle)
    return abs(scale * run(planned, large) - middle) <= width


@pytest.mark.parametrize(
    ("rows", "least", "most"), [(5, 0.92, 0.985), (10, 0.89, 0.96), (20, 0.87, 0.95)]
)
def test_ninety_percent_intervals_hold_nine_of_ten_runs(
    rows: int, least: float, most: float
) -> None:
    random = Random(rows)
    count, held = 0, 0
    while count < 400:
        try:
            held += drawn(random, rows)
        except DataError:
            continue
        count += 1
    assert least <= held / count <= most


def test_rates_count_as_measured_where_the_machine_is_as_busy(tmp_path: Path) -> None:
    (tmp_path / "old.csv").write_text(OLD)
    (tmp_path / "new.csv").write_text("cpu in core,request/s,byte/s\n1.2,8000,8e6\n")
    (tmp_path / "spec.qps").write_text(SPEC)
    spec = check_file(tmp_path / "spec.qps").value
    assert spec is not None
    found = {fit.terms[0].item: fit for _, fit in spec.model.fits}["request"]
    assert found.scale is not None
    before = found.scale.unscaled
    assert found.terms[0].high / before.terms[0].high == pytest.approx(
        8 / 2 / found.scale.factor, rel=1e-9
    )
    load = found.terms[0].high * found.terms[0].value / found.cores
    assert load == pytest.approx(
        before.terms[0].high * before.terms[0].value / before.cores, rel=1e-9
    )


def test_the_command_scales_as_the_spec_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "old.csv").write_text("cpu in %,request/s,cores\n11,1000,2\n20,2000,2\n43,4000,2\n")
    (tmp_path / "new.csv").write_text("cpu in %,request/s\n30,16000\n")
    flags = ["--cores", "8", "--no-fixed", "--format", "json"]
    assert main(["fit", "old.csv", *flags[2:]]) == 0
    (before,) = json.loads(capsys.readouterr().out)["coefficients"]
    assert main(["fit", "old.csv", "--to", "new.csv", *flags]) == 0
    found = json.loads(capsys.readouterr().out)
    (cost,) = found["coefficients"]
    assert found["scaled_to"] == "new.csv"
    assert cost["value"] == pytest.approx(8 * 0.3 / 16000)  # all there is to the run
    assert cost["value"] == pytest.approx(before["value"] * found["scale"])
    assert cost["half_width"] > 0
    assert 'fit "old.csv" to "new.csv" with idle = 0 %' in found["component"]
