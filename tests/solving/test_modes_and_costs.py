"""Modes, of which the worst one counts; prices, and what the answer costs."""

# ruff: noqa: E501 - tables: one case a line, however long

from __future__ import annotations

import json
from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import qps
from helpers.answers import answer_of
from helpers.nightly import examples
from helpers.specs import PRELUDE, at, checked, lowered
from qps.cli import main
from qps.compiler import ir
from qps.compiler.configure.configuration import in_force
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.diagnostics.source import Source
from qps.compiler.pipeline import check_source
from qps.reports.pages.claims_section import claims_section
from qps.reports.pages.report_page import page_view
from qps.reports.text.layout.table import escaped
from qps.reports.text.schemas.json_encoding import as_json
from qps.reports.text.solutions.answer_values import SolveView
from qps.reports.text.solutions.solve_view import solve_view
from qps.solver.answers.solution import CostSolution, Solution, Verdict
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


def _holds(text: str) -> list[bool | None]:
    return [result.holds for result in Claims(ClaimRunner(model=checked(text).model)).results()]


# -- the worst mode ------------------------------------------------------------------------

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
    assert (solution.verdict, solution.graph.mode) == (Verdict.NOWHERE, "mad")
    assert {m.mode: m.capacity for m in solution.modes}["mad"] is None


def test_modes_that_the_range_limits_are_beaten_by_one_that_is_limited() -> None:
    solution = _solved(BASE + "mode a { p = 0.5 }\nmode b { p = 0.25 }\n")
    assert solution.verdict is Verdict.RANGE
    assert _solved(BASE + "mode a { p = 0.5 }\nmode b { p = 1.25 }\n").graph.mode == "b"


TIED = (
    BASE + "measure felt = 1 / p\n"
    "mode fine { p = 4; felt <= 1 }\nmode poor { p = 4; felt <= 0.5 }\nmode best { p = 2; felt <= 1 }"
)


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
    told = [one.capacity for one in alone]
    if len(paces) > 1:
        assert [mode.capacity for mode in solution.modes] == told
    assert solution.graph.mode in {
        f"m{i}" for i, pace in enumerate(paces) if 100 // pace == 100 // max(paces)
    }


# -- one mode asked for --------------------------------------------------------------------


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
    settled = spec.configuration("s")
    assert (settled.scenario, settled.mode) == ("s", "calm")
    assert solve_model(spec.model, settled).capacity == 10


def test_a_setting_next_to_a_mode_adds_up() -> None:
    text = BASE.replace("N * p", "N * p * q") + "mode calm { p = 2 }\nmode busy { p = 5 }\n"
    assert _solved(text, "mode = calm", "q = 5").capacity == 10
    # for all modes
    solution = _solved(text, "q = 2")
    assert (solution.capacity, solution.graph.mode) == (10, "busy")
    assert [mode.capacity for mode in solution.modes] == [25, 10]


# -- what wins: spec < scenario < mode < explicit change ------------------------------------

