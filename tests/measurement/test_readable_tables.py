"""Tables that are read for what they say: no load is guessed, nothing that is missing is a 0.

A load in per cent is of some number of cores; the table, the command or the spec has to say of how
many, and where two of them do, both say the same.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from qps.cli import main
from qps.compiler.check.model.fits.fit_requests import fitted_to
from qps.compiler.check.model.fits.table_units import units_with
from qps.compiler.diagnostics.source import Source
from qps.compiler.measurement.campaigns.campaign_axes import axis
from qps.compiler.measurement.campaigns.measured_rows import TableLayout, rows_of, table_text
from qps.compiler.measurement.campaigns.run_results import MeasuredRun
from qps.compiler.measurement.campaigns.step_runs import ItemCost, StepCosts
from qps.compiler.measurement.measured_tables import DataError, numbers
from qps.compiler.measurement.regression import Regression
from qps.compiler.pipeline import check_file, check_source
from qps.reports.text.measurements.fit_text import warnings_of
from qps.reports.text.measurements.measurement_text import step_component
from qps.solver.claims.claim_evaluation import Claims

ROWS = [(120, 0.9), (240, 1.6), (481, 3.2), (955, 6.1), (1890, 12.4), (3702, 24.0)]


def table(load: str = "cpu in %", more: str = "", cells: str = "") -> str:
    head = f"{load},request/s{more}\n"
    return head + "".join(f"{share},{rate}{cells}\n" for rate, share in ROWS)


def fit(text: str, cores: str | None = "4", **how: object) -> Regression:
    options = {"resource": None, "has_fixed": True, "is_served": False, "units": (), **how}
    return fitted_to(text, "runs.csv", cores=cores, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "cell", ["-", "+", "-.", "+.", ".", "", "N/A", "n/a", "nan", "1.2.3", "--1"]
)
@pytest.mark.parametrize("others", [["1.5", "2"], ["1", "2"], ["1e3", "0.25"]])
def test_what_was_not_measured_is_no_number(cell: str, others: list[str]) -> None:
    assert numbers([*others, cell]) == 2
    assert numbers([cell, *others]) == 0


@pytest.mark.parametrize(
    ("cells", "expected"),
    [(["1.5", "-2", "+.5", "3."], [1.5, -2, 0.5, 3]), (["-.25", "1"], [-0.25, 1])],
)
def test_decimals_are_numbers(cells: list[str], expected: list[float]) -> None:
    found = numbers(cells)
    assert not isinstance(found, int)
    assert [float(found[row]) for row in range(len(found))] == expected


@pytest.mark.parametrize("cell", ["-", "N/A", ""])
@pytest.mark.parametrize("column", [0, 1])
def test_a_row_in_which_something_is_missing_is_ignored_and_reported(
    cell: str, column: int
) -> None:
    last = ["25.5", "5000.5"]
    last[column] = cell
    found = fit(table() + ",".join(last) + "\n")
    assert found.fit.terms == fit(table()).fit.terms
    assert "line 8 without a utilization or a rate: ignored" in warnings_of(found)


@pytest.mark.parametrize("heading", ["error_rate", "errors in %", "hits", "memory in %", "%CPU"])
def test_a_load_is_not_guessed(heading: str) -> None:
    with pytest.raises(DataError) as caught:
        fit(table(heading))
    if heading == "%CPU":
        assert caught.value.hint.startswith("rename `%CPU` to `cpu in %`")
    else:
        name = heading.split(maxsplit=1)[0]
        assert f"name it: `--resource {name}`" in caught.value.hint
        if "%" in heading:
            assert fit(table(heading), resource=name).fit.resource == name


@pytest.mark.parametrize(
    "load", ["CPU %", "CPU (%)", "cpu_percent", "CPU usage [%]", "Average CPU Utilization (%)"]
)
@pytest.mark.parametrize(
    "rate", ["rps", "TPS", "Throughput (req/s)", "Requests/s", "requests per second", "Load [rps]"]
)
def test_usual_headings_are_read_as_what_they_mean(load: str, rate: str) -> None:
    found = fit(table(load).replace("request/s", rate)).fit
    assert found.terms == fit(table()).fit.terms
    assert (found.resource, found.left_out) == ("cpu", ())


@pytest.mark.parametrize(
    "text",
    [
        "cpu in %;request/s\n0,9;120\n1,6;240\n3,2;481\n6,1;955\n12,4;1.890\n24,0;3.702\n",
        "cpu in %\trequest/s\n0.9\t120\n1.6\t240\n3.2\t481\n6.1\t955\n12.4\t1890\n24\t3702\n",
        'cpu in %,request/s\n0.9,120\n1.6,240\n3.2,481\n6.1,955\n12.4,"1,890"\n24,"3,702"\n',
        "March\n\ncpu in %,request/s\n0.9,120\n1.6,240\n3.2,481\n6.1,955\n12.4,1890\n24,3702\n",
    ],
)
def test_separators_titles_and_forms_of_numbers_do_not_matter(text: str) -> None:
    assert fit(text).fit.terms == fit(table()).fit.terms


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('cpu in %,rps\n10,"1,890"\n20,"3,702"\n', "`1,890` can mean 1890 or 1.890"),
        (
            'cpu in %,rps\n"0,9",120.5\n"1,6",240.5\n',
            "a decimal comma, but `120.5` a decimal point",
        ),
    ],
)
def test_a_number_with_two_readings_is_not_guessed(text: str, message: str) -> None:
    with pytest.raises(DataError, match="line 2, column") as caught:
        fit(text)
    assert message in caught.value.message


@pytest.mark.parametrize("heading", ["cpu in %", "load in %", "Utilization in %", "web in core"])
def test_a_load_is_known_by_its_name_or_unit(heading: str) -> None:
    assert fit(table(heading), "32").fit.resource == heading.split(maxsplit=1)[0]


@pytest.mark.parametrize("heading", ["kpacket/s", "fps", "Throughput (records/s)"])
def test_a_rate_by_another_name_is_reported_with_its_heading(heading: str) -> None:
    with pytest.raises(DataError) as caught:
        fit(table().replace("request/s", heading))
    assert caught.value.hint == f"rename `{heading}` to its unit, such as `request/s`"


def test_of_two_columns_the_one_that_is_called_so_is_the_load() -> None:
    both = "error_rate," + table().replace("\n", "\n0.01,").removesuffix("0.01,")
    assert fit(both).fit.resource == "cpu"


@pytest.mark.parametrize("load", ["cpu in %", "cpu", "load"])
def test_per_cent_of_nobody_knows_how_many_cores_are_refused(load: str) -> None:
    text = table(load) if load.endswith("%") else table(load).replace("24.0", "0.24")
    with pytest.raises(DataError, match="does not specify how many cores") as caught:
        fit(text, None)
    assert "`--cores 4`" in caught.value.hint


def test_the_table_says_of_how_many_cores() -> None:
    options = fit(table(), "2").fit
    said = fit(table(more=",cores", cells=",2"), None).fit
    both = fit(table(more=",cores", cells=",2.0"), "2").fit
    assert said.terms == options.terms == both.terms
    assert said.cores == options.cores == 2
    assert (options.command, said.command) == ("qps fit runs.csv --cores 2", "qps fit runs.csv")
    assert said.left_out == ()
    with pytest.raises(DataError, match=r"column `cores` of `.*` specifies 2 cores, not 4"):
        fit(table(more=",cores", cells=",2"), "4")


def test_cores_that_change_are_no_number_of_cores() -> None:
    text = table(more=",cores", cells=",2") + "30,4000,4\n"
    with pytest.raises(DataError, match="and has `2` and `4`"):
        fit(text, None)


def test_a_load_in_cores_needs_no_number_but_says_what_it_took() -> None:
    found = fit(table("cpu in core").replace("24.0", "0.24").replace("12.4", "0.12"), "8")
    assert not any("how many cores" in diagnostic for diagnostic in warnings_of(found))
    text = "cpu in core,request/s\n" + "".join(f"{s / 100},{r}\n" for r, s in ROWS)
    found = fit(text, None)
    assert any(
        "the number of cores is unknown; assuming 1" in diagnostic
        for diagnostic in warnings_of(found)
    )


SPEC = """users N in 1..100000
param pace = 1 request/s
machine m {{ cpu {cores} core, idle fit "runs.csv" }}
component r {{ cpu fit "runs.csv" measured on m }}
topology {{ node a = m }}
stream s for each user {{ traffic pace; at a {{ r }} }}
require {{ a.cpu.load <= 75 % }}
"""


def test_a_spec_is_held_against_the_cores_of_its_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("runs.csv").write_text(table(more=",cores", cells=",2"))
    for cores, status in ((2, 0), (4, 2)):
        Path("web.qps").write_text(SPEC.format(cores=cores))
        assert main(["check", "web.qps"]) == status
    assert "specifies 2 cores, not 4 cores" in capsys.readouterr().err


def test_an_observe_block_takes_usual_names_and_what_was_not_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    cells = "".join(f"{rate};{str(share).replace('.', ',')}\n" for rate, share in ROWS)
    Path("runs.csv").write_text(f"TPS;CPU (%)\n{cells}9000;-\n", encoding="utf-16")
    spec = (
        SPEC.format(cores=4).replace('idle fit "runs.csv"', "").replace("cpu 4 core,", "cpu 4 core")
    )
    spec = spec.replace('cpu fit "runs.csv"', "cpu 259 us/request")
    block = """
