"""Quantiles of answers as columns of matrices: held against closed forms and against samples."""

from __future__ import annotations

import csv
from math import floor
from pathlib import Path

import numpy as np
import pytest

from helpers.specs import checked
from qps.cli import main
from qps.compiler.configure.configuration import changed
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.diagnostics.source import Source
from qps.compiler.pipeline import Spec, check_source
from qps.compiler.quantities.certainty import CertaintyKind
from qps.engine.numerics.sobol import sobol_points
from qps.solver.answers.worst_mode import solve_model
from qps.solver.claims.claim_evaluation import Claims
from qps.solver.claims.claim_runner import ClaimRunner
from qps.solver.matrix.matrix_claims import MatrixClaimEvaluator
from qps.solver.matrix.matrix_compiler import compile_matrix
from qps.solver.matrix.row_tables import Tabulator
from qps.solver.uncertainty.sample_draws import axis_of, dimensions_of, uncertain_numbers, values_at
from qps.solver.uncertainty.sample_solver import samples_of_rows, solved_for
from qps.solver.uncertainty.sampled_rows import drawn_in_rows

SPEC = """
users N in 1..20_000
param cost = uniform(1 ms/request, 2 ms/request)
param cores = 4
param often = 1
machine server {{ cpu cores * 1 core }}
network wire {{ switched; rate 1 Gbit/s }}
component work {{ cpu cost }}
topology {{ node web = server; node db = server; link lan = wire between web, db }}
stream replies in all {{
  traffic often * N * 1 request/s, 1 kB/request
  at web {{ work }}
  over lan
  at db {{ }}
}}
{0}
"""


def spec_of(rest: str) -> Spec:
    return checked(SPEC.format(rest))


def rows_of(spec: Spec) -> list[dict[str, object]]:
    compiled = compile_matrix(spec.model, spec.model.matrices[0], drawn=drawn_in_rows)
    rows: list[dict[str, object]] = Tabulator(compiled).table(0, compiled.size).to_pylist()
    return rows


COLUMNS = "select largest_acceptable.p05, largest_acceptable.p50, largest_acceptable.p95"


def test_quantiles_are_those_of_the_closed_form() -> None:
    for row in rows_of(spec_of(f"matrix many {{ cores in [1, 2, 8]; {COLUMNS} }}")):
        cores = row["cores"]
        assert isinstance(cores, float)
        for level in (0.05, 0.5, 0.95):
            result = row[f"capacity.p{100 * level:02.0f}"]
            assert result == pytest.approx(cores / (1e-3 * (2 - level)), rel=3e-3)


def test_a_row_states_which_share_of_its_samples_has_no_answer() -> None:
    """The share is in which there is a root of a negative number, in one of the two rows."""
    rest = f"""
param base = 0.5 ms/request
matrix many {{ base in [0.5 ms/request, 1.2 ms/request]; {COLUMNS} }}"""
    left = "((cost - base) / (1 ms/request)) ^ 0.5 * 1 ms/request"
    text = SPEC.format(rest).replace("cpu cost }", f"cpu {left} }}")
    spec = checked(text)
    whole, partly = rows_of(spec)
    assert whole["samples_left_out"] is None
    assert partly["samples_left_out"] == pytest.approx(0.2, abs=2e-3)


def test_each_row_is_what_its_configuration_has_by_itself() -> None:
    """The same thousand points, solved one configuration after the other."""
    modes = "mode calm { often = 1 }\nmode busy { often = 3 }\nrequire { web.cpu.load <= 80 % }\n"
    spec = spec_of(f"{modes}matrix many {{ cores in 1..3 by 1; {COLUMNS} }}")
    matrix = spec.model.matrices[0]
    for at, row in enumerate(rows_of(spec)):
        configuration = changed(spec.configuration(), [matrix.axes[0].change(at)])
        numbers = uncertain_numbers(spec.model, configuration)
        values = values_at(numbers, sobol_points(1000, dimensions_of(numbers), 1))
        alone = solved_for(spec.model, configuration, axis_of(numbers, values, spec.model), None)
        answers = np.sort(alone.largest)
        for level in (0.05, 0.5, 0.95):
            result = row[f"capacity.p{100 * level:02.0f}"]
            assert result == answers[floor(1000 * level)]