# p packets a second for each user at 10 ms, twice with extra: saturated at 100 / p
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
# scenario, settings, the answer of each mode (100 users are the most); a flow for each host
PRECEDENCE = [
    ("modes_alone", None, [], {"calm": 50, "busy": 25}),
    ("over_all_modes", None, ["p = 5"], {"calm": 20, "busy": 20}),
    ("over_the_one_asked_for", None, ["mode = busy", "p = 5"], {"busy": 20}),
    ("whatever_comes_first", None, ["p = 5", "mode = busy"], {"busy": 20}),
    ("as_the_spec_has_it", None, ["p = 1", "mode = calm"], {"calm": 100}),
    ("an_option", None, ["extra = off"], {"calm": 50, "busy": 50}),
    ("a_machine", None, ["host = rated * 1"], {"calm": 50, "busy": 12}),
    ("a_mode_over_a_scenario", "grown", [], {"calm": 25, "busy": 12}),
    ("over_scenario_and_mode", "grown", ["p = 5"], {"calm": 10, "busy": 10}),
    ("over_a_scenario", "grown", ["q = 1"], {"calm": 50, "busy": 25}),
    ("before_a_scenario", None, ["q = 1", "scenario = grown"], {"calm": 50, "busy": 25}),
    ("a_scenario_with_a_mode", "taken", [], {"calm": 10}),
    ("over_the_mode_of_a_scenario", "taken", ["p = 4"], {"calm": 5}),
    ("another_mode", "taken", ["mode = busy"], {"busy": 5}),
    ("a_scenario_over_that_inside_it", "both", ["p = 1"], {"calm": 25, "busy": 25}),
    ("beside_the_mode_that_it_takes", "beside", [], {"busy": 10}),
    ("beside_what_is_beside_it", "beside", ["p = 2"], {"busy": 25}),
    ("beside_another_mode", "beside", ["mode = calm"], {"calm": 50}),
    ("around_the_mode_that_is_taken", "around", [], {"calm": 5}),
    ("a_mode_over_a_scenario_inside", "inside", [], {"calm": 25}),
    ("the_range", None, ["N = 1..7", "p = 5"], {"calm": 7, "busy": 7}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("scenario", "settings", "told"), [pytest.param(*case[1:], id=case[0]) for case in PRECEDENCE]
)
def test_an_explicit_change_wins_over_a_mode_and_that_over_a_scenario(
    scenario: str | None, settings: list[str], told: dict[str, int]
) -> None:
    spec = checked(RANKED)
    solution = solve_model(spec.model, spec.configuration(scenario, settings))
    found = {m.mode: m.capacity for m in solution.modes}
    assert (found or {solution.graph.mode: solution.capacity}) == told


def test_a_machine_set_without_a_count_has_that_of_the_mode() -> None:
    spec = checked(RANKED)
    settled = in_force(spec.configuration(None, ["mode = busy", "host = rated"]))
    assert (settled.nodes["host"].machine, settled.nodes["host"].count) == (
        "rated",
        ir.Constant(Fraction(3)),
    )


def test_claims_settle_precedence_in_the_same_way() -> None:
    claims = {
        "largest_acceptable == 20 with p = 5": True,
        "largest_acceptable == 25": True,
        "largest_acceptable == 20 with mode = calm, p = 5": True,
        "largest_acceptable == 20 with p = 5, mode = calm": True,
        # outer changes, too
        "(largest_acceptable with mode = calm) == 20 with p = 5": True,
        "(largest_acceptable with scenario = grown) == 50 with p = 1": True,
        "(largest_acceptable with p = 4) == 25 with p = 5, mode = calm": True,
        "largest_acceptable == 50 with scenario = grown, q = 1, mode = calm": True,
        "largest_acceptable == 50 with q = 1, scenario = grown, mode = calm": True,
        # the option that the spec itself has is asked for all the same
        "largest_acceptable == 50 with extra = off": True,
        "host.cpu.load ~ 50 % within 0 % with p = 5, N = 10": True,
        "host.cpu.load ~ 50 % within 0 % with p = 5, N = 10, mode = calm": True,
        "largest_acceptable == 50 with p = 5": False,
    }
    text = RANKED + "expect e { " + "\n".join(claims) + '; source "arithmetic" }'
    assert _holds(text) == list(claims.values())


def test_quality_of_the_worst_mode_is_computed_with_what_is_set() -> None:
    text = RANKED + (
        "measure m = N * p\nrequire { m <= 400 }\n"
        "expect e { quality ~ 0.1 within 0 % with N = 10\n"
        "quality ~ 0.2 within 0 % with N = 10, p = 8\n"
        'quality ~ 0.2 within 0 % with N = 10, p = 8, mode = calm; source "arithmetic" }'
    )
    assert _holds(text) == [True] * 3


def test_an_explicit_population_overrides_that_of_a_scenario() -> None:
    text = BASE + (
        "scenario ten { N = 10 }\nscenario few { N = 1..5 }\n"
        "expect e { host.cpu.load ~ 10 % within 0 % with scenario = ten\n"
        "host.cpu.load ~ 20 % within 0 % with N = 20, scenario = ten\n"
        "host.cpu.load ~ 20 % within 0 % with scenario = ten, N = 20\n"
        "largest_acceptable == 5 with scenario = few\n"
        'largest_acceptable == 7 with N = 1..7, scenario = few; source "arithmetic" }'
    )
    assert _holds(text) == [True] * 5


def test_every_mode_is_checked_with_what_is_set() -> None:
    text = BASE.replace("{ work }", "{ work; thin }") + (
        "param held = 80 %\nparam cut = 0 %\ncomponent thin { keep held - cut }\n"
        "mode plain { p = 2 }\nmode sparing { cut = 50 % }\n"
    )
    with pytest.raises(QpsError) as raised:
        checked(text).configuration(None, ["held = 40 %"])
    assert [(d.code.id, d.message) for d in raised.value.diagnostics] == [
        ("QPS0309", "`keep` must be between 0 and 100 %")
    ]
    assert checked(text).configuration(None, ["held = 40 %", "mode = plain"]).mode == "plain"


TWO_CHANGES = BASE.replace("N * p", "N * p * q") + "mode a { p = 4 }\nmode b { q = 2 }\n"


def test_another_mode_takes_the_place_of_that_of_a_scenario() -> None:
    text = TWO_CHANGES + "scenario s { mode = a }\n"
    spec = checked(text)
    settled = spec.configuration("s", ["mode = b"])
    assert settled.mode == "b"
    assert solve_model(spec.model, settled).capacity == 50


def test_a_mode_inside_a_claim_takes_the_place_of_that_outside() -> None:
    text = TWO_CHANGES + (
        'expect e { (largest_acceptable with mode = b) == 50 with mode = a; source "arithmetic" }'
    )
    assert _holds(text) == [True]


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (["mode = lost"], "unknown mode `lost`"),
        (["scenario = lost"], "unknown scenario `lost`"),
        (["mode = calm", "mode = busy"], "the mode is set twice"),
        (["mode = 3"], "unknown mode `3`"),
    ],
)
def test_modes_that_are_not_there_are_refused(settings: list[str], said: str) -> None:
    with pytest.raises(QpsError) as raised:
        checked(MODES).configuration(None, settings)
    assert [d.message for d in raised.value.diagnostics] == [said]


