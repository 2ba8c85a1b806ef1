"""Specs whose requirements ask for certainty: what all that is asked of them answers."""

from __future__ import annotations

import csv
import json
from math import exp, isclose
from pathlib import Path
from statistics import NormalDist

import pytest

import qps
from helpers.specs import UNSURE, checked
from qps.cli import main
from qps.compiler.pipeline import Spec
from qps.compiler.quantities.certainty import CertaintyKind
from qps.reports.text.changes.difference_text import difference_text, spec_difference_view
from qps.solver.answers.answer_certainty import answer_known
from qps.solver.answers.worst_mode import solve_model
from qps.solver.claims.claim_evaluation import Claims
from qps.solver.claims.claim_results import ClaimResult
from qps.solver.claims.claim_runner import ClaimRunner
from qps.solver.claims.figure_lines import draw
from qps.solver.matrix.matrix_compiler import compile_matrix
from qps.solver.matrix.row_tables import Tabulator
from qps.solver.spec_difference import spec_difference
from qps.solver.uncertainty.confidence_interface import model_at_confidence
from qps.solver.what_if.assumption_changes import AssumptionChangeKind

SPEC = UNSURE + "network lan { switched; rate 1 Gbit/s }\n"
CERTAIN = SPEC + "require { web.cpu.load <= 80 % with 95 % certainty }\n"
WAITING = SPEC + "queueing cpu mm1\nrequire { replies.latency <= 10 ms with 95 % certainty }\n"


def promised(certainty: float = 0.95, calls: float = 1.0) -> float:
    """Return up to how many users the load is 80 % with certainty, in closed form."""
    return 0.8 / (1e-3 * exp(0.2 * NormalDist().inv_cdf(certainty)) * calls)


def claimed(text: str) -> list[ClaimResult]:
    return list(Claims(ClaimRunner(model=checked(text).model), None).results())


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        ("largest_acceptable >= 500", promised()),
        ("largest_acceptable >= 200 with calls = 2", promised(calls=2)),
        # What is measured needs no certainty: it is that of the numbers as they are stated.
        ("web.cpu.load <= 50 % with N = 400", 0.4),
        # In a sample all is certain: quantiles of the answer are those that solve tells.
        ("largest_acceptable.p50 >= 500", promised(0.5)),
        ("probability(web.cpu.load <= 80 %) >= 90 % with N = 576", 0.95),
        # Where every number is certain, it is a requirement like others.
        ("largest_acceptable >= 300 with cost = 2 ms/request", 400),
    ],
)
def test_claims_are_judged(claim: str, expected: float) -> None:
    (found,) = claimed(CERTAIN + f'expect one {{ {claim}; source "us" }}')
    assert isclose(found.compared[0].value, expected, rel_tol=5e-3), found


def test_a_claim_on_the_answer_says_that_it_is_from_samples() -> None:
    answer, load = claimed(
        CERTAIN
        + 'expect one { largest_acceptable >= 500; web.cpu.load <= 1 with N = 9; source "" }'
    )
    assert any("10,000 samples" in reason for reason in answer.known.reasons)
    assert load.known.is_exact


def test_figures_and_explanations_are_those_without_certainty() -> None:
    figure = "figure f { over N in 1..600; line replies.latency }"
    certain, plain = (
        draw(ClaimRunner(model=spec.model), spec.model.figures[0])
        for spec in map(checked, (CERTAIN + figure, SPEC + figure))
    )
    assert certain.curves == plain.curves


@pytest.fixture
def waiting(tmp_path: Path) -> str:
    path = tmp_path / "spec.qps"
    path.write_text(WAITING)
    return str(path)


