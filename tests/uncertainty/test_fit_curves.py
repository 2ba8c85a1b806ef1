"""Costs that change along a column by a curve: powers of a rate or a size, and wake-ups."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import brentq, least_squares

from qps.compiler.check.model.fits.fit_requests import fitted_to
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.measurement.fit_spread import fit_spread
from qps.compiler.measurement.measured_tables import DataError
from qps.compiler.measurement.regression import Regression
from qps.compiler.measurement.student_t import student_quantile
from qps.compiler.pipeline import check_file
from qps.solver.answers.worst_mode import solve_model

RATES = (500, 1000, 2000, 4000, 7000, 11_000, 16_000, 21_000)
IDLE, CORES = 0.02, 2
SPEC = """users N in 1..1_000_000
let rate = N * 1 request/s
machine vm { cpu 2 core, idle fit "runs.csv" per request * CURVE }
component serve { cpu fit "runs.csv" per request * CURVE measured on vm }
topology { node server = vm }
stream pages in all { traffic rate; at server { serve } }
target cpu 80 %
"""


def power(rate: float) -> float:
    return IDLE + 100e-6 * (rate / 4000) ** -0.3 * rate / CORES


def wakeups(rate: float) -> float:
    """Of a thread that sleeps: 60 us of work, and 150 us for waking up."""
    return IDLE + 210e-6 * rate / CORES / (1 + 150e-6 * rate / CORES)


CURVES = {"power(rate)": power, "wakeups(rate)": wakeups}


def table(law: Callable[[float], float], noise: np.ndarray | None = None) -> str:
    factors = np.ones(len(RATES)) if noise is None else np.exp(noise)
    rows = [f"{100 * law(r) * f:.9g},{r}" for r, f in zip(RATES, factors, strict=True)]
    return "\n".join(["cpu in %,request/s", *rows]) + "\n"


def fit(text: str, *per: str, served: bool = False, cores: str = "2") -> Regression:
    return fitted_to(
        text, "runs.csv", cores=cores, resource=None, has_fixed=not served, is_served=served,
        units=(), per=per,
    )  # fmt: skip


@pytest.mark.parametrize("curve", CURVES)
def test_a_capacity_is_that_of_the_curve(curve: str, tmp_path: Path) -> None:
    (tmp_path / "runs.csv").write_text(table(CURVES[curve]))
    (tmp_path / "spec.qps").write_text(SPEC.replace("CURVE", curve))
    spec = check_file(tmp_path / "spec.qps").value
    assert spec is not None
    expected = brentq(lambda rate: CURVES[curve](rate) - 0.8, 1, 1e6)
    capacity = solve_model(spec.model, spec.configuration()).capacity
    assert capacity == pytest.approx(expected, rel=1e-4)


def test_wakeups_are_those_of_a_simulated_thread() -> None:
    """A thread that finds its next request already there does not sleep (Poisson arrivals)."""
    random, work, wake = np.random.default_rng(1), 60e-6, 150e-6
    rows = ["cpu in %,request/s"]
    for rate in (300, 1000, 2500, 5000, 8000, 11_000):
        arrivals = np.cumsum(random.exponential(1 / rate, 40_000))
        free = busy = 0.0
        for at in arrivals:
            service = work + wake if at >= free else work
            free, busy = max(at, free) + service, busy + service
        rows.append(f"{100 * busy / free:.6f},{rate}")
    found = fit("\n".join(rows), "request * wakeups(rate)", served=True, cores="1").fit
    (term,) = found.terms
    assert term.curve is not None
    assert float(term.curve.value) == pytest.approx(wake, rel=0.05)
    assert float(term.value - term.curve.value) == pytest.approx(work, rel=0.05)


@pytest.mark.parametrize("curve", CURVES)
def test_numbers_are_those_of_nonlinear_least_squares(curve: str) -> None:
    noise = np.random.default_rng(5).normal(0, 0.02, len(RATES))
    found = fit(table(CURVES[curve], noise), f"request * {curve}")
    (term,) = found.fit.terms
    assert term.curve is not None
    rates = np.array(RATES, float)
    loads = np.array([row.measured for row in found.residuals])
    weights = np.array(found.fit.weights, float)

    def errors(point: np.ndarray) -> np.ndarray:
        idle, cost, shape = point
        if curve.startswith("power"):
            factor = (rates / float(term.curve.reference)) ** shape  # type: ignore[union-attr]
        else:
            factor = 1 / (1 + 1e-6 * shape * rates / CORES)
        return (idle + 1e-6 * cost * rates / CORES * factor - loads) * weights / weights.max()

    start = [0.01, 150.0, -0.2 if curve.startswith("power") else 100.0]
    exact = least_squares(errors, start, x_scale=np.abs(start), xtol=1e-14, ftol=1e-14, gtol=1e-14)
    scale = 1.0 if curve.startswith("power") else 1e6
    ours = [float(found.fit.fixed), float(term.value) * 1e6, float(term.curve.value) * scale]
    assert ours == pytest.approx(list(exact.x), rel=2e-4)


@pytest.mark.parametrize(("curve", "noise"), [(c, n) for c in CURVES for n in (0.01, 0.03)])
def test_intervals_of_drawn_tables_hold(curve: str, noise: float) -> None:
    """Of 150 tables: the number of the curve, and the load at a rate between the measured ones."""
    random, law = np.random.default_rng(11), CURVES[curve]
    truth = -0.3 if curve.startswith("power") else 150e-6
    rate, drawn, held, held_load = 9000.0, 150, 0, 0
    for _ in range(drawn):
        text = table(law, random.normal(0, noise, len(RATES)))
        found = fit(text, f"request * {curve}")
        *_, shape = found.coefficients
        assert shape.half_width is not None
        spread = fit_spread(found.fit)
        assert spread is not None
        quantile = student_quantile(0.95, spread.freedom)
        width = quantile * float(np.linalg.norm(spread.weights[2]))
        held += abs(shape.value - truth) <= width
        (term,) = found.fit.terms
        assert term.curve is not None
        at, slope = term.curve.at(rate), term.curve.slope(rate)
        load = float(found.fit.fixed) + float(term.value) * at * rate / CORES
        row = [1.0, at * rate / CORES, float(term.value) * slope * rate / CORES]
        off = quantile * float(np.linalg.norm(np.array(row) @ np.array(spread.weights)))
        held_load += abs(load - law(rate)) <= off
    assert 0.84 * drawn <= held <= 0.99 * drawn
    assert 0.84 * drawn <= held_load


def test_the_size_of_an_item_is_that_of_its_bytes() -> None:
    """Sizes with a unit, too: 40 us for 1 kB, and by the power of 0.6 more for others."""
    sizes = (100, 500, 1000, 4000, 20_000, 100_000)
    costs = [40e-6 * (size / 1000) ** 0.6 for size in sizes]
    pairs = list(zip(sizes, costs, strict=True))
    rates = "\n".join(f"{1 / cost:.9g},{size / cost:.9g}" for size, cost in pairs)
    named = "\n".join(f"{1 / cost:.9g},{size / 1000}" for size, cost in pairs)
    for text in (
        f"served in message/s,byte/s\n{rates}",
        f"served in message/s,size in kB\n{named}",
    ):
        found = fit(text, "message * power(size)", served=True, cores="1")
        (term,) = found.fit.terms
        assert term.curve is not None
        assert float(term.curve.value) == pytest.approx(0.6, rel=1e-6)
        at = term.curve.at(8 * 1000) * float(term.value)
        assert at == pytest.approx(40e-6, rel=1e-6)


def test_confidence_counts_with_exponents_below_zero(tmp_path: Path) -> None:
    """As by slopes: an exponent of -0.3 is no cost, so samples below zero stay as drawn."""
    from qps.compiler.configure.configuration import uncertain_in

    noise = np.random.default_rng(3).normal(0, 0.02, len(RATES))
    (tmp_path / "runs.csv").write_text(table(power, noise))
    (tmp_path / "spec.qps").write_text(SPEC.replace("CURVE", "power(rate)"))
    spec = check_file(tmp_path / "spec.qps").value
    assert spec is not None
    by_name = {
        name: value.distribution for name, value in uncertain_in(spec.configuration()).items()
    }
    shapes = [name for name, one in by_name.items() if getattr(one, "is_shape", False)]
    assert shapes == ["serve.cpu.request.by_rate.exponent"]
    assert float(by_name[shapes[0]].typical) == pytest.approx(-0.3, abs=0.06)


@pytest.mark.parametrize(
    ("clause", "message"),
    [
        ("request * powr(rate)", "`powr(rate)` is not a curve that a service demand can have"),
        ("request * power(2)", "`power(2)` is not a curve that a service demand can have"),
        ("request / power(rate)", "`power(rate)` is not a column that a service demand can be"),
        ("request * power(rate) * power(rate)", "`power(rate)` is not a column that a service"),
    ],
)
def test_what_is_no_curve_is_reported(clause: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "runs.csv").write_text(table(power))
    (tmp_path / "spec.qps").write_text(SPEC.replace("request * CURVE", clause))
    (first, *_) = check_file(tmp_path / "spec.qps").diagnostics
    assert first.code == codes.BAD_DATA
    assert first.message.startswith(message)
    with pytest.raises(QpsError):
        fit(table(power), clause)


@pytest.mark.parametrize(
    ("text", "per", "message"),
    [
        (table(lambda rate: IDLE + 4e-5 * rate / CORES), "request * wakeups(rate)", "no wake-ups"),
        ("cpu in %,request/s\n5,100\n9,200\n6,100\n10,200\n", "request * power(rate)", "no curve"),
        (table(power), "request * power(load)", "no column `load`"),
        ("served in request/s,size\n10,1\n9,0\n8,2\n7,3\n", "request * power(size)", "no power"),
    ],
)
def test_a_table_without_the_curve_is_refused(text: str, per: str, message: str) -> None:
    with pytest.raises(DataError) as raised:
        fit(text, per, served="served" in text)
    assert message in raised.value.message


def test_a_curve_is_not_scaled_to_another_machine(tmp_path: Path) -> None:
    (tmp_path / "runs.csv").write_text(table(power))
    (tmp_path / "new.csv").write_text("cpu in %,request/s\n30,16000\n")
    text = SPEC.replace("CURVE", 'power(rate) to "new.csv"')
    (tmp_path / "spec.qps").write_text(text)
    assert any(
        "cannot be scaled" in one.message for one in check_file(tmp_path / "spec.qps").diagnostics
    )
