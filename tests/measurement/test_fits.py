"""Costs fitted to measurements: exact least squares, and what is told of their quality."""

from __future__ import annotations

import json
import pickle
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, reject
from hypothesis import strategies as st

from qps.cli import main
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.source import Source
from qps.compiler.lower.lowering import lower
from qps.compiler.measurement.fit_columns import Reading
from qps.compiler.measurement.fits import Fit, fitted
from qps.compiler.measurement.measured_tables import DataError, read_table
from qps.compiler.measurement.regression import Regression, regression
from qps.compiler.measurement.student_t import student_quantile
from qps.compiler.pipeline import check_file, check_source
from qps.compiler.quantities.dimension import DIMENSIONLESS, INFORMATION, TIME, Dimension
from qps.reports.text.measurements.fit_text import component_text
from qps.reports.text.words.quantities import number
from qps.reports.text.words.spec_units import interval_text
from qps.solver.answers.worst_mode import solve_model

# coturn on a 2-vCPU machine, connections x packets/s x bytes -> cpu (shared/reference/modern.md).
TURN = """cpu in %,packet/s,byte/s
28.8,8000,1536000
70.2,24000,4608000
31.3,9000,8640000
78.5,27000,25920000
"""
UNITS = {
    "%": (Fraction(1, 100), DIMENSIONLESS),
    "packet/s": (Fraction(1), Dimension.of("packet") / TIME),
    "byte/s": (Fraction(8), INFORMATION / TIME),
}


def fit(text: str, cores: int = 2, **asked: bool) -> Fit:
    count = Fraction(cores)
    reading = Reading(resource="cpu", cores=count, processors=count, **asked)
    return fitted(read_table(text, "runs.csv"), reading, UNITS.get)


def test_numbers_are_those_of_numpy() -> None:
    found = fit(TURN)
    rows = np.array([[1, 4000, 768000 * 8], [1, 12000, 2304000 * 8], [1, 4500, 4320000 * 8]])
    matrix = np.vstack([rows, [1, 13500, 12960000 * 8]])
    loads = np.array([0.288, 0.702, 0.313, 0.785])
    expected, *_ = np.linalg.lstsq(matrix, loads, rcond=None)
    assert [float(found.fixed), *(float(t.value) for t in found.terms)] == pytest.approx(expected)


def test_a_law_without_noise_is_found_exactly() -> None:
    lines = ["cpu in %,packet/s,byte/s", "5,0,0"]
    for packets, octets in [(1000, 10**6), (5000, 10**6), (9000, 2 * 10**6), (1000, 2 * 10**6)]:
        # Of two processors: 5 % always, 30 us a packet, 1 ns a byte.
        lines.append(f"{5 + packets * 0.0015 + octets * 5e-8:.6g},{packets},{octets}")
    text = "\n".join(lines) + "\n"
    found = fit(text)
    assert found.fixed == Fraction(5, 100)
    assert [t.value for t in found.terms] == [Fraction(30, 10**6), Fraction(1, 8 * 10**9)]


def unused(found: Fit) -> list[int]:
    return [line for row, line in enumerate(found.runs.lines) if row not in found.runs.used]


def test_rows_without_bytes_are_another_code_path() -> None:
    found = fit(TURN + "5,9000,0\n")
    assert unused(found) == [6]
    assert found.terms == fit(TURN).terms


def test_a_row_without_anything_is_the_idle_machine() -> None:
    assert unused(fit(TURN + "8,0,0\n")) == []


def told(text: str) -> Regression:
    return regression(fit(text))


def test_leave_one_out_is_what_fits_without_the_row_predict() -> None:
    lines = (TURN + "50,16000,9000000\n").splitlines(keepends=True)
    residuals = {r.line: r for r in told("".join(lines)).residuals}
    for line in range(2, 7):
        other = fit("".join(lines[: line - 1] + lines[line:]))
        rates = [rate[line - 2] for rate in fit("".join(lines)).runs.rates]
        work = sum(term.value * rate for term, rate in zip(other.terms, rates, strict=True))
        predicted = float(other.fixed + work / other.cores)
        assert residuals[line].left_out == pytest.approx(predicted)


