"""Planning targets: a resource counts as saturated at its target; what is lost is lost beyond 1."""

# ruff: noqa: E501 - tables and specs: one case a line, however long

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.answers import answer_of
from helpers.breakdowns import explain
from helpers.nightly import examples
from helpers.specs import PRELUDE, at, checked, lowered
from helpers.strategies import Drawn, drawn_specs
from oracles.plain_requirements import largest_acceptable as plainly_acceptable
from qps.cli import main
from qps.compiler.diagnostics.source import Source
from qps.compiler.lower.lowering import lower
from qps.compiler.syntax.parse import parse
from qps.reports.text.explanations.explanation_text import explanation_text
from qps.reports.text.solutions.answer_text import solve_text
from qps.reports.text.solutions.limit_reasons import answer_sentence
from qps.solver.answers.answer_parts import ChangeKind
from qps.solver.answers.graph_criteria import largest_acceptable
from qps.solver.answers.graph_solution import solve
from qps.solver.answers.solution import Solution
from qps.solver.answers.worst_mode import solve_model
from qps.solver.what_if.advice import advise
from qps.solver.what_if.inverse import solve_for

few = settings(max_examples=examples(30), deadline=None)

# Of 100 users each loads the server with 1 %, a port of the link with 0.5 %.
SPEC = PRELUDE.replace("1..100", "1..1000") + (
    "topology { node web = box\n node user = box * N\n link net = ports between web, user }\n"
    "stream flow for each user { traffic 1 packet/s, 625 byte/packet; at web { work }\n at user { } }\n"
)


def _solved(text: str, *changes: str) -> Solution:
    return solve(lowered(text, *changes))


def _saturates(solution: Solution, name: str) -> float | None:
    return next(r.saturation.at for r in solution.resources if r.name == name)


TARGETS = [
    ("", 100, 1, 1),
    ("target cpu 75 %", 75, "0.75", 1),
    ("target link 30 %", 60, 1, "0.3"),
    ("target cpu 75 %, link 80 %", 75, "0.75", "0.8"),
    ("target web.cpu 60 %", 60, "0.6", 1),
    ("target web 60 %", 60, "0.6", 1),
    # the closest one holds, in whatever order
    ("target cpu 75 %, web.cpu 90 %", 90, "0.9", 1),
    ("target web.cpu 90 %\ntarget cpu 75 %", 90, "0.9", 1),
    ("target web 50 %, web.cpu 90 %", 90, "0.9", 1),
    ("target net 40 %, link 10 %", 80, 1, "0.4"),
    ("target net.web.out 40 %, net 10 %", 80, 1, "0.4"),
    ("param aim = 75 %\ntarget cpu aim", 75, "0.75", 1),
    ("option careful = on\ntarget cpu if careful then 50 % else 100 %", 50, "0.5", 1),
    # another resource's target means nothing here
    ("machine other { gpu 1 core }\ntarget gpu 10 %", 100, 1, 1),
    # a requirement on the load of the very resource wins, to either side
    ("target cpu 75 %\nrequire { web.cpu.load <= 90 % }", 90, "0.9", 1),
    ("target cpu 75 %\nrequire { web.cpu.load <= 40 % }", 40, "0.4", 1),
    ("target link 30 %\nrequire { net.load <= 45 % }", 90, 1, "0.45"),
    # without a target, saturation is at 1 as ever, and the requirement is what limits
    ("require { web.cpu.load <= 40 % }", 40, 1, 1),
]  # fmt: skip