observe load_test "runs.csv" with N = 1 {
  "request/s" in request/s -> pace
  "CPU (%)" in % -> a.cpu.load within 30 %
  source "March"
}
"""
    Path("web.qps").write_text(spec + block)
    assert main(["test", "web.qps"]) == 0, capsys.readouterr()
    assert "6 passed, 0 failed" in capsys.readouterr().out


def test_what_is_measured_says_of_how_many_cores() -> None:
    rate = axis("rate in 100, 200 request/s", units_with([]))
    layout = TableLayout(axes=(rate,), items=("request",), cores=1.5, machine_cores=4)
    runs = [
        MeasuredRun(
            setting=(text,),
            repetition=1,
            started="",
            elapsed=5.0,
            used={"cpu": 0.005 * int(text)},
            counted={"request": 5.0 * int(text)},
            counted_over=5.0,
            packets=None,
            octets=0,
            generator=0.5,
            others=0.0,
            stolen=0.0,
            busiest=0.0,
            generator_busiest=0.1,
        )
        for text in ("100", "200")
    ]
    text = table_text(rows_of(runs, [("100",), ("200",)], layout), layout)
    found = fit(text, None).fit
    assert found.cores == Fraction(3, 2)
    assert float(found.terms[0].value) == pytest.approx(1e-3, rel=1e-4)


@pytest.mark.parametrize("rows", [1, 40])
def test_a_row_without_any_work_has_no_effect_without_a_fixed_part(rows: int) -> None:
    bare = fit(table(), has_fixed=False)
    idle = fit(table() + "0,0\n" * rows, has_fixed=False)
    assert idle.coefficients == bare.coefficients
    assert idle.degrees_of_freedom == bare.degrees_of_freedom == len(ROWS) - 1
    assert idle.left_out_error == bare.left_out_error
    busy = fit(table() + "3,0\n", has_fixed=False)
    assert busy.coefficients == bare.coefficients
    assert any(
        "line 8 with utilization but no work: idle utilization" in diagnostic
        for diagnostic in warnings_of(busy)
    )


@pytest.mark.parametrize(
    ("seconds", "width"),
    [
        (472.797e-9, 627e-9),
        (3e-6, 2.9999e-6),
        (3e-6, 3e-6),
        (2e-3, 1e-5),
        (5e-9, 5e-6),
        (1e-6, None),
    ],
)
@pytest.mark.parametrize(
    "command", ["./filter", "python -c 'for a in b:\n\tprint(\"c\\\\\")\r\n'", "./é\u2028 \x1b[2J"]
)
def test_what_a_step_costs_can_be_pasted(seconds: float, width: float | None, command: str) -> None:
    costs = (ItemCost("packet", seconds, width), ItemCost("byte", seconds / 1000, width))
    step = StepCosts(item="packet", costs=costs, runs=(), missed=0.0)
    component = step_component(step, command, 2)
    assert component is not None
    spec = (
        component + "users N in 1..9\ntopology { node host = tested }\n"
        "stream flow for each user { traffic 9 packet/s, 99 byte/packet; at host { step } }\n"
    )
    found = check_source(Source("step.qps", spec))
    assert [one.message for one in found.diagnostics if one.is_error] == []


@pytest.mark.parametrize(
    ("loads", "expected"),
    [
        ("1..10 %", ("60 %", "overestimated")),
        ("5..60 %", None),
        ("80..90 %", ("5 %", "underestimated")),
    ],
)
def test_a_cost_far_from_its_load_is_reported_of_measured_rows(
    loads: str, expected: tuple[str, str] | None, tmp_path: Path
) -> None:
    spec = f"""users N in 1..9