def test_intervals_are_those_of_noise_that_grows_with_the_load() -> None:
    # y = a + b x on x = 1..4, y = 1, 3, 2, 5: b = 1.1, t(0.975, 2) = 4.302653.
    rates, loads = np.arange(1, 5), np.array([10, 30, 20, 50]) / 100
    text = "cpu in %,packet/s\n10,1\n30,2\n20,3\n50,4\n"
    slope = regression(fit(text, cores=1)).coefficients[1]
    assert slope.value == pytest.approx(0.11)
    matrix = np.column_stack([np.ones(4), rates])
    fitted = matrix @ np.linalg.solve(matrix.T @ matrix, matrix.T @ loads)
    over = matrix / fitted[:, np.newaxis]
    _, (squares,), *_ = np.linalg.lstsq(over, loads / fitted, rcond=None)
    inverse = np.linalg.inv(matrix.T @ matrix) @ matrix.T
    covariance = inverse @ np.diag(fitted**2) @ inverse.T * squares / 2
    assert slope.half_width == pytest.approx(4.302653 * covariance[1, 1] ** 0.5, rel=1e-6)


def test_as_many_numbers_as_rows_have_no_intervals() -> None:
    found = told("\n".join(TURN.splitlines()[:4]) + "\n")
    assert found.degrees_of_freedom == 0
    assert {c.half_width for c in found.coefficients} == {None}
    assert found.left_out_error is None


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


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "turn.csv").write_text(TURN)
    return tmp_path


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
    load = found.fixed + 50 * (found.terms[0].value + 172 * 8 * found.terms[1].value) / 2 * 709
    assert float(load) < 1 < float(load) * 710 / 709
    assert solution.capacity == 709


def test_a_report_tells_the_interval_of_a_fitted_number(folder: Path) -> None:
    (folder / "turn.qps").write_text(SPEC.replace("COST", 'fit "turn.csv" measured on vm'))
    spec = check_file(folder / "turn.qps").value
    assert spec is not None
    graph = lower(spec.model, spec.configuration())
    told = {a.name: interval_text(spec.model, a) for a in graph.assumptions.values()}
    fixed, packet, byte = (c.half_width for c in regression(fit(TURN)).coefficients)
    assert fixed
    assert packet
    assert byte
    assert told["vm.cpu.idle"] == f"± {number(fixed * 100, 2)} % (95 %)"
    assert told["relay.cpu.packet"] == f"± {number(packet * 1e6, 2)} us/packet (95 %)"
    assert told["relay.cpu.byte"] == f"± {number(byte * 8e9, 2)} ns/byte (95 %)"
    assert told["server.cpu.cores"] == ""


def test_a_cost_remembers_the_load_at_which_it_was_measured(folder: Path) -> None:
    assert warnings(folder, "50 us/packet measured on vm at 60 % load") == []
    assert warnings(folder, "50 us/packet measured on vm at 20 %..55 % load") == []
    assert warnings(folder, 'fit "turn.csv" measured on vm') == []
    (message,) = warnings(folder, "50 us/packet measured on vm at 20 % load")
    assert message.startswith("`relay` was measured at 20 % utilization of server.cpu, but the")


def test_the_command_tells_numbers_residuals_and_what_to_paste(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["fit", "turn.csv", "--cores", "2"]) == 0
    out = capsys.readouterr().out
    assert "packet/s 51.87 ± 5.473 us/packet" in " ".join(out.split())
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
    assert "packet/s 10.1 exact us/packet" in " ".join(out.split())
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


def test_rows_of_a_saturated_machine_tell_no_cost() -> None:
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
    assert "at 15..85 % load" in out


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
    told = capsys.readouterr().err
    assert message in told
    assert fix in told


# -- what a spec with a fit is warned of ---------------------------------------------------

RELAY = """users conns in 1..5_000
param pps = 90 packet/s in 1..1000 packet/s
param size = 960 byte/packet in 1..1500 byte/packet
machine vm { cpu 2 core, idle fit "runs.csv" }
component relay { cpu fit "runs.csv" measured on vm }
topology { node server = vm }
stream media { traffic conns * pps, size; at server { relay } }
"""

# A relay with 6.9 % idle: four runs, and two more of which one has a digit too few.
SLIP = """cpu in %,packet/s,byte/s
28.8,16000,3072000
70.2,48000,9216000
31.3,18000,17280000
78.5,54000,51840000
51.1,32000,6144000
57.7,3600,34560000
"""