@pytest.mark.parametrize(
    ("target", "largest", "cpu", "link"),
    [pytest.param(*row, id=row[0] or "none") for row in TARGETS],
)
def test_the_answer_is_where_a_target_is_reached(
    target: str, largest: int, cpu: object, link: object
) -> None:
    solution = _solved(f"{target}\n{SPEC}" if "require" not in target else f"{SPEC}\n{target}\n")
    assert solution.capacity == largest
    aims = {r.name: r.target for r in solution.resources}
    assert aims["web.cpu"] == pytest.approx(float(str(cpu)))
    assert aims["net.web.out"] == pytest.approx(float(str(link)))
    assert _saturates(solution, "web.cpu") == pytest.approx(100 * float(str(cpu)))
    assert _saturates(solution, "net.web.out") == pytest.approx(200 * float(str(link)))
    text = f"{target}\n{SPEC}" if "require" not in target else f"{SPEC}\n{target}\n"
    spec = checked(text)
    assert plainly_acceptable(spec.model, spec.configuration()) == largest


def test_the_bottleneck_is_what_reaches_its_target_first() -> None:
    found = _solved(f"target link 20 %\n{SPEC}").bottleneck
    assert found is not None
    assert (found.resource, found.saturates_at) == ("net.web.out", 40)


def test_what_is_lost_is_lost_beyond_saturation_only() -> None:
    graph = lowered(f"target cpu 50 %\n{SPEC}")
    loss = graph.streams["flow"].loss
    assert at(graph, loss, 100) == 0
    assert at(graph, loss, 125) == 1 - 1 / Fraction(125, 100)


def test_elastic_rates_take_what_is_left_up_to_the_target() -> None:
    text = (
        SPEC.replace("traffic 1 packet/s", "traffic pace") + "param pace elastic 1..10 packet/s\n"
    )
    for target, limit in (("", 1), ("target cpu 50 %\n", Fraction(1, 2))):
        graph = lowered(target + text)
        assert at(graph, graph.elastic[0].value, 20) == limit * 100 / 20
        assert at(graph, graph.resources["web.cpu"].load, 20) == limit
    solution = _solved("target cpu 50 %\n" + text)
    assert solution.capacity == 50
    (pace,) = solution.elastic
    assert pace.yields is not None
    assert pace.exhausted is not None
    assert (pace.yields.at, pace.exhausted.at) == (5, 50)


def test_a_requirement_wins_over_the_target_for_elastic_rates() -> None:
    text = (
        SPEC.replace("traffic 1 packet/s", "traffic pace") + "param pace elastic 1..10 packet/s\n"
    )
    graph = lowered(f"target cpu 50 %\n{text}require {{ web.cpu.load <= 80 % }}\n")
    assert at(graph, graph.elastic[0].value, 20) == 4


def test_a_wider_target_is_no_change_of_the_system() -> None:
    text = f"param aim = 50 % in 10..100 %\ntarget cpu aim\n{SPEC}"
    elastic = (
        SPEC.replace("traffic 1 packet/s", "traffic pace") + "param pace elastic 1..10 packet/s\n"
    )
    for whole in (text, f"param aim = 50 % in 10..100 %\ntarget cpu aim\n{elastic}"):
        spec = checked(whole)
        found = advise(spec.model, spec.configuration(), solve(lowered(whole)))
        assert any("aim" not in one.change for one in found)
        assert all(one.kind is ChangeKind.GOAL for one in found if "aim" in one.change)


def test_what_demand_is_moved_to_has_left_what_its_target_leaves() -> None:
    text = (
        PRELUDE
        + "option where = here or there\ncomponent half { cpu 5 ms/packet }\n"
        + "topology { node web = box\n node back = box\n node user = box * N\n link net = ports between web, user, back }\n"
        + "stream flow for each user { traffic 1 packet/s, 1 byte/packet; at web { half; half if where == here }\n"
        + " at back { half if where == there }\n at user { } }\ntarget cpu 40 %\n"
    )
    spec = checked(text)
    moved = [
        one
        for one in advise(spec.model, spec.configuration(), solve(lowered(text)))
        if one.kind is ChangeKind.SHIFT
    ]
    assert [(one.change, one.to) for one in moved] == [("where = there", "back.cpu")]
    assert moved[0].headroom == pytest.approx(0.4 - 0.2)