def test_a_mode_takes_no_scenario() -> None:
    text = BASE + "scenario s { p = 2 }\nmode a { scenario = s }\n"
    (told,) = check_source(Source("s", text)).diagnostics
    assert told.message == "a mode cannot change the scenario"


def test_a_scenario_is_not_suggested_to_use_itself() -> None:
    text = BASE + "scenario s { scenario = t }\nscenario t { p = 2 }\n"
    (told,) = check_source(Source("s", text)).diagnostics
    assert told.message == "`t` is used before its declaration"
    assert not [hint for hint in told.hints if "`s`" in hint]


def test_a_missing_price_is_shown_where_it_is_needed() -> None:
    with pytest.raises(QpsError) as raised:
        lowered(BASE + "require { cost <= 5 $ }")
    assert raised.value.diagnostics[0].primary is not None


# -- what a mode holds ---------------------------------------------------------------------


def test_requirements_of_all_and_of_the_mode_hold() -> None:
    text = BASE + (
        "measure a = N\nmeasure b = N\nquality worst\nrequire { a <= 40 }\n"
        "mode loose { b <= 60 }\nmode tight { b <= 30 }\n"
    )
    told = {m.mode: (m.capacity, m.limited_by) for m in _solved(text).modes}
    assert told == {"loose": (40, "a"), "tight": (30, "b")}
    # without a mode, only those of all: no claim of one mode leaks into the others
    assert [c.name for c in lowered(text).criteria] == ["a", "host.cpu.utilization"]
    assert [c.name for c in lowered(text, "mode = tight").criteria] == [
        "a",
        "b",
        "host.cpu.utilization",
    ]