def told_of(folder: Path, table: str, spec: str = RELAY) -> list[tuple[str, str]]:
    (folder / "runs.csv").write_text(table)
    (folder / "relay.qps").write_text(spec)
    return [(d.code.slug, d.message) for d in check_file(folder / "relay.qps").diagnostics]


def test_a_slip_in_a_table_is_warned_of_where_the_table_is_used(folder: Path) -> None:
    (poor, unsure) = told_of(folder, SLIP)
    assert poor[0] == "poor-fit"
    assert unsure[0] == "insignificant-demand"
    (found,) = (d for d in check_file(folder / "relay.qps").diagnostics if d.code is codes.POOR_FIT)
    assert found.notes[0].startswith("line 7 is an influential outlier (Cook's distance 2.52)")
    fixed = [slug for slug, _ in told_of(folder, SLIP.replace("3600,", "36000,"))]
    assert fixed == ["insignificant-demand"]  # of the bytes


def test_a_rate_that_was_not_read_is_warned_of(folder: Path) -> None:
    table = "cpu in %,kpacket/s,kB/s\n28.8,16,3072\n70.2,48,9216\n31.3,18,17280\n78.5,54,51840\n"
    assert [slug for slug, _ in told_of(folder, table)] == [
        "poor-fit",
        "insignificant-demand",
        "unused-rate",
    ]


def test_an_idle_load_that_nobody_has_is_warned_of(folder: Path) -> None:
    bare = RELAY.replace(', idle fit "runs.csv"', "")
    (dropped, _) = told_of(folder, TURN, bare)
    assert dropped[0] == "missing-idle"
    assert "has 7.9 % idle utilization, but `vm` has none" in dropped[1]
    stated = RELAY.replace('idle fit "runs.csv"', "idle 0 %")
    assert [slug for slug, _ in told_of(folder, TURN, stated)] == ["insignificant-demand"]