def text_of(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main([*arguments]) == 0
    return capsys.readouterr().out


def answer_of(capsys: pytest.CaptureFixture[str], spec: str, *flags: str) -> int:
    output = text_of(capsys, "solve", spec, "--no-advice", "--format", "json", *flags)
    answer: int = json.loads(output)["capacity"]
    return answer


def test_explain_shows_a_value_at_the_reliable_capacity(
    waiting: str, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = answer_of(capsys, waiting)
    assert f"at N = {answer:,}" in text_of(capsys, "explain", waiting, "replies.latency")
    output = text_of(capsys, "explain", waiting, "replies.latency", "--at", str(answer - 9))
    assert f"at N = {answer - 9:,}" in output


def test_playing_says_what_it_does_not_judge(
    waiting: str, capsys: pytest.CaptureFixture[str]
) -> None:
    output = text_of(capsys, "simulate", waiting, "--at", "300", "--precision", "50 %")
    assert "Confidence needs samples, not one value of each input: " in " ".join(output.split())


def test_python_answers_what_solve_does(waiting: str, capsys: pytest.CaptureFixture[str]) -> None:
    answer = answer_of(capsys, waiting)
    assert qps.load(waiting).solve().capacity == answer


def test_a_difference_is_one_of_what_is_promised() -> None:
    """What moves the answer is the spread alone, or a number, and what is left is all else."""
    surer = CERTAIN.replace("lognormal(1 ms/request, 0.2)", "lognormal(1 ms/request, 0.1)")
    other = surer.replace("calls = 1", "calls = 2").replace("1 kB/request", "2 kB/request")
    compared = spec_difference(checked(CERTAIN), checked(other))
    view, found = spec_difference_view(compared), compared.difference
    answers = [promised(), 0.8 / (2e-3 * exp(0.1 * NormalDist().inv_cdf(0.95)))]
    values = [one.capacity or 0 for one in (found.old, found.new)]
    assert values == pytest.approx(answers, rel=5e-3)
    moved = {one.name: one for one in found.changes}
    assert moved["calls"].alone == pytest.approx(-promised() / 2, rel=5e-3)
    spread = 0.8 / (1e-3 * exp(0.1 * NormalDist().inv_cdf(0.95))) - promised()
    assert moved["cost"].alone == pytest.approx(spread, rel=0.02)
    assert moved["replies.byte_per_request"].kind is AssumptionChangeKind.FIXED
    assert moved["formulas"].alone == 0
    assert sum(one.share or 0 for one in found.changes) == pytest.approx(values[1] - values[0])
    assert view.uncertainty is not None
    assert view.uncertainty.fewer > 0.99
    assert "part of other model changes" in " ".join(difference_text(view).split())


def test_a_requirement_that_asks_for_more_is_all_else() -> None:
    found = spec_difference(checked(CERTAIN), checked(CERTAIN.replace("95 %", "99 %"))).difference
    (moved,) = found.changes
    assert moved.kind is AssumptionChangeKind.FORMULAS
    assert moved.alone == pytest.approx(promised(0.99) - promised(), rel=0.03)


def test_a_requirement_that_asks_for_certainty_is_held_against_one_that_does_not() -> None:
    plain = CERTAIN.replace(" with 95 % certainty", "")
    assert spec_difference(checked(plain), checked(CERTAIN)).difference.users == pytest.approx(
        promised() - 800, abs=3
    )


@pytest.mark.parametrize("requested", [("--for", "calls", "--users", "300"), ("--users", "300")])
def test_what_is_turned_round_says_that_values_are_nominal(
    requested: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "spec.qps"
    path.write_text(CERTAIN.replace(" with 95 % certainty", ""))
    output = " ".join(text_of(capsys, "solve", str(path), *requested).split())
    assert "the nominal value of the uncertain input cost" in output
    output = text_of(capsys, "solve", str(path), *requested, "--format", "json")
    assert json.loads(output)["nominal_inputs"] == ["cost"]
    output = text_of(capsys, "solve", str(path), *requested, "--set", "cost = 1 ms/request")
    assert "nominal" not in output


@pytest.mark.parametrize(
    ("requested", "why"),
    [
        (
            ("--for", "calls", "--users", "300"),
            "for the capacity at one value, run `qps solve --set 'calls = …'`",
        ),
        (("--for", "web.cpu", "--users", "300"), "`qps solve` evaluates it"),
        (("--users", "300"), "`qps solve` evaluates it"),
        (("--users", "300", "--confidence", "95 %"), "then run `qps solve --confidence '95 %'`"),
    ],
)
def test_what_cannot_be_solved_for_with_certainty_says_what_can_be(
    requested: tuple[str, ...], why: str, waiting: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["solve", waiting, *requested]) == 2
    assert why in capsys.readouterr().err


MODES = (
    "mode calm { calls = 1 }\n"
    "mode busy { calls = 2; web.cpu.load <= 90 % with 99 % certainty }\n"
    "require { web.cpu.load <= 95 % with 80 % certainty; replies.latency <= 5 ms }\n"
)
ALIKE = (
    "scenario slow { cost = lognormal(2 ms/request, 0.1) }\nscenario sure { cost = 1 ms/request }\n"
)


def rows_of(spec: Spec) -> list[dict[str, object]]:
    compiled = compile_matrix(spec.model, spec.model.matrices[0], at_confidence=model_at_confidence)
    rows: list[dict[str, object]] = Tabulator(compiled).table(0, compiled.size).to_pylist()
    return rows


@pytest.mark.parametrize(
    ("text", "axis", "settings"),
    [
        (CERTAIN, "calls in [1, 2, 3]", ["calls = 1", "calls = 2", "calls = 3"]),
        (WAITING, "calls in [0.5, 2]", ["calls = 0.5", "calls = 2"]),
        (SPEC + MODES, "mode in [calm, busy]", ["mode = calm", "mode = busy"]),
        # What an axis sets is certain in its rows: they are those of a plain requirement.
        (
            CERTAIN,
            "cost in [1 ms/request, 2 ms/request]",
            ["cost = 1 ms/request", "cost = 2 ms/request"],
        ),
        (CERTAIN + ALIKE, "scenario in [slow, sure]", ["scenario = slow", "scenario = sure"]),
    ],
)
def test_every_row_is_what_solve_says(text: str, axis: str, settings: list[str]) -> None:
    spec = checked(f"{text}\nmatrix m {{ {axis} }}")
    for row, setting in zip(rows_of(spec), settings, strict=True):
        scenario = setting.removeprefix("scenario = ") if setting.startswith("sc") else None
        configuration = spec.configuration(scenario, () if scenario else (setting,))
        alone = solve_model(model_at_confidence(spec.model, configuration), configuration)
        values = row["capacity"], row["limited_by"], row["capacity_known"]
        known = answer_known(alone).kind.value
        assert values == (alone.capacity, alone.limited_by, known)


def test_row_answers_are_reported_with_their_confidence() -> None:
    at_answer, at_number = (
        checked(f"{CERTAIN} matrix m {{ calls in [1, 2]; {at} column load = web.cpu.load }}")
        for at in ("", "at N = 100;")
    )
    assert [row["load"] for row in rows_of(at_answer)] == pytest.approx(
        [promised() * 1e-3] * 2, rel=5e-3
    )
    assert [row["load"] for row in rows_of(at_number)] == pytest.approx([0.1, 0.2])


def test_claims_count_rows_by_what_they_promise() -> None:
    matrix = "matrix m { calls in [1, 2, 4]; where largest_acceptable >= 200 }\n"
    claim = "no configuration of m where calls >= 4: largest_acceptable >= 1"
    every = f"every configuration of m: largest_acceptable >= {promised(calls=2) - 2:g}"
    few, all_of = claimed(f'{CERTAIN}{matrix}expect a {{ {claim}; {every}; source "us" }}')
    assert few.counted == "no configuration matches"
    assert all_of.counted == "2 of 2"
    assert all_of.known.kind is CertaintyKind.APPROXIMATION


def test_a_matrix_of_other_spreads_is_another_matrix() -> None:
    marks = {
        compile_matrix(
            spec.model, spec.model.matrices[0], at_confidence=model_at_confidence
        ).fingerprint
        for spec in (
            checked(f"{text}\nmatrix m {{ calls in [1, 2] }}")
            for text in (
                CERTAIN,
                CERTAIN.replace("95 %", "90 %"),
                CERTAIN.replace("0.2)", "0.1)"),
                CERTAIN.replace(" with 95 % certainty", ""),
            )
        )
    }
    assert len(marks) == 4


def test_cores_promise_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, output = tmp_path / "spec.qps", tmp_path / "m.csv"
    path.write_text(CERTAIN + "matrix m { calls in [1, 2, 3] }")
    flags = ["-o", str(output), "--workers", "2"]
    text_of(capsys, "matrix", str(path), *flags)
    with output.open() as file:
        values = [int(row["capacity"]) for row in csv.DictReader(file)]
    assert values == [row["capacity"] for row in rows_of(checked(path.read_text()))]


def test_a_load_graph_has_all_but_results_of_samples(waiting: str) -> None:
    model = qps.load(waiting)
    columns = model.sweep(N=range(1, 5))
    assert columns["web.cpu.utilization"].tolist() == pytest.approx([1e-3, 2e-3, 3e-3, 4e-3])
    assert not any("certainty" in name for name in columns)
    name = "replies.latency <= 10 ms with 95 % certainty"
    assert name in model.sweep(N=range(1, 5), set={"cost": "1 ms/request"})


def test_confidence_labels_the_nominal_answer_as_such(
    waiting: str, capsys: pytest.CaptureFixture[str]
) -> None:
    output = text_of(capsys, "solve", "--all", waiting, "--no-advice", "--confidence", "80 %")
    answer = answer_of(capsys, waiting)
    stated = f"At the confidence level of each requirement ({answer:,} users): Limit"
    assert stated in " ".join(output.split())