# requirements of all, of the mode, then the criteria in that mode and its answer (m = N)
REPLACED = [
    ("tighter", "m <= 40", "m <= 20", ["m <= 20"], 20),
    ("looser", "m <= 20", "m <= 40", ["m <= 40"], 40),
    ("strict", "m <= 20", "m < 20", ["m <= 20"], 19),
    ("same", "m <= 20", "m <= 20", ["m <= 20"], 20),
    ("of_several", "m <= 20; k <= 60", "m <= 40", ["k <= 60", "m <= 40"], 40),
    ("spaced_otherwise", "2 * m <= 80", "2*m <= 60", ["2*m <= 60"], 30),
    # two names stand for two things, also where their formulas are one
    ("called_otherwise", "m <= 40", "k <= 60", ["m <= 40", "k <= 60"], 40),
    ("both_directions", "m >= 1", "m <= 40", ["m >= 1", "m <= 40"], 40),
    ("another_measure", "2 * m <= 50", "m <= 40", ["2 * m <= 50", "m <= 40"], 25),
    (
        "a_load",
        "host.cpu.load <= 20 %",
        "host.cpu.load <= 50 %",
        ["host.cpu.utilization <= 0.5"],
        50,
    ),
    # all that is said of it is replaced: its ideal, too
    ("ideal", "m <= 40 ideal 20", "m <= 50", ["m <= 50"], 50),
]


@pytest.mark.parametrize(
    ("of_all", "of_mode", "criteria", "largest"),
    [pytest.param(*case[1:], id=case[0]) for case in REPLACED],
)
def test_a_requirement_of_a_mode_replaces_that_of_all_on_the_same_measure(
    of_all: str, of_mode: str, criteria: list[str], largest: int
) -> None:
    text = BASE + (
        "measure m = N\nmeasure k = N\nquality worst\n"
        f"require {{ {of_all} }}\nmode a {{ {of_mode} }}\nmode b {{ p = 1 }}\n"
    )
    graph = lowered(text, "mode = a")
    told = [
        f"{c.name} {'<=' if c.at_most else '>='} {float(at(graph, c.limit, 1)):g}"
        for c in graph.criteria
        if c.span is not None
    ]
    assert told == criteria
    assert _solved(text, "mode = a").capacity == largest
    # the other mode keeps what is asked of all
    assert len([c for c in lowered(text, "mode = b").criteria if c.span]) == of_all.count("=")


def test_a_measure_with_two_limits_counts_once() -> None:
    text = BASE + (
        "measure m = N\nmeasure k = N\nrequire { m <= 100; k <= 100 }\nquality euclidean\nmode a { m <= 50 }"
    )
    graph = lowered(text, "mode = a")
    assert graph.quality is not None
    # 20/50 and 20/100; with m twice it would be sqrt(0.24)
    assert at(graph, graph.quality**2, 20) == Fraction(1, 5)
    assert [name for name in graph.assumptions if "'" in name] == []
    rows = [item.measure for item in _view(text).requirements]
    assert rows == ["k", "m"]


def test_a_mode_may_bound_a_load() -> None:
    text = (
        BASE + "mode half { host.cpu.load <= 50 % }\nmode most { host.cpu.load <= 80 %; p = 2 }\n"
    )
    told = {m.mode: m.capacity for m in _solved(text).modes}
    assert told == {"half": 50, "most": 40}


def test_a_mode_changes_options_places_and_parameters() -> None:
    text = PRELUDE + (
        "param p = 1\noption extra = off\ncosts measured on rated\n"
        "component w { cpu 10 ms/packet }\ntopology { node host = rated }\n"
        "stream flow for each host { traffic N * p * 1 packet/s; at host { w; w if extra } }\n"
        "mode plain { p = 2 }\nmode doubled { p = 2; extra = on }\n"
        "mode moved { p = 4; extra = on; host = twice }\nmode many { p = 8; host = rated * 2 }\n"
    )
    told = {m.mode: m.capacity for m in _solved(text).modes}
    # each machine has a flow of its own: more of them carry no more users
    assert told == {"plain": 50, "doubled": 25, "moved": 25, "many": 12}


def test_a_limit_that_is_stricter_in_a_mode_is_the_one_reported() -> None:
    text = BASE + "measure m = N\nquality worst\nmode a { m <= 10 }\nmode b { m <= 20 }\n"
    assert _view(text).answer == "10 users. At 11 in mode a, m is 11, above the limit of 10."


@pytest.mark.parametrize(
    "requirements", ["require { m <= 30 }\nmode a { m <= 10 }\n", "require { m <= 30; m <= 10 }\n"]
)
def test_of_two_limits_the_one_that_fails_is_reported(requirements: str) -> None:
    text = BASE + f"measure m = N\nquality worst\n{requirements}"
    assert _view(text).capacity == 10
    assert _view(text).answer.endswith("m is 11, above the limit of 10.")


