"""Costs fitted to measurements: exact least squares, and what is told of their quality."""

from __future__ import annotations

import json
from fractions import Fraction
from math import hypot
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from helpers.turn_table import TURN
from qps.cli import main
from qps.compiler.diagnostics import codes
from qps.compiler.lower.lowering import lower
from qps.compiler.measurement.fit_columns import FitColumns
from qps.compiler.measurement.fits import CostFit, fitted
from qps.compiler.measurement.measured_tables import read_table
from qps.compiler.measurement.noise_prior import BEND, BEND_ROWS, expected_noise
from qps.compiler.measurement.rate_misfits import misfit_causes
from qps.compiler.measurement.regression import Regression, regression
from qps.compiler.measurement.student_t import student_quantile
from qps.compiler.pipeline import check_file
from qps.compiler.quantities.dimension import DIMENSIONLESS, INFORMATION, TIME, Dimension
from qps.reports.text.measurements.fit_text import warnings_of
from qps.reports.text.words.quantities import number
from qps.reports.text.words.spec_units import interval_text
from qps.solver.answers.worst_mode import solve_model

# coturn on a 2-vCPU machine, connections x packets/s x bytes -> cpu (shared/reference/modern.md).

UNITS = {
    "%": (Fraction(1, 100), DIMENSIONLESS),
    "packet/s": (Fraction(1), Dimension.of("packet") / TIME),
    "byte/s": (Fraction(8), INFORMATION / TIME),
}


def fit(text: str, cores: int = 2, **options: bool) -> CostFit:
    count = Fraction(cores)
    reading = FitColumns(resource="cpu", cores=count, processors=count, **options)
    return fitted(read_table(text, "runs.csv"), reading, UNITS.get)


