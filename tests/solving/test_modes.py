"""Modes, of which the worst one counts; prices, and what the answer costs."""

# ruff: noqa: E501 - tables: one case a line, however long

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.answers import answer_of
from helpers.nightly import examples
from helpers.specs import PRELUDE, checked
from qps.cli import main
from qps.compiler.configure.configuration import in_each_mode
from qps.compiler.lower.lowering import lower
from qps.reports.pages.claims_section import claims_section
from qps.reports.pages.report_page import page_view
from qps.reports.text.layout.table import escaped
from qps.reports.text.solutions.answer_values import SolveView
from qps.reports.text.solutions.solve_view import solve_view
from qps.solver.answers.graph_solution import certified_capacity
from qps.solver.answers.solution import CapacityVerdict, Solution
from qps.solver.answers.worst_mode import solve_model
from qps.solver.claims.claim_evaluation import Claims
from qps.solver.claims.claim_runner import ClaimRunner
from qps.solver.details.answer_details import answer_details

law = settings(max_examples=examples(20), deadline=None)

ONE = "topology { node host = box }\n"

FLOW = "stream flow { traffic N * p * 1 packet/s; at host { work } }\n"

# p packets a second for each user at 10 ms: saturated at 100 / p
BASE = PRELUDE + "param p = 1\nparam q = 1\noption extra = off\n" + ONE + FLOW


def _solved(text: str, *changes: str) -> Solution:
    spec = checked(text)
    return solve_model(spec.model, spec.configuration(None, changes))


def _view(text: str, *changes: str) -> SolveView:
    return solve_view(answer_of(checked(text), *changes))


def _holds(text: str) -> list[bool | None]:
    return [result.holds for result in Claims(ClaimRunner(model=checked(text).model)).results()]


# -- the worst mode -------------------------------------------------------------------

RANKED = PRELUDE + (
    "param p = 1\nparam q = 1\noption extra = off\ncosts measured on rated\n"
    "component w { cpu 10 ms/packet }\ntopology { node host = rated }\n"
    "stream flow for each host { traffic N * p * q * 1 packet/s; at host { w; w if extra } }\n"
    "mode calm { p = 2 }\nmode busy { p = 4; extra = on; host = twice * 3 }\n"
    "scenario grown { p = 10; q = 2 }\nscenario taken { mode = calm; q = 5 }\n"
    "scenario both { scenario = grown; q = 4 }\n"
    "scenario beside { mode = busy; p = 5; host = rated * 1 }\n"
    "scenario around { scenario = taken; p = 4 }\n"
    "scenario inside { scenario = grown; mode = calm }\n"
)
MODES = BASE + "mode calm { p = 2 }\nmode busy { p = 5 }\nmode usual { p = 4 }\n"


def test_the_worst_mode_is_the_answer_and_is_named() -> None:
    solution = _solved(MODES)
    assert (solution.capacity, solution.graph.mode) == (20, "busy")
    assert [(m.mode, m.capacity, m.limited_by) for m in solution.modes] == [
        ("calm", 50, "host.cpu.utilization"),
        ("busy", 20, "host.cpu.utilization"),
        ("usual", 25, "host.cpu.utilization"),
    ]


def test_a_mode_that_nobody_can_use_is_the_worst() -> None:
    solution = _solved(MODES + "mode mad { p = 200 }")
    assert (solution.verdict, solution.graph.mode) == (CapacityVerdict.NOWHERE, "mad")
    assert {m.mode: m.capacity for m in solution.modes}["mad"] is None


def test_modes_that_the_range_limits_are_beaten_by_one_that_is_limited() -> None:
    solution = _solved(BASE + "mode a { p = 0.5 }\nmode b { p = 0.25 }\n")
    assert solution.verdict is CapacityVerdict.RANGE
    assert _solved(BASE + "mode a { p = 0.5 }\nmode b { p = 1.25 }\n").graph.mode == "b"


TIED = (
    BASE + "measure felt = 1 / p\n"
    "mode fine { p = 4; felt <= 1 }\nmode poor { p = 4; felt <= 0.5 }\nmode best { p = 2; felt <= 1 }"
)