def test_quality_is_that_of_the_modes_that_have_one() -> None:
    text = BASE + (
        "measure m = N\nmode a { m <= 10 }\nmode b { host.cpu.load <= 50 % }\n"
        'expect e { quality ~ 0.5 within 0 % with N = 5; source "arithmetic" }'
    )
    assert _solved(text).quality_at_limit == 1
    assert _holds(text) == [True]


def test_quality_is_that_of_the_poorest_mode() -> None:
    text = BASE + (
        "measure m = N\nmode a { m <= 40 }\nmode b { m <= 50 }\n"
        "expect e { quality ~ 0.5 within 0 % with N = 20\n"
        'quality ~ 0.4 within 0 % with N = 20, mode = b; source "arithmetic" }'
    )
    assert _holds(text) == [True, True]


def test_a_floor_of_a_load_is_no_ceiling() -> None:
    solution = _solved(BASE.replace("1..100", "1..300") + "require { host.cpu.load >= 1 % }")
    assert solution.capacity == 100


# -- which mode is told --------------------------------------------------------------------

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
    told = json.loads(capsys.readouterr().out)
    assert (told["mode"], told["modes"]) == (mode, ["calm", "busy"])
    assert told["value"] == pytest.approx(load)
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
    told = capsys.readouterr().err
    assert "cannot explain `quality`: no such name outside a mode" in told
    assert "ask for a mode: `--set mode=calm`" in told
    assert main(["explain", str(file), "quality", "--at", "9", "--set", "mode=calm"]) == 0


def test_claims_without_a_mode_are_outside_of_any_but_for_two_answers() -> None:
    text = EXPLAINED + (
        "expect e { host.cpu.load ~ 9 % within 0 % with N = 9\n"
        "saturation(host.cpu) ~ 100 within 0.001\nm ~ 9 within 0 % with N = 9\n"
        "quality ~ 0.5 within 0 % with N = 9\nlargest_acceptable == 18\n"
        'quality ~ 0.2 within 0 % with N = 9, mode = calm; source "arithmetic" }'
    )
    assert _holds(text) == [True] * 6


def test_the_page_tells_what_is_in_force_in_the_worst_mode() -> None:
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


# -- prices --------------------------------------------------------------------------------

PRICED = (
    PRELUDE
    + """
machine server { cpu 1 core; price 300 $ }
machine desk { cpu 1 core; price 100 $ }
machine rented { cpu 1 core; price 3.6 $/hour }
network cable { rate 1 Gbit/s; price 50 $ }
network leased { rate 1 Gbit/s; price 7.2 $/hour }
"""
)
USE = "stream flow for each user { traffic 1 packet/s, 1 byte/packet; at web { work } }\n"


def _place(web: str = "server", user: str = "desk", link: str = "cable") -> str:
    return PRICED + (
        f"topology {{ node web = {web}\n node user = {user} * N\n link lan = {link} between web, user }}\n"
        + USE
    )


# name, machines and network, population, cost in $, running cost in $/s, places without a price
COSTS = [
    ("bought", ("server", "desk", "cable"), 10, "1350", None, ()),
    ("by_the_population", ("server", "desk", "cable"), 20, "2350", None, ()),
    ("by_counts", ("server * 4", "desk", "cable * 3"), 10, "2350", None, ()),
    ("by_counts_of_the_population", ("server * ceil(N / 8)", "desk", "cable"), 10, "1650", None, ()),
    ("running", ("rented", "rented", "leased"), 9, None, "0.012", ()),
    ("both", ("server", "rented", "leased"), 9, "300", "0.011", ()),
    ("some", ("server", "box", "wire"), 10, "300", None, ("user", "lan")),
    ("none", ("box", "box", "wire"), 10, None, None, ("web", "user", "lan")),
]  # fmt: skip