def test_what_an_axis_sets_is_certain() -> None:
    for row in rows_of(
        spec_of(f"matrix many {{ cost in [1 ms/request, 2 ms/request]; {COLUMNS} }}")
    ):
        assert len({value for name, value in row.items() if ".p" in name}) == 1
        assert row["capacity.p05"] == 4 / row["cost"]  # type: ignore[operator]


def test_conditions_and_claims_ask_for_quantiles() -> None:
    spec = spec_of(
        "matrix many { cores in [1, 2, 4, 8]; where largest_acceptable.p05 >= 1000 }\n"
        'expect it { source model "ours"; every configuration: largest_acceptable.p95 <= 8000;'
        " no configuration: largest_acceptable.p50 < 1300 }"
    )
    assert [row["cores"] for row in rows_of(spec)] == [2, 4, 8]
    judge = MatrixClaimEvaluator(spec.model, drawn_in_rows)
    judged = [judge.of(claim) for claim in spec.model.expectations[0].matrix_claims]
    assert [(one.is_true, one.about) for one in judged] == [(True, 3), (True, 3)]
    assert not judged[0].known.is_exact


def test_nothing_is_drawn_where_nobody_asks() -> None:
    spec = spec_of("matrix many { cores in [1, 2] }")

    def never(*_: object) -> None:
        raise AssertionError

    assert compile_matrix(spec.model, spec.model.matrices[0], drawn=never).sampled is None


def test_where_none_is_acceptable_a_quantile_is_zero() -> None:
    spec = spec_of(
        f"require {{ replies.latency <= 1.5 ms }}\nmatrix many {{ cores in [1]; {COLUMNS} }}"
    )
    (row,) = rows_of(spec)
    # Half of the samples take longer than what is required.
    assert row["capacity.p05"] == 0
    assert row["capacity.p95"] == pytest.approx(1 / 1.05e-3, rel=5e-3)


def test_rows_that_differ_in_what_is_uncertain_are_refused() -> None:
    scenarios = "scenario sure { cost = 1 ms/request }\nscenario unsure { cores = 2 }\n"
    with pytest.raises(QpsError, match="have different uncertain inputs"):
        rows_of(spec_of(f"{scenarios}matrix many {{ scenario in [sure, unsure]; {COLUMNS} }}"))


@pytest.mark.parametrize("name", ["p", "p0", "p00", "p100", "q5", "p5.p5", "p99_95"])
def test_what_is_no_quantile_is_reported(name: str) -> None:
    text = SPEC.format(f"matrix many {{ cores in [1, 2]; select largest_acceptable.{name} }}")
    found = check_source(Source("spec.qps", text))
    assert found.value is None
    assert "unknown quantile" in found.diagnostics[0].message


def test_a_file_of_a_matrix_has_them(tmp_path: Path) -> None:
    spec, output = tmp_path / "a.qps", tmp_path / "a.csv"
    spec.write_text(SPEC.format(f"matrix many {{ cores in [1, 2]; {COLUMNS} }}"))
    assert main(["matrix", str(spec), "many", "-o", str(output), "-q", "--workers", "2"]) == 0
    with output.open() as file:
        rows = list(csv.DictReader(file))
    assert [float(row["capacity.p50"]) for row in rows] == pytest.approx([667, 1333], rel=5e-3)