@pytest.mark.parametrize("modes", ["p = 5 p = 2 p = 4", "p = 200 p = 2", "p = 1e-9 p = 2e-9"])
@pytest.mark.parametrize("until", [1, 20, 21, 22, 60])
def test_a_capacity_alone_is_that_of_the_answer_wherever_it_is_expected(
    modes: str, until: int
) -> None:
    changes = re.findall(r"p = [^ ]+", modes)
    text = BASE + "".join(f"mode m{n} {{ {one} }}\n" for n, one in enumerate(changes))
    spec = checked(text)
    graphs = [lower(spec.model, each) for each in in_each_mode(spec.model, spec.configuration())]
    assert len(graphs) == len(changes)
    assert certified_capacity(graphs, until) == _solved(text).capacity


def test_of_two_equals_the_one_of_poorer_quality_is_the_worst() -> None:
    solution = _solved(TIED)
    # both stop at 25: at a quarter of 1, and at a quarter of a half
    assert (solution.capacity, solution.graph.mode) == (25, "poor")
    assert solution.quality_at_limit == 0.5
    assert {m.mode: m.quality_at_limit for m in solution.modes} == {
        "fine": 0.25,
        "poor": 0.5,
        "best": 0.5,
    }


def test_a_mode_without_quality_is_not_poorer_than_one_with() -> None:
    text = BASE + "measure felt = 1 / p\nmode plain { p = 4 }\nmode felt_one { p = 4; felt <= 1 }\n"
    assert _solved(text).graph.mode == "felt_one"


@law
@given(st.lists(st.integers(1, 150), min_size=1, max_size=4))
def test_the_answer_is_the_least_of_the_modes(paces: list[int]) -> None:
    text = BASE + "".join(f"mode m{i} {{ p = {pace} }}\n" for i, pace in enumerate(paces))
    solution = _solved(text)
    assert (solution.capacity or 0) == 100 // max(paces)
    alone = [_solved(text, f"mode = m{i}") for i in range(len(paces))]
    values = [one.capacity for one in alone]
    if len(paces) > 1:
        assert [mode.capacity for mode in solution.modes] == values
    assert solution.graph.mode in {
        f"m{i}" for i, pace in enumerate(paces) if 100 // pace == 100 // max(paces)
    }


# -- one mode asked for ---------------------------------------------------------------


@pytest.mark.parametrize(("mode", "largest"), [("calm", 50), ("busy", 20), ("usual", 25)])
def test_one_mode_may_be_requested(mode: str, largest: int) -> None:
    solution = _solved(MODES, f"mode = {mode}")
    assert (solution.capacity, solution.graph.mode) == (largest, mode)
    assert solution.modes == ()


def test_claims_ask_for_modes() -> None:
    text = MODES + (
        "scenario relaxed { mode = calm }\n"
        "expect e { largest_acceptable == 50 with mode = calm\n"
        "largest_acceptable == 20\n"
        "(largest_acceptable with mode = usual) == 25\n"
        "largest_acceptable == 50 with scenario = relaxed\n"
        "host.cpu.load ~ 50 % within 0 % with mode = busy, N = 10\n"
        # without a mode, the model is as it stands
        "host.cpu.load ~ 10 % within 0 % with N = 10\n"
        'largest_acceptable == 51 with mode = calm; source "arithmetic" }'
    )
    assert _holds(text) == [True] * 6 + [False]


def test_a_scenario_takes_a_mode_and_more() -> None:
    text = BASE.replace("N * p", "N * p * q") + (
        "mode calm { p = 2 }\nmode busy { p = 5 }\nscenario s { mode = calm; q = 5 }\n"
        'expect e { largest_acceptable == 10 with scenario = s; source "arithmetic" }'
    )
    assert _holds(text) == [True]
    assert _solved(text, "scenario = s").capacity == 10
    assert _solved(text, "scenario = s", "q = 2").capacity == 25
    spec = checked(text)
    configuration = spec.configuration("s")
    assert (configuration.scenario, configuration.mode) == ("s", "calm")
    assert solve_model(spec.model, configuration).capacity == 10