def test_the_claim_of_a_saturation_means_the_target(tmp_path: Path) -> None:
    claims = (
        'expect e { saturation(web.cpu) == 75; largest_acceptable == 75; source "arithmetic" }\n'
    )
    path = tmp_path / "a.qps"
    path.write_text(f"target cpu 75 %\n{SPEC}{claims}")
    assert main(["test", str(path), "--quiet"]) == 0


def test_a_target_can_be_requested() -> None:
    text = f"param aim = 50 % in 10..100 %\ntarget cpu aim\n{SPEC}"
    spec = checked(text)
    (interval,) = solve_for(spec.model, spec.configuration(), "aim", 60).intervals
    assert (interval.low, interval.high) == (pytest.approx(0.6), 1)


def test_modes_may_plan_otherwise() -> None:
    text = f"param aim = 50 %\ntarget cpu aim\n{SPEC}mode calm {{ }}\nmode rush {{ aim = 30 % }}\n"
    spec = checked(text)
    solution = solve_model(spec.model, spec.configuration())
    assert (solution.graph.mode, solution.capacity) == ("rush", 30)


def test_single_threads_have_the_target_of_their_processor() -> None:
    text = (
        "target cpu 80 %\n" + PRELUDE.replace("1..100", "1..1000")
        + "machine quad { cpu 4 core }\ncomponent one { cpu 10 ms/packet single_thread }\n"
        + "topology { node web = quad\n node user = box * N }\n"
        + "stream flow for each user { traffic 1 packet/s; at web { one } }\n"
    )  # fmt: skip
    solution = _solved(text)
    assert (solution.capacity, solution.limited_by) == (80, "web.cpu.one.utilization")


def test_the_text_states_the_target() -> None:
    spec = checked(f"target cpu 75 %, link 80 %\n{SPEC}")
    answer = answer_of(spec)
    sentence = "75 users. At 76, web.cpu utilization is 76 %, above its target of 75 %."
    assert answer_sentence(answer) == sentence
    text = solve_text(answer, "A site")
    rows = [line.split() for line in text.splitlines()]
    assert ["Utilization", "At", "75", "Target", "Reaches", "target", "Consumed", "by"] in rows
    assert ["web.cpu", "75", "%", "75", "%", "75", "work", "100", "%"] in rows
    assert "first to exceed its target: web.cpu, above 75 users." in text


def test_explain_states_the_target() -> None:
    text = explanation_text(explain(lowered(f"target cpu 75 %\n{SPEC}"), "web.cpu", 75))
    assert "utilization (target 75 %, set by `target of cpu`)" in text
    assert "At target    N = 75 (closed form): N = target of cpu/" in text
    assert "target of cpu    75 %" in text


@few
@given(drawn_specs(), st.integers(1, 99), st.integers(1, 99))
def test_the_answer_with_targets_is_the_plain_one(spec: Drawn, cpu: int, link: int) -> None:
    text = f"target cpu {cpu} %, link {link} %\n" + spec.text.replace(
        f"2..{spec.high}", f"2..{min(spec.high, 40)}"
    )
    whole = checked(text)
    expected = plainly_acceptable(whole.model, whole.configuration())
    assert largest_acceptable(lower(whole.model, whole.configuration())) == expected


@few
@given(drawn_specs(), st.integers(1, 99))
def test_a_lower_target_never_helps(spec: Drawn, aim: int) -> None:
    answers = [_solved(f"target cpu {a} %\n{spec.text}").capacity for a in (aim, aim + 1)]
    assert (answers[0] or 0) <= (answers[1] or 0)


@pytest.mark.parametrize(
    "text", ["target", "target 75 %", "target cpu 75 % link 80 %", "target cpu"]
)
def test_the_grammar_refuses(text: str) -> None:
    assert parse(Source("x.qps", text)).diagnostics != ()
