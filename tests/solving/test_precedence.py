"""What wins: spec, scenario, mode, explicit change; and what a mode holds."""

# ruff: noqa: E501 - tables: one case a line, however long

from __future__ import annotations

from fractions import Fraction

import pytest

from helpers.specs import PRELUDE, at, checked, lowered
from qps.compiler import ir
from qps.compiler.configure.configuration import in_force
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.diagnostics.source import Source
from qps.compiler.pipeline import check_source
from qps.solver.answers.worst_mode import solve_model
from solving.test_modes import BASE, MODES, RANKED, _holds, _solved, _view

# -- what wins: spec < scenario < mode < explicit change ------------------------------

# p packets a second for each user at 10 ms, twice with extra: saturated at 100 / p

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
    ("scenario", "settings", "expected"),
    [pytest.param(*case[1:], id=case[0]) for case in PRECEDENCE],
)
def test_an_explicit_change_wins_over_a_mode_and_that_over_a_scenario(
    scenario: str | None, settings: list[str], expected: dict[str, int]
) -> None:
    spec = checked(RANKED)
    solution = solve_model(spec.model, spec.configuration(scenario, settings))
    found = {m.mode: m.capacity for m in solution.modes}
    assert (found or {solution.graph.mode: solution.capacity}) == expected


def test_a_machine_set_without_a_count_has_that_of_the_mode() -> None:
    spec = checked(RANKED)
    configuration = in_force(spec.configuration(None, ["mode = busy", "host = rated"]))
    assert (configuration.nodes["host"].machine, configuration.nodes["host"].count) == (
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
    configuration = spec.configuration("s", ["mode = b"])
    assert configuration.mode == "b"
    assert solve_model(spec.model, configuration).capacity == 50


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
    (diagnostic,) = check_source(Source("s", text)).diagnostics
    assert diagnostic.message == "a mode cannot change the scenario"


def test_a_scenario_is_not_suggested_to_use_itself() -> None:
    text = BASE + "scenario s { scenario = t }\nscenario t { p = 2 }\n"
    (diagnostic,) = check_source(Source("s", text)).diagnostics
    assert diagnostic.message == "`t` is used before its declaration"
    assert not [hint for hint in diagnostic.hints if "`s`" in hint]


def test_a_missing_price_is_shown_where_it_is_needed() -> None:
    with pytest.raises(QpsError) as raised:
        lowered(BASE + "require { cost <= 5 $ }")
    assert raised.value.diagnostics[0].primary is not None


# -- what a mode holds ----------------------------------------------------------------


def test_requirements_of_all_and_of_the_mode_hold() -> None:
    text = BASE + (
        "measure a = N\nmeasure b = N\nquality worst\nrequire { a <= 40 }\n"
        "mode loose { b <= 60 }\nmode tight { b <= 30 }\n"
    )
    by_name = {m.mode: (m.capacity, m.limited_by) for m in _solved(text).modes}
    assert by_name == {"loose": (40, "a"), "tight": (30, "b")}
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
    values = [
        f"{c.name} {'<=' if c.at_most else '>='} {float(at(graph, c.limit, 1)):g}"
        for c in graph.criteria
        if c.span is not None
    ]
    assert values == criteria
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
    by_name = {m.mode: m.capacity for m in _solved(text).modes}
    assert by_name == {"half": 50, "most": 40}


def test_a_mode_changes_options_places_and_parameters() -> None:
    text = PRELUDE + (
        "param p = 1\noption extra = off\ncosts measured on rated\n"
        "component w { cpu 10 ms/packet }\ntopology { node host = rated }\n"
        "stream flow for each host { traffic N * p * 1 packet/s; at host { w; w if extra } }\n"
        "mode plain { p = 2 }\nmode doubled { p = 2; extra = on }\n"
        "mode moved { p = 4; extra = on; host = twice }\nmode many { p = 8; host = rated * 2 }\n"
    )
    by_name = {m.mode: m.capacity for m in _solved(text).modes}
    # each machine has a flow of its own: more of them carry no more users
    assert by_name == {"plain": 50, "doubled": 25, "moved": 25, "many": 12}


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