def test_a_setting_next_to_a_mode_adds_up() -> None:
    text = BASE.replace("N * p", "N * p * q") + "mode calm { p = 2 }\nmode busy { p = 5 }\n"
    assert _solved(text, "mode = calm", "q = 5").capacity == 10
    # for all modes
    solution = _solved(text, "q = 2")
    assert (solution.capacity, solution.graph.mode) == (10, "busy")
    assert [mode.capacity for mode in solution.modes] == [25, 10]


# -- which mode is reported -----------------------------------------------------------

EXPLAINED = BASE + (
    "measure m = N * p\nmode calm { p = 2; m <= 90 }\nmode busy { p = 5; m <= 90 }\n"
)

OUTSIDE = "none (choose one with `--set mode=NAME`: calm, busy)"


# arguments, what is said of the mode, the load that is explained
@pytest.mark.parametrize(
    ("arguments", "said", "mode", "load"),
    [
        ([], "busy (other modes, with `--set mode=NAME`: calm)", "busy", 0.9),
        (["--at", "10"], OUTSIDE, None, 0.1),
        (["--at", "10", "--set", "mode=calm"], "calm (other modes, with `--set mode=NAME`: busy)", "calm", 0.2),
        (["--set", "mode=calm"], "calm (other modes, with `--set mode=NAME`: busy)", "calm", 0.9),
        (["--at", "10", "--set", "p=3"], OUTSIDE, None, 0.3),
    ],
)  # fmt: skip
def test_explain_says_which_mode(
    arguments: list[str],
    said: str,
    mode: str | None,
    load: float,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = tmp_path / "explained.qps"
    file.write_text(EXPLAINED)
    assert main(["explain", str(file), "host.cpu", *arguments]) == 0
    assert f" Mode {said} Name " in " ".join(capsys.readouterr().out.split())
    assert main(["explain", str(file), "host.cpu", *arguments, "--format", "json"]) == 0
    output = json.loads(capsys.readouterr().out)
    assert (output["mode"], output["modes"]) == (mode, ["calm", "busy"])
    assert output["value"] == pytest.approx(load)
    assert main(["explain", str(file), "host.cpu", *arguments, "--format", "markdown"]) == 0
    assert f"\n- **Mode:** {escaped(said)}\n" in capsys.readouterr().out


def test_explain_of_a_spec_without_modes_says_nothing_of_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "explained.qps"
    file.write_text(BASE)
    assert main(["explain", str(file), "host.cpu"]) == 0
    assert "mode " not in capsys.readouterr().out.replace("for this model", "").lower()


def test_what_only_a_mode_has_is_not_explained_outside(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "explained.qps"
    file.write_text(EXPLAINED)
    assert main(["explain", str(file), "quality", "--at", "9"]) == 2
    errors = capsys.readouterr().err
    assert "cannot explain `quality`: no such name outside a mode" in errors
    assert "ask for a mode: `--set mode=calm`" in errors
    assert main(["explain", str(file), "quality", "--at", "9", "--set", "mode=calm"]) == 0


def test_claims_without_a_mode_are_outside_of_any_but_for_two_answers() -> None:
    text = EXPLAINED + (
        "expect e { host.cpu.load ~ 9 % within 0 % with N = 9\n"
        "saturation(host.cpu) ~ 100 within 0.001\nm ~ 9 within 0 % with N = 9\n"
        "quality ~ 0.5 within 0 % with N = 9\nlargest_acceptable == 18\n"
        'quality ~ 0.2 within 0 % with N = 9, mode = calm; source "arithmetic" }'
    )
    assert _holds(text) == [True] * 6


def test_the_page_states_what_is_in_force_in_the_worst_mode() -> None:
    spec = checked(RANKED)
    configuration = spec.configuration()
    graph = solve_model(spec.model, configuration).graph
    answer = answer_of(spec)
    details = answer_details(spec.model, configuration, graph, answer)
    page = page_view(spec.model, configuration, answer, details, claims_section([]))
    rows = {row.name: row.value for row in page.settings}
    assert rows == {
        "N": "1 to 100",
        "mode": "busy",
        "extra": "on (alternatives: off)",
        "host": "twice",
    }