param pace = 1 request/s
machine m {{ cpu 2 core }}
component r {{ cpu 100 us/request measured on m at {loads} load }}
topology {{ node a = m }}
stream s for each user {{ traffic pace; at a {{ r }} }}
observe held "rows.csv" with N = 1 {{
  "request/s" in request/s -> pace
  "cpu in %" in % -> a.cpu.load within 5 %
  source "ours"
}}
"""
    (tmp_path / "rows.csv").write_text("request/s,cpu in %\n1000,5\n12000,60\n")
    (tmp_path / "web.qps").write_text(spec)
    found = check_file(tmp_path / "web.qps").value
    assert found is not None
    claims = Claims.of(found)
    assert all(result.holds for result in claims.results())
    warnings = claims.runner.warnings
    if expected is None:
        assert not warnings
        return
    (warning,) = warnings
    at, how = expected
    assert f"is {at} for a claim or measured row at N = 1" in warning.message
    assert f"the demand may be {how}" in warning.hints[0]


def test_measured_rows_are_held_against_the_cores_of_their_table(tmp_path: Path) -> None:
    spec = """users N in 1..9
param pace = 1 request/s
machine m {{ cpu {cores} core }}
component r {{ cpu 100 us/request measured on m }}
topology {{ node a = m }}
stream s for each user {{ traffic pace; at a {{ r }} }}
observe held "rows.csv" with N = 1 {{
  "request/s" in request/s -> pace
  "cpu in %" in % -> a.cpu.load within 5 %
  source "ours"
}}
"""
    (tmp_path / "rows.csv").write_text("request/s,cpu in %,cores\n1000,5,2\n12000,60,2\n")
    for cores, is_right in ((2, True), (4, False)):
        (tmp_path / "web.qps").write_text(spec.format(cores=cores))
        found = [d.message for d in check_file(tmp_path / "web.qps").diagnostics if d.is_error]
        text = "column `cores` of `held` specifies 2 cores, but `a` has 4"
        assert found == ([] if is_right else [text])
