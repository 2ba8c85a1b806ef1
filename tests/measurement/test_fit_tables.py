"""What may stand in a table that is fitted, and its rows."""

from __future__ import annotations

import pickle
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

from helpers.turn_table import TURN
from measurement.test_fit_warnings import SLIP, reported_of
from measurement.test_fits import fit, reported
from qps.cli import main
from qps.compiler.measurement.measured_tables import DataError
from qps.compiler.measurement.regression import regression
from qps.compiler.measurement.student_t import student_quantile
from qps.compiler.pipeline import check_file
from qps.reports.text.measurements.fit_text import component_text
from qps.solver.answers.worst_mode import solve_model

# -- rows -----------------------------------------------------------------------------


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
    found = reported(SLIP)
    table = np.loadtxt(SLIP.splitlines(), delimiter=",", skiprows=1)
    loads = table[:, 0] / 100
    matrix = np.column_stack([np.ones(6), table[:, 1] / 1e4, table[:, 2] / 1e7])
    weights = np.array(found.fit.weights, dtype=float)
    matrix, loads = matrix * weights[:, np.newaxis], loads * weights
    hat = matrix @ np.linalg.inv(matrix.T @ matrix) @ matrix.T
    errors = hat @ loads - loads
    variance = errors @ errors / 3
    rows = zip(found.residuals, np.diag(hat), errors, weights, strict=True)
    for row, h, error, weight in rows:
        assert row.error == pytest.approx(error / weight)
        assert row.left_out == pytest.approx(row.measured + error / (1 - h) / weight)
        assert row.pull == pytest.approx(error**2 * h / (3 * variance * (1 - h) ** 2))


@given(st.integers(1, 30))
def test_rows_that_repeat_do_not_narrow_the_intervals(times: int) -> None:
    head, *rows = TURN.splitlines()
    repeated = reported("\n".join([head, *(rows * times)]) + "\n")
    once = reported(TURN)
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
    assert "packet/s 51.99 ± 2.94 µs/packet" in " ".join(out.split())
    text = " ".join(out.split())
    assert "lines 6 to 101 repeat an earlier row" in text
    assert "Rows 100; not shown: copies of these" in text


def test_a_row_that_pulls_is_named_with_what_the_others_give_it(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "s989.csv").write_text(SLIP[: SLIP.index("51.1")] + "98.9,120000,115200000\n")
    assert main(["fit", "s989.csv", "--cores", "2"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "line 6 is an influential outlier (Cook's distance 1.44)" in out
    assert (
        "which predict a utilization of 165 %. Did the machine complete less work than was" in out
    )
    # A cost below zero is refused by every spec: there is nothing to paste.
    assert "component" not in out
    assert "Nothing to paste: the service demand per byte is below zero" in out


def test_a_poor_fit_of_many_rows_is_more_than_one_row_of_noise() -> None:
    rows = [(10_000 + 100 * i, 20 + 0.1 * i) for i in range(100)]
    text = "cpu in %,packet/s\n" + "".join(f"{load:.2f},{rate}\n" for rate, load in rows)
    assert reported(text).worst is None
    assert reported(text + "60,10000\n").worst is None
    assert reported(text + "".join(f"60,{10_000 + i}\n" for i in range(20))).worst is not None


# -- what may stand in a table --------------------------------------------------------


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
    assert "packet/s 250 exact µs/packet" in out


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
def test_counts_without_a_utilization(text: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        fit(text)


def test_a_published_rate_of_a_full_machine(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "full.csv").write_text("request/s\n40000\n")
    command = ["fit", "full.csv", "--cores", "8"]
    assert main([*command, "--served"]) == 0
    assert "\n  idle " not in capsys.readouterr().out
    assert main([*command, "--served", "--no-fixed"]) == 0
    out = capsys.readouterr().out
    assert "machine tested { cpu 8 cores, idle 0 % }" in out
    assert 'cpu fit "full.csv" with idle = 0 % measured on tested' in out
    assert "request/s 200" in " ".join(out.split())


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
    weights = np.array(found.weights, dtype=float)
    expected = (weights * rates) @ (weights * loads) / ((weights * rates) @ (weights * rates))
    assert float(found.terms[0].value) == pytest.approx(expected)
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
def test_the_suggested_text_is_accepted_and_means_the_same_fit(
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[tuple[int, int, int]],
    has_fixed: bool,
    is_served: bool,
) -> None:
    served = "served in " * is_served
    text = f"cpu in %,{served}packet/s,byte/s\n" + "".join(f"{c},{p},{b}\n" for c, p, b in rows)
    try:
        found = fit(text, has_fixed=has_fixed, is_served=is_served)
    except DataError:
        reject()
    component = component_text(regression(found))
    if component is None:
        assert min(found.fixed, *(term.value for term in found.terms)) < 0
        return
    folder = tmp_path_factory.mktemp("pasted")
    (folder / "runs.csv").write_text(text)
    spec = folder / "pasted.qps"
    spec.write_text(
        component + "users N in 1..9\ntopology { node host = tested }\n"
        "stream flow { traffic 9 packet/s, 99 byte/packet; at host { step } }\n"
    )
    checked = check_file(spec)
    assert [d.message for d in checked.diagnostics if d.is_error] == []
    assert checked.value is not None
    fits = [again for _, again in checked.value.model.fits]
    assert fits
    for again in fits:
        assert again.fixed == found.fixed
        assert [term.value for term in again.terms] == [term.value for term in found.terms]


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
    reported_of(folder, TURN)
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
    output = " ".join(capsys.readouterr().out.split())
    assert f"fit without an intercept: `qps fit {runs} --cores 1 --no-fixed`" in output
    assert "check it first" not in output


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

REQUESTED = """users N in 1..100_000
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
    text = REQUESTED.format(one=one, other=other, units=units, size=size)
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


@given(
    st.integers(1, 1000),
    st.integers(1, 5000),
    st.lists(st.integers(1, 512), min_size=3, max_size=8, unique=True),
)
def test_costs_of_an_item_and_of_its_batch_are_recovered(
    item: int, batch: int, sizes: list[int]
) -> None:
    """A full machine does 1 / (item + batch / size) items a second: nothing is there at rest."""
    lines = ["served in packet/s,byte/s"]
    for size in sizes:
        rate = 1e6 / (item + batch / size)
        lines.append(f"{rate:.9f},{rate / size:.9f}")
    found = fit("\n".join(lines) + "\n", cores=1, is_served=True)
    assert not found.has_fixed
    assert float(found.terms[0].value) * 1e6 == pytest.approx(item, rel=1e-4)
    assert float(found.terms[1].value) * 8e6 == pytest.approx(batch, rel=1e-4)


def test_a_latency_shorter_than_the_processor_time_of_a_request_is_named(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    head = 'request/s,cpu in %,"latency mean, ms"\n'
    rows = "40,10,\n80,20,{}\n120,30,25\n160,40,\n"  # 20 ms of 8 cores each
    for latency, is_shorter in (("18.4", True), ("20.1", False)):
        (folder / "runs.csv").write_text(head + rows.format(latency))
        assert main(["fit", "runs.csv", "--cores", "8"]) == 0
        out = " ".join(capsys.readouterr().out.split())
        found = "line 3 has a mean latency of 18.4 ms, but an item takes 20 ms of CPU time" in out
        assert found == is_shorter