def test_claims_ask_for_quantiles_of_the_answer() -> None:
    spec = spec_of(
        'expect it {\n source model "ours"\n largest_acceptable.p05 ~ 2051 within 0.3 %\n'
        " largest_acceptable.p05 ~ 1026 within 0.3 % with often = 2\n}"
    )
    results = Claims(ClaimRunner(model=spec.model)).results()
    assert [result.holds for result in results] == [True, True]
    assert not results[0].known.is_exact


def test_a_claim_lines_of_is_refused_where_every_number_is_certain() -> None:
    spec = spec_of("expect it { largest_acceptable.p05 >= 3 with cost = 1 ms/request }")
    with pytest.raises(QpsError, match="a probability needs an uncertain input"):
        Claims(ClaimRunner(model=spec.model)).results()


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        # 4 cores at N users: the load is N * cost / 4, and cost is anything from 1 to 2 ms.
        ("web.cpu.load <= 80 %", 0.6),
        ("web.cpu.load > 80 %", 0.4),
        ("replies.latency <= 1.508 ms", 0.5),
        ("replies.latency <= 1.508 ms and web.cpu.load <= 60 %", 0.2),
        ("not (replies.latency <= 1.508 ms or web.cpu.load <= 80 %)", 0.4),
        ("largest_acceptable >= 2500", 0.6),
    ],
)
def test_how_likely_a_condition_holds(condition: str, expected: float) -> None:
    spec = spec_of(
        "expect it { source model\n"
        f"probability({condition}) ~ {expected} within 0.003 with N = 2000 }}"
    )
    (result,) = Claims(ClaimRunner(model=spec.model)).results()
    assert result.holds, result.predicted
    assert result.known.kind is CertaintyKind.APPROXIMATION


def test_a_probability_is_what_single_solves_count() -> None:
    """Users who wait in a queue: sample by sample, as a claim about each of them."""
    claim = "probability(replies.latency <= 4 ms) >= 1 % with N = 2200"
    spec = spec_of(f"queueing cpu mm1\nexpect it {{ {claim} }}")
    (result,) = Claims(ClaimRunner(model=spec.model)).results()
    costs = 1e-3 * (1 + (np.arange(2000) + 0.5) / 2000)
    # One server as fast as all four, and 8 kbit over 1 Gbit/s: endless from a load of 1 on.
    waits = np.where(2200 * costs < 4, costs + costs / 4 / (4 / (2200 * costs) - 1), np.inf)
    assert result.compared[0].value == pytest.approx(float(np.mean(waits <= 4e-3)), abs=0.02)


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        ("probability(replies.latency <= 4 ms) >= 95 %", "depends on the population"),
        (
            "probability(web.cpu.load <= 1) >= 95 % with N = 5, cost = 1 ms/request",
            "needs an uncertain input",
        ),
    ],
)
def test_what_has_no_probability_is_refused(claim: str, expected: str) -> None:
    with pytest.raises(QpsError, match=expected):
        Claims(ClaimRunner(model=spec_of(f"expect it {{ {claim} }}").model)).results()


@pytest.mark.parametrize(
    ("rest", "expected"),
    [
        ("require { probability(web.cpu.load <= 1) >= 95 % }", "only in expectations"),
        (
            "measure m = probability(web.cpu.load <= 1)\nrequire { m >= 95 % }",
            "only in expectations",
        ),
        ("let m = probability(web.cpu.load <= 1)\nrequire { m >= 95 % }", "cannot use a result"),
        ("expect it { probability(web.cpu.load) >= 95 % with N = 1 }", "plain number"),
        ("expect it { probability(cost < cost, 1) >= 95 % }", "takes one condition"),
        (
            "matrix m { cores in [1, 2]; where probability(web.cpu.load <= 1) > 0.5 }",
            "a matrix cannot contain probabilities",
        ),
        (
            "expect it { probability((web.cpu.load with N = 3) <= 1) > 0.5 }",
            "cannot have `with`",
        ),
    ],
)
def test_a_probability_stands_in_claims_alone(rest: str, expected: str) -> None:
    found = check_source(Source("spec.qps", SPEC.format(rest)))
    assert found.value is None
    assert any(expected in repr(one) for one in found.diagnostics), found.diagnostics