def test_test_and_solve_warn_too(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    claim = 'expect many "many" { largest_acceptable > 1; source "here" }\n'
    told_of(folder, SLIP, RELAY + claim)
    for command in ("check", "solve", "test"):
        main([command, "relay.qps"])
        assert "QPS0530" in capsys.readouterr().err


def test_one_table_for_two_costs_is_reported_once(folder: Path) -> None:
    twice = RELAY + 'component other { cpu fit "runs.csv" measured on vm }\n'
    twice = twice.replace("{ relay }", "{ relay; other }")
    slugs = [slug for slug, _ in told_of(folder, SLIP, twice)]
    assert slugs.count("poor-fit") == 1


def beyond(folder: Path, spec: str, table: str = TURN) -> list[str]:
    (folder / "runs.csv").write_text(table)
    (folder / "relay.qps").write_text(spec)
    checked = check_file(folder / "relay.qps")
    assert checked.value is not None, checked.diagnostics
    solution = solve_model(checked.value.model, checked.value.configuration())
    found = (*checked.diagnostics, *solution.warnings)
    return [w.message for w in found if w.code is codes.BEYOND_MEASURED]


def test_sizes_and_rates_beyond_what_was_measured_are_reported(folder: Path) -> None:
    spec = RELAY.replace("1..5_000", "1..100_000")
    assert beyond(folder, spec) == []
    (size,) = beyond(folder, spec.replace("size = 960", "size = 60"))
    assert size.startswith("`relay` runs with 60 bytes/packet at server.cpu, but 192 to 960 were")
    assert beyond(folder, spec.replace("size = 960", "size = 160")) == []
    (rate, size) = beyond(folder, spec.replace("size = 960", "size = 1400"))
    assert rate.startswith("`relay` runs with 49,140,000 bytes/s at server.cpu, but at most 25,")
    assert "1,400 bytes/packet at server.cpu, but 192 to 960 were" in size
    # Measured up to 34.9 % load: at the answer it is 100 %.
    half = "cpu in %,packet/s\n8,0\n20,8000\n35,18000\n"
    (rate,) = beyond(folder, spec, half)
    assert rate.startswith("`relay` runs with 61,")
    assert rate.endswith("packets/s at server.cpu, but at most 18,000 were measured (`runs.csv`)")


def test_two_streams_are_requested_together(folder: Path) -> None:
    table = "cpu in %,packet/s\n8,0\n30,20000\n49,40000\n70,60000\n"
    one = RELAY.replace("1..5_000", "1..600")
    assert beyond(folder, one, table) == []
    two = one + "stream other { traffic conns * pps, size; at server { relay } }\n"
    assert beyond(folder, two, table) == []
    # Both on one machine: 108,000 packets a second; a target keeps neither from being asked.
    (rate,) = beyond(folder, two.replace("2 core", "2 core").replace("1..600", "600..601"), table)
    assert "runs with 108,000 packets/s" in rate


def test_what_is_elastic_is_requested_as_it_converges(folder: Path) -> None:
    table = "cpu in %,packet/s\n8,0\n30,20000\n49,40000\n70,60000\n"
    spec = RELAY.replace("pps = 90 packet/s in 1..1000 packet/s", "pps elastic 1..900 packet/s")
    assert beyond(folder, spec, table) == []


def test_another_machine_gets_the_place_of_the_step(folder: Path) -> None:
    spec = (
        RELAY.replace("cpu 2 core,", "cpu 2 core * 10 score,")
        + "unit score of rating\nmachine big { cpu 8 core * 12 score, idle 1 % }\n"
        "option server_is = one or other\n"
    )
    spec = spec.replace("server = vm", "server = big")
    (told_,) = beyond(folder, spec)
    assert told_.startswith(
        "`relay` was measured on `vm` (`runs.csv`) but runs on `big`, scaled by"
    )
    assert beyond(folder, spec.replace("{ relay }", "{ relay if server_is == other }")) == []
    own = spec.replace("measured on vm", "measured on vm; cpu 5 us/packet measured on big")
    assert beyond(folder, own) == []


def test_claims_that_ask_beyond_are_reported(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    claim = (
        'expect small "a" { largest_acceptable > 1 with size = 50 byte/packet; source "us" }\n'
        'expect few "b" { server.cpu.load < 9 with conns = 3, size = 60 byte/packet; '
        'source "us" }\n'
    )
    told_of(folder, TURN, RELAY + claim)
    assert main(["test", "relay.qps"]) == 0
    err = capsys.readouterr().err
    assert err.count("QPS0534") == 1
    assert "runs with 50 bytes/packet at server.cpu" in err


# -- rows ----------------------------------------------------------------------------------


def test_quantiles_of_student() -> None:
    from mpmath import betainc, mpf

    for freedom in (*range(1, 20), 99, 100, 200, 201, 5000):
        for level in (0.025, 0.5, 0.9, 0.975, 0.995):
            found = mpf(student_quantile(level, freedom))
            # The part of Student's distribution that lies further from zero on this side.
            beyond = (
                betainc(freedom / mpf(2), 0.5, 0, freedom / (freedom + found**2), regularized=True)
                / 2
            )
            assert float(beyond) == pytest.approx(min(level, 1 - level), rel=1e-9)
            assert found * (level - 0.5) >= 0


def test_leverages_residuals_and_distances_are_those_of_numpy() -> None:
    found = told(SLIP)
    table = np.loadtxt(SLIP.splitlines(), delimiter=",", skiprows=1)
    loads = table[:, 0] / 100
    matrix = np.column_stack([np.ones(6), table[:, 1] / 1e4, table[:, 2] / 1e7])
    hat = matrix @ np.linalg.inv(matrix.T @ matrix) @ matrix.T
    errors = hat @ loads - loads
    variance = errors @ errors / 3
    for row, h, error in zip(found.residuals, np.diag(hat), errors, strict=True):
        assert row.error == pytest.approx(error)
        assert row.left_out == pytest.approx(row.measured + error / (1 - h))
        assert row.pull == pytest.approx(error**2 * h / (3 * variance * (1 - h) ** 2))


@given(st.integers(1, 30))
def test_rows_that_repeat_do_not_narrow_the_intervals(times: int) -> None:
    head, *rows = TURN.splitlines()
    repeated = told("\n".join([head, *(rows * times)]) + "\n")
    once = told(TURN)
    assert repeated.degrees_of_freedom == 1
    assert repeated.copies == 4 * (times - 1)
    for one, many in zip(once.coefficients, repeated.coefficients, strict=True):
        assert many.value == one.value
        assert many.half_width == pytest.approx(one.half_width)
    assert repeated.left_out_error == pytest.approx(once.left_out_error)


def test_rows_that_repeat_are_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    head, *rows = TURN.splitlines()
    (folder / "many.csv").write_text("\n".join([head, *(rows * 25)]) + "\n")
    assert main(["fit", "many.csv", "--cores", "2"]) == 0
    out = capsys.readouterr().out
    assert "packet/s 51.87 ± 5.473 us/packet" in " ".join(out.split())
    told = " ".join(out.split())
    assert "lines 6 to 101 repeat an earlier row" in told
    assert "Rows 100; not shown: copies of these" in told


def test_a_row_that_pulls_is_named_with_what_the_others_give_it(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "s989.csv").write_text(SLIP[: SLIP.index("51.1")] + "98.9,120000,115200000\n")
    assert main(["fit", "s989.csv", "--cores", "2"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "line 6 is an influential outlier (Cook's distance 5.28)" in out
    assert (
        "which predict a utilization of 165 %. Did the machine complete less work than was" in out
    )
    # A cost below zero is refused by every spec: there is nothing to paste.
    assert "component" not in out
    assert "Nothing to paste: the service demand per byte is below zero" in out


def test_a_poor_fit_of_many_rows_is_more_than_one_row_of_noise() -> None:
    rows = [(10_000 + 100 * i, 20 + 0.1 * i) for i in range(100)]
    text = "cpu in %,packet/s\n" + "".join(f"{load:.2f},{rate}\n" for rate, load in rows)
    assert told(text).worst is None
    assert told(text + "60,10000\n").worst is None
    assert told(text + "".join(f"60,{10_000 + i}\n" for i in range(20))).worst is not None


# -- what may stand in a table -------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "cpu in core,packet/s\n0.5,1000\n1.0,3000\n1.5,5000\n",
        "cpu in %,packet/s\n25,1000\n50,3000\n75,5000\n",
        "cpu,packet/s\n25 %,1000\n50%,3000\n75%,5000\n",
        "cpu in %,packet/s\n25,1000\n50%,3000\n75,5000\n",
        "cpu,packet/s\n0.25,1_000\n5e-1,3e3\n3/4,5000.0\n",
    ],
)
def test_a_load_in_cores_in_percent_or_as_a_share(
    folder: Path, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "load.csv").write_text(text)
    assert main(["fit", "load.csv", "--cores", "2"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "idle 12.5 exact % utilization" in out
    assert "packet/s 250 exact us/packet" in out


MANY_RATES = ",".join(
    f"{unit}/s"
    for unit in (
        "packet", "frame", "request", "message", "session", "connection", "call", "byte", "kB",
        "MB", "GB",
    )
)  # fmt: skip


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("cpu in %,packet/s\n25,1\nnan,2\n", "line 3: `nan` in column `cpu in %` is not a number"),
        ("cpu in %,packet/s\n25,1\n,2\n", "line 3: `cpu in %` is empty"),
        ("cpu in %,packet/s\n25,1\n5,NaN\n", "line 3: `NaN` in column `packet/s` is not a number"),
        ("cpu,packet/s\n0.25,1\n30%,2\n", "line 3: some cells of column `cpu` have a `%`"),
        ("cpu in core,packet/s\n0.5,1\n3,2\n", "line 3: 3 of 2 cores are busy"),
        ("cpu in %,packet/s\n25,1\n5,1e200\n", "line 3: a number out of range"),
        ("cpu in %,packet/s\n25,1\n25,2\n", "all rows of `bad.csv` have the same rate"),
        (
            f"cpu in %,{MANY_RATES}\n5{',1' * 11}\n",
            "has 11 columns with rates, more than the limit of 10",
        ),
    ],
)
def test_what_a_table_may_not_hold(
    folder: Path, text: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "bad.csv").write_text(text)
    assert main(["fit", "bad.csv", "--cores", "2"]) == 2
    assert message in capsys.readouterr().err


COUNTED = [(0, 0), (500, 1), (1000, 1), (1000, 20), (2000, 20), (4000, 5)]
"""Packets a second and their size in kB: 100 us each, and 5 ns a byte."""


@pytest.mark.parametrize("has_column", [True, False])
def test_tables_of_a_counter_process(has_column: bool) -> None:
    rows = []
    for rate, size in COUNTED:
        load = rate * 100e-6 + rate * size * 1000 * 5e-9
        counted = f"{1_700_000 * (1 - load)},{rate},{rate * size * 1000}"
        rows.append(counted + (",1700000" if has_column else ""))
    head = "count/s,packet/s,byte/s" + (",idle count/s" if has_column else "")
    found = fit("\n".join([head, *rows]), cores=1)
    values = [float(term.value) for term in found.terms]
    assert values == pytest.approx([100e-6, 5e-9 / 8], rel=1e-6)
    assert float(found.fixed) == pytest.approx(0, abs=1e-9)
    assert (found.resource, found.left_out) == ("cpu", ())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("count/s,packet/s\n90,1\n80,2\n", "has no counts of the idle machine"),
        ("count/s,packet/s,idle count/s\n90,1,100\n101,2,100\n", "101 counts per second, but 100"),
        ("count/s,packet/s,idle count/s\n90,1,100\n-1,2,100\n", "-1 counts per second"),
        ("count/s,packet/s,idle count/s\n90,1,100\n80,2,x\n", "`x` in column `idle count/s`"),
    ],
)
def test_counts_that_tell_no_load(text: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        fit(text)


def test_a_published_rate_of_a_full_machine(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "full.csv").write_text("request/s\n40000\n")
    command = ["fit", "full.csv", "--cores", "8"]
    assert main([*command, "--served"]) == 2
    assert "--no-fixed" in capsys.readouterr().err
    assert main([*command, "--served", "--no-fixed"]) == 0
    out = capsys.readouterr().out
    assert "machine tested { cpu 8 cores }" in out
    assert "cpu 200 us/request measured on tested at 100 % load" in out


def test_full_rows_count_where_rates_are_what_was_served() -> None:
    text = "cpu in %,packet/s\n15,10000\n45,40000\n100,95000\n100,95000\n"
    found = fit(text, cores=4, is_served=True)
    assert (found.fixed, found.terms[0].value) == (Fraction(5, 100), Fraction(40, 10**6))
    assert len(found.runs.used) == 4
    headed = fit(text.replace("packet/s", "served in packet/s"), cores=4)
    assert headed.terms[0].value == found.terms[0].value
    assert len(fit(text, cores=4).runs.used) == 2


def test_without_a_fixed_part_the_rates_cause_all() -> None:
    text = "cpu in %,packet/s\n20,2000\n45,4000\n70,6000\n95,8000\n"
    assert fit(text).fixed < 0
    found = fit(text, has_fixed=False)
    rates, loads = np.array([2, 4, 6, 8]) * 1000 / 2, np.array([0.2, 0.45, 0.7, 0.95])
    assert found.fixed == 0
    assert float(found.terms[0].value) == pytest.approx(rates @ loads / (rates @ rates))
    assert [c.heading for c in regression(found).coefficients] == ["packet/s"]


@given(
    st.lists(
        st.tuples(st.integers(0, 100), st.integers(0, 9000), st.integers(0, 90_000)),
        min_size=3,
        max_size=8,
    ),
    st.booleans(),
    st.booleans(),
)
def test_the_suggested_text_is_accepted(
    rows: list[tuple[int, int, int]], has_fixed: bool, is_served: bool
) -> None:
    text = "cpu in %,packet/s,byte/s\n" + "".join(f"{c},{p},{b}\n" for c, p, b in rows)
    try:
        found = fit(text, has_fixed=has_fixed, is_served=is_served)
    except DataError:
        reject()
    component = component_text(regression(found))
    if component is None:
        assert min(found.fixed, *(term.value for term in found.terms)) < 0
        return
    spec = (
        component + "users N in 1..9\ntopology { node host = tested }\n"
        "stream flow { traffic 9 packet/s, 99 byte/packet; at host { step } }\n"
    )
    assert [d.message for d in check_source(Source("p", spec)).diagnostics if d.is_error] == []


def test_an_item_of_ones_own_can_be_pasted(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "own.csv").write_text("cpu in %,update/s\n11,100\n20,200\n31,300\n")
    assert main(["fit", "own.csv", "--unit", "update", "--cores", "1"]) == 0
    out = capsys.readouterr().out
    assert out[out.index("unit update") :].startswith("unit update\nmachine tested")


@pytest.mark.slow
def test_many_rows_are_fitted_exactly_and_reported_in_few_lines(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = "".join(
        f"{5 + p / 1000 + b / 10**7:.4f},{p},{b}\n"
        for p, b in ((1000 + i % 30_000, i * 7919 % 10**8) for i in range(100_000))
    )
    (folder / "many.csv").write_text("cpu in %,packet/s,byte/s\n" + rows)
    assert main(["fit", "many.csv", "--cores", "1"]) == 0
    out = capsys.readouterr().out
    assert len(out) < 10_000
    assert "packet/s 10 " in " ".join(out.split())


def test_the_same_table_gives_equal_models_that_can_be_sent(folder: Path) -> None:
    told_of(folder, TURN)
    specs = [check_file(folder / "relay.qps").value for _ in range(2)]
    models = [spec.model for spec in specs if spec is not None]
    assert models[0].fits[0][1] == models[1].fits[0][1]
    assert hash(models[0].fits[0][1]) == hash(models[1].fits[0][1])
    sent = pickle.loads(pickle.dumps(models[0]))
    assert sent.fits[0][1] == models[0].fits[0][1]
    assert regression(sent.fits[0][1]).coefficients == regression(models[0].fits[0][1]).coefficients


def test_a_fixed_part_that_may_be_zero_is_no_rows_fault(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = tmp_path / "runs.csv"
    runs.write_text("cpu in %,packet/s\n10,1000\n20,2000\n30,3000\n41,4000\n")
    assert main(["fit", str(runs), "--cores", "1"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert f"fit without an intercept: `qps fit {runs} --cores 1 --no-fixed`" in told
    assert "check it first" not in told


def test_a_cell_of_the_load_that_is_no_number_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "runs.csv").write_text("cpu in core,packet/s\n0.1,1000\n0.2 core,2000\n0.3,3000\n")
    assert main(["fit", str(tmp_path / "runs.csv")]) == 2
    assert "line 3: `0.2 core` in column `cpu in core` is not a number" in capsys.readouterr().err


# 1 % always, and of two processors 60 us for what comes in and 8 us for what goes out.
OF_TWO = """cpu in %,{one}/s,{other}/s
1,0,0
4.4,1000,1000
8,1000,10000
14.6,4000,4000
18.5,500,40000
29,4000,40000
11,2000,10000
"""
ASKED = """users N in 1..100_000
{units}
machine vm {{ cpu 2 core, idle fit "runs.csv" }}
component broker {{ cpu fit "runs.csv" measured on vm }}
topology {{ node server = vm }}
stream readings in all {{
  traffic N * 0.1 {one}/s, 10 {other}/{one}{size}
  at server {{ broker }}
}}
target cpu 29 %
"""


@pytest.mark.parametrize(
    ("one", "other", "size", "bytes_cost"),
    [
        ("request", "packet", "", 0.0),
        ("request", "packet", ", 100 byte/packet", 1e-9),
        ("received", "sent", "", 0.0),
    ],
    ids=["packets beside requests", "and bytes", "messages in and out"],
)
def test_a_fit_of_several_rates_is_evaluated_by_the_composition_of_items(
    tmp_path: Path, one: str, other: str, size: str, bytes_cost: float
) -> None:
    """The answer is that of the law that the rows were made of, to their rounding."""
    units = "unit received\nunit sent" if one == "received" else ""
    head, *rows = OF_TWO.format(one=one, other=other).splitlines()
    if size:
        octets = [0, 2e6, 1e6, 4e5, 4e6, 2e6, 9e6]
        head += ",byte/s"
        rows = [
            f"{float(row.partition(',')[0]) + count * bytes_cost * 50:g},"
            f"{row.partition(',')[2]},{count:g}"
            for row, count in zip(rows, octets, strict=True)
        ]
    (tmp_path / "runs.csv").write_text("\n".join([head, *rows]) + "\n")
    text = ASKED.format(one=one, other=other, units=units, size=size)
    (tmp_path / "spec.qps").write_text(text)
    spec = check_file(tmp_path / "spec.qps").value
    assert spec is not None
    of_a_user = 0.1 * (60e-6 + 10 * (8e-6 + 100 * bytes_cost))
    answer = solve_model(spec.model, spec.configuration()).capacity
    assert answer == pytest.approx(0.28 * 2 / of_a_user, rel=0.01)


def test_a_column_of_users_next_to_a_load_with_its_unit_is_no_load(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "runs.csv").write_text(
        "users,cpu in %,request/s\n100,12.1,50\n200,22.8,99\n400,44.9,201\n"
    )
    assert main(["fit", "runs.csv", "--cores", "4"]) == 0
    assert "Service demands on cpu, 4 cores" in capsys.readouterr().out