@pytest.mark.parametrize(
    ("places", "population", "bought", "running", "unpriced"),
    [pytest.param(*case[1:], id=case[0]) for case in COSTS],
)
def test_costs(
    places: tuple[str, str, str],
    population: int,
    bought: str | None,
    running: str | None,
    unpriced: tuple[str, ...],
) -> None:
    text = _place(*places)
    graph = lowered(text)
    for is_running, expected in ((False, bought), (True, running)):
        told = graph.cost(is_running=is_running)
        assert (told is None) == (expected is None)
        if told is not None and expected is not None:
            assert at(graph, told, population) == Fraction(expected)
    assert graph.stated.unpriced == unpriced
    # the answer is told at the whole range's end: ask for this population only
    told_costs = {
        c.is_running: c for c in _solved(text, f"N = 1..{population}").costs
    }  # fmt: skip
    assert set(told_costs) == {
        kind for kind, cost in ((False, bought), (True, running)) if cost is not None
    }
    for is_running, expected in ((False, bought), (True, running)):
        if expected is not None:
            _is_cost(told_costs[is_running], Fraction(expected), population, unpriced)


def _is_cost(
    told: CostSolution, expected: Fraction, population: int, unpriced: Iterable[str]
) -> None:
    assert told.total == pytest.approx(float(expected))
    assert told.per_user == pytest.approx(float(expected / population))
    assert sum(told.places.values()) == pytest.approx(told.total)
    assert told.unpriced == tuple(unpriced)


def test_each_place_is_reported() -> None:
    (told,) = _solved(_place("server * 2", "desk", "cable * 3"), "N = 1..10").costs
    assert told.places == {"web": 600, "user": 1000, "lan": 150}


def test_cost_follows_what_is_set() -> None:
    text = _place()
    assert _cost(text, "web = desk * 2") == Fraction(1250)
    assert _cost(text, "user = server * N") == Fraction(3350)
    assert _cost(text, "lan = cable * 5") == Fraction(1550)


def _cost(text: str, *changes: str) -> Fraction:
    graph = lowered(text, *changes)
    told = graph.cost(is_running=False)
    assert told is not None
    return at(graph, told, 10)


@pytest.mark.parametrize(
    ("requirement", "largest"),
    [
        # 350 + 100 N
        ("cost <= 2350 $", 20),
        ("cost <= 2349 $", 19),
        ("cost < 2350 $", 19),
        ("cost <= 400 $", None),
        # 350 / N + 100 falls with N
        ("cost / N <= 450 $", 100),
        ("cost / N <= 449 $", None),
        ("whole <= 1350 $", 10),
    ],
)
def test_costs_are_limited(requirement: str, largest: int | None) -> None:
    text = _place() + f"measure whole = cost\nquality worst\nrequire {{ {requirement} }}"
    assert _solved(text).capacity == largest


def test_a_cost_for_each_user_holds_from_where_enough_share_it() -> None:
    text = _place(user="box") + "quality worst\nrequire { cost / N <= 5 $ }"
    # 350 $ are 5 $ each for 70 and more; the answer counts from the start
    assert _solved(text).capacity is None
    assert _solved(text, "N = 70..90").capacity == 90
    assert _solved(text, "N = 69..90").capacity is None


def test_running_costs_are_limited_in_any_time() -> None:
    text = (
        _place("rented", "rented", "leased")
        + "quality worst\nrequire { running_cost <= 64.8 $/hour }"
    )
    # 3.6 for each user, and 3.6 + 7.2
    assert _solved(text).capacity == 15
    assert _solved(text.replace("64.8 $/hour", "0.018 $/s")).capacity == 15


def test_costs_are_claimed() -> None:
    text = _place("server", "rented", "cable") + (
        "expect e { cost ~ 350 $ within 0 %\nrunning_cost ~ 36 $/hour within 0 % with N = 10\n"
        "cost / N ~ 35 $ within 0 % with N = 10\n"
        'cost ~ 650 $ within 0 % with web = server * 2; source "arithmetic" }'
    )
    assert _holds(text) == [True] * 4


@pytest.mark.parametrize(
    ("requirement", "said"),
    [("cost <= 5 $", "cost is unknown"), ("running_cost <= 5 $/hour", "running cost is unknown")],
)
def test_what_nothing_costs_cannot_be_limited(requirement: str, said: str) -> None:
    other = _place("rented", "box", "wire") if "running" not in requirement else _place()
    with pytest.raises(QpsError) as raised:
        lowered(other + f"require {{ {requirement} }}")
    (told,) = raised.value.diagnostics
    assert told.code.id == "QPS0602"
    assert told.message.startswith(said)
    assert told.hints