def relative_fit(matrix: NDArray[np.float64], loads: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the numbers of least squares whose rows count by one over the load fitted to them."""
    first, *_ = np.linalg.lstsq(matrix, loads, rcond=None)
    fitted = np.abs(matrix @ first)
    noise = np.maximum(fitted, 0.05 * fitted.max())
    found, *_ = np.linalg.lstsq(matrix / noise[:, np.newaxis], loads / noise, rcond=None)
    return np.array(found)


def test_numbers_are_those_of_numpy() -> None:
    found = fit(TURN)
    rows = np.array([[1, 4000, 768000 * 8], [1, 12000, 2304000 * 8], [1, 4500, 4320000 * 8]])
    matrix = np.vstack([rows, [1, 13500, 12960000 * 8]])
    loads = np.array([0.288, 0.702, 0.313, 0.785])
    expected = relative_fit(matrix, loads)
    numbers = [float(found.fixed), *(float(t.value) for t in found.terms)]
    assert numbers == pytest.approx(expected, rel=1e-3)  # weights are rounded to four digits


def test_a_law_without_noise_is_found_exactly() -> None:
    lines = ["cpu in %,packet/s,byte/s", "5,0,0"]
    for packets, octets in [(1000, 10**6), (5000, 10**6), (9000, 2 * 10**6), (1000, 2 * 10**6)]:
        # Of two processors: 5 % always, 30 us a packet, 1 ns a byte.
        lines.append(f"{5 + packets * 0.0015 + octets * 5e-8:.6g},{packets},{octets}")
    text = "\n".join(lines) + "\n"
    found = fit(text)
    assert found.fixed == Fraction(5, 100)
    assert [t.value for t in found.terms] == [Fraction(30, 10**6), Fraction(1, 8 * 10**9)]


def unused(found: CostFit) -> list[int]:
    return [line for row, line in enumerate(found.runs.lines) if row not in found.runs.used]


def test_rows_without_bytes_are_another_code_path() -> None:
    found = fit(TURN + "5,9000,0\n")
    assert unused(found) == [6]
    assert found.terms == fit(TURN).terms


def test_a_row_without_anything_is_the_idle_machine() -> None:
    assert unused(fit(TURN + "8,0,0\n")) == []


def reported(text: str) -> Regression:
    return regression(fit(text))


def test_leave_one_out_is_what_fits_without_the_row_predict() -> None:
    lines = (TURN + "50,16000,9000000\n").splitlines(keepends=True)
    residuals = {r.line: r for r in reported("".join(lines)).residuals}
    for line in range(2, 7):
        other = fit("".join(lines[: line - 1] + lines[line:]))
        rates = [rate[line - 2] for rate in fit("".join(lines)).runs.rates]
        work = sum(term.value * rate for term, rate in zip(other.terms, rates, strict=True))
        predicted = float(other.fixed + work / other.cores)
        # Rows keep the weights that they have together.
        assert residuals[line].left_out == pytest.approx(predicted, rel=0.01)


def test_intervals_are_those_of_noise_that_grows_with_the_load() -> None:
    """As numpy has them, with what is expected of the noise and of a bend beside."""
    rates, loads = np.arange(1, 5), np.array([10, 30, 20, 50]) / 100
    text = "cpu in %,packet/s\n10,1\n30,2\n20,3\n50,4\n"
    slope = regression(fit(text, cores=1)).coefficients[1]
    matrix = np.column_stack([np.ones(4), rates])
    numbers = relative_fit(matrix, loads)
    assert slope.value == pytest.approx(numbers[1], rel=1e-3)
    fitted = matrix @ numbers
    over = matrix / fitted[:, np.newaxis]
    _, (squares,), *_ = np.linalg.lstsq(over, loads / fitted, rcond=None)
    inverse = np.linalg.pinv(over) / fitted
    expected = expected_noise(squares, 2)
    places = np.column_stack([np.log(fitted), numbers[0] / fitted, numbers[1] * rates / fitted])
    apart = places - places[3]
    alike = np.sign(apart)[:, np.newaxis] == np.sign(apart)[np.newaxis]
    nearer = np.minimum(np.abs(apart)[:, np.newaxis], np.abs(apart)[np.newaxis])
    bend = BEND**2 * BEND_ROWS / (BEND_ROWS + 2) * (nearer * alike).sum(axis=2)
    relative = expected.variance * (np.eye(4) + bend) * np.outer(fitted, fitted)
    covariance = inverse @ relative @ inverse.T
    quantile = student_quantile(0.975, expected.freedom)
    assert slope.half_width == pytest.approx(quantile * covariance[1, 1] ** 0.5, rel=1e-2)


def test_as_many_numbers_as_rows_have_the_intervals_that_are_expected() -> None:
    """Two rows and two numbers: what is expected of each load, but for a bend."""
    found = reported("cpu in %,packet/s\n20,1000\n40,3000\n")
    assert found.degrees_of_freedom == 0
    assert found.left_out_error is None
    slope = found.coefficients[1]
    expected = expected_noise(0.0, 0)
    deviation = student_quantile(0.975, expected.freedom) * expected.variance**0.5
    noise = deviation * hypot(0.2, 0.4) / 2000 * 2
    assert slope.half_width is not None
    assert noise < slope.half_width < 2 * noise


def test_a_row_of_nothing_counts_for_nothing() -> None:
    """Nobody measures that an idle machine does nothing: the row is written, not measured."""
    found, without = reported(TURN + "0,0,0\n"), reported(TURN)
    assert found.empty == (6,)
    assert found.degrees_of_freedom == without.degrees_of_freedom
    assert found.coefficients == without.coefficients


@given(
    st.fractions(Fraction(0), Fraction(1, 5), max_denominator=50),
    st.lists(
        st.tuples(st.integers(1, 500), st.integers(1, 500)), min_size=4, max_size=8, unique=True
    ),
    st.integers(1, 100),
    st.integers(1, 100),
)
def test_least_squares_recover_any_exact_law(
    fixed: Fraction, rows: list[tuple[int, int]], packet: int, byte: int
) -> None:
    matrix = np.array([[1, p, b] for p, b in rows])
    assume(np.linalg.matrix_rank(matrix) == 3)
    lines = [f"{fixed + Fraction(p * packet + b * byte, 10**6)},{p},{b}" for p, b in rows]
    found = fit("\n".join(["cpu,packet/s,byte/s", *lines]), cores=1)
    assert (found.fixed, found.terms[0].value, found.terms[1].value) == (
        fixed,
        Fraction(packet, 10**6),
        Fraction(byte, 8 * 10**6),
    )


SPEC = """users N in 1..5000
machine vm { cpu 2 core, idle fit "turn.csv" }
component relay { cpu COST }
topology { node server = vm }
stream voice { traffic N * 50 packet/s, 172 byte/packet; at server { relay } }
"""


def warnings(folder: Path, cost: str) -> list[str]:
    (folder / "turn.qps").write_text(SPEC.replace("COST", cost))
    spec = check_file(folder / "turn.qps").value
    assert spec is not None
    found = solve_model(spec.model, spec.configuration()).warnings
    return [w.message for w in found if w.code is codes.FAR_FROM_MEASURED]


def test_a_spec_takes_its_numbers_from_the_table(folder: Path) -> None:
    (folder / "turn.qps").write_text(SPEC.replace("COST", 'fit "turn.csv" measured on vm'))
    spec = check_file(folder / "turn.qps").value
    assert spec is not None
    solution = solve_model(spec.model, spec.configuration())
    values = {a.name: float(a.fraction) for a in solution.graph.assumptions.values()}
    found = fit(TURN)
    assert values["vm.cpu.idle"] == float(found.fixed)
    assert values["relay.cpu.packet"] == float(found.terms[0].value)
    assert values["relay.cpu.byte"] == float(found.terms[1].value)
    load = found.fixed + 50 * (found.terms[0].value + 172 * 8 * found.terms[1].value) / 2 * 708
    assert float(load) < 1 < float(load) * 709 / 708
    assert solution.capacity == 708


def test_a_report_shows_the_interval_of_a_fitted_number(folder: Path) -> None:
    (folder / "turn.qps").write_text(SPEC.replace("COST", 'fit "turn.csv" measured on vm'))
    spec = check_file(folder / "turn.qps").value
    assert spec is not None
    graph = lower(spec.model, spec.configuration())
    text = {a.name: interval_text(spec.model, a) for a in graph.assumptions.values()}
    fixed, packet, byte = (c.half_width for c in regression(fit(TURN)).coefficients)
    assert fixed
    assert packet
    assert byte
    assert text["vm.cpu.idle"] == f"± {number(fixed * 100, 2)} % (95 %)"
    assert text["relay.cpu.packet"] == f"± {number(packet * 1e6, 2)} us/packet (95 %)"
    assert text["relay.cpu.byte"] == f"± {number(byte * 8e9, 2)} ns/byte (95 %)"
    assert text["server.cpu.cores"] == ""


def test_a_cost_remembers_the_load_at_which_it_was_measured(folder: Path) -> None:
    assert warnings(folder, "50 us/packet measured on vm at 60 % load") == []
    assert warnings(folder, "50 us/packet measured on vm at 20 %..55 % load") == []
    assert warnings(folder, 'fit "turn.csv" measured on vm') == []
    (message,) = warnings(folder, "50 us/packet measured on vm at 20 % load")
    assert message.startswith("`relay` was measured at 20 % utilization of server.cpu, but the")


def test_the_command_prints_numbers_residuals_and_what_to_paste(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["fit", "turn.csv", "--cores", "2"]) == 0
    out = capsys.readouterr().out
    assert "packet/s 51.99 ±" in " ".join(out.split())
    assert "lines 2 and 4 were measured below 50 % utilization" in out
    pasted = out[out.index("machine tested") :]
    (folder / "pasted.qps").write_text(
        "users N in 1..9\n"
        + pasted
        + "topology { node host = tested }\n"
        + "stream flow { traffic 9 packet/s, 99 byte/packet; at host { step } }\n"
    )
    assert [d for d in check_file(folder / "pasted.qps").diagnostics if d.is_error] == []


def test_an_exact_fit_is_reported_without_noise(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [(20_000, 25.2), (40_000, 45.4), (60_000, 65.6), (70_000, 75.7)]
    text = "cpu in %,packet/s\n" + "".join(f"{load},{rate}\n" for rate, load in rows)
    (folder / "exact.csv").write_text(text)
    assert main(["fit", "exact.csv", "--cores", "1"]) == 0
    out = capsys.readouterr().out
    assert "packet/s 10.1 exact µs/packet" in " ".join(out.split())
    assert "e-1" not in out


def test_json(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fit", "turn.csv", "--cores", "2", "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["schema"] == "qps/fit/1"
    assert [c["per"] for c in found["coefficients"]] == [None, "packet", "bit"]
    assert [row["line"] for row in found["rows"]] == [2, 3, 4, 5]


def test_an_item_of_ones_own(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "updates.csv").write_text("cpu in %,update/s\n10,100\n20,200\n31,300\n")
    assert main(["fit", "updates.csv"]) == 2
    assert "no column with a rate" in capsys.readouterr().err
    assert main(["fit", "updates.csv", "--unit", "update", "--cores", "1"]) == 0
    assert "ms/update" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere.csv"], "does not exist"),
        (["turn.csv", "--cores", "0"], "must be a number of cores"),
        (["turn.csv", "--cores", "many"], "must be a number of cores"),
        (["turn.csv", "--unit", "a b"], "cannot be a unit"),
        (["turn.csv", "--resource", "gpu"], "no column for the utilization of `gpu`"),
        (["two.csv"], "name it: `--resource a` or `--resource b`"),
        (["loads.csv"], "several possible utilization columns"),
        (["turn.csv"], "does not specify how many cores `cpu in %` refers to"),
    ],
)
def test_what_cannot_be_fitted(
    folder: Path, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "two.csv").write_text("a in %,b in %,packet/s\n1,2,3\n2,3,4\n")
    (folder / "loads.csv").write_text("cpu in %,load in %,packet/s\n1,2,3\n2,3,4\n")
    assert main(["fit", *arguments]) == 2
    assert message in capsys.readouterr().err


# True costs: 5 % always, 40 us a packet on four processors; two runs beyond saturation.
CLIPPED = """cpu in %,packet/s
15,10000
45,40000
85,80000
100,120000
99.4,150000
"""


def test_rows_of_a_saturated_machine_give_no_cost() -> None:
    found = fit(CLIPPED, cores=4)
    assert (found.fixed, found.terms[0].value) == (Fraction(5, 100), Fraction(40, 10**6))
    assert unused(found) == [5, 6]
    assert regression(found).saturated == (5, 6)
    assert regression(found).other_path == ()


def test_saturated_rows_are_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "full.csv").write_text(CLIPPED)
    assert main(["fit", "full.csv", "--cores", "4"]) == 0
    out = capsys.readouterr().out
    assert "warning: lines 5 and 6 at 99 % utilization or more" in out
    assert 'cpu fit "full.csv" measured on tested' in out


def test_nothing_but_saturated_rows_is_too_little(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "full.csv").write_text("cpu in %,packet/s\n50,1\n100,2\n100,3\n")
    assert main(["fit", "full.csv", "--cores", "1"]) == 2
    assert "saturated rows are ignored" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "message", "fix"),
    [
        (
            "load,packet/s\n0.5,500\n10,1000\n",
            "line 3: a utilization of 1,000 %",
            "name it `load in %`",
        ),
        ("load in %,packet/s\n50,1\n230,2\n", "line 3: a utilization of 230 %", "`load in core`"),
    ],
)
def test_loads_above_all_are_refused(
    folder: Path, text: str, message: str, fix: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "high.csv").write_text(text)
    assert main(["fit", "high.csv", "--cores", "1"]) == 2
    errors = capsys.readouterr().err
    assert message in errors
    assert fix in errors


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        (
            "served in packet/s,byte/s\n9000,9e6\n2800,3e7\n1400,14e7\n185,18e7\n",
            "smallest_cheaper",
        ),
        (
            "served in packet/s,byte/s\n9000,9e6\n2800,3e7\n1400,14e7\n185,18e7\n",
            "between_dearer",
        ),
        ("cpu in %,packet/s\n22,100\n33,150\n33.2,151\n36.9,152\n44,200\n", "step"),
    ],
)
def test_why_a_fit_misses_rows_is_named(text: str, cause: str) -> None:
    found = reported(text)
    assert cause in [one.cause for one in misfit_causes(found)]
    assert any("batching" in warning for warning in warnings_of(found))


def test_misfits_of_a_curve_and_another_cost_have_causes(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    batches = ((1, 500), (32, 11464), (64, 9000), (128, 16292), (512, 17502), (4096, 18011))
    rows = "".join(f"{rate},{batch}\n" for batch, rate in batches)
    (folder / "gpu.csv").write_text(f"served in image/s,batch\n{rows}")
    costs = ("--per", "image * power(batch)", "--per", "image / batch")
    assert main(["fit", "gpu.csv", "--cores", "1", "--unit", "image", *costs]) == 0
    assert "the fit is off by" in " ".join(capsys.readouterr().out.split())


def test_a_number_below_zero_names_the_command_without_it(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "full.csv").write_text(
        "served in packet/s,byte/s\n338,1.69e6\n172,1.717e6\n35.5,1.775e6\n0.755,0.755e6\n"
    )
    assert main(["fit", "full.csv", "--cores", "1"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "fit the other demands alone: `qps fit full.csv --cores 1 --per 'byte' --no-fixed`" in (
        printed
    )
    assert main(["fit", "full.csv", "--cores", "1", "--per", "byte", "--no-fixed"]) == 0
    assert "below zero" not in capsys.readouterr().out


def test_no_cause_is_named_where_a_line_fits() -> None:
    assert not [*misfit_causes(reported(TURN))]