def test_what_has_no_end_is_below_nothing() -> None:
    """A latency without end was alike to any limit, and counted as met."""
    rest = "queueing cpu mm1\nmatrix many { cost in [1, 2 ms/request]; at N = 3000; {} }"
    stored = rest.replace("{}", "where replies.latency <= 4 ms")
    assert [row["cost"] for row in rows_of(spec_of(stored))] == [1e-3]
    beyond = rest.replace("{}", "where replies.latency > 4 ms")
    assert [row["cost"] for row in rows_of(spec_of(beyond))] == [2e-3]


WAITING = """
users N in 1..5000
param cost = uniform(20 ms/request, 30 ms/request)
param pause = 10 s
machine server { cpu 4 core, queueing mmc }
component work { cpu cost }
topology { node web = server }
stream ask for each user { traffic 1 request, think pause; at web { work } }
require { ask.latency <= 50 ms }
matrix many { pause in [10 s, 20 s]; select largest_acceptable.p05, largest_acceptable.p95 }
"""


def test_what_takes_long_is_computed_by_a_surrogate_and_is_what_single_solves_say() -> None:
    """A quantile of the answer is the answer at a quantile of the cost: users wait in a network."""
    spec = checked(WAITING)
    compiled = compile_matrix(spec.model, spec.model.matrices[0], drawn=drawn_in_rows)
    rows = Tabulator(compiled).table(0, 2).to_pylist()
    for row, name, cost in zip(rows, ("p05", "p95"), (29.5, 20.5), strict=True):
        settings = (f"cost={cost} ms/request", f"pause={row['pause']} s")
        alone = solve_model(spec.model, spec.configuration(settings=settings))
        assert alone.capacity is not None
        result = row[f"capacity.{name}"]
        assert result == pytest.approx(alone.capacity, rel=5e-3)


def test_results_do_not_depend_on_which_worker_solves_which_samples() -> None:
    """Stretches that end within a row, each by a solver of its own: as workers have them."""
    spec = checked(WAITING)
    sampled = compile_matrix(spec.model, spec.model.matrices[0], drawn=drawn_in_rows).sampled
    assert sampled is not None
    (whole,) = samples_of_rows(sampled)(0, 2000)
    for start, stop in ((0, 900), (900, 1500), (1990, 2000)):
        (part,) = samples_of_rows(sampled)(start, stop)
        assert (part.largest == whole.largest[start:stop]).all()


FANNED_OUT = """users N in 1..100
param slow = 1 % in 0..100 %
machine box { cpu 1 core, queueing mm1 }
network lan { propagation 0 s }
component quick { cpu 1 ms/request }
component read { cpu 9 ms/request }
machine unsteady { cpu 1 core, jitter 4 ms^2 * utilization }
topology { node root = unsteady; node leaf = box * 4; link l = lan between all }
stream ask in all {
  traffic N * 1 request/s
  at root { quick; together 4 { call leaf { quick; slow: read } } }
}
require { leaf.cpu.utilization <= 90 % }
matrix rows {
  slow in [1 %, 2 %]
  column late = share(ask.latency > 1 ms)
  column ask.latency p50
  at N = 10
}
"""


def test_a_column_without_any_value_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = tmp_path / "site.qps"
    spec.write_text(FANNED_OUT, encoding="utf-8")
    assert main(["matrix", str(spec)]) == 0
    output = " ".join(capsys.readouterr().out.split())
    assert "Not available in any row: late; `qps solve` states the reason." in output
    assert "ask.p50" in output
    spec.write_text(FANNED_OUT.replace("  column late", "  # column late"), encoding="utf-8")
    assert main(["matrix", str(spec)]) == 0
    assert "Not available" not in capsys.readouterr().out