@law
@given(st.integers(1, 9), st.integers(0, 400), st.integers(0, 400), st.integers(1, 60))
def test_costs_are_prices_times_counts(servers: int, price: int, each: int, users: int) -> None:
    text = (
        _place(f"server * {servers}")
        .replace(
            "machine server { cpu 1 core; price 300 $",
            f"machine server {{ cpu 1 core; price {price} $",
        )
        .replace(
            "machine desk { cpu 1 core; price 100 $", f"machine desk {{ cpu 1 core; price {each} $"
        )
    )
    graph = lowered(text)
    told = graph.cost(is_running=False)
    assert told is not None
    assert at(graph, told, users) == servers * price + each * users + 50


def test_modes_may_cost_differently() -> None:
    text = (
        _place()
        + "mode plain { flow.loss <= 50 % }\nmode rich { web = server * 10; cost <= 4000 $ }\n"
    )
    solution = _solved(text)
    # 3000 + 50 + 100 N
    assert (solution.graph.mode, solution.capacity) == ("rich", 9)
    assert solution.costs[0].total == 3950


# -- as plain values -----------------------------------------------------------------------


def _view(text: str, *changes: str) -> SolveView:
    return solve_view(answer_of(checked(text), *changes))


def test_the_keys_of_the_contract() -> None:
    text = _place("server", "rented", "wire") + (
        "param x elastic 1..9 packet/s\nstream more { traffic x * N, 1 byte/packet; at web { work } }\n"
        "mode one { flow.loss <= 1 % }\nmode two { flow.loss <= 2 % }\n"
    )
    told = json.loads(json.dumps(as_json(_view(text))))
    assert set(told) == {
        "schema", "file", "model", "scenario", "mode", "case", "settings", "answer", "population",
        "resources", "bottleneck", "requirements", "quality", "capacity", "limited_by",
        "capacity_interval", "uncertainty", "treated_as_exact",
        "at", "sensitivity", "sensitivity_of", "elastic", "cost", "modes", "advice", "warnings",
        "next_limit", "more_users", "targets", "best_changes", "traffic", "measures",
        "known", "closed", "mixes", "reliable_capacity",
    }  # fmt: skip
    # 1 + 1 packet/s for each user are the least
    assert (told["mode"], told["capacity"], told["at"]) == ("one", 50, 50)
    assert [m["mode"] for m in told["modes"]] == ["one", "two"]
    assert set(told["modes"][0]) == {
        "mode", "capacity", "limited_by", "quality_at_limit", "known", "quality_known",
    }  # fmt: skip
    bought, running = told["cost"]
    assert bought == {
        "unit": "$",
        "total": 300,
        "per_user": 6,
        "places": {"web": 300},
        "unpriced": ["lan"],
        "known": {"kind": "exact", "reasons": []},
    }
    assert (running["unit"], running["total"]) == ("$/s", pytest.approx(0.05))
    (elastic,) = told["elastic"]
    assert (elastic["parameter"], elastic["least"], elastic["most"]) == ("x", 1, 9)
    assert (elastic["unit"], elastic["value_at_limit"]) == ("packet/s", 1)
    # 10 N packets at 10 ms, then 2 N
    assert elastic["yields"] == {"at": 10, "resource": "web.cpu", "closed_form": True}
    assert elastic["exhausted"] == {"at": 50, "resource": "web.cpu", "closed_form": True}
    assert told["advice"] == []


def test_without_modes_prices_and_elastic_parameters_there_is_nothing_to_tell() -> None:
    told = json.loads(json.dumps(as_json(_view(BASE))))
    assert (told["mode"], told["modes"], told["elastic"], told["cost"]) == (None, [], [], [])


def test_the_api_says_the_same() -> None:
    model = qps.loads(MODES)
    answer = model.solve()
    assert (answer.mode, answer.capacity) == ("busy", 20)
    assert model.solve(set={"mode": "calm"}).capacity == 50
    assert [mode.mode for mode in answer.modes] == ["calm", "busy", "usual"]
